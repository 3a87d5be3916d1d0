import Foundation

/// What the result of a history request contains.
public enum NSPersistentHistoryResultType: Int, Sendable {
  /// Whether anything was found or deleted.
  case statusOnly
  /// The IDs of the changed objects.
  case objectIDs
  /// The number of transactions, or of changes where the request asks for changes.
  case count
  /// The transactions without their changes.
  case transactionsOnly
  /// The changes without their transactions.
  case changesOnly
  /// The transactions with their changes.
  case transactionsAndChanges
}

/// Reads or deletes the history of stores that were added with `NSPersistentHistoryTrackingKey`. (Apple documentation:
/// NSPersistentHistoryChangeRequest.)
///
/// ```swift
/// let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
/// let result = try context.execute(request) as? NSPersistentHistoryResult
/// for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
///   context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
///   lastToken = transaction.token
/// }
/// ```
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest, ContextRequest {
  private enum Point {
    case all
    case token(NSPersistentHistoryToken)
    case date(Date)
  }

  private let point: Point
  private let deletes: Bool

  /// What the result contains, such as the transactions with their changes.
  open var resultType: NSPersistentHistoryResultType
  /// Which transactions or changes are found: a request of one of their classes. Its limit has no effect, as in Apple's
  /// framework.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?
  /// The point after which history is read, or before which it is deleted; nil for a request with a date.
  open var token: NSPersistentHistoryToken? { if case .token(let token) = point { token } else { nil } }
  open override var requestType: NSPersistentStoreRequestType { .persistentHistoryRequestType }

  private init(_ point: Point, deletes: Bool = false) {
    (self.point, self.deletes) = (point, deletes)
    resultType = deletes ? .statusOnly : .transactionsAndChanges
  }

  /// The transactions after `token`; all for nil.
  open class func fetchHistory(after token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(token.map(Point.token) ?? .all)
  }

  /// The transactions that were saved after `date`.
  open class func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.date(date))
  }

  /// The transactions of the same store after `transaction`; all for nil.
  open class func fetchHistory(
    after transaction: NSPersistentHistoryTransaction?
  ) -> NSPersistentHistoryChangeRequest {
    fetchHistory(after: transaction?.token)
  }

  /// The transactions or changes that `request` finds.
  open class func fetchHistory(
    withFetch request: NSFetchRequest<any NSFetchRequestResult>
  ) -> NSPersistentHistoryChangeRequest {
    let history = NSPersistentHistoryChangeRequest(.all)
    history.fetchRequest = request
    return history
  }

  /// Deletes what is before the transaction of `token`; nothing for nil.
  open class func deleteHistory(before token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.token(token ?? NSPersistentHistoryToken([:])), deletes: true)
  }

  /// Deletes what was saved before `date`.
  open class func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.date(date), deletes: true)
  }

  /// Deletes what is before `transaction` in its store; nothing for nil.
  open class func deleteHistory(
    before transaction: NSPersistentHistoryTransaction?
  ) -> NSPersistentHistoryChangeRequest {
    deleteHistory(before: transaction?.token)
  }

  // MARK: Execution

  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    try checkKeys()
    let coordinator = try context.requireCoordinator()
    let stores = (affectedStores ?? coordinator.persistentStores).compactMap(\.historyStore)
    guard !stores.isEmpty else {
      throw NSError.coreData(
        .unsupportedRequestType, "No store of the coordinator tracks its history, so none can be read.",
        suggestion: "Add the store with NSPersistentHistoryTrackingKey.")
    }
    if deletes { return try delete(from: stores) }
    let readsChanges = resultType.needsChanges || findsChanges
    let found = try stores.flatMap { store in
      try store.history(range(of: store), withChanges: readsChanges).map { transaction in
        NSPersistentHistoryTransaction(
          transaction, store: store.identity.uuid,
          changes: readsChanges ? transaction.changes.map(NSPersistentHistoryChange.init) : nil)
      }
    }
    return NSPersistentHistoryResult(resultType, contents(chosen(of: found)))
  }

  /// - Throws: `NSError` 134060 for a key that transactions or changes do not have.
  private func checkKeys() throws {
    guard let entity = fetchRequest?.entity, let node = try? fetchRequest?.predicate?.predicateNode() else { return }
    _ = try node.mapOperands { operand in
      if case .keyPath(let path) = operand, path != ["SELF"], entity.attributesByName[path[0]] == nil {
        throw EntityPredicateSchema.unknown(path, in: entity)
      }
      return nil
    }
  }

  private var findsChanges: Bool { fetchRequest?.entity?.name == "Change" }

  private func range(of store: any HistoryTrackingStore) -> HistoryRange {
    switch point {
    case .all: .all
    case .token(let token): token.numbers[store.identity.uuid].map(HistoryRange.afterNumber) ?? .all
    case .date(let date): .afterSeconds(date.timeIntervalSinceReferenceDate)
    }
  }

  private func delete(from stores: [any HistoryTrackingStore]) throws -> NSPersistentHistoryResult {
    for store in stores {
      switch point {
      case .all: continue
      case .token(let token):
        if let number = token.numbers[store.identity.uuid] { _ = try store.deleteHistory(before: .number(number)) }
      case .date(let date):
        _ = try store.deleteHistory(before: .seconds(date.timeIntervalSinceReferenceDate))
      }
    }
    return NSPersistentHistoryResult(.statusOnly, true)
  }

  /// The transactions that the fetch request finds, in its order. One for changes leaves in each only what it finds; its
  /// order is that of results without transactions.
  private func chosen(of all: [NSPersistentHistoryTransaction]) -> [NSPersistentHistoryTransaction] {
    guard let fetchRequest else { return all }
    guard let predicate = fetchRequest.predicate else { return sorted(all) }
    if findsChanges { return all.compactMap { $0.keeping { predicate.evaluate(with: $0.values) } } }
    return sorted(all.filter { predicate.evaluate(with: $0.values) })
  }

  private func sorted(_ found: [NSPersistentHistoryTransaction]) -> [NSPersistentHistoryTransaction] {
    findsChanges ? found : found.sorted(by: fetchRequest?.sortDescriptors) { ($0.values, $0.transactionNumber) }
  }

  private func contents(_ found: [NSPersistentHistoryTransaction]) -> Any {
    let order = findsChanges ? fetchRequest?.sortDescriptors : nil
    let changes = found.flatMap { $0.changes ?? [] }.sorted(by: order) { ($0.values, $0.changeID) }
    switch resultType {
    case .statusOnly: return !found.isEmpty
    case .objectIDs: return changes.map(\.changedObjectID)
    case .count: return findsChanges ? changes.count : found.count
    case .transactionsOnly, .transactionsAndChanges: return found
    case .changesOnly: return changes
    }
  }
}

