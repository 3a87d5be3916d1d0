import Foundation

/// A model, its coordinator and a view context. (Apple documentation: NSPersistentContainer.)
///
/// Make one per program, load its stores once, and use `viewContext` on the main queue.
///
/// ```swift
/// let container = NSPersistentContainer(name: "SurfJournalModel")
/// container.loadPersistentStores { description, error in
///   if let error { print("\(description.url?.path ?? "The store") was not opened: \(error)") }
/// }
/// let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
/// let entries = try container.viewContext.fetch(request)
/// ```
// Unchecked: the descriptions are set before stores are loaded, as Apple's documentation asks; the rest is constant.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  /// The name that the container was made with. The file of its first store has it. (Apple documentation: name.)
  public let name: String
  /// The model of the coordinator and of every context on it. (Apple documentation: managedObjectModel.)
  public let managedObjectModel: NSManagedObjectModel
  /// The coordinator to which `loadPersistentStores` adds the stores. (Apple documentation:
  /// persistentStoreCoordinator.)
  public let persistentStoreCoordinator: NSPersistentStoreCoordinator
  /// The context for the main queue. Use it there, or through its `perform`. (Apple documentation: viewContext.)
  ///
  /// ```swift
  /// container.viewContext.automaticallyMergesChangesFromParent = true
  /// let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
  /// request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
  /// let newest = try container.viewContext.fetch(request).first
  /// ```
  public let viewContext: NSManagedObjectContext
  /// The stores that `loadPersistentStores` opens: at first one SQLite store named after the container, in
  /// `defaultDirectoryURL()`. Set it, or change its elements, before the stores are loaded. (Apple documentation:
  /// persistentStoreDescriptions.)
  ///
  /// ```swift
  /// let description = NSPersistentStoreDescription(url: file)
  /// description.isReadOnly = true
  /// container.persistentStoreDescriptions = [description]
  /// ```
  open var persistentStoreDescriptions: [NSPersistentStoreDescription]

  /// A container for the model called `name`: one that the build plugin embedded, or a `.xcdatamodeld` or
  /// `.xcdatamodel` among the main bundle's resources. Stops the program if there is no such model. (Apple
  /// documentation: init(name:).)
  ///
  /// ```swift
  /// let container = NSPersistentContainer(name: "SurfJournalModel")
  /// let file = container.persistentStoreDescriptions[0].url
  /// print(file?.lastPathComponent ?? "")  // SurfJournalModel.sqlite
  /// ```
  ///
  /// - Parameter name: The name of the model and, with the extension `sqlite`, of the store's file in
  ///   `defaultDirectoryURL()`.
  public convenience init(name: String) {
    guard let model = NSManagedObjectModel.found(named: name) else {
      preconditionFailure(
        "No model named \"\(name)\" is embedded in this program. Add \(name).xcdatamodeld to a target that uses "
          + "ManagedObjectModelPlugin, or give a model to init(name:managedObjectModel:).")
    }
    self.init(name: name, managedObjectModel: model)
  }

  /// A container for a model that was made in code, or read from a file. (Apple documentation:
  /// init(name:managedObjectModel:).)
  ///
  /// ```swift
  /// let container = NSPersistentContainer(name: "Journal", managedObjectModel: model)
  /// container.loadPersistentStores { _, error in
  ///   if let error { print(error.localizedDescription) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: With the extension `sqlite` the name of the store's file in `defaultDirectoryURL()`.
  ///   - model: The model. It cannot be changed once a coordinator uses it.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    self.name = name
    managedObjectModel = model
    persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    viewContext = NSManagedObjectContext(concurrencyType: .mainQueue)
    viewContext.persistentStoreCoordinator = persistentStoreCoordinator
    viewContext.name = "viewContext"
    persistentStoreDescriptions = [
      NSPersistentStoreDescription(
        url: Self.defaultDirectoryURL().appendingPathComponent(name + ".sqlite"))
    ]
  }

  /// A folder named after the program in `$XDG_DATA_HOME`, or in `~/.local/share` if the variable is not set. (XDG Base
  /// Directory Specification; Apple's container uses Application Support.)
  open class func defaultDirectoryURL() -> URL {
    defaultDirectoryURL(environment: ProcessInfo.processInfo.environment)
  }

  static func defaultDirectoryURL(environment: [String: String]) -> URL {
    let base: URL
    // The specification says that relative paths are ignored.
    if let folder = environment["XDG_DATA_HOME"], folder.hasPrefix("/") {
      base = URL(fileURLWithPath: folder, isDirectory: true)
    } else {
      let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0, isDirectory: true) : nil }
      base = (home ?? FileManager.default.homeDirectoryForCurrentUser).appendingPathComponent(".local/share")
    }
    return base.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
  }

  /// Opens the stores of `persistentStoreDescriptions` and makes their folders. (Apple documentation:
  /// loadPersistentStores(completionHandler:).)
  ///
  /// ```swift
  /// var failures: [any Error] = []
  /// container.loadPersistentStores { _, error in
  ///   if let error { failures.append(error) }
  /// }
  /// if let failure = failures.first { throw failure }
  /// ```
  ///
  /// - Parameter block: Called once for each store with its description and nil or the error (`NSError`, as of
  ///   `addPersistentStore`): before this method returns, or on a global queue if the description sets
  ///   `shouldAddStoreAsynchronously`.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      persistentStoreCoordinator.add(description, makingFolder: true, block)
    }
  }

  /// A private-queue context on the coordinator. Use it through its `perform` or `performAndWait`. (Apple
  /// documentation: newBackgroundContext().)
  ///
  /// ```swift
  /// let context = container.newBackgroundContext()
  /// try context.performAndWait {
  ///   let entry = JournalEntry(context: context)
  ///   entry.location = "Rincon"
  ///   try context.save()
  /// }
  /// ```
  open func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs `block` on the queue of a new background context and returns at once. Save in the block; changes that it does
  /// not save are lost. (Apple documentation: performBackgroundTask(_:).)
  ///
  /// ```swift
  /// container.performBackgroundTask { context in
  ///   let entry = JournalEntry(context: context)
  ///   entry.location = "Rincon"
  ///   do { try context.save() } catch { print("Not saved: \(error)") }
  /// }
  /// ```
  open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs `block` on the queue of a new background context without blocking a thread, and returns its value or throws
  /// its error. (Apple documentation: performBackgroundTask(_:).)
  ///
  /// ```swift
  /// let count = try await container.performBackgroundTask { context in
  ///   let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
  ///   return try context.count(for: request)
  /// }
  /// ```
  public func performBackgroundTask<Result: Sendable, Failure: Error>(
    _ block: @escaping @Sendable (NSManagedObjectContext) throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let context = newBackgroundContext()
    return try await context.perform { () throws(Failure) in try block(context) }
  }
}

extension NSManagedObjectModel {
  /// The model that the build plugin embedded under this name; nil if this program has none.
  ///
  /// The model is read once: every caller gets the same instance, so that entities can be compared by identity.
  /// `copy()` returns one that can be changed.
  public static func embedded(named name: String) -> NSManagedObjectModel? {
    guard let embedded = EmbeddedModels.model(named: name), let version = embedded.currentVersion else { return nil }
    return try? embedded.model(of: version)
  }

  /// An embedded model, or a model file among the main bundle's resources.
  fileprivate static func found(named name: String) -> NSManagedObjectModel? {
    if let model = embedded(named: name) { return model }
    for fileExtension in ["xcdatamodeld", "xcdatamodel"] {
      if let url = Bundle.main.url(forResource: name, withExtension: fileExtension) {
        return NSManagedObjectModel(contentsOf: url)
      }
    }
    return nil
  }
}
