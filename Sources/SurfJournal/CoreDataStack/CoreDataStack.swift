import Foundation
import OpenCoreData
import PersistentStores
import PipelineEngine

/// The journal app's Core Data stack: a private writer context on the container's coordinator, and its child, the
/// main context, which belongs to the main queue. Provisional edits are made in a child of the main context.
///
/// ```swift
/// let stack = try CoreDataStack()
/// let entries = try stack.mainContext.fetch(JournalEntry.fetchRequest())
/// ```
public final class CoreDataStack: Sendable {
  /// The name of the journal's model and of its store.
  public static let modelName = "SurfJournalModel"

  /// The app's own seed in the resources of the main bundle; nil if there is none.
  public static var bundledSeed: URL? { Bundle.main.url(forResource: modelName, withExtension: "sqlite") }

  /// The container with the store, whose contexts the stack uses.
  public let storeContainer: NSPersistentContainer
  /// The context for the user interface, on the main queue. Its saves go to the writer context; `saveContext()` saves
  /// to the disk.
  public let mainContext: NSManagedObjectContext
  /// The store's file.
  public let store: URL

  private let writerContext: NSManagedObjectContext
  private let seed: URL?

  /// Opens the store in `directory`. If there is no store, as at the first launch, it is created as a copy of the
  /// seed.
  ///
  /// - Parameters:
  ///   - directory: The store's folder; by default the container's own.
  ///   - seed: The `.sqlite` of the seed, with its `-wal` and `-shm` next to it; nil for an empty journal.
  /// - Throws: ``CoreDataStackError``. In that case no new store exists, and the next launch tries again.
  public convenience init(
    directory: URL = NSPersistentContainer.defaultDirectoryURL(), seed: URL? = CoreDataStack.bundledSeed
  ) throws(CoreDataStackError) {
    self.init(store: directory.appendingPathComponent("\(Self.modelName).sqlite"), seed: seed)
    try open()
  }

  /// Creates a stack without opening its store. Until `open()`, its contexts can't fetch or save.
  ///
  /// - Parameters:
  ///   - store: The store's file, which need not exist.
  ///   - seed: The store to copy if the file does not exist.
  ///   - isReadOnly: Whether the store must not be changed, byte for byte.
  ///   - timeoutSeconds: How long to wait, in seconds, for a store that another program is writing to.
  public convenience init(store: URL, seed: URL? = nil, isReadOnly: Bool = false, timeoutSeconds: Double = 240) {
    self.init(
      NSPersistentContainer(name: Self.modelName), store: store, seed: seed, isReadOnly: isReadOnly,
      timeoutSeconds: timeoutSeconds)
  }

  /// The same for the objects of any model.
  init(
    _ container: NSPersistentContainer, store: URL, type: String = NSSQLiteStoreType, seed: URL?, isReadOnly: Bool,
    timeoutSeconds: Double
  ) {
    self.store = store
    self.seed = seed
    let description = NSPersistentStoreDescription(url: store)
    description.type = type
    description.isReadOnly = isReadOnly
    description.timeout = timeoutSeconds
    storeContainer = container
    storeContainer.persistentStoreDescriptions = [description]
    writerContext = storeContainer.newBackgroundContext()
    writerContext.name = "writer"
    mainContext = NSManagedObjectContext(concurrencyType: .mainQueue)
    mainContext.name = "main"
    mainContext.parent = writerContext
  }

  /// Lets a store be read whose write-ahead log is damaged, up to the first wrong page. Call it before `open()`.
  func readDamagedWAL() { setOption(DamagedWAL.optionKey) }

  /// Reads the store as a program will see it that writes to it: as a power failure may have left it. Call it before
  /// `open()`.
  func readBeforeWriting() { setOption(DamagedWAL.beforeWritingKey) }

  /// What the store's write-ahead log lacks, as a power failure leaves it; nil if it lacks nothing.
  var loss: String? { storeContainer.persistentStoreCoordinator.losses.first.map(DamagedWAL.note) }

  /// Leaves a write-ahead log that another program has left where it is, unless something is saved. Call it before
  /// `open()`.
  func keepWALUntilSave() { setOption(StoreOptions.keepsWALUntilCommitKey) }

  private func setOption(_ key: String) {
    for description in storeContainer.persistentStoreDescriptions {
      description.setOption(NSNumber(value: true), forKey: key)
    }
  }

  deinit { close() }

  /// Whether the store is open.
  public var isOpen: Bool { !storeContainer.persistentStoreCoordinator.persistentStores.isEmpty }

  /// Opens the store; if it does not exist, it is first created from the seed. Does nothing if the store is open.
  ///
  /// - Throws: ``CoreDataStackError``
  public func open() throws(CoreDataStackError) {
    if isOpen { return }
    if let seed { try StoreSeed(seed).copyIfMissing(to: store, model: storeContainer.managedObjectModel) }
    var failure: (any Error)?
    storeContainer.loadPersistentStores { _, error in failure = error }
    if let failure {
      throw CoreDataStackError(.storeUnusable, failure.localizedDescription, underlying: failure)
    }
  }

  /// Closes the store's file. The stack's objects can't be read any more.
  public func close() {
    let coordinator = storeContainer.persistentStoreCoordinator
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }

  /// A scratch pad: a child of the main context, also on the main queue. Saving it passes its changes to the main
  /// context; releasing it discards them.
  public func newScratchContext() -> NSManagedObjectContext {
    let scratch = NSManagedObjectContext(concurrencyType: .mainQueue)
    scratch.name = "scratch"
    scratch.parent = mainContext
    return scratch
  }

  /// Saves the main context through the writer context to the store; does nothing without changes.
  ///
  /// - Throws: The error of either context's `save()`. The changes then remain pending in that context.
  public func saveContext() throws { try saveContexts { try $0.save() } }

  /// As ``saveContext()``, for a stack that is closed afterwards: where an object can't be read, the changes are lost and
  /// the error is thrown, and the process does not end.
  func saveContextOnce() throws {
    try saveContexts { context in try context.throwingReadFailures { try context.save() } }
  }

  private func saveContexts(_ save: (NSManagedObjectContext) throws -> Void) throws {
    for context in [mainContext, writerContext] {
      try context.performAndWait {
        if context.hasChanges { try save(context) }
      }
    }
  }

  /// Retains every object read from now on in all contexts of the stack, with the version that was read, so that a
  /// save detects changes by other programs. Otherwise an unreferenced object would be read again for the save.
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
