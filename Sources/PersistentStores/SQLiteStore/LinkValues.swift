import CSQLite

/// Gives the rows of one statement the new values of a column: a SQL function returns them by the rows' keys.
final class LinkValues {
  /// Takes a row's key, and 0 for the key that the row leads to or 1 for the number of the entity of that.
  static let function = "OCD_LINK"

  // Unchecked: the function only reads them, while `write` waits for its statement.
  @exclusivity(unchecked) private var first: Int64 = 0
  @exclusivity(unchecked) private var targets: ArraySlice<LinkChanges.Target?> = []

  /// Registers the function on a connection, which holds this object.
  init(_ connection: SQLiteConnection) throws {
    // SQLite releases the object, also if registering fails.
    let code = sqlite3_create_function_v2(
      connection.handle, Self.function, 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, Unmanaged.passRetained(self).toOpaque(),
      { context, _, arguments in
        guard let arguments, let values = sqlite3_user_data(context) else { return }
        Unmanaged<LinkValues>.fromOpaque(values).takeUnretainedValue().giveValue(arguments, context)
      }, nil, nil, { values in if let values { Unmanaged<LinkValues>.fromOpaque(values).release() } })
    guard code == SQLITE_OK else { throw SQLiteError(connection.handle, code: code, sql: nil) }
  }

  /// Writes where rows lead whose keys follow each other.
  ///
  /// - Parameter first: The key of the first row. A row that is gone is left out.
  func write(
    _ targets: ArraySlice<LinkChanges.Target?>, from first: Int64, to column: LinkColumn, _ connection: SQLiteConnection
  ) throws {
    (self.first, self.targets) = (first, targets)
    defer { self.targets = [] }
    let statement = try connection.statement(column.updateOfRange)
    defer { statement.reset() }
    try statement.bind(.integer(first), at: 1)
    try statement.bind(.integer(first + Int64(targets.count) - 1), at: 2)
    while try statement.step() {}
  }

  private func giveValue(_ arguments: UnsafeMutablePointer<OpaquePointer?>, _ context: OpaquePointer?) {
    let index = targets.startIndex + Int(sqlite3_value_int64(arguments[0]) - first)
    guard targets.indices.contains(index), let target = targets[index] else { return sqlite3_result_null(context) }
    sqlite3_result_int64(context, sqlite3_value_int(arguments[1]) == 0 ? target.key : target.number)
  }
}
