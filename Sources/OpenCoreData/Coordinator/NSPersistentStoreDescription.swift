import Foundation

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
  open var url: URL?
  open var type = NSSQLiteStoreType
  open var configuration: String?
  open private(set) var options: [String: NSObject] = [
    NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
    NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
  ]
  open var shouldAddStoreAsynchronously = false

  public override init() {}

  public init(url: URL) { self.url = url }

  open var isReadOnly: Bool {
    get { flag(NSReadOnlyPersistentStoreOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSReadOnlyPersistentStoreOption) }
  }
  open var shouldMigrateStoreAutomatically: Bool {
    get { flag(NSMigratePersistentStoresAutomaticallyOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption) }
  }
  open var shouldInferMappingModelAutomatically: Bool {
    get { flag(NSInferMappingModelAutomaticallyOption) }
    set { setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption) }
  }
  /// Seconds to wait for another program's lock.
  open var timeout: TimeInterval {
    get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? StoreOptions.timeoutSecondsDefault }
    set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
  }
  open var sqlitePragmas: [String: NSObject] {
    (options[NSSQLitePragmasOption] as? NSDictionary as? [String: NSObject]) ?? [:]
  }

  private func flag(_ key: String) -> Bool { (options[key] as? NSNumber)?.boolValue ?? false }

  open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

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
  public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
    try lock.withLock(block)
  }

  /// As `performAndWait`, asynchronously on a global queue.
  public func perform(_ block: @escaping @Sendable () -> Void) {
    DispatchQueue.global(qos: .userInitiated).async { self.performAndWait(block) }
  }
}
