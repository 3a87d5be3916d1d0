import Foundation
import OpenCoreData

/// The journal app's Core Data stack: a private writer context on the container's coordinator, and above it the main
/// context, which belongs to the main queue. What is edited on trial is edited in a child of the main context.
///
/// ```swift
/// let stack = try CoreDataStack()
/// let entries = try stack.mainContext.fetch(JournalEntry.fetchRequest())
/// ```
public final class CoreDataStack: Sendable {
  /// The name of the journal's model, and of its store.
  public static let modelName = "SurfJournalModel"

  /// Where the app's own seed lies: among the main bundle's resources; nil where there is none.
  public static var bundledSeed: URL? { Bundle.main.url(forResource: modelName, withExtension: "sqlite") }

  public let storeContainer: NSPersistentContainer
  /// For the user interface; on the main queue. Its saves go to the writer context, `saveContext()` to the disk.
  public let mainContext: NSManagedObjectContext
  /// The store's file.
  public let store: URL

  private let writerContext: NSManagedObjectContext
  private let seed: URL?

  /// Opens the store in `directory`. At the first launch, when there is none, it begins as a copy of the seed.
  ///
  /// - Parameters:
  ///   - directory: Without one, the container's own.
  ///   - seed: The `.sqlite` of the seed, its `-wal` and `-shm` beside it; nil for an empty journal.
  /// - Throws: `CoreDataStackError`. No store is there afterwards that was not there before, and the next launch
  ///   tries again.
  public convenience init(
    directory: URL = NSPersistentContainer.defaultDirectoryURL(), seed: URL? = CoreDataStack.bundledSeed
  ) throws(CoreDataStackError) {
    self.init(store: directory.appendingPathComponent("\(Self.modelName).sqlite"), seed: seed)
    try open()
  }

  /// A stack whose store is still to be opened: until then its contexts have nothing to read from or to save to.
  ///
  /// - Parameters:
  ///   - store: The file; it need not be there.
  ///   - seed: What the store begins as where it is not there.
  ///   - isReadOnly: Whether the store is left as it is, byte for byte.
  ///   - timeoutSeconds: How long to wait for a store that another program writes to.
  public init(store: URL, seed: URL? = nil, isReadOnly: Bool = false, timeoutSeconds: Double = 240) {
    self.store = store
    self.seed = seed
    let description = NSPersistentStoreDescription(url: store)
    description.isReadOnly = isReadOnly
    description.timeout = timeoutSeconds
    storeContainer = NSPersistentContainer(name: Self.modelName)
    storeContainer.persistentStoreDescriptions = [description]
    writerContext = storeContainer.newBackgroundContext()
    writerContext.name = "writer"
    mainContext = NSManagedObjectContext(concurrencyType: .mainQueue)
    mainContext.name = "main"
    mainContext.parent = writerContext
  }

  deinit { close() }

  /// Whether the store is open.
  public var isOpen: Bool { !storeContainer.persistentStoreCoordinator.persistentStores.isEmpty }

  /// Opens the store, seeding it before if it is not there; once it is open does nothing.
  public func open() throws(CoreDataStackError) {
    if isOpen { return }
    if let seed { try StoreSeed(seed).copyIfMissing(to: store, model: storeContainer.managedObjectModel) }
    var failure: (any Error)?
    storeContainer.loadPersistentStores { _, error in failure = error }
    if let failure {
      throw CoreDataStackError(.storeUnusable, failure.localizedDescription, underlying: failure)
    }
  }

  /// Lets go of the store's file. Objects of the stack can't be read any more.
  public func close() {
    let coordinator = storeContainer.persistentStoreCoordinator
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }

  /// A scratch pad: a child of the main context, on the main queue too. Save it to hand its changes to the main context,
  /// or let go of it, and nothing of them is left anywhere.
  public func newScratchContext() -> NSManagedObjectContext {
    let scratch = NSManagedObjectContext(concurrencyType: .mainQueue)
    scratch.name = "scratch"
    scratch.parent = mainContext
    return scratch
  }

  /// Saves what the main context holds, through the writer context and into the store; nothing without changes.
  ///
  /// - Throws: What `save()` of either context does; its changes are still pending there then.
  public func saveContext() throws {
    for context in [mainContext, writerContext] {
      try context.performAndWait {
        if context.hasChanges { try context.save() }
      }
    }
  }

  /// Keeps every object that is read from now on as it was read, in all contexts of the stack: a save then finds out
  /// if somebody else changed one meanwhile. Otherwise an object that nobody holds would be read anew for the save.
  func retainVersionsRead() {
    for context in [mainContext, writerContext] {
      context.performAndWait { context.retainsRegisteredObjects = true }
    }
  }

  /// Reads the object from the store into every context of the chain. See `retainVersionsRead`.
  func readThroughChain(_ id: NSManagedObjectID) throws {
    for context in [writerContext, mainContext] {
      try context.performAndWait { _ = try context.existingObject(with: id) }
    }
  }
}
