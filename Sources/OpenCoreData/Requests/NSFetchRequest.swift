import Foundation

/// A request to a store. (Apple documentation: NSPersistentStoreRequest.)
open class NSPersistentStoreRequest: NSObject {
  /// The stores to ask; nil for all of the coordinator. Insertions that were never saved are not in a store yet and
  /// always count.
  open var affectedStores: [NSPersistentStore]?

  /// The kind of the request.
  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }
}

/// The kinds of requests.
public enum NSPersistentStoreRequestType: UInt, Sendable {
  /// A fetch (`NSFetchRequest`).
  case fetchRequestType = 1
  /// A save (`NSSaveChangesRequest`).
  case saveRequestType
  /// A batch insertion (`NSBatchInsertRequest`).
  case batchInsertRequestType = 5
  /// A batch update (`NSBatchUpdateRequest`).
  case batchUpdateRequestType
  /// A batch deletion (`NSBatchDeleteRequest`).
  case batchDeleteRequestType
  /// A history request (`NSPersistentHistoryChangeRequest`).
  case persistentHistoryRequestType
}

/// A type of results: managed objects, their IDs, dictionaries, or a count.
public protocol NSFetchRequestResult: NSObjectProtocol {}
extension NSManagedObjectID: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The kind of results that a fetch returns.
public struct NSFetchRequestResultType: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Objects; the default.
  public static let managedObjectResultType = NSFetchRequestResultType([])
  /// `NSManagedObjectID`s, without reading values.
  public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
  /// Dictionaries of the `propertiesToFetch`, by name.
  public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
  /// One number: how many objects there are.
  public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// Which objects to find, in which order, and how much of them to load. (Apple documentation: NSFetchRequest.)
