import CSQLite
import Foundation

@testable import ManagedObjectModel
@testable import PersistentStores

/// A real SQLite database in memory with the functions that predicates call, for tests of their SQL alone.
final class PredicateDatabase {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private var handle: OpaquePointer?
  private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  init() throws {
    guard sqlite3_open(":memory:", &handle) == SQLITE_OK else { throw failure() }
    for function in PredicateSQLFunction.allCases {
      let code = sqlite3_create_function_v2(
        handle, function.name, Int32(function.argumentCount), SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
        Self.body(function), nil, nil, nil)
      guard code == SQLITE_OK else { throw failure() }
    }
    guard ExpressionFunctions.register(on: handle) == SQLITE_OK else { throw failure() }
  }

  deinit { sqlite3_close_v2(handle) }

  private func failure() -> Failure {
    Failure(description: String(cString: sqlite3_errmsg(handle)))
  }

  /// Runs one statement and returns its rows.
  @discardableResult
  func run(_ sql: SQLFragment) throws -> [[StoredValue]] {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_prepare_v2(handle, sql.text, -1, &statement, nil) == SQLITE_OK else { throw failure() }
    guard Int(sqlite3_bind_parameter_count(statement)) == sql.bindings.count else {
      throw Failure(description: "\(sql.bindings.count) bindings do not fit \(sql.text)")
    }
    for (index, value) in sql.bindings.enumerated() { bind(value, to: statement, at: Int32(index + 1)) }
    var rows: [[StoredValue]] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        rows.append(
          (0..<sqlite3_column_count(statement)).map { Self.value(sqlite3_column_value(statement, $0)) })
      case SQLITE_DONE: return rows
      default: throw failure()
      }
    }
  }

  /// The first columns of the rows, as integers.
  func integers(_ sql: SQLFragment) throws -> [Int64] {
    try run(sql).compactMap { row in if case .integer(let value) = row[0] { value } else { nil } }
  }

  private func bind(_ value: StoredValue, to statement: OpaquePointer?, at index: Int32) {
    switch value {
    case .null: sqlite3_bind_null(statement, index)
    case .integer(let value): sqlite3_bind_int64(statement, index, value)
    case .real(let value): sqlite3_bind_double(statement, index, value)
    case .decimal(let value): sqlite3_bind_double(statement, index, value.storedReal)
    case .text(let value):
      sqlite3_bind_text(statement, index, value, Int32(value.utf8.count), Self.transient)
    case .blob(let value):
      let bytes = [UInt8](value)
      if bytes.isEmpty {
        sqlite3_bind_zeroblob(statement, index, 0)
      } else {
        sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), Self.transient)
      }
    }
  }

  private static func value(_ value: OpaquePointer?) -> StoredValue {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: .real(sqlite3_value_double(value))
    case SQLITE_TEXT: .text(String(decoding: bytes(value), as: UTF8.self))
    case SQLITE_BLOB: .blob(Data(bytes(value)))
    default: .null
    }
  }

  private static func bytes(_ value: OpaquePointer?) -> UnsafeBufferPointer<UInt8> {
    let start = sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self)
    return UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
  }

  // MARK: Functions

  private typealias Function =
    @convention(c) (
      OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
    ) -> Void

  private static func body(_ function: PredicateSQLFunction) -> Function {
    switch function {
    case .stringCompare: compare
    case .stringFold: fold
    case .listValue: listValue
    }
  }

  private static let compare: Function = { context, _, arguments in
    guard let arguments, sqlite3_value_type(arguments[2]) == SQLITE_TEXT,
      sqlite3_value_type(arguments[3]) == SQLITE_TEXT
    else { return sqlite3_result_int(context, 0) }
    let result = PredicateSQLFunction.stringCompare(
      operation: sqlite3_value_int64(arguments[0]), options: sqlite3_value_int64(arguments[1]),
      left: bytes(arguments[2]).span, right: bytes(arguments[3]).span)
    guard let result else { return sqlite3_result_error(context, "unknown operation", -1) }
    sqlite3_result_int(context, result ? 1 : 0)
  }

  private static let fold: Function = { context, _, arguments in
    guard let arguments, sqlite3_value_type(arguments[1]) == SQLITE_TEXT else {
      return sqlite3_result_null(context)
    }
    let folded = PredicateSQLFunction.stringFold(
      options: sqlite3_value_int64(arguments[0]), text: bytes(arguments[1]).span)
    sqlite3_result_text(
      context, String(decoding: folded, as: UTF8.self), Int32(folded.count), PredicateDatabase.transient)
  }

  private static let listValue: Function = { context, _, arguments in
    guard let arguments,
      let value = PredicateSQLFunction.listValue(
        list: bytes(arguments[0]).span, index: sqlite3_value_int64(arguments[1]))
    else { return sqlite3_result_error(context, "no such value", -1) }
    switch value {
    case .null: sqlite3_result_null(context)
    case .integer(let value): sqlite3_result_int64(context, value)
    case .real(let value): sqlite3_result_double(context, value)
    case .decimal(let value): sqlite3_result_double(context, value.storedReal)
    case .text(let value):
      sqlite3_result_text(context, value, Int32(value.utf8.count), PredicateDatabase.transient)
    case .blob(let value):
      let bytes = [UInt8](value)
      sqlite3_result_blob(context, bytes, Int32(bytes.count), PredicateDatabase.transient)
    }
  }
}
