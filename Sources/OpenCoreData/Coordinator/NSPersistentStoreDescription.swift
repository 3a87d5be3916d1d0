import Foundation
import PostgreSQLStore

/// How a container opens one store: its file, type, configuration and options. (Apple documentation:
/// NSPersistentStoreDescription.)
///
/// Set it before `loadPersistentStores`. By default the store is a SQLite file that is migrated automatically.
///
/// ```swift
/// let description = NSPersistentStoreDescription(url: file)
/// description.isReadOnly = true
/// description.timeout = 10  // seconds
/// container.persistentStoreDescriptions = [description]
/// ```
open class NSPersistentStoreDescription: NSObject, NSCopying {
  /// The store's file; nil for a store in memory. (Apple documentation: url.)
  open var url: URL?
  /// The type of the store, `NSSQLiteStoreType` by default; that of a description which is made with the address of a
  /// server is ``NSPostgreSQLStoreType``. (Apple documentation: type.)
  open var type = NSSQLiteStoreType
  /// The name of the model's configuration whose entities the store has; nil for all entities. (Apple documentation:
  /// configuration.)
  open var configuration: String?
  /// The options with which the store is added. Migration with an inferred mapping is on by default. (Apple
  /// documentation: options.)
  open private(set) var options: [String: NSObject] = [
    NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
    NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
  ]
  /// Whether the store is added on a background queue, which then calls the completion handler; false by default.
  /// (Apple documentation: shouldAddStoreAsynchronously.)
  open var shouldAddStoreAsynchronously = false

  /// A description of a SQLite store without a file; set `url` before the store is added.
  public override init() {}

  /// A description of the SQLite store in the file `url`, or of the store at the address of a PostgreSQL server. (Apple
  /// documentation: init(url:).)
  public init(url: URL) {
    self.url = url
    if PostgreSQLAddress.isAddress(url) { type = NSPostgreSQLStoreType }
  }

  /// Whether the store is opened for reading only; false by default. (Apple documentation: isReadOnly.)
  open var isReadOnly: Bool {
    get { flag(NSReadOnlyPersistentStoreOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSReadOnlyPersistentStoreOption) }
  }
  /// Whether a store of another version of the model is migrated when it is added; true by default. (Apple
  /// documentation: shouldMigrateStoreAutomatically.)
  open var shouldMigrateStoreAutomatically: Bool {
    get { flag(NSMigratePersistentStoresAutomaticallyOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption) }
  }
  /// Whether the migration infers its mapping from both models; true by default. (Apple documentation:
  /// shouldInferMappingModelAutomatically.)
  open var shouldInferMappingModelAutomatically: Bool {
    get { flag(NSInferMappingModelAutomaticallyOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption) }
  }
  /// Seconds to wait for another program's lock.
  open var timeout: TimeInterval {
    get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? StoreOptions.timeoutSecondsDefault }
    set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
  }
  /// SQLite's pragmas for the connection, by name; see `setValue(_:forPragmaNamed:)`. (Apple documentation:
  /// sqlitePragmas.)
  open var sqlitePragmas: [String: NSObject] {
    (options[NSSQLitePragmasOption] as? NSDictionary as? [String: NSObject]) ?? [:]
  }

  private func flag(_ key: String) -> Bool { (options[key] as? NSNumber)?.boolValue ?? false }

  /// Sets one of the `options`.
  ///
  /// - Parameters:
  ///   - option: The value; nil removes the option.
  ///   - key: The name of the option, such as `NSReadOnlyPersistentStoreOption`.
  open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

  /// Sets one of SQLite's pragmas for the connection.
  ///
  /// - Parameters:
  ///   - value: The value of the pragma; nil removes it.
  ///   - name: The name of the pragma, such as `journal_mode`.
  open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
    var pragmas = sqlitePragmas
    pragmas[name] = value
    let dictionary = NSMutableDictionary()
    for (key, value) in pragmas { dictionary[NSString(string: key)] = value }
    options[NSSQLitePragmasOption] = dictionary
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentStoreDescription()
    copy.url = url
    copy.type = type
    copy.configuration = configuration
    copy.options = options
    copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
    return copy
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPersistentStoreDescription else { return false }
    return url == other.url && type == other.type && configuration == other.configuration
      && options == other.options && shouldAddStoreAsynchronously == other.shouldAddStoreAsynchronously
  }
  open override var hash: Int { url.hashValue }
}

extension NSPersistentStoreCoordinator {
  /// Adds the store that `description` describes. `block` is called before this method returns, or on a global queue if
  /// the description sets `shouldAddStoreAsynchronously`.
  public func addPersistentStore(
    with description: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    add(description, makingFolder: false, block)
  }

  func add(
    _ description: NSPersistentStoreDescription, makingFolder: Bool,
    _ block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    guard description.shouldAddStoreAsynchronously else {
      block(description, failure(adding: description, makingFolder))
      return
    }
    // Safe: Apple's signature does not ask for a Sendable block, and documents that the block then runs on another
    // queue.
    nonisolated(unsafe) let (description, block) = (description, block)
    DispatchQueue.global(qos: .userInitiated).async {
      block(description, self.failure(adding: description, makingFolder))
    }
  }

  private func failure(adding description: NSPersistentStoreDescription, _ makingFolder: Bool) -> (any Error)? {
    do {
      if makingFolder, description.type == NSSQLiteStoreType, !description.isReadOnly, let url = description.url {
        try FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      }
      try addPersistentStore(
        ofType: description.type, configurationName: description.configuration, at: description.url,
        options: description.options)
      return nil
    } catch {
      return error
    }
  }

  // MARK: The coordinator's own queue

  /// Runs `block` while no context reads or saves through this coordinator.
  ///
  /// - Throws: What `block` throws.
  public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
    try storesLock.withLock(block)
  }

  /// As `performAndWait`, asynchronously on a global queue.
  public func perform(_ block: @escaping @Sendable () -> Void) {
    DispatchQueue.global(qos: .userInitiated).async { self.performAndWait(block) }
  }

  /// As `performAndWait`, without blocking the caller's thread.
  ///
  /// - Throws: What `block` throws.
  public func perform<Result: Sendable, Failure: Error>(
    _ block: @escaping @Sendable () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let outcome: Swift.Result<Result, Failure> = await withCheckedContinuation { continuation in
      perform { () -> Void in
        continuation.resume(
          returning: Swift.Result { () throws(Failure) -> Result in try block() })
      }
    }
    return try outcome.get()
  }
}
