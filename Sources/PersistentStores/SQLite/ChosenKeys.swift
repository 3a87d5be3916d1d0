import CSQLite

/// Chooses rows of a range for one statement: a SQL function says whether a row's key is one of those that are wanted.
///
/// SQLite makes a sorted table of a list of keys, and looks each of them up in the table of the rows. A scan of a range
/// that has many of them takes two thirds of that.
final class ChosenKeys {
  /// Takes a row's key.
  static let function = "OCD_CHOSEN"

  // Unchecked: the function only reads them, while `change` waits for its statement.
  @exclusivity(unchecked) private var first: Int64 = 0
  /// A bit for each key of the range.
  @exclusivity(unchecked) private var bits: [UInt64] = []

  /// Registers the function on a connection, which holds this object.
  init(_ connection: SQLiteConnection) throws {
    // SQLite releases the object, also if registering fails.
    let code = sqlite3_create_function_v2(
      connection.handle, Self.function, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, Unmanaged.passRetained(self).toOpaque(),
      { context, _, arguments in
        guard let arguments, let keys = sqlite3_user_data(context) else { return }
        let key = sqlite3_value_int64(arguments[0])
        // The connection holds the object, so that no reference is counted for each row.
        let isChosen = Unmanaged<ChosenKeys>.fromOpaque(keys)._withUnsafeGuaranteedRef { $0.contains(key) }
        sqlite3_result_int(context, isChosen ? 1 : 0)
      }, nil, nil, { keys in if let keys { Unmanaged<ChosenKeys>.fromOpaque(keys).release() } })
    guard code == SQLITE_OK else { throw SQLiteError(connection.handle, code: code, sql: nil) }
  }

  /// Whether keys are so close to each other that a scan of their range is faster than a list.
  ///
  /// - Parameter keys: Ascending, each once.
  static func areDense(_ keys: ArraySlice<Int64>) -> Bool {
    guard let first = keys.first, let last = keys.last else { return false }
    let (span, overflow) = last.subtractingReportingOverflow(first)
    return !overflow && span < Int64(keys.count) * spanPerKeyMax
  }
  /// A row that is passed by takes a quarter of what a key of a list takes in addition.
  private static let spanPerKeyMax: Int64 = 4

  /// Runs an UPDATE whose end is a condition on keys, over the rows with `keys`.
  ///
  /// - Parameters:
  ///   - sql: The statement up to `WHERE`.
  ///   - keys: Ascending, each once, and dense.
  func change(_ sql: String, rowsWith keys: ArraySlice<Int64>, on connection: SQLiteConnection) throws {
    guard let first = keys.first, let last = keys.last else { return }
    self.first = first
    bits = [UInt64](repeating: 0, count: Int(last - first) / 64 + 1)
    for key in keys { bits[Int(key - first) / 64] |= 1 << (UInt64(key - first) % 64) }
    defer { bits = [] }
    try connection.run(
      "\(sql) WHERE Z_PK BETWEEN ? AND ? AND \(Self.function)(Z_PK)", [.integer(first), .integer(last)])
  }

  private func contains(_ key: Int64) -> Bool {
    guard key >= first else { return false }
    let position = UInt64(bitPattern: key) &- UInt64(bitPattern: first)
    return position / 64 < bits.count && bits[Int(position / 64)] & 1 << (position % 64) != 0
  }
}
