import ManagedObjectModel
import PersistentStores

/// A range of keys; nil for no limit.
struct KeyRange: Sendable, Hashable {
  /// Keys are greater than this.
  var above: Int64?
  /// The greatest key.
  var through: Int64?

  /// As parts of a WHERE clause.
  var conditions: [SQLFragment] {
    [("t0.Z_PK > ?", above), ("t0.Z_PK <= ?", through)].compactMap { text, key in
      key.map { SQLFragment(text, [.integer($0)]) }
    }
  }
}

/// Cuts the keys of a table into ranges of so many rows, in ascending order. Each cut reads the keys of one range from the
/// index, so that gaps between keys make no range smaller.
struct KeyRanges {
  private let tableName: String
  private let rowsPerRange: Int
  private var above: Int64?
  private var isAtEnd = false

  /// - Parameter above: The first range begins above this key; nil: with the least key.
  init(of tableName: String, above: Int64?, rowsPerRange: Int) {
    self.tableName = tableName
    self.above = above
    self.rowsPerRange = rowsPerRange
  }

  /// The next range; nil at the end. The last range has no limit and may have no rows.
  mutating func next(_ connection: PostgreSQLConnection) throws -> KeyRange? {
    guard !isAtEnd else { return nil }
    let filter = RowPlan.filter(KeyRange(above: above).conditions)
    let through = try connection.integer(
      "SELECT t0.Z_PK FROM \(tableName) t0\(filter.text) ORDER BY t0.Z_PK OFFSET \(rowsPerRange - 1) LIMIT 1",
      filter.bindings)
    let range = KeyRange(above: above, through: through)
    (above, isAtEnd) = (through, through == nil)
    return range
  }
}
