import Foundation
import Locking

/// A model, its coordinator and a view context. (Apple documentation: NSPersistentContainer.)
// Unchecked: the descriptions are set before stores are loaded, as Apple's documentation asks; the rest is constant.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  public let name: String
  public let managedObjectModel: NSManagedObjectModel
  public let persistentStoreCoordinator: NSPersistentStoreCoordinator
  public let viewContext: NSManagedObjectContext
  open var persistentStoreDescriptions: [NSPersistentStoreDescription]

  /// A container for the model called `name`: one that the build plugin embedded, or a `.xcdatamodeld` or
  /// `.xcdatamodel` among the main bundle's resources.
  public convenience init(name: String) {
    guard let model = NSManagedObjectModel.found(named: name) else {
      preconditionFailure(
        "No model named \"\(name)\" is embedded in this program. Add \(name).xcdatamodeld to a target that uses "
          + "ManagedObjectModelPlugin, or give a model to init(name:managedObjectModel:).")
    }
    self.init(name: name, managedObjectModel: model)
  }

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

  /// Opens the stores of `persistentStoreDescriptions` and makes their folders. `block` is called once for each store:
  /// before this method returns, or on a global queue if the description sets `shouldAddStoreAsynchronously`.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      persistentStoreCoordinator.add(description, makingFolder: true, block)
    }
  }

  /// A private-queue context on the coordinator.
  open func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs `block` on the queue of a new background context.
  open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs `block` on the queue of a new background context without blocking a thread, and returns its value or throws
  /// its error.
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
    embeddedModels.withLock { known in
      if let model = known[name] { return model }
      guard let model = EmbeddedModels.xml(named: name).flatMap({ try? load(xml: $0) }) else { return nil }
      model.freeze()
      known[name] = model
      return model
    }
  }
  private static let embeddedModels = Locked<[String: NSManagedObjectModel]>([:])

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
