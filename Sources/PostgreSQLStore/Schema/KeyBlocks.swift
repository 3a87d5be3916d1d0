import Foundation
import ManagedObjectModel
import PersistentStores

/// The keys of new rows: blocks that a store takes of a sequence for each inheritance tree, and numbers itself. No row
/// of the database counts keys, so that writers do not wait for each other.
struct KeyBlocks {
  /// How many keys a call of `nextval` gives.
  static let size: Int64 = 65_536

  static func sequence(of table: String) -> String { "\(table)_KEYS" }

  /// What is left of a table's block.
  private struct Block {
    let start: Int64
    var next: Int64
    let end: Int64

    static let none = Block(start: 1, next: 1, end: 1)
  }

  private var blocks: [String: Block] = [:]
  private static let attemptsMax = 100

  /// The first of `count` keys in a row, greater than those that the table has in this block.
  mutating func take(_ count: Int, of table: String, _ connection: PostgreSQLConnection) throws -> Int64 {
    var block = blocks[table] ?? .none
    if block.next < block.end {
      // Another program may have written rows with keys of its own.
      let last = try connection.integer(
        "SELECT max(Z_PK) FROM \(table) WHERE Z_PK >= ? AND Z_PK < ?", [.integer(block.next), .integer(block.end)])
      if let last { block.next = last + 1 }
    }
    for _ in 0..<Self.attemptsMax where block.end - block.next < Int64(count) {
      let needed = (Int64(count) + Self.size - 1) / Self.size
      block = try Self.newBlock(needed, of: table, following: block, connection)
    }
    guard block.end - block.next >= Int64(count) else {
      throw NSError.coreData(
        .timeout,
        "So many programs write to \(table) at the same time that \(count) keys in a row can't be had. Save fewer objects "
          + "at once.")
    }
    defer { blocks[table]?.next += Int64(count) }
    blocks[table] = block
    return block.next
  }

  /// A new block, of several calls of the sequence if their keys follow each other.
  private static func newBlock(
    _ count: Int64, of table: String, following known: Block, _ connection: PostgreSQLConnection
  ) throws -> Block {
    let sequence = sequence(of: table).quotedName.quotedText
    let starts = try connection.rows("SELECT nextval(\(sequence)) FROM generate_series(1, \(max(count, 1)))", [])
      .compactMap { row in if case .integer(let number)? = row.first { number } else { Int64?.none } }.sorted()
    // Keys of rows that another program has written.
    let last = try connection.integer("SELECT max(Z_PK) FROM \(table)", []) ?? 0
    if let first = starts.first, last >= first {
      let next = (last / size + 1) * size + 1
      _ = try connection.query("SELECT setval(\(sequence), ?, false)", [.integer(next)])
      return .none
    }
    return starts.reduce(known) { block, start in
      block.end == start && block.next < block.end
        ? Block(start: block.start, next: block.next, end: start + size)
        : Block(start: start, next: start, end: start + size)
    }
  }

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
