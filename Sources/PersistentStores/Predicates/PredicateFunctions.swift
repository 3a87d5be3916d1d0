import ManagedObjectModel
import CSQLite
import Foundation

extension SQLiteConnection {
  /// The functions that the triggers of derived attributes call. Apple's framework learns of changed rows from them;
  /// here objects show a new value once they are refreshed, so the functions do nothing.
  private static let triggerFunctions = [
    "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue", "NSCoreDataDATriggerUpdatedAffectedObjectValue",
    "NSCoreDataTriggerUpdateAffectedObjectValue",
  ]
  /// The function that the triggers of derivations by `now()` call.
  static let nowFunction = "NSCoreDataNow"

  /// Registers the functions that translated predicates call, so that SQL and memory use the same code to compare text,
  /// and those that triggers of derived attributes call.
  package func registerPredicateFunctions() throws {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
    for function in PredicateSQLFunction.allCases {
      let body: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void =
        switch function {
        case .stringCompare: stringCompare
        case .stringFold: stringFold
        case .listValue: listValue
        }
      let code = sqlite3_create_function_v2(
        handle, function.name, Int32(function.argumentCount), flags, nil, body, nil, nil, nil)
      guard code == SQLITE_OK else { throw SQLiteError(handle, code: code, sql: nil) }
    }
    let expressions = ExpressionFunctions.register(on: handle)
    guard expressions == SQLITE_OK else { throw SQLiteError(handle, code: expressions, sql: nil) }
    try registerSummaryFunctions()
    for name in Self.triggerFunctions {
      let code = sqlite3_create_function_v2(handle, name, 5, flags, nil, { _, _, _ in }, nil, nil, nil)
      guard code == SQLITE_OK else { throw SQLiteError(handle, code: code, sql: nil) }
    }
    // Each call has its own result, so it is not deterministic.
    let code = sqlite3_create_function_v2(
      handle, Self.nowFunction, 0, SQLITE_UTF8 | SQLITE_INNOCUOUS, nil,
      { context, _, _ in sqlite3_result_double(context, Date().timeIntervalSinceReferenceDate) }, nil, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteError(handle, code: code, sql: nil) }
  }

  /// The SQL function that says whether a text is UTF-8 without a NUL: 1 or 0, and NULL for other values.
  package static let plainTextFunction = "OCD_IS_PLAIN_TEXT"

  package func registerPlainTextFunction() throws {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
    let body: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
      context, _, arguments in
      guard let arguments, let text = sqlText(arguments[0]) else { return }
      let isPlain = !text.contains(0) && String(validating: text, as: UTF8.self) != nil
      sqlite3_result_int(context, isPlain ? 1 : 0)
    }
    let code = sqlite3_create_function_v2(handle, Self.plainTextFunction, 1, flags, nil, body, nil, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteError(handle, code: code, sql: nil) }
  }
}

private func stringCompare(
  _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let arguments, let left = sqlText(arguments[2]), let right = sqlText(arguments[3]) else {
    sqlite3_result_int(context, 0)
    return
  }
  if sqlite3_value_int64(arguments[0]) == TextOperation.matches.rawValue {
    let options = TextOptions(rawValue: sqlite3_value_int64(arguments[1]))
    if let answer = PatternComparison.holds(options: options, left: left.span, right: right.span) {
      sqlite3_result_int(context, answer ? 1 : 0)
    } else {
      sqlite3_result_error(context, PatternComparison.undecided, -1)
      sqlite3_result_error_code(context, SQLiteError.undecidedPatternCode)
    }
    return
  }
  let answer = PredicateSQLFunction.stringCompare(
    operation: sqlite3_value_int64(arguments[0]), options: sqlite3_value_int64(arguments[1]),
    left: left.span, right: right.span)
  guard let answer else {
    sqlite3_result_error(context, "OCD_STRING_COMPARE: unknown operation", -1)
    return
  }
  sqlite3_result_int(context, answer ? 1 : 0)
}

private func stringFold(
  _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let arguments, let text = sqlText(arguments[1]) else { return }
  let folded = PredicateSQLFunction.stringFold(options: sqlite3_value_int64(arguments[0]), text: text.span)
  folded.withUnsafeBytes { bytes in
    csqlite_result_text_transient(
      context, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(bytes.count))
  }
}

private func listValue(
  _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let arguments, sqlite3_value_type(arguments[0]) == SQLITE_BLOB else {
    sqlite3_result_error(context, "OCD_LIST_VALUE: not a list", -1)
    return
  }
  let start = sqlite3_value_blob(arguments[0])?.assumingMemoryBound(to: UInt8.self)
  let list = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(arguments[0])))
  guard
    let value = PredicateSQLFunction.listValue(list: list.span, index: sqlite3_value_int64(arguments[1]))
  else {
    sqlite3_result_error(context, "OCD_LIST_VALUE: no such value", -1)
    return
  }
  value.setResult(of: context)
}

/// The bytes of a TEXT argument, valid during the call; nil for any other type.
func sqlText(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8>? {
  guard sqlite3_value_type(value) == SQLITE_TEXT else { return nil }
  let start = sqlite3_value_text(value)
  return UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
}
