import CSQLite
import Foundation
import ManagedObjectModel

/// The SQL functions that expressions call: one for each `ScalarFunction`, by its `sqlName`.
package enum ExpressionFunctions {
  /// Registers them on a connection.
  ///
  /// - Returns: The result code of SQLite.
  package static func register(on handle: OpaquePointer?) -> Int32 {
    for function in ScalarFunction.allCases {
      let code = register(function, as: function.sqlName, argumentCount: -1, on: handle)
      if code != SQLITE_OK { return code }
    }
    return SQLITE_OK
  }

  /// Registers one of them under any name.
  ///
  /// - Parameter argumentCount: -1 for any number.
  static func register(
    _ function: ScalarFunction, as name: String, argumentCount: Int32, on handle: OpaquePointer?
  ) -> Int32 {
    let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | (function.isDeterministic ? SQLITE_DETERMINISTIC : 0)
    let number = ScalarFunction.allCases.firstIndex(of: function) ?? 0
    // SQLite passes the number of the function, which is not an address, back to the call.
    return sqlite3_create_function_v2(
      handle, name, argumentCount, flags, UnsafeMutableRawPointer(bitPattern: number + 1),
      { call($0, count: $1, $2) }, nil, nil, nil)
  }
}

private func call(
  _ context: OpaquePointer?, count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  let number = Int(bitPattern: sqlite3_user_data(context)) - 1
  guard ScalarFunction.allCases.indices.contains(number) else { return sqlite3_result_null(context) }
  var values: [StoredValue] = []
  values.reserveCapacity(Int(count))
  for index in 0..<Int(count) { values.append(StoredValue(argument: arguments?[index])) }
  ScalarFunction.allCases[number].value(values).setResult(of: context)
}

extension StoredValue {
  /// An argument of an SQL function.
  fileprivate init(argument: OpaquePointer?) {
    switch sqlite3_value_type(argument) {
    case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(argument))
    case SQLITE_FLOAT: self = .real(sqlite3_value_double(argument))
    case SQLITE_TEXT: self = sqlText(argument).map { .text(String(decoding: $0, as: UTF8.self)) } ?? .null
    case SQLITE_BLOB:
      let start = sqlite3_value_blob(argument)
      self = .blob(start.map { Data(bytes: $0, count: Int(sqlite3_value_bytes(argument))) } ?? Data())
    default: self = .null
    }
  }

  /// Makes the value the result of an SQL function.
  func setResult(of context: OpaquePointer?) {
    switch self {
    case .null: sqlite3_result_null(context)
    case .integer(let number): sqlite3_result_int64(context, number)
    case .real(let number): sqlite3_result_double(context, number)
    case .decimal: sqlite3_result_double(context, number ?? .nan)
    case .text(var text):
      text.withUTF8 { bytes in
        UnsafeRawBufferPointer(bytes).withMemoryRebound(to: CChar.self) {
          csqlite_result_text_transient(context, $0.baseAddress, UInt64($0.count))
        }
      }
    case .blob(let data):
      data.withUnsafeBytes { csqlite_result_blob_transient(context, $0.baseAddress, UInt64($0.count)) }
    }
  }
}
