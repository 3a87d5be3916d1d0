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
  case fetchRequestType = 1
  case saveRequestType
  case batchInsertRequestType = 5
  case batchUpdateRequestType
  case batchDeleteRequestType
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

  public static let managedObjectResultType = NSFetchRequestResultType([])
  public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
  public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
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
  open var entity: NSEntityDescription?
  /// The name that the request was made with, or that of its entity.
  open var entityName: String? { entity?.name ?? nameGiven }
  private var nameGiven: String?
  open var predicate: NSPredicate?
  open var sortDescriptors: [NSSortDescriptor]?
  /// The maximum number of results; 0 for no limit.
  open var fetchLimit = 0
  /// The number of results to skip at the start.
  open var fetchOffset = 0
  /// The number of rows loaded together when a fault among the results fires; 0: the fetch reads all rows.
  ///
  /// The result is an array of light objects, all of them faults: IDs are read at once, values batch by batch, in child
  /// contexts too. Values live as long as their objects; an unchanged object without other owners is freed with its
  /// values.
  open var fetchBatchSize = 0
  open var resultType = NSFetchRequestResultType.managedObjectResultType
  open var includesSubentities = true
  /// If false, objects are faults without values.
  open var includesPropertyValues = true
  /// If true, unsaved changes of the context and its ancestors count. Dictionaries show only what is in the store.
  open var includesPendingChanges = true
  /// If false, `awakeFromFetch` of the results has been called. In either case the values need no further read.
  open var returnsObjectsAsFaults = true
  /// If true, objects that are already in the context take the fetched values, unless they have changes.
  open var shouldRefreshRefetchedObjects = false
  /// For dictionary results: the attributes to read, by name or as descriptions, and "objectID"; nil for all stored
  /// attributes.
  open var propertiesToFetch: [Any]?
  /// For dictionary results: whether equal dictionaries are returned only once.
  open var returnsDistinctResults = false
  /// For dictionary results: the attributes to group rows by; each group gives one result.
  open var propertiesToGroupBy: [Any]?
  /// With `propertiesToGroupBy`: the predicate that selects groups.
  open var havingPredicate: NSPredicate?
  /// Relationships, or paths of several, whose objects are read together with the result.
  open var relationshipKeyPathsForPrefetching: [String]?

  public override init() {}

  public init(entityName: String) {
    nameGiven = entityName
    super.init()
  }

  open func copy(with zone: NSZone? = nil) -> Any { retyped(as: ResultType.self) }

  /// A copy with results of another type.
  func retyped<Other>(as type: Other.Type) -> NSFetchRequest<Other> {
    let copy = nameGiven.map(NSFetchRequest<Other>.init(entityName:)) ?? NSFetchRequest<Other>()
    copy.affectedStores = affectedStores
    copy.entity = entity
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
