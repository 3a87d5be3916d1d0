import Foundation

/// Rows by their keys: what faults ask for.
extension SQLiteStore {
  /// The rows of `ids`, nil where there is none (any more).
  func rows(for ids: [NSManagedObjectID]) throws -> [FetchedRow?] {
    try access("Reading") { connection in
      // A pinned generation shows other rows, and a transaction some that it may take back.
      guard snapshot == nil, !connection.isInTransaction else { return try read(ids, connection).of(ids) }
      if let known = try recentRows.rows(for: ids.map(\.key), connection) { return known }
      let found = try read(ids, connection)
      if found.statementCount == 1 { recentRows.keep(found.rows, of: connection.versionSeen) }
      return found.of(ids)
    }
  }

  /// Rows by the keys of their IDs.
  private struct Found {
    var rows: [ObjectKey: FetchedRow] = [:]
    /// One alone reads all of one version.
    var statementCount = 0

    func of(_ ids: [NSManagedObjectID]) -> [FetchedRow?] { ids.map { rows[$0.key] } }
  }

  private func read(_ ids: [NSManagedObjectID], _ connection: SQLiteConnection) throws -> Found {
    var found = Found()
    found.rows.reserveCapacity(ids.count)
    for (name, group) in Dictionary(grouping: ids, by: { $0.entity.rootEntity.name ?? "" }) {
      guard let root = group.first?.entity.rootEntity, schema.entity(named: name) != nil else { continue }
      let keys = group.compactMap { $0.storeIdentity === identity ? $0.storeKey : nil }
      for part in keys.statementParts {
        let plan = try rowPlan(root, keyCount: part.count)
        let statement = try connection.statement(plan.select.text)
        defer { statement.reset() }
        for (place, key) in part.enumerated() { try statement.bind(.integer(key), at: Int32(place + 1)) }
        while try statement.step() {
          let row = try plan.row(of: statement)
          found.rows[row.id.key] = row
        }
        found.statementCount += 1
      }
    }
    return found
  }

  /// How rows of `root` and its subentities are read by so many keys.
  private func rowPlan(_ root: NSEntityDescription, keyCount: Int) throws -> SelectPlan {
    let name = RowPlanName(root: root.name ?? "", keyCount: keyCount)
    if let known = rowPlans[name] { return known }
    let made = try SelectPlan(FetchQuery(entity: root), in: self, keyCount: keyCount)
    // As many as the connection keeps statements.
    if rowPlans.count >= SQLiteConnection.cachedStatementsMax { rowPlans.removeAll(keepingCapacity: true) }
    rowPlans[name] = made
    return made
  }
}

/// What tells the statements apart that read rows by keys.
struct RowPlanName: Hashable {
  let root: String
  let keyCount: Int
}
