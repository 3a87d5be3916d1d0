import Foundation

/// What the result of a batch deletion contains.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
  /// Whether it succeeded: `true`.
  case resultTypeStatusOnly
  /// The IDs of the deleted objects.
  case resultTypeObjectIDs
  /// The number of deleted objects.
  case resultTypeCount
}

/// Deletes rows in the store without contexts: no validation, no notifications. (Apple documentation:
/// NSBatchDeleteRequest.)
///
/// The delete rules are carried out on rows: what leads to a deleted row is set to nil, and what a cascade reaches is
/// deleted too. The result has the rows that were asked for, without those. Error 1600 says that a rule does not allow the
/// deletion, because the rule is deny, or because what leads to a row is mandatory or has no inverse; nothing is changed
/// then.
///
/// ```swift
/// let found = NSFetchRequest<NSManagedObjectID>(entityName: "JournalEntry")
/// found.predicate = NSPredicate(format: "rating == 0")
/// let request = NSBatchDeleteRequest(fetchRequest: found)
/// request.resultType = .resultTypeObjectIDs
/// let result = try context.execute(request) as? NSBatchDeleteResult
/// let changes: [AnyHashable: Any] = [NSDeletedObjectsKey: result?.result as? [NSManagedObjectID] ?? []]
/// NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
/// ```
open class NSBatchDeleteRequest: NSPersistentStoreRequest, ContextRequest {
  private enum Target {
    case found(NSFetchRequest<any NSFetchRequestResult>)
    case ids([NSManagedObjectID])
  }

  private let target: Target
  /// What the result contains: success (the default), the IDs of the deleted objects, or their number.
  open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly
  open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

  /// A copy of the request that selects the rows; for IDs, a request for their entity.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult> {
    switch target {
    case .found(let request): return request
    case .ids(let ids):
      let request = NSFetchRequest<any NSFetchRequestResult>()
      request.entity = ids.first?.entity
      return request
    }
  }

  /// Deletes the objects that `fetch` finds in the store, subject to its predicate, limit, offset and order.
  public init<ResultType>(fetchRequest fetch: NSFetchRequest<ResultType>) {
    target = .found(fetch.retyped(as: (any NSFetchRequestResult).self))
  }

  /// Deletes the objects with the IDs `objects`, which must belong to one entity tree.
  public init(objectIDs objects: [NSManagedObjectID]) {
    target = .ids(objects)
  }

  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let coordinator = try context.requireCoordinator()
    let wantsIDs = resultType == .resultTypeObjectIDs
    let outcomes: [BatchOutcome]
    switch target {
    case .found(let request):
      var query = try request.query(model: context.model)
      if let affectedStores { query.affectedStores = affectedStores.map(\.identity) }
      if query.limit + query.offset > 0, coordinator.persistentStores.count > 1 {
        // Limit and offset apply to the objects of all stores together.
        query.includesValues = false
        outcomes = try delete(
          StoreReading(coordinator: coordinator, generation: nil).rows(query).map(\.id), in: coordinator,
          for: context.changeOrigin, wantsIDs: wantsIDs)
        break
      }
      outcomes = try coordinator.writeToStores(query.affectedStores, keeping: query.entity, for: context.changeOrigin) {
        try $0.batchDelete(query, wantsIDs: wantsIDs)
      }
    case .ids(let ids):
      outcomes = try delete(
        ids.map(\.resolved), in: coordinator, for: context.changeOrigin, wantsIDs: wantsIDs)
    }
    let outcome = outcomes.joined
    switch resultType {
    case .resultTypeStatusOnly: return NSBatchDeleteResult(resultType, true)
    case .resultTypeObjectIDs: return NSBatchDeleteResult(resultType, outcome.ids)
    case .resultTypeCount: return NSBatchDeleteResult(resultType, outcome.count)
    }
  }

  private func delete(
    _ ids: [NSManagedObjectID], in coordinator: NSPersistentStoreCoordinator, for origin: ChangeOrigin,
    wantsIDs: Bool
  ) throws -> [BatchOutcome] {
    guard let root = ids.first?.entity.rootEntity else { return [] }
    if let other = ids.first(where: { $0.entity.rootEntity !== root }) {
      throw NSError.coreData(
        .coreData,
        "The batch deletion names objects of \(root.name ?? "") and of \(other.entity.name ?? ""). Make one request "
          + "for each.")
    }
    if let unsaved = ids.first(where: \.isTemporaryID) {
      throw NSError.coreData(
        .coreData, "The object \(unsaved) was never saved, so no store has it. Delete it in its context.")
    }
    return try coordinator.writeToStores(affectedStores?.map(\.identity), keeping: root, for: origin) { store in
      let keys = ids.compactMap { id -> Int64? in
        if case .permanent(let own, let key) = id.reference, own === store.identity { key } else { nil }
      }
      return try store.batchDelete(keys: keys, of: root, wantsIDs: wantsIDs)
    }
  }
}

/// The result of a batch deletion. (Apple documentation: NSBatchDeleteResult.)
open class NSBatchDeleteResult: NSPersistentStoreResult {
  /// What `result` contains.
  public let resultType: NSBatchDeleteRequestResultType
  /// True, the `[NSManagedObjectID]` of the deleted objects, or their number (`Int`).
  public let result: Any?

  init(_ resultType: NSBatchDeleteRequestResultType, _ result: Any?) {
    self.resultType = resultType
    self.result = result
  }
}

extension [BatchOutcome] {
  var joined: BatchOutcome {
    BatchOutcome(count: reduce(0) { $0 + $1.count }, ids: flatMap(\.ids))
  }
}
