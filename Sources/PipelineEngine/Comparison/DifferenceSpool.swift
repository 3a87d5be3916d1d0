import Foundation
import SystemSupport
import ManagedObjectModel
import PersistentStores

/// The differences that were found so far, in a private temporary database: memory does not grow with them.
///
/// The new side's entries are stored by the number of their record, because a later record with the same key changes
/// what an earlier one is.
final class DifferenceSpool: Sendable {
  private let connection: Locked<SQLiteConnection>

  /// Throws a ``KeySpillError``, as every method does.
  init() throws {
    connection = Locked(try Self.explained { try SQLiteConnection(path: "", mode: .privateTemporary) })
    try perform { connection in
      try connection.execute(
        """
        PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
        PRAGMA cache_size = -16384;
        CREATE TABLE new (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, line INTEGER NOT NULL, old INTEGER,
          absent TEXT, content BLOB NOT NULL);
        CREATE TABLE old (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, line INTEGER NOT NULL,
          content BLOB NOT NULL);
        """)
    }
  }

  /// An entry that differs.
  struct Item: Sendable {
    let kind: Difference.Kind
    let entry: Difference.Entry
    /// For a changed entry of the new side, the number of the old one.
    var old: Int64?
    /// For a changed entry, the columns that the record lacks: the old values stay.
    var absent: [Int] = []
  }

  /// Adds entries of the new side; one whose number exists replaces it.
  func addNew(_ items: [Item]) throws {
    try add(items, sql: "INSERT OR REPLACE INTO new VALUES (?, ?, ?, ?, ?, ?)") { item in
      let absent = item.absent.map(String.init).joined(separator: ",")
      return [item.old.map { StoredValue.integer($0) } ?? .null, absent.isEmpty ? .null : .text(absent)]
    }
  }

  func addOld(_ items: [Item]) throws {
    try add(items, sql: "INSERT OR REPLACE INTO old VALUES (?, ?, ?, ?)") { _ in [] }
  }

  private func add(_ items: [Item], sql: String, more: @Sendable (Item) -> [StoredValue]) throws {
    if items.isEmpty { return }
    try perform { connection in
      try connection.transaction {
        let insert = try connection.statement(sql)
        for item in items {
          insert.reset()
          try insert.bind(
            [.integer(item.entry.number), .text(item.kind.rawValue), .integer(item.entry.line)] + more(item)
              + [.blob(Self.packed(item.entry.values))])
          _ = try insert.step()
        }
        insert.reset()
      }
    }
  }

  /// Gives changed entries the old values where their records say nothing, and removes those that then do not differ.
  /// Call it when both sides were added.
  func fillAbsent() throws {
    var last: Int64 = -1
    while true {
      let rows = try perform { [last] connection in
        try connection.rows(
          """
          SELECT new.number, new.absent, new.content, old.content FROM new JOIN old ON old.number = new.old
          WHERE new.number > ? AND new.kind = 'changed' AND new.absent IS NOT NULL ORDER BY new.number LIMIT 1000
          """, [.integer(last)])
      }
      guard case .integer(let number)? = rows.last?[0] else { return }
      last = number
      try perform { connection in
        try connection.transaction { for row in rows { try Self.fillAbsent(row, connection) } }
      }
    }
  }

  private static func fillAbsent(_ row: [StoredValue], _ connection: SQLiteConnection) throws {
    guard case .text(let absent) = row[1], case .blob(let content) = row[2], case .blob(let old) = row[3] else {
      return
    }
    var values = unpacked(content)
    let before = unpacked(old)
    for index in absent.split(separator: ",").compactMap({ Int($0) }) { values[index] = before[index] }
    if values == before {
      _ = try connection.rows("DELETE FROM new WHERE number = ?", [row[0]])
    } else {
      _ = try connection.rows("UPDATE new SET content = ? WHERE number = ?", [.blob(packed(values)), row[0]])
    }
  }

  // MARK: Reading

  func count(_ kind: Difference.Kind, ofNew: Bool) throws -> Int {
    try perform { connection in
      Int(
        try connection.integer(
          "SELECT count(*) FROM \(ofNew ? "new" : "old") WHERE kind = ?", [.text(kind.rawValue)]) ?? 0)
    }
  }

  /// The next differences after the entry with this number: those that have an entry of the new side, in its order.
  func newPage(after number: Int64, max: Int) throws -> [Difference] {
    try page(
      sql: """
        SELECT new.number, new.kind, new.line, new.content, old.number, old.line, old.content FROM new
        LEFT JOIN old ON old.number = new.old WHERE new.number > ? ORDER BY new.number LIMIT ?
        """, after: number, max: max)
  }

  /// Those that have an entry of the old side only.
  func oldPage(after number: Int64, max: Int) throws -> [Difference] {
    try page(
      sql: """
        SELECT NULL, kind, NULL, NULL, number, line, content FROM old
        WHERE number > ? AND kind <> 'changed' ORDER BY number LIMIT ?
        """, after: number, max: max)
  }

  private func page(sql: String, after number: Int64, max: Int) throws -> [Difference] {
    try perform { connection in
      try connection.rows(sql, [.integer(number), .integer(Int64(max))]).compactMap { row -> Difference? in
        guard case .text(let kind) = row[1], let kind = Difference.Kind(rawValue: kind) else { return nil }
        return Difference(
          kind: kind, old: Self.entry(row[4], row[5], content: row[6]),
          new: Self.entry(row[0], row[2], content: row[3]))
      }
    }
  }

  private static func entry(_ number: StoredValue, _ line: StoredValue, content: StoredValue) -> Difference.Entry? {
    guard case .integer(let number) = number, case .integer(let line) = line, case .blob(let content) = content else {
      return nil
    }
    return Difference.Entry(number: number, line: line, values: unpacked(content))
  }

  // MARK: Values

  /// Each text is preceded by its length in bytes; no value has the length -1.
  private static func packed(_ values: [String?]) -> Data {
    var bytes: [UInt8] = []
    for value in values {
      let length = Int32(clamping: value?.utf8.count ?? -1)
      for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
      if let value { bytes += value.utf8 }
    }
    return Data(bytes)
  }

  private static func unpacked(_ content: Data) -> [String?] {
    let bytes = [UInt8](content)
    var values: [String?] = []
    var start = 0
    while start + 4 <= bytes.count {
      var length = Int32(0)
      for index in 0..<4 { length |= Int32(bytes[start + index]) << Int32(8 * index) }
      start += 4
      guard length >= 0 else {
        values.append(nil)
        continue
      }
      let end = min(bytes.count, start + Int(length))
      values.append(String(decoding: bytes[start..<end], as: UTF8.self))
      start = end
    }
    return values
  }

  private func perform<Result: Sendable>(_ body: @Sendable (SQLiteConnection) throws -> Result) throws -> Result {
    try Self.explained { try connection.withLock { try body($0) } }
  }

  private static func explained<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw KeySpillError(reason: error.message)
    }
  }
}
