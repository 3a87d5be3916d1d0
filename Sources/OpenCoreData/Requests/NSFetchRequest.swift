import Foundation

/// What a store can be asked to do (Apple documentation: NSPersistentStoreRequest).
open class NSPersistentStoreRequest: NSObject {
  /// The stores to ask; nil for all of the coordinator. Insertions that were never saved are in no store yet and
  /// count whatever this says.
  open var affectedStores: [NSPersistentStore]?

  /// What kind of request this is.
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

/// What a fetch can yield: managed objects, their IDs, dictionaries, or a count.
public protocol NSFetchRequestResult: NSObjectProtocol {}
extension NSManagedObjectID: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// What a fetch yields.
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
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest, NSCopying {
  open var entity: NSEntityDescription?
  /// The name that the request was made with, or that of the entity which was set.
  open var entityName: String? { entity?.name ?? nameGiven }
  private var nameGiven: String?
  open var predicate: NSPredicate?
  open var sortDescriptors: [NSSortDescriptor]?
  /// At most this many results; 0 for no limit.
  open var fetchLimit = 0
  /// Results to leave out at the start.
  open var fetchOffset = 0
  /// Rows loaded together when a fault among the results fires; 0: all rows come with the fetch.
  ///
  /// The result is an array of light objects, all of them faults: identities are read at once, values batch by batch,
  /// in child contexts too. Values stay as long as their objects do; an object that nobody holds any more, and that
  /// has no changes, goes with its values.
  open var fetchBatchSize = 0
  open var resultType = NSFetchRequestResultType.managedObjectResultType
  open var includesSubentities = true
  /// False: objects come as faults without values.
  open var includesPropertyValues = true
  /// True: unsaved changes of the context and its ancestors count. Dictionaries show the store only.
  open var includesPendingChanges = true
  /// False: objects come with `awakeFromFetch` done. Either way the values are at hand without another read.
  open var returnsObjectsAsFaults = true
  /// True: objects already in the context take the fetched values, unless they have changes.
  open var shouldRefreshRefetchedObjects = false
  /// With dictionary results: the attributes wanted, by name or as descriptions, and "objectID"; nil for all
  /// attributes that are stored.
  open var propertiesToFetch: [Any]?
  /// With dictionary results: of equal dictionaries only one.
  open var returnsDistinctResults = false
  /// With dictionary results: the attributes by which rows are put together, one result for each group.
  open var propertiesToGroupBy: [Any]?
  /// With `propertiesToGroupBy`: which groups count.
  open var havingPredicate: NSPredicate?
  /// Relationships, or paths of several, whose objects are read together with the result.
  open var relationshipKeyPathsForPrefetching: [String]?

  public override init() {}

  public init(entityName: String) {
    nameGiven = entityName
    super.init()
  }

  open func copy(with zone: NSZone? = nil) -> Any { retyped(as: ResultType.self) }

  /// A copy that promises results of another type.
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
