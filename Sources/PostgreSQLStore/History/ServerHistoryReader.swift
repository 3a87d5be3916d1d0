import Foundation
import ManagedObjectModel
import PersistentStores

/// Reads the history in a transaction that only reads.
struct ServerHistoryReader {
  let connection: PostgreSQLConnection
  let idSpaces: [Int: PermanentIDSpace]

  private var tables: ServerHistoryTables { ServerHistoryTables(connection: connection) }

  func transactions(_ range: HistoryRange, withChanges: Bool) throws -> [HistoryTransaction] {
    if case .afterNumber = range {
      try range.checkComplete(
        first: try connection.integer("SELECT min(ocd_number) FROM ATRANSACTION", []), last: try tables.lastNumber())
    }
    let (condition, values): (String, [StoredValue]) =
      switch range {
      case .all: ("", [])
      case .afterNumber(let number): (" WHERE t.ocd_number > ?", [.integer(number)])
      case .afterSeconds(let seconds): (" WHERE t.ZTIMESTAMP > ?", [.real(seconds)])
      }
    let texts = ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"].map {
      ", (SELECT ZNAME FROM ATRANSACTIONSTRING s WHERE s.Z_PK = t.\($0))"
    }
    var found = try connection.rows(
      "SELECT t.ocd_number, t.ZTIMESTAMP\(texts.joined()) FROM ATRANSACTION t\(condition) ORDER BY t.ocd_number", values
    ).map { HistoryTransaction($0) }
    guard withChanges else { return found }
    var changes = try changes(condition, values)
    for index in found.indices { found[index].changes = changes.removeValue(forKey: found[index].number) ?? [] }
    return found
  }

  private func changes(_ condition: String, _ values: [StoredValue]) throws -> [Int64: [HistoryChange]] {
    let count = try tables.tombstoneCount()
    let result = try connection.query(
      "SELECT t.ocd_number, c.Z_PK, c.ZCHANGETYPE, c.ZENTITY, c.ZENTITYPK, c.ZCOLUMNS"
        + (0..<count).map { ", c.ZTOMBSTONE\($0)" }.joined()
        + " FROM ACHANGE c JOIN ATRANSACTION t ON t.Z_PK = c.ZTRANSACTIONID\(condition) ORDER BY c.Z_PK", values)
    var found: [Int64: [HistoryChange]] = [:]
    var properties: [Int: TrackedProperties] = [:]
    for row in 0..<result.rowCount {
      var bits: Data?
      if case .blob(let bytes) = result.value(row, 5) { bits = bytes }
      let number = result.integer(row, 1)
      let change = try HistoryChange(
        number: number, kind: result.integer(row, 2), entity: Int(result.integer(row, 3)),
        key: result.integer(row, 4), bits: bits, tombstonesMax: count, idSpaces, &properties
      ) { index, attribute in
        guard case .blob(let bytes) = result.value(row, 6 + index) else { return .null }
        if let value = ColumnType(attribute).value(preserved: bytes) { return value }
        throw NSError.coreData(
          .sqlite,
          "The change \(number) of the history has preserved bytes of '\(attribute.name)' that are not its value. Delete "
            + "the history up to it with NSPersistentHistoryChangeRequest.deleteHistory(before:).")
      }
      found[result.integer(row, 0), default: []].append(change)
    }
    return found
  }
}
