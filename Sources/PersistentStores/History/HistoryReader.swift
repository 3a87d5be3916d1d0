import Foundation
import ManagedObjectModel

/// Reads the history tables. Those of older frameworks lack some columns.
struct HistoryReader {
  private let connection: SQLiteConnection
  private let idSpaces: [Int: PermanentIDSpace]

  init(_ connection: SQLiteConnection, _ idSpaces: [Int: PermanentIDSpace]) {
    (self.connection, self.idSpaces) = (connection, idSpaces)
  }

  /// The transactions and their changes as of one moment.
  func transactions(_ range: HistoryRange, withChanges: Bool) throws -> [HistoryTransaction] {
    try connection.readTransaction { try found(range, withChanges: withChanges) }
  }

  private func found(_ range: HistoryRange, withChanges: Bool) throws -> [HistoryTransaction] {
    try checkComplete(range)
    let (condition, values): (String, [StoredValue]) =
      switch range {
      case .all: ("", [])
      case .afterNumber(let number): (" WHERE t.Z_PK > ?", [.integer(number)])
      case .afterSeconds(let seconds): (" WHERE t.ZTIMESTAMP > ?", [.real(seconds)])
      }
    let columns = try HistoryTables(connection: connection).columns(of: .transaction)
    let names = ["AUTHOR", "BUNDLEID", "CONTEXTNAME", "PROCESSID"].map { text(of: "Z\($0)", columns) }
    let rows = try connection.rows(
      "SELECT t.Z_PK, t.ZTIMESTAMP, \(names.joined(separator: ", ")) FROM ATRANSACTION t\(condition) ORDER BY t.Z_PK",
      values)
    var found = rows.map { row in
      HistoryTransaction(
        number: row[0].wholeNumber ?? 0, seconds: row[1].seconds, author: row[2].string, bundleID: row[3].string,
        contextName: row[4].string, processID: row[5].string)
    }
    guard withChanges else { return found }
    var changes = try self.changes(condition, values)
    for index in found.indices { found[index].changes = changes.removeValue(forKey: found[index].number) ?? [] }
    return found
  }

  /// - Throws: `NSError` 134301 if transactions after the one that was read last are deleted, or if that one is not of
  ///   this history: the store is an older copy.
  private func checkComplete(_ range: HistoryRange) throws {
    guard case .afterNumber(let number) = range else { return }
    let last = try connection.lastHistoryKey(of: .transaction)
    let first = try connection.integer("SELECT min(Z_PK) FROM ATRANSACTION")
    let next = "Read all objects again, and then the history from the current token on."
    guard number <= last else {
      throw NSError.coreData(
        .historyTokenExpired,
        "The token names transaction \(number), and the last one of the store is \(last): the store may be an older "
          + "copy. \(next)")
    }
    guard first.map({ $0 > number + 1 }) ?? (number < last) else { return }
    throw NSError.coreData(
      .historyTokenExpired,
      "The history after transaction \(number) was deleted in part; what is left begins with "
        + "\(first.map { "\($0)" } ?? "nothing"). \(next)")
  }

  /// A name in the table of texts, or in the row itself.
  private func text(of column: String, _ columns: Set<String>) -> String {
    let own = columns.contains(column) ? "t.\(column)" : "NULL"
    guard columns.contains("\(column)TS") else { return own }
    return "coalesce((SELECT ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = t.\(column)TS), \(own))"
  }

  // MARK: Changes

  private func changes(_ condition: String, _ values: [StoredValue]) throws -> [Int64: [HistoryChange]] {
    let columns = try HistoryTables(connection: connection).columns(of: .change)
    let tombstones = Array((0...).lazy.map { "ZTOMBSTONE\($0)" }.prefix { columns.contains($0) })
    let bits = columns.contains("ZCOLUMNS") ? "c.ZCOLUMNS" : "NULL"
    let statement = try connection.statement(
      "SELECT c.Z_PK, c.ZCHANGETYPE, c.ZENTITY, c.ZENTITYPK, c.ZTRANSACTIONID, \(bits)"
        + tombstones.map { ", c.\($0)" }.joined()
        + " FROM ACHANGE c JOIN ATRANSACTION t ON t.Z_PK = c.ZTRANSACTIONID\(condition) ORDER BY c.Z_PK")
    defer { statement.reset() }
    try statement.bind(values)
    var found: [Int64: [HistoryChange]] = [:]
    var properties: [Int: TrackedProperties] = [:]
    while try statement.step() {
      let change = try self.change(statement, tombstonesMax: tombstones.count, &properties)
      found[statement.integer(4), default: []].append(change)
    }
    return found
  }

  private func change(
    _ row: SQLiteStatement, tombstonesMax: Int, _ properties: inout [Int: TrackedProperties]
  ) throws -> HistoryChange {
    let (number, entityNumber) = (row.integer(0), Int(row.integer(2)))
    guard let kind = HistoryChange.Kind(rawValue: Int(row.integer(1))), let space = idSpaces[entityNumber],
      !space.entity.isAbstract
    else {
      throw NSError.coreData(
        .sqlite,
        "The change \(number) of the history is of the kind \(row.integer(1)) and of the entity with the number "
          + "\(entityNumber), which this model does not have or which is abstract. Open the store with the model that it was "
          + "written with.")
    }
    var updated: [String]?
    if case .blob(let bits) = row.value(5) {
      let known = properties[entityNumber] ?? TrackedProperties(space.entity)
      properties[entityNumber] = known
      updated = known.names(in: bits)
    }
    var tombstone: [String: StoredValue] = [:]
    let preserved = kind == .delete ? PreservedAttributes(space.entity).slots.prefix(tombstonesMax) : []
    for (index, slot) in preserved.enumerated() {
      let attribute = space.entity.attributeSlots[slot]
      let value = attribute.storedValue(column: Int32(6 + index), of: row)
      if !value.isNull { tombstone[attribute.name] = value }
    }
    return HistoryChange(
      number: number, kind: kind, id: NSManagedObjectID(space: space, key: row.integer(3)), updatedProperties: updated,
      tombstone: tombstone)
  }
}

extension StoredValue {
  fileprivate var wholeNumber: Int64? { if case .integer(let number) = self { number } else { nil } }
  fileprivate var string: String? { if case .text(let text) = self { text } else { nil } }
  /// A time with a whole number of seconds may be stored as an integer.
  fileprivate var seconds: Double {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: 0
    }
  }
}