///
/// `ResultType` is one of the classes that conform to ``NSFetchRequestResult``, or that protocol itself.
///
/// ```swift
/// let request = NSFetchRequest<NSDictionary>(entityName: "JournalEntry")
/// request.resultType = .dictionaryResultType
/// request.propertiesToFetch = ["location", "rating"]
/// request.predicate = NSPredicate(format: "rating > %d", 3)
/// let rows = try context.fetch(request)
/// ```
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest, NSCopying {
  /// The entity of the objects to find; nil for a request that was made with a name, until it is set or executed. One
  /// that was set takes precedence over the name. (Apple documentation: entity.)
  ///
  /// ```swift
  /// let request = NSFetchRequest<JournalEntry>()
  /// request.entity = NSEntityDescription.entity(forEntityName: "JournalEntry", in: context)
  /// let entries = try context.fetch(request)
  /// ```
  open var entity: NSEntityDescription? {
    get { entitySet ?? entityFound }
    set { (entitySet, entityFound) = (newValue, nil) }
  }
  private var entitySet: NSEntityDescription?
  /// The entity of the name in the model of the context that has executed the request.
  private var entityFound: NSEntityDescription?
  /// The name that the request was made with, or that of its entity.
  open var entityName: String? { entity?.name ?? nameGiven }
  private var nameGiven: String?
  /// The condition that results satisfy; nil for all objects of the entity. A predicate that does not match the entity
  /// is an error of the fetch, not of the assignment. (Apple documentation: predicate.)
  ///
  /// ```swift
  /// request.predicate = NSPredicate(format: "location BEGINSWITH[c] %@ AND rating >= %d", "rin", 4)
  /// ```
  open var predicate: NSPredicate?
  /// The order of the results: by the first descriptor, then by the next among equal ones. Nil or empty leaves the
  /// order to the store. (Apple documentation: sortDescriptors.)
  ///
  /// ```swift
  /// request.sortDescriptors = [
  ///   NSSortDescriptor(key: "date", ascending: false), NSSortDescriptor(key: "location", ascending: true),
  /// ]
  /// ```
  open var sortDescriptors: [NSSortDescriptor]?
  /// The maximum number of results; 0 for no limit.
  ///
  /// ```swift
  /// request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
  /// request.fetchLimit = 10
  /// let newest = try context.fetch(request)
  /// ```
  open var fetchLimit = 0
  /// The number of results to skip at the start.
  open var fetchOffset = 0
  /// The number of rows loaded together when a fault among the results fires; 0: the fetch reads all rows.
  ///
  /// The result is an array of light objects, all of them faults: IDs are read at once, values batch by batch, in child
  /// contexts too. Values live as long as their objects; an unchanged object without other owners is freed with its
  /// values.
  ///
  /// ```swift
  /// request.fetchBatchSize = 100  // rows
  /// for entry in try context.fetch(request) { print(entry.location ?? "") }
  /// ```
  open var fetchBatchSize = 0
  /// What the fetch returns: objects (default), IDs, dictionaries, or one number with the count. It must agree with
  /// `ResultType`; a fetch whose results are of another type throws. (Apple documentation: resultType.)
  ///
  /// ```swift
  /// let request = NSFetchRequest<NSManagedObjectID>(entityName: "JournalEntry")
  /// request.resultType = .managedObjectIDResultType
  /// let ids = try context.fetch(request)
  /// ```
  open var resultType = NSFetchRequestResultType.managedObjectResultType
  /// If true (default), objects of entities that inherit from the request's entity are found too. (Apple documentation:
  /// includesSubentities.)
  ///
  /// ```swift
  /// request.includesSubentities = false
  /// let count = try context.count(for: request)
  /// ```
  open var includesSubentities = true
  /// If false, objects are faults without values.
  open var includesPropertyValues = true
  /// If true, unsaved changes of the context and its ancestors count. Dictionaries show only what is in the store.
  open var includesPendingChanges = true
  /// If false, `awakeFromFetch` of the results has been called. In either case the values need no further read.
  open var returnsObjectsAsFaults = true
  /// If true, objects that are already in the context take the fetched values, unless they have changes.
  open var shouldRefreshRefetchedObjects = false
  /// For dictionary results: the attributes and to-one relationships to read, by name or as descriptions, "objectID", and
  /// an `NSExpressionDescription` for each value to compute; nil for all stored attributes. A relationship has the ID of
  /// its object.
  open var propertiesToFetch: [Any]?
  /// For dictionary results: whether equal dictionaries are returned only once.
  open var returnsDistinctResults = false
  /// For dictionary results: the attributes and expressions to group rows by; each group gives one result.
  open var propertiesToGroupBy: [Any]?
  /// With `propertiesToGroupBy`: the predicate that selects groups.
  open var havingPredicate: NSPredicate?
  /// Relationships, or paths of several, whose objects are read together with the result.
  open var relationshipKeyPathsForPrefetching: [String]?

  /// A request without an entity; set `entity` before it is executed. (Apple documentation: init().)
  public override init() {}

  /// A request for objects of the named entity, which the context looks up in its model when it fetches. (Apple
  /// documentation: init(entityName:).)
  ///
  /// ```swift
  /// let request = NSFetchRequest<JournalEntry>(entityName: "JournalEntry")
  /// request.fetchLimit = 1
  /// let first = try context.fetch(request).first
  /// ```
  ///
  /// - Parameter entityName: The name of an entity of the context's model. A fetch throws `NSError` if there is none.
  public init(entityName: String) {
    nameGiven = entityName
    super.init()
  }

  /// The entity to find objects of, which a request that was made with a name has from then on.
  func resolveEntity(_ model: NSManagedObjectModel?) -> NSEntityDescription? {
    if let entitySet { return entitySet }
    let found = nameGiven.flatMap { model?.entitiesByName[$0] }
    // Not written again: a request may be read on several queues.
    if found !== entityFound { entityFound = found }
    return found
  }

  open func copy(with zone: NSZone? = nil) -> Any { retyped(as: ResultType.self) }

  /// A copy with results of another type.
  func retyped<Other>(as type: Other.Type) -> NSFetchRequest<Other> {
    let copy = nameGiven.map(NSFetchRequest<Other>.init(entityName:)) ?? NSFetchRequest<Other>()
    copy.affectedStores = affectedStores
    copy.entitySet = entitySet
    copy.entityFound = entityFound
    copy.predicate = predicate
    copy.sortDescriptors = sortDescriptors
    copy.fetchLimit = fetchLimit
    copy.fetchOffset = fetchOffset
    copy.fetchBatchSize = fetchBatchSize
    copy.resultType = resultType
    copy.includesSubentities = includesSubentities
    copy.includesPropertyValues = includesPropertyValues
    copy.includesPendingChanges = includesPendingChanges
    copy.returnsObjectsAsFaults = returnsObjectsAsFaults
    copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    copy.propertiesToFetch = propertiesToFetch
    copy.returnsDistinctResults = returnsDistinctResults
    copy.propertiesToGroupBy = propertiesToGroupBy
    copy.havingPredicate = havingPredicate
    copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    return copy
  }
}
