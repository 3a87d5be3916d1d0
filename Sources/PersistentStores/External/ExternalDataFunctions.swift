import ManagedObjectModel
import CSQLite
import Foundation

/// The SQL functions that read and write external values.
enum ExternalDataFunction {
  /// Takes a column, the row's key and the attribute's name; returns the value.
  static let value = "OCD_EXTERNAL_VALUE"
  /// Takes a value, the row's key, the table and the column; returns the content of the column. A connection for writing
  /// writes large values to files; with the value as the only argument it stays in the row.
  static let column = "OCD_EXTERNAL_COLUMN"
  /// Called by triggers with a table, a column, a row's key and the bytes that the row no longer has there.
  static let dropped = "OCD_EXTERNAL_DROPPED"
}

/// The store's data for these functions; SQLite retains it as long as the connection is open.
private final class FunctionContext {
  let external: ExternalData
  let files: ExternalFiles?

  init(_ external: ExternalData, _ files: ExternalFiles?) {
    self.external = external
    self.files = files
  }

  static func of(_ context: OpaquePointer?) -> FunctionContext? {
    sqlite3_user_data(context).map { Unmanaged<FunctionContext>.fromOpaque($0).takeUnretainedValue() }
  }
}

extension SQLiteConnection {
  /// - Parameter files: What a connection for writing writes large values to; without it they stay in the rows.
  func registerExternalData(_ external: ExternalData, _ files: ExternalFiles? = nil) throws {
    let context = FunctionContext(external, files)
    try register(ExternalDataFunction.value, argumentCount: 3, context: context, body: externalValue)
    try register(ExternalDataFunction.column, argumentCount: -1, context: context, body: externalColumn)
    if files != nil {
      try register(ExternalDataFunction.dropped, argumentCount: 4, context: context, body: externalDropped)
    }
  }

  private func register(
    _ name: String, argumentCount count: Int32, context: FunctionContext,
    body: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
  ) throws {
    // SQLite releases the context, also if registering fails.
    let code = sqlite3_create_function_v2(
      handle, name, count, SQLITE_UTF8, Unmanaged.passRetained(context).toOpaque(), body, nil, nil,
      { context in if let context { Unmanaged<FunctionContext>.fromOpaque(context).release() } })
    guard code == SQLITE_OK else { throw SQLiteError(handle, code: code, sql: nil) }
  }
}

private func externalValue(
  _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let arguments, let known = FunctionContext.of(context) else { return }
  guard sqlite3_value_type(arguments[0]) == SQLITE_BLOB else {
    sqlite3_result_value(context, arguments[0])
    return
  }
  do {
    let location = ExternalData.Location(attribute: text(arguments[2]), key: sqlite3_value_int64(arguments[1]))
    // Without a result the function's is NULL.
    guard let value = try known.external.value(of: blob(arguments[0]), location) else { return }
    result(context, value)
  } catch {
    sqlite3_result_error(context, (error as NSError).localizedDescription, -1)
  }
}

private func externalColumn(
  _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let arguments, let known = FunctionContext.of(context), sqlite3_value_type(arguments[0]) == SQLITE_BLOB else {
    return
  }
  do throws(POSIXError) {
    let bytes = UnsafeRawBufferPointer(
      start: sqlite3_value_blob(arguments[0]), count: Int(sqlite3_value_bytes(arguments[0])))
    if count == 4, bytes.count > ExternalData.inlineBytesMax, let files = known.files {
      let row = (sqlite3_value_int64(arguments[1]), text(arguments[2]), text(arguments[3]))
      if let column = try files.write(bytes, of: row) { return result(context, column) }
    }
    if case .blob(let column) = ExternalData.column(for: .blob(blob(arguments[0]))) { result(context, column) }
  } catch {
    let error = SQLiteError(error, "a large value can't be written to the folder next to it")
    sqlite3_result_error(context, error.message, -1)
    sqlite3_result_error_code(context, error.code)
  }
}

private func externalDropped(
  _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let arguments, let files = FunctionContext.of(context)?.files else { return }
  files.release(
    ExternalFiles.Released(
      table: text(arguments[0]), column: text(arguments[1]), key: sqlite3_value_int64(arguments[2]),
      bytes: blob(arguments[3])))
}

private func result(_ context: OpaquePointer?, _ bytes: Data) {
  bytes.withUnsafeBytes { csqlite_result_blob_transient(context, $0.baseAddress, UInt64($0.count)) }
}

private func blob(_ value: OpaquePointer?) -> Data {
  guard let bytes = sqlite3_value_blob(value) else { return Data() }
  return Data(bytes: bytes, count: Int(sqlite3_value_bytes(value)))
}

private func text(_ value: OpaquePointer?) -> String {
  sqlite3_value_text(value).map { String(cString: $0) } ?? ""
}
