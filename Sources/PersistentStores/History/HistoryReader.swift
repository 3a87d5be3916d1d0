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
    var found = rows.map { HistoryTransaction($0) }
    guard withChanges else { return found }
    var changes = try self.changes(condition, values)
    for index in found.indices { found[index].changes = changes.removeValue(forKey: found[index].number) ?? [] }
    return found
  }

  private func checkComplete(_ range: HistoryRange) throws {
    guard case .afterNumber = range else { return }
    try range.checkComplete(
      first: try connection.integer("SELECT min(Z_PK) FROM ATRANSACTION"),
      last: try connection.lastHistoryKey(of: .transaction))
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
    var bits: Data?
    if case .blob(let found) = row.value(5) { bits = found }
    return try HistoryChange(
      number: row.integer(0), kind: row.integer(1), entity: Int(row.integer(2)), key: row.integer(3), bits: bits,
      tombstonesMax: tombstonesMax, idSpaces, &properties
    ) { index, attribute in attribute.storedValue(column: Int32(6 + index), of: row) }
  }
}

extension HistoryRange {
  /// - Parameters:
  ///   - first: The number of the first transaction that is there; nil if none is.
  ///   - last: The number of the last one that was written; 0 before the first.
  /// - Throws: `NSError` 134301 if transactions after the one that was read last are deleted, or if that one is not of
  ///   this history: the store is an older copy.
  package func checkComplete(first: Int64?, last: Int64) throws {
    guard case .afterNumber(let number) = self else { return }
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
}

extension HistoryChange {
  /// A row of `ACHANGE`.
  ///
  /// - Parameters:
  ///   - kind: `ZCHANGETYPE`.
  ///   - entity: `ZENTITY`.
  ///   - key: `ZENTITYPK`.
  ///   - bits: `ZCOLUMNS`.
  ///   - tombstonesMax: The number of columns for preserved values.
  ///   - properties: What was found out about entities.
  ///   - tombstone: The preserved value of a column.
  package init(
    number: Int64, kind: Int64, entity: Int, key: Int64, bits: Data?, tombstonesMax: Int,
    _ idSpaces: [Int: PermanentIDSpace], _ properties: inout [Int: TrackedProperties],
    tombstone: (_ index: Int, NSAttributeDescription) throws -> StoredValue
  ) throws {
    guard let known = Kind(rawValue: Int(kind)), let space = idSpaces[entity], !space.entity.isAbstract else {
      throw NSError.coreData(
        .sqlite,
        "The change \(number) of the history is of the kind \(kind) and of the entity with the number \(entity), which "
          + "this model does not have or which is abstract. Open the store with the model that it was written with.")
    }
    self.number = number
    self.kind = known
    id = NSManagedObjectID(space: space, key: key)
    var updated: [String]?
    if let bits {
      let tracked = properties[entity] ?? TrackedProperties(space.entity)
      properties[entity] = tracked
      updated = tracked.names(in: bits)
    }
    updatedProperties = updated
    var values: [String: StoredValue] = [:]
    let preserved = known == .delete ? PreservedAttributes(space.entity).slots.prefix(tombstonesMax) : []
    for (index, slot) in preserved.enumerated() {
      let attribute = space.entity.attributeSlots[slot]
      let value = try tombstone(index, attribute)
      if !value.isNull { values[attribute.name] = value }
    }
    self.tombstone = values
  }
}

extension HistoryTransaction {
  /// A row of `ATRANSACTION`: the number, the time, the author, the bundle, the context's name and the process.
  package init(_ row: [StoredValue]) {
    self.init(
      number: row[0].wholeNumber ?? 0, seconds: row[1].seconds, author: row[2].string, bundleID: row[3].string,
      contextName: row[4].string, processID: row[5].string)
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
