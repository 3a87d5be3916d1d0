import Foundation

/// What a store can be asked to do (Apple documentation: NSPersistentStoreRequest).
open class NSPersistentStoreRequest: NSObject {
  /// The stores to ask; nil for all of the coordinator.
  open var affectedStores: [NSPersistentStore]?
}

/// What a fetch can yield: managed objects, their IDs, dictionaries, or a count.
public protocol NSFetchRequestResult: NSObjectProtocol {}
extension NSManagedObject: NSFetchRequestResult {}
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
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest {
  open var entity: NSEntityDescription?
  open private(set) var entityName: String?
  open var predicate: NSPredicate?
  open var sortDescriptors: [NSSortDescriptor]?
  /// At most this many results; 0 for no limit.
  open var fetchLimit = 0
  /// Results to leave out at the start.
  open var fetchOffset = 0
  /// Rows loaded together when a fault among the results fires; 0: all rows come with the fetch.
  open var fetchBatchSize = 0
  open var resultType = NSFetchRequestResultType.managedObjectResultType
  open var includesSubentities = true
  /// False: objects come as faults without values.
  open var includesPropertyValues = true
  /// True: unsaved changes of the context and its ancestors count.
  open var includesPendingChanges = true
  /// False: objects come with `awakeFromFetch` done. Either way the values are at hand without another read.
  open var returnsObjectsAsFaults = true
  /// True: objects already in the context take the fetched values, unless they have changes.
  open var shouldRefreshRefetchedObjects = false
  /// With dictionary results: the names of the attributes wanted; nil for all.
  open var propertiesToFetch: [Any]?
  open var relationshipKeyPathsForPrefetching: [String]?

  public override init() {}

  public init(entityName: String) {
    self.entityName = entityName
    super.init()
  }

  /// A copy that promises results of another type.
  func retyped<Other>(as type: Other.Type) -> NSFetchRequest<Other> {
    let copy = entityName.map(NSFetchRequest<Other>.init(entityName:)) ?? NSFetchRequest<Other>()
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
    copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    return copy
  }
}

/// A fetch request in the form that contexts and stores answer: resolved, checked and free to change queues.
struct FetchQuery: Sendable {
  let entity: NSEntityDescription
  var includesSubentities = true
  var predicate: BoundPredicate?
  var sortKeys: [SortKey] = []
  var limit = 0
  var offset = 0
  var includesPendingChanges = true
  /// False: only identities are wanted.
  var includesValues = true
  /// Only objects whose key in the store is greater; nil for all.
  var keyAbove: Int64?

  func covers(_ other: NSEntityDescription) -> Bool {
    other === entity || (includesSubentities && other.isKindOf(entity: entity))
  }
}

extension NSFetchRequest {
  /// The request checked against the model.
  ///
  /// - Throws: `NSError` for an unknown entity, or for a predicate or sort key that does not fit it.
  func query(model: NSManagedObjectModel?) throws -> FetchQuery {
    guard let found = entity ?? entityName.flatMap({ model?.entitiesByName[$0] }) else {
      throw NSError.coreData(
        .coreData,
        "The fetch request names the entity \"\(entityName ?? "")\", which the model does not have. "
          + "It has: \((model?.entitiesByName.keys.sorted() ?? []).joined(separator: ", ")).")
    }
    let schema = EntityPredicateSchema(entity: found)
    var query = FetchQuery(entity: found)
    query.includesSubentities = includesSubentities
    query.predicate = try predicate?.predicateNode().bound(to: schema)
    query.sortKeys = try (sortDescriptors ?? []).map(SortKey.init)
    for key in query.sortKeys { _ = try schema.attributeType(ofKeyPath: key.keyPath) }
    query.limit = fetchLimit
    query.offset = fetchOffset
    query.includesPendingChanges = includesPendingChanges
    query.includesValues = includesPropertyValues
    return query
  }
}