/// The result of a history request. (Apple documentation: NSPersistentHistoryResult.)
open class NSPersistentHistoryResult: NSPersistentStoreResult {
  /// What `result` contains.
  public let resultType: NSPersistentHistoryResultType
  /// Whether anything was found or deleted, `[NSManagedObjectID]`, an `Int`, `[NSPersistentHistoryTransaction]`, or
  /// `[NSPersistentHistoryChange]`.
  public let result: Any?

  init(_ resultType: NSPersistentHistoryResultType, _ result: Any?) {
    (self.resultType, self.result) = (resultType, result)
  }
}

extension NSPersistentHistoryResultType {
  fileprivate var needsChanges: Bool { self != .transactionsOnly && self != .statusOnly }
}

extension Array {
  /// - Parameters:
  ///   - descriptors: Without any, the order stays.
  ///   - key: What the descriptors compare, and a number that decides where they find no difference.
  fileprivate func sorted(
    by descriptors: [NSSortDescriptor]?, _ key: (Element) -> (values: NSDictionary, number: Int64)
  ) -> [Element] {
    guard let descriptors, !descriptors.isEmpty else { return self }
    return sorted { left, right in
      let (left, right) = (key(left), key(right))
      for descriptor in descriptors {
        let result = descriptor.compare(left.values, to: right.values)
        if result != .orderedSame { return result == .orderedAscending }
      }
      return left.number < right.number
    }
  }
}
