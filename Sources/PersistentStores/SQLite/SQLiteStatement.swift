import ManagedObjectModel
import CSQLite
import Foundation

/// A prepared statement. Column and parameter numbers count from 0 and from 1, as in SQLite's own interface.
package final class SQLiteStatement {
  // Unowned: the connection owns its statements, and the owner of a cursor owns the connection.
  private unowned let connection: SQLiteConnection
  let pointer: OpaquePointer
  package let sql: String

  init(_ connection: SQLiteConnection, _ sql: String) throws {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(
      connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared else {
      throw SQLiteError(connection.handle, code: code == SQLITE_OK ? SQLITE_MISUSE : code, sql: sql)
    }
    self.connection = connection
    self.pointer = prepared
    self.sql = sql
  }

  deinit { sqlite3_finalize(pointer) }

  /// True if there is a row to read, false at the end.
  package func step() throws -> Bool {
    if sqlite3_stmt_busy(pointer) == 0 { connection.traceHandler?(sql) }
    switch sqlite3_step(pointer) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw SQLiteError(connection.handle, code: code, sql: sql)
    }
  }

  package func reset() {
    // The code repeats the error of the last step, which was already thrown there.
    _ = sqlite3_reset(pointer)
    _ = sqlite3_clear_bindings(pointer)
  }

  // MARK: Binding

  package func bind(_ values: [StoredValue]) throws {
    for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
  }

  package func bind(_ value: StoredValue, at index: Int32) throws {
    let code: Int32
    switch value {
    case .null: code = sqlite3_bind_null(pointer, index)
    case .integer(let number): code = sqlite3_bind_int64(pointer, index, number)
    case .real(let number): code = sqlite3_bind_double(pointer, index, number)
    case .decimal(let number): code = sqlite3_bind_double(pointer, index, number.storedReal)
    case .text(var string):
      code = string.withUTF8 { utf8 in
        UnsafeRawBufferPointer(utf8).withMemoryRebound(to: CChar.self) {
          csqlite_bind_text_transient(pointer, index, $0.baseAddress, UInt64($0.count))
        }
      }
    case .blob(let data):
      code = data.withUnsafeBytes { bytes in
        csqlite_bind_blob_transient(pointer, index, bytes.baseAddress, UInt64(bytes.count))
      }
    }
    guard code == SQLITE_OK else { throw SQLiteError(connection.handle, code: code, sql: sql) }
  }

  // MARK: Reading the current row

  package var columnCount: Int32 { sqlite3_column_count(pointer) }
  package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }
  package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }
  package func real(_ column: Int32) -> Double { sqlite3_column_double(pointer, column) }

  /// The value as SQLite holds it; invalid UTF-8 in text is repaired, as by `String`.
  package func value(_ column: Int32) -> StoredValue {
    switch sqlite3_column_type(pointer, column) {
    case SQLITE_INTEGER: return .integer(integer(column))
    case SQLITE_FLOAT: return .real(real(column))
    case SQLITE_TEXT:
      return withText(column) { .text(String(decoding: $0, as: UTF8.self)) }
    case SQLITE_BLOB:
      guard let bytes = sqlite3_column_blob(pointer, column) else { return .blob(Data()) }
      return .blob(Data(bytes: bytes, count: Int(sqlite3_column_bytes(pointer, column))))
    default: return .null
    }
  }

  package func row() -> [StoredValue] { (0..<columnCount).map(value) }

  /// The UTF-8 of a text column, valid until the next step.
  func withText<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    let bytes = sqlite3_column_text(pointer, column)
    return try body(
      UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(pointer, column))))
  }
}
