import Foundation
import OpenCoreData
import PersistentStores

/// Copies the versions of a store's objects, and what its ledger knows about imports, in the transaction that copies the
/// objects: an import into the copy does what one into the store would do.
final class CopiedRecords: SaveParticipant {
  private let tables: LedgerTables
  private let source: any SQLRowStore & TableStore
  private let snapshot: (any StoreSnapshot)?

  /// - Parameter snapshot: The state of the source from which the objects were read.
  init(_ tables: LedgerTables, of source: any SQLRowStore & TableStore, in snapshot: (any StoreSnapshot)?) {
    (self.tables, self.source, self.snapshot) = (tables, source, snapshot)
  }

  func write(to transaction: SaveTransaction) throws {
    for table in source.rowTables { try copyVersions(of: table, to: transaction) }
    try copyLedger(to: transaction)
  }

  private static let rowsAtOnce = 10_000

  private func rows(_ sql: String, _ values: [StoredValue] = []) throws -> [[StoredValue]] {
    try source.participantRows(sql, values, in: snapshot)
  }

  /// Both stores have the same tables and keys. Most objects have the version of their neighbours, so that few statements
  /// set many.
  private func copyVersions(of table: String, to transaction: SaveTransaction) throws {
    var run: (version: StoredValue, first: StoredValue, last: StoredValue)?
    func setVersions() throws {
      guard let run else { return }
      try transaction.run(
        "UPDATE \(table) SET Z_OPT = ?1 WHERE Z_PK BETWEEN ?2 AND ?3 AND Z_OPT <> ?1",
        [run.version, run.first, run.last])
    }
    var last = StoredValue.integer(.min)
    while true {
      let found = try rows(
        "SELECT Z_PK, Z_OPT FROM \(table) WHERE Z_PK > ? ORDER BY Z_PK LIMIT \(Self.rowsAtOnce)", [last])
      for row in found {
        if run?.version == row[1] {
          run?.last = row[0]
        } else {
          try setVersions()
          run = (row[1], row[0], row[0])
        }
      }
      guard let end = found.last?[0], found.count == Self.rowsAtOnce else { break }
      last = end
    }
    try setVersions()
  }

  private func copyLedger(to transaction: SaveTransaction) throws {
    let there = try tables.layout(transaction.dialect) { try transaction.rows($0) }
    if there != nil, try !transaction.rows("SELECT 1 FROM \(tables.input) LIMIT 1").isEmpty {
      throw NSError.coreData(
        .open,
        "The store that the copy is written to has no objects, but its ledger knows inputs. Copy into a new store, or "
          + "remove that ledger with '\(tables.program) ledger drop'.")
    }
    let plain = { [self] sql in try rows(sql).map { $0.map(\.plain) } }
    guard let layout = try tables.layout(source.dialect, plain) else { return }
    let known = Set(try source.dialect.tables(tables.names, plain).map(\.name))
    for sql in LedgerLayout.statements(for: tables, transaction.dialect, from: there) { try transaction.run(sql, []) }
    for (table, columns) in tables.columns where known.contains(table) {
      let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
      let insertion = "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))"
      for row in try rows("SELECT \(layout.readable(columns).joined(separator: ", ")) FROM \(table)") {
        try transaction.run(insertion, row)
      }
    }
  }
}
