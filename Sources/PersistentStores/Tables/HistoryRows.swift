import Foundation
import ManagedObjectModel

/// Keys and rows of a history's tables, which each kind of database gives in its own way.
package protocol HistoryRows: AnyObject {
  var connection: any TableStatements { get }
  /// - Returns: The key of a new transaction, to which changes refer.
  func beginTransaction() throws -> Int64
  /// - Parameter isUsed: Whether it has changes; otherwise no row of it is to stay.
  func endTransaction(_ key: Int64, isUsed: Bool) throws
  /// The key of the next change; nil where the table gives keys.
  func nextChangeKey() throws -> Int64?
  /// So many keys are taken since.
  func noteChangeKeys(_ count: Int)
  /// A preserved value as a parameter of a statement.
  func tombstone(_ value: StoredValue, _ attribute: NSAttributeDescription) -> StoredValue
  /// The expression for the preserved value of a column.
  func tombstone(of column: String, _ attribute: NSAttributeDescription) -> String
}

extension ChangeOrigin {
  /// The texts of a transaction by column, without those that are not known.
  package var texts: [(column: String, text: String)] {
    let process = ProcessInfo.processInfo.processName
    let texts = [
      ("ZAUTHORTS", author), ("ZBUNDLEIDTS", Bundle.main.bundleIdentifier ?? process), ("ZCONTEXTNAMETS", contextName),
      ("ZPROCESSIDTS", process),
    ]
    return texts.compactMap { column, text in text.map { (column, $0) } }
  }
}

/// Those of a SQLite store: keys follow those of `Z_PRIMARYKEY`, and the transaction's row is written with its first
/// change.
final class SQLiteHistoryRows: HistoryRows {
  private let database: SQLiteConnection
  private let origin: ChangeOrigin
  /// The last key of each entity, read when the first is needed.
  private var lastKeys: [HistoryTables.Entity: Int64] = [:]

  init(_ database: SQLiteConnection, origin: ChangeOrigin) { (self.database, self.origin) = (database, origin) }

  var connection: any TableStatements { database }

  func beginTransaction() throws -> Int64 {
    let number = try nextKey(of: .transaction)
    let texts = try origin.texts.map { (column: $0.column, key: try key(of: $0.text)) }
    let columns = texts.map { ", \($0.column)" }.joined()
    let marks = texts.map { _ in ", ?" }.joined()
    try database.run(
      "INSERT INTO ATRANSACTION(Z_PK, Z_ENT, ZTIMESTAMP\(columns)) "
        + "VALUES(?, \(HistoryTables.Entity.transaction.rawValue), ?\(marks))",
      [.integer(number), .real(Date().timeIntervalSinceReferenceDate)] + texts.map(\.key))
    return number
  }

  /// Keeps the key sequences.
  func endTransaction(_ key: Int64, isUsed: Bool) throws {
    if !isUsed {
      try database.run("DELETE FROM ATRANSACTION WHERE Z_PK = ?", [.integer(key)])
      lastKeys[.transaction] = key - 1
    }
    for (entity, last) in lastKeys {
      try database.run(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?", [.integer(last), .integer(Int64(entity.rawValue))])
    }
  }

  func nextChangeKey() throws -> Int64? { try lastKey(of: .change) + 1 }
  func noteChangeKeys(_ count: Int) { lastKeys[.change, default: 0] += Int64(count) }
  func tombstone(_ value: StoredValue, _ attribute: NSAttributeDescription) -> StoredValue { value }
  func tombstone(of column: String, _ attribute: NSAttributeDescription) -> String { column }

  /// The key of a text, which the table of texts has once.
  private func key(of text: String) throws -> StoredValue {
    let find = "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?"
    if let known = try database.integer(find, [.text(text)]) { return .integer(known) }
    let key = StoredValue.integer(try nextKey(of: .string))
    try database.run(
      "INSERT INTO ATRANSACTIONSTRING(Z_PK, Z_ENT, ZNAME) VALUES(?, \(HistoryTables.Entity.string.rawValue), ?)",
      [key, .text(text)])
    return key
  }

  private func nextKey(of entity: HistoryTables.Entity) throws -> Int64 {
    let key = try lastKey(of: entity) + 1
    lastKeys[entity] = key
    return key
  }

  private func lastKey(of entity: HistoryTables.Entity) throws -> Int64 {
    if let known = lastKeys[entity] { return known }
    let last = try database.lastHistoryKey(of: entity)
    try NSError.checkKey(last, of: "the history", in: entity.table)
    lastKeys[entity] = last
    return last
  }
}
