import Foundation
import ManagedObjectModel

/// Reads the rows of a store on one connection: the writing one, one of the pool, or a snapshot's.
final class SQLiteReader: RowReader {
  let connection: SQLiteConnection
  /// The store creates its readers and outlives them.
  unowned let store: SQLiteStore
  /// How to read rows by key, built on first use.
  private var rowPlans: [RowPlanName: SelectPlan] = [:]

  init(_ connection: SQLiteConnection, of store: SQLiteStore) {
    self.connection = connection
    self.store = store
  }

  /// Runs `body` and converts SQLite errors to Core Data errors.
  func access<Result>(_ what: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .sqlite, message: "\(what) \(store.location) failed")
    }
  }

  // MARK: Queries

  func rows(_ query: FetchQuery) throws -> [FetchedRow] {
    let plan = try SelectPlan(query, in: store)
    return try access("Reading") {
      let statement = try connection.statement(plan.select)
      defer { statement.reset() }
      var result: [FetchedRow] = []
      while try statement.step() { result.append(try plan.row(of: statement)) }
      return result
    }
  }

  func count(_ query: FetchQuery) throws -> Int {
    let plan = try SelectPlan(query, in: store)
    return try access("Counting in") {
      Int(try connection.integer(plan.count.text, plan.count.bindings) ?? 0)
    }
  }

  func explanation(_ query: FetchQuery) throws -> QueryExplanation {
    let select = try SelectPlan(query, in: store).select
    return try access("Reading") {
      QueryExplanation(
        statement: select.text, values: select.bindings,
        plan: try QueryPlan.steps(of: select.text, connection.handle))
    }
  }

  func cursor(
    _ query: FetchQuery, rowsPerBatch: Int, ownsSnapshot: Bool, lock: NSRecursiveLock?
  ) throws -> StoreCursor {
    try StoreCursor(
      connection, try SelectPlan(query, in: store), rowsPerBatch: rowsPerBatch, bytesPerBatch: Self.bytesPerBatch,
      ownsSnapshot: ownsSnapshot, lock: lock)
  }

  /// Far more than usual rows have: it bounds the memory of a walk over rows with long texts.
  private static let bytesPerBatch = 8 << 20

  // MARK: Rows by their keys

  func rows(for ids: [NSManagedObjectID]) throws -> [FetchedRow?] { try read(ids, leavingOut: nil) }

  func rows(for ids: [NSManagedObjectID], leavingOut missing: MissingValues) throws -> [FetchedRow?] {
    try read(ids, leavingOut: missing)
  }

  private func read(_ ids: [NSManagedObjectID], leavingOut missing: MissingValues?) throws -> [FetchedRow?] {
    try access("Reading") {
      let found = try rowsByKey(ids, leavingOut: missing)
      return ids.map { found[$0.key] }
    }
  }

  private func rowsByKey(_ ids: [NSManagedObjectID], leavingOut missing: MissingValues?) throws -> [ObjectKey:
    FetchedRow]
  {
    var found: [ObjectKey: FetchedRow] = [:]
    found.reserveCapacity(ids.count)
    for (name, group) in Dictionary(grouping: ids, by: { $0.entity.rootEntity.name ?? "" }) {
      guard let root = group.first?.entity.rootEntity, store.schema.entity(named: name) != nil else { continue }
      let keys = group.compactMap { $0.storeIdentity === store.identity ? $0.storeKey : nil }
      for part in keys.statementParts {
        let plan = try rowPlan(root, keyCount: part.count)
        let statement = try connection.statement(plan.select.text)
        defer { statement.reset() }
        for (index, key) in part.enumerated() { try statement.bind(.integer(key), at: Int32(index + 1)) }
        while try statement.step() {
          let row = try plan.row(of: statement, leavingOut: missing)
          found[row.id.key] = row
        }
      }
    }
    return found
  }

  /// How to read rows of `root` and its subentities by this many keys.
  private func rowPlan(_ root: NSEntityDescription, keyCount: Int) throws -> SelectPlan {
    let name = RowPlanName(root: root.name ?? "", keyCount: keyCount)
    if let known = rowPlans[name] { return known }
    let made = try SelectPlan(FetchQuery(entity: root), in: store, keyCount: keyCount)
    // As many as the connection caches statements.
    if rowPlans.count >= SQLiteConnection.cachedStatementsMax { rowPlans.removeAll(keepingCapacity: true) }
    rowPlans[name] = made
    return made
  }
}

/// Identifies the statements that read rows by key.
private struct RowPlanName: Hashable {
  let root: String
  let keyCount: Int
}
