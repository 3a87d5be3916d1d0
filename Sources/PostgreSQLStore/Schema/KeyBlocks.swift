import Foundation
import ManagedObjectModel
import PersistentStores

/// The keys of new rows: blocks that a store takes of a sequence for each inheritance tree, and numbers itself. No row
/// of the database counts keys, so that writers do not wait for each other.
struct KeyBlocks {
  /// How many keys a call of `nextval` gives.
  static let size: Int64 = 65_536

  /// The name of a sequence, which no table or view has. The store finds it by the column that it belongs to.
  static func sequence(ofRoot number: Int) -> String { "ocd_keys_\(number)" }

  /// What is left of a table's block.
  private struct Block {
    let start: Int64
    var next: Int64
    let end: Int64

    static let none = Block(start: 1, next: 1, end: 1)
  }

  private var blocks: [String: Block] = [:]
  private static let attemptsMax = 100
  /// How many blocks are passed at most to reach the greatest key. Beyond, keys are unique, but not the greatest.
  private static let passedMax: Int64 = 1_000_000

  /// The first of `count` keys in a row, greater than those that the table has in this block.
  mutating func take(_ count: Int, of table: String, _ connection: PostgreSQLConnection) throws -> Int64 {
    var block = blocks[table] ?? .none
    try Self.passRows(of: table, in: &block, connection)
    for _ in 0..<Self.attemptsMax where block.end - block.next < Int64(count) {
      let needed = (Int64(count) + Self.size - 1) / Self.size
      block = try Self.newBlock(needed, of: table, following: block, connection)
      try Self.passRows(of: table, in: &block, connection)
    }
    guard block.end - block.next >= Int64(count) else {
      throw NSError.coreData(
        .timeout,
        "Too many programs write to \(table) at once to allocate \(count) consecutive keys. Save fewer objects at once."
      )
    }
    defer { blocks[table]?.next += Int64(count) }
    blocks[table] = block
    return block.next
  }

  /// Another program may have written rows with keys of its own.
  private static func passRows(of table: String, in block: inout Block, _ connection: PostgreSQLConnection) throws {
    guard block.next < block.end else { return }
    let last = try connection.integer(
      "SELECT max(Z_PK) FROM \(table) WHERE Z_PK >= ? AND Z_PK < ?", [.integer(block.next), .integer(block.end)])
    if let last { block.next = last + 1 }
  }

  /// A new block, of several calls of the sequence if their keys follow each other. The sequence is never set: no other
  /// writer can get a block that was given once.
  private static func newBlock(
    _ count: Int64, of table: String, following known: Block, _ connection: PostgreSQLConnection
  ) throws -> Block {
    let sequence = "(SELECT pg_get_serial_sequence(\(table.quotedName.quotedText), 'Z_PK'))::regclass"
    func starts() throws -> [Int64] {
      let rows = try connection.rows("SELECT nextval(\(sequence)) FROM generate_series(1, \(max(count, 1)))", [])
      return rows.compactMap { row in if case .integer(let number)? = row.first { number } else { Int64?.none } }
        .sorted()
    }
    var found = try starts()
    // A copied store and other programs have keys that the sequence has not given.
    let last = try connection.integer("SELECT max(Z_PK) FROM \(table)", []) ?? 0
    if let start = found.last, last > start, case let passed = (last - start) / size, 1...passedMax ~= passed {
      _ = try connection.query("SELECT max(nextval(\(sequence))) FROM generate_series(1, \(passed))")
      found = try starts()
    }
    return try found.reduce(known) { block, start in
      let (end, isTooGreat) = start.addingReportingOverflow(size)
      if isTooGreat { throw NSError.coreData(.save, "\(table) has no keys left. Copy its objects into a new store.") }
      return block.end == start && block.next < block.end
        ? Block(start: block.start, next: block.next, end: end) : Block(start: start, next: start, end: end)
    }
  }

  /// Gives no more keys of a block that others turn out to use, too.
  mutating func forget(_ table: String) { blocks[table] = nil }

  /// The keys that were taken since are given again; a block that was taken since is kept.
  mutating func goBack(to before: KeyBlocks) {
    for (table, block) in blocks {
      let isOld = before.blocks[table]?.start == block.start
      blocks[table]?.next = isOld ? before.blocks[table]?.next ?? block.start : block.start
    }
  }

  /// The greatest key that was taken of a block; nil if there is none.
  func lastTaken(of table: String) -> Int64? {
    blocks[table].flatMap { $0.next > $0.start ? $0.next - 1 : nil }
  }
}
