import Foundation

/// A group of managed objects and their unsaved changes, on a queue of its own. (Apple documentation:
/// NSManagedObjectContext.)
///
/// A save goes exactly one level up: to the parent context, or through the coordinator to the disk. Except for the
/// `perform` family, call its methods on its queue only.
///
/// ```swift
/// let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
/// context.persistentStoreCoordinator = coordinator
/// try context.performAndWait {
///   JournalEntry(context: context).location = "Rincon"
///   try context.save()
/// }
/// ```
// Unchecked: all mutable state is confined to the context's queue, on which every method except the `perform` family
// must be called. `perform` and `performAndWait` run code there.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
  /// Apple's newer name of the type.
  public typealias ConcurrencyType = NSManagedObjectContextConcurrencyType

  /// The kind of queue that the context belongs to. (Apple documentation: concurrencyType.)
  public let concurrencyType: NSManagedObjectContextConcurrencyType
  let queue: ContextQueue

  /// The coordinator at the bottom of the chain.
  ///
  /// ```swift
  /// let writer = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
  /// writer.persistentStoreCoordinator = container.persistentStoreCoordinator
  /// ```
  public var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { parent?.persistentStoreCoordinator ?? ownCoordinator }
    set {
      precondition(parent == nil, "A context with a parent has its parent's coordinator.")
      ownCoordinator = newValue
      ClassEntities.forgetAll()
      renewMerging()
    }
  }
  private var ownCoordinator: NSPersistentStoreCoordinator?
  /// The entities that objects were made of by their classes. Unchecked: nothing that is called while it changes uses it.
  @exclusivity(unchecked) private var classEntities = ClassEntities()

  /// The context that this one reads from and saves to. Set it before the context is used; it cannot change once the
  /// context has objects. A context of the confinement type cannot be a parent. (Apple documentation: parent.)
  ///
  /// ```swift
  /// let draft = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
  /// draft.parent = viewContext
  /// JournalEntry(context: draft).location = "Rincon"
  /// try draft.save()  // into viewContext
  /// try viewContext.save()  // to the store
  /// ```
  public var parent: NSManagedObjectContext? {
    willSet {
      precondition(
        !graph.hasObjects, "The parent of a context can't change once it has objects.")
      precondition(
        newValue?.concurrencyType != .confinement,
        "A context of the confinement type has no queue on which its children could ask it; it can't be a parent.")
    }
    didSet {
      ClassEntities.forgetAll()
      renewMerging()
    }
  }

  /// The merge policy that the client has set.
  var chosenMergePolicy: Any?
  /// If true, what other contexts save to the parent or, without a parent, to the coordinator is merged automatically
  /// on this context's queue. Default false. (Apple documentation: automaticallyMergesChangesFromParent.)
  ///
  /// ```swift
  /// container.viewContext.automaticallyMergesChangesFromParent = true
  /// container.performBackgroundTask { context in
  ///   JournalEntry(context: context).location = "Rincon"
  ///   try? context.save()  // viewContext merges it on the main queue
  /// }
  /// ```
  public var automaticallyMergesChangesFromParent = false { didSet { renewMerging() } }
  /// The contexts that merge what is saved to this one.
  let mergers = AutomaticMerging()
  /// The source that this context merges from.
  private var mergesFrom: AutomaticMerging?

  /// Merges from the context's present source, and no longer from the previous one.
  private func renewMerging() {
    mergesFrom?.remove(self)
    let source = parent?.mergers ?? persistentStoreCoordinator?.mergers
    mergesFrom = automaticallyMergesChangesFromParent ? source : nil
    mergesFrom?.add(self)
  }

  /// The context's name, which a store's history keeps with the transactions of the context that saves to it.
  public var name: String?
  /// Who makes the changes that this context saves to a store, for the store's history. (Apple documentation:
  /// transactionAuthor.)
  public var transactionAuthor: String?
  var changeOrigin: ChangeOrigin { ChangeOrigin(author: transactionAuthor, contextName: name) }
  /// Values of the client's own.
  public let userInfo = NSMutableDictionary()
  /// If true, the context keeps unchanged objects alive too. By default it holds them weakly.
  public var retainsRegisteredObjects: Bool {
    get { graph.retainsUnchanged }
    set { graph.retainsUnchanged = newValue }
  }
  /// If true (default), a fault whose row is gone is marked deleted and reads as nil. If false, it stops the program.
  public var shouldDeleteInaccessibleFaults = true
  /// Whether a fault without a row is marked deleted; otherwise it stops the program. (Apple documentation:
  /// shouldHandleInaccessibleFault(_:for:triggeredByProperty:).)
  ///
  /// - Parameters:
  ///   - fault: An object whose row is gone.
  ///   - oid: Its ID.
  ///   - property: The property that was read, if it is known; here it is always nil.
  /// - Returns: `shouldDeleteInaccessibleFaults`, unless a subclass decides otherwise.
  open func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
  ) -> Bool { shouldDeleteInaccessibleFaults }
  /// Seconds for which a fault may be filled with values that were read earlier; negative for any age. Has no effect
  /// here: the rows that a store keeps in memory are always current, so every fault reads the present state.
  public var stalenessInterval: TimeInterval = -1
  /// Whether delete rules are carried out at the end of the event (default) or only before a save. (Apple
  /// documentation: propagatesDeletesAtEndOfEvent.)
  public var propagatesDeletesAtEndOfEvent = true
  /// What records changes, so that `undo()` can take them back; nil by default, and then nothing is recorded. Changes that
  /// were made until it is set can't be undone, and a manager that is replaced forgets those of this context. (Apple
  /// documentation: undoManager.)
  ///
  /// ```swift
  /// context.undoManager = UndoManager()
  /// entry.location = "Rincon"
  /// context.undo()
  /// ```
  public var undoManager: UndoManager? {
    willSet { if newValue !== undoManager { stopRecording(for: undoManager) } }
    didSet { if oldValue !== undoManager { startRecording() } }
  }
  /// The observer of the undo manager's checkpoints.
  var checkpointObserver: (any NSObjectProtocol)?
  /// Whether Swift's `withObservationTracking` can track the objects of this context. Default false. Where it is true,
  /// reading a value notes that it was read, in an object of its own for each managed object; the first context for which
  /// it is set also slows down reads of packed values in the whole program. An extension of this library.
  ///
  /// ```swift
  /// context.supportsObservation = true
  /// withObservationTracking {
  ///   print(entry.location ?? "")
  /// } onChange: {
  ///   print("the location is about to change")
  /// }
  /// ```
  public var supportsObservation = false {
    didSet { if supportsObservation { WatchedReads.begin() } }
  }
  /// What notifications carry; see `ChangeNotificationContents`.
  public var changeNotificationContents = ChangeNotificationContents.objects

  /// Whether new objects may be saved without their mandatory relationships: an import can leave them to another program
  /// if its user asks for that.
  package var toleratesMissingRelationships = false

  /// Set by a migration, which saves objects that are not complete yet: saves let everything through, and note what has to
  /// be checked at the end.
  var deferredValidation: DeferredValidation?
  /// Set by a migration: called before the context reads from its store, or sends a request there.
  var beforeReading: (() throws -> Void)?

  /// The storage of every object that was not made for a batch.
  private(set) lazy var storage = ObjectStorage(self)
  /// The objects and their changes.
  let graph = ObjectGraph()
  /// Whether `processPendingChanges` waits for the end of the main queue's turn.
  var isProcessingScheduled = false
  /// The generation that reads go to; nil for the newest.
  var generationPinned: NSQueryGenerationToken?
  /// The object of each error of the last validation: an error of a class's own type cannot name it.
  package internal(set) var validationFailures: [(id: NSManagedObjectID, error: any Error)] = []
  /// What notes errors of properties that can't be read; nil outside of `throwingReadFailures`.
  var readFailure: ReadFailure? { didSet { graph.packedFaults.set(needNoContext: readFailure == nil) } }

  /// A context without a parent or coordinator; set one of them next. (Apple documentation: init(concurrencyType:).)
  ///
  /// ```swift
  /// let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
  /// child.parent = parent
  /// child.name = "import"
  /// ```
  ///
  /// - Parameter concurrencyType: The queue that the context is confined to.
  public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
    self.concurrencyType = concurrencyType
    queue =
      switch concurrencyType {
      case .mainQueueConcurrencyType: .main
      case .privateQueueConcurrencyType: .makePrivate()
      case .confinementConcurrencyType: .nowhere
      }
    if ConcurrencyDebug.isOn { WatchedReads.begin() }
  }

  deinit {
    if let checkpointObserver { NotificationCenter.default.removeObserver(checkpointObserver) }
    graph.packedFaults.set(needNoContext: false)
    // Objects that were read ahead may hold each other in a reference cycle; this breaks it.
    graph.dropRelated()
  }

  /// Apple's newer spelling of `init(concurrencyType:)`.
  ///
  /// - Parameter type: The kind of queue; `.privateQueue` makes one for this context.
  public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type) }

  /// A context of the confinement type, as old code makes it.
  @available(*, deprecated, message: "Use init(concurrencyType:).")
  public convenience override init() { self.init(concurrencyType: .confinementConcurrencyType) }

  var model: NSManagedObjectModel? { persistentStoreCoordinator?.managedObjectModel }

  /// The entity of the context's model whose objects are of class `type`.
  func entity(ofClass type: NSManagedObject.Type) -> NSEntityDescription? {
    classEntities.entity(of: type) { model?.entity(ofClass: type) }
  }

  // MARK: What has changed

  /// Whether a save of this context would have something to do: objects were inserted, changed or deleted since its
  /// last save. Changes of child contexts count once they were saved to this one. (Apple documentation: hasChanges.)
  ///
  /// ```swift
  /// if context.hasChanges { try context.save() }
  /// ```
  public var hasChanges: Bool {
    checkQueue()
    return graph.hasChanges
  }

  /// Objects inserted and not yet saved by this context. Makes an object for each row. (Apple documentation:
  /// insertedObjects.)
  ///
  /// ```swift
  /// for object in context.insertedObjects where object.value(forKey: "date") == nil {
  ///   object.setValue(Date(), forKey: "date")
  /// }
  /// ```
  public var insertedObjects: Set<NSManagedObject> {
    checkQueue()
    // The set of a segment is made once and shared.
    guard let first = graph.insertions.segments.first else { return [] }
    return graph.insertions.segments.dropFirst().reduce(into: graph.objects(in: first)) {
      $0.formUnion(graph.objects(in: $1))
    }
  }
  /// Objects of the store, or of the parent, that were changed and not yet saved by this context. Inserted objects are
  /// not among them, even if they were changed. (Apple documentation: updatedObjects.)
  ///
  /// ```swift
  /// for object in context.updatedObjects { print(object.objectID, object.changedValues()) }
  /// ```
  public var updatedObjects: Set<NSManagedObject> {
    checkQueue()
    return Set(graph.updates.values)
  }
  /// Objects that the next save deletes. An inserted object that is deleted before a save is in no set. (Apple
  /// documentation: deletedObjects.)
  ///
  /// ```swift
  /// let count = context.deletedObjects.count
  /// try context.save()
  /// print("\(count) entries deleted")
  /// ```
  public var deletedObjects: Set<NSManagedObject> {
    checkQueue()
    return graph.deletedObjects()
  }
  /// All objects of this context that are in memory, pending insertions included.
  public var registeredObjects: Set<NSManagedObject> {
    checkQueue()
    graph.unpackDeletions()
    return graph.registry.objects.union(insertedObjects)
  }
}

/// The queue that a context is confined to, by Apple's Objective-C names and the short ones of Swift.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  /// No queue: the client confines the context to one thread itself, and `perform` cannot be used. Legacy.
  case confinementConcurrencyType = 0
  /// A serial queue of the context's own.
  case privateQueueConcurrencyType = 1
  /// The main queue.
  case mainQueueConcurrencyType = 2

  /// Apple's newer spelling of `confinementConcurrencyType`.
  public static var confinement: Self { .confinementConcurrencyType }
  /// Apple's newer spelling of `privateQueueConcurrencyType`.
  public static var privateQueue: Self { .privateQueueConcurrencyType }
  /// Apple's newer spelling of `mainQueueConcurrencyType`.
  public static var mainQueue: Self { .mainQueueConcurrencyType }
}

/// What a context's notifications carry.
///
/// A set is made only for a notification that has an observer. Making one for every change of a bulk import costs about
/// as much as the import: a context whose observers need no objects may announce IDs instead.
public enum ChangeNotificationContents: Sendable {
  /// Sets of objects, as Apple's contexts send them.
  case objects
  /// Collections of object IDs (`ObjectIDCollection`) under the keys of the object-ID notifications.
  case objectIDs
}
