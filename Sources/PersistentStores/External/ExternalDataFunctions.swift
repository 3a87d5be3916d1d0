import ManagedObjectModel
import CSQLite
import Foundation

/// The SQL functions that read and write external values.
enum ExternalDataFunction {
  /// Takes a column, the row's key and the attribute's name; returns the value.
  static let value = "OCD_EXTERNAL_VALUE"
  /// Takes a value; returns the content of the column.
  static let column = "OCD_EXTERNAL_COLUMN"
  /// Called by triggers with a table, a column, a row's key and the bytes that the row no longer has there.
  static let dropped = "OCD_EXTERNAL_DROPPED"
}

/// Files that rows no longer refer to, in a transaction that may still be rolled back.
final class DroppedFiles {
  struct File {
    let table: String
    let column: String
    let key: Int64
    let bytes: Data
  }
  fileprivate(set) var files: [File] = []

  func removeAll() { files = [] }
}

/// The store's data for these functions; SQLite retains it as long as the connection is open.
private final class FunctionContext {
  let external: ExternalData
  let dropped: DroppedFiles?

  init(_ external: ExternalData, _ dropped: DroppedFiles?) {
    self.external = external
    self.dropped = dropped
  }

  static func of(_ context: OpaquePointer?) -> FunctionContext? {
    sqlite3_user_data(context).map { Unmanaged<FunctionContext>.fromOpaque($0).takeUnretainedValue() }
  }
}

extension SQLiteConnection {
  /// - Parameter dropped: Where a connection for writing records the files that are no longer referenced.
  func registerExternalData(_ external: ExternalData, _ dropped: DroppedFiles? = nil) throws {
    try register(
      ExternalDataFunction.value, argumentCount: 3, context: FunctionContext(external, nil), body: externalValue)
    try register(
      ExternalDataFunction.column, argumentCount: 1, context: FunctionContext(external, nil), body: externalColumn)
    if dropped != nil {
      try register(
        ExternalDataFunction.dropped, argumentCount: 4, context: FunctionContext(external, dropped),
        body: externalDropped)
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
    value.withUnsafeBytes { csqlite_result_blob_transient(context, $0.baseAddress, UInt64($0.count)) }
  } catch {
    sqlite3_result_error(context, (error as NSError).localizedDescription, -1)
  }
}

private func externalColumn(
  _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let arguments, sqlite3_value_type(arguments[0]) == SQLITE_BLOB,
    case .blob(let column) = ExternalData.column(for: .blob(blob(arguments[0])))
  else { return }
  column.withUnsafeBytes { csqlite_result_blob_transient(context, $0.baseAddress, UInt64($0.count)) }
}

private func externalDropped(
  _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let arguments, let dropped = FunctionContext.of(context)?.dropped else { return }
  dropped.files.append(
    DroppedFiles.File(
      table: text(arguments[0]), column: text(arguments[1]), key: sqlite3_value_int64(arguments[2]),
      bytes: blob(arguments[3])))
}

private func blob(_ value: OpaquePointer?) -> Data {
  guard let bytes = sqlite3_value_blob(value) else { return Data() }
  return Data(bytes: bytes, count: Int(sqlite3_value_bytes(value)))
}

private func text(_ value: OpaquePointer?) -> String {
  sqlite3_value_text(value).map { String(cString: $0) } ?? ""
}
