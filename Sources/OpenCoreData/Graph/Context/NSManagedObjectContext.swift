import Foundation

/// A scratch pad of managed objects on a queue of its own. (Apple documentation: NSManagedObjectContext.)
///
/// A save goes one level up and no further: to the parent context, or to the coordinator and so to the disk.
// Unchecked: all that can change is confined to the context's queue, on which every method but the `perform`
// family must be called. `perform` and `performAndWait` put code there.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
  public typealias ConcurrencyType = NSManagedObjectContextConcurrencyType

  public let concurrencyType: NSManagedObjectContextConcurrencyType
  let queue: ContextQueue

  /// The coordinator at the bottom of the chain.
  public var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { parent?.persistentStoreCoordinator ?? ownCoordinator }
    set {
      precondition(parent == nil, "A context with a parent has its parent's coordinator.")
      ownCoordinator = newValue
      renewMerging()
    }
  }
  private var ownCoordinator: NSPersistentStoreCoordinator?

  /// The context that this one reads from and saves to. Set it before the context is used.
  public var parent: NSManagedObjectContext? {
    willSet {
      precondition(
        registry.isEmpty && !hasPendingChanges, "The parent of a context can't change once it has objects.")
      precondition(
        newValue?.concurrencyType != .confinement,
        "A context of the confinement type has no queue on which its children could ask it; it can't be a parent.")
    }
    didSet { renewMerging() }
  }

  /// How a save settles conflicts with what the store holds meanwhile: an `NSMergePolicy`. Default: it fails.
  public var mergePolicy: Any = NSErrorMergePolicy
  /// True: what others save to the parent or, without one, to the coordinator is merged without being asked for, on
  /// this context's queue. Default false.
  public var automaticallyMergesChangesFromParent = false { didSet { renewMerging() } }
  /// Who listens to what is saved to this context.
  let mergers = AutomaticMerging()
  /// Where this context listens.
  var mergesFrom: AutomaticMerging?

  public var name: String?
  public var transactionAuthor: String?
  /// For the client's own notes.
  public let userInfo = NSMutableDictionary()
  /// True keeps unchanged objects alive too. Default false: a context holds unchanged objects weakly.
  public var retainsRegisteredObjects = false {
    didSet { retained = retainsRegisteredObjects ? registry.objects : [] }
  }
  /// True (default): a fault whose row is gone is marked deleted and reads as nil. False stops the program.
  public var shouldDeleteInaccessibleFaults = true
  /// Seconds for which a fault may be filled with values read before; negative for any age. Nothing is kept between
  /// a context and the store's file here, so that every fault reads what is true now, whatever stands here.
  public var stalenessInterval: TimeInterval = -1
  /// When deletions reach related objects: with the event's end (default) or at the save. Objects have no
  /// relationships yet.
  public var propagatesDeletesAtEndOfEvent = true
  /// Always nil: this platform has no undo manager. The type lets code say `undoManager = nil`, and nothing else.
  public var undoManager: Never? {
    get { nil }
    set {}
  }
  /// What notifications carry; see `ChangeNotificationContents`.
  public var changeNotificationContents = ChangeNotificationContents.objects

  /// Whether new objects may be saved without relationships that they must have, for these can't be set here: an import
  /// whose user wants it so leaves them to others.
  package var toleratesMissingRelationships = false

  /// Of every object that was not made for a batch.
  private(set) lazy var home = ObjectHome(self)
  var registry = ObjectRegistry()
  /// Every registered object, where `retainsRegisteredObjects` asks for it.
  var retained: Set<NSManagedObject> = []
  var insertions = PendingInsertions()
  var updates: [ObjectKey: NSManagedObject] = [:]
  var deletions: [ObjectKey: NSManagedObject] = [:]
  /// Unchanged objects that a save looks after (`detectConflicts(for:)`).
  var conflictChecks: [ObjectKey: NSManagedObject] = [:]
  /// What changed since the last `processPendingChanges`.
  var event = ChangeEvent()
  /// Objects that may still have to learn their permanent IDs and are not pending here.
  var awaitingPermanentIDs = AwaitedIDs()
  var eventClock = EventClock()
  /// Grows when what relationships were found to lead to may have become another.
  var relationshipEpoch: UInt64 = 0
  var isProcessingScheduled = false
  /// The generation that reads go to; nil for the newest.
  var generationPinned: NSQueryGenerationToken?
  /// Which object each error of the last validation is about: an error of a class's own kind can't say it itself.
  package internal(set) var validationFailures: [(id: NSManagedObjectID, error: any Error)] = []

  public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
    self.concurrencyType = concurrencyType
    queue =
      switch concurrencyType {
      case .mainQueueConcurrencyType: .main
      case .privateQueueConcurrencyType: .makePrivate()
      case .confinementConcurrencyType: .nowhere
      }
  }

  // Objects that were read ahead may hold each other in a circle, which nothing else would ever break.
  deinit { for object in registry.objects { object.related = nil } }

  public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type) }

  var model: NSManagedObjectModel? { persistentStoreCoordinator?.managedObjectModel }

  // MARK: What has changed

  public var hasChanges: Bool {
    checkQueue()
    return hasPendingChanges
  }
  private var hasPendingChanges: Bool { !insertions.isEmpty || !updates.isEmpty || !deletions.isEmpty }

  /// Objects inserted and not yet saved by this context. Makes a handle for each.
  public var insertedObjects: Set<NSManagedObject> {
    checkQueue()
    // One segment's set is made once, whoever asks for it.
    guard let first = insertions.segments.first else { return [] }
    return insertions.segments.dropFirst().reduce(into: objects(in: first)) { $0.formUnion(objects(in: $1)) }
  }
  public var updatedObjects: Set<NSManagedObject> {
    checkQueue()
    return Set(updates.values)
  }
  public var deletedObjects: Set<NSManagedObject> {
    checkQueue()
    return Set(deletions.values)
  }
  /// All objects of this context that somebody holds, pending insertions included.
  public var registeredObjects: Set<NSManagedObject> {
    checkQueue()
    return registry.objects.union(insertedObjects)
  }
}

/// Which queue a context lives on, by Apple's Objective-C names and the short ones of its Swift form.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  /// No queue: the client confines the context to one thread itself, and `perform` can't be used. Legacy.
  case confinementConcurrencyType = 0
  /// A serial queue of the context's own.
  case privateQueueConcurrencyType = 1
  /// The main queue.
  case mainQueueConcurrencyType = 2

  public static var confinement: Self { .confinementConcurrencyType }
  public static var privateQueue: Self { .privateQueueConcurrencyType }
  public static var mainQueue: Self { .mainQueueConcurrencyType }
}

/// What a context's notifications carry.
///
/// Making a set of objects for every change of a bulk import costs about as much as the import; whether anyone
/// listens cannot be asked. A context that only feeds a chain may announce identities instead.
public enum ChangeNotificationContents: Sendable {
  /// Sets of objects, as Apple's contexts send them.
  case objects
  /// Collections of object IDs (`ObjectIDCollection`) under the keys of the object-ID notifications.
  case objectIDs
}
