import CSQLite
import Foundation
import SystemSupport
import ManagedObjectModel

/// Logs the statements of a connection: the switch `com.apple.CoreData.SQLDebug`.
///
/// Level 1 has the text of each statement, how long it took and how many rows it found; 2 the values in it; 3 the keys of
/// the rows; 4 how SQLite carries it out (EXPLAIN QUERY PLAN). SQLite itself reports the statements, so none is missing.
// Unchecked: a connection belongs to one thread at a time, and only its statements report.
final class StatementLog: @unchecked Sendable {
  static let debugSwitch = DebugSwitch("com.apple.CoreData.SQLDebug")
  /// Read once. Where it is 0, connections have no log.
  static let level = debugSwitch.level

  private let level: Int
  private let write: (String) -> Void
  /// What was found by the statements that run.
  private var found: [OpaquePointer: Found] = [:]
  private var isExplaining = false

  private struct Found {
    var rowCount = 0
    var keys: [Int64] = []
  }

  /// The largest numbers of characters of one text, and of keys of one statement.
  private static let charactersMax = 10_000
  private static let keysMax = 100

  init(level: Int, write: @escaping (String) -> Void) {
    (self.level, self.write) = (level, write)
  }

  /// A line of the program's standard error. Where it can't be written, the program goes on without it.
  static func writeToStandardError(_ line: String) {
    let bytes = Array((visible(line) + "\n").utf8)
    standardError.withLock { _ in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
        if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
      }
    }
  }
  /// Held for a line, so that lines of several threads do not mix.
  private static let standardError = Locked(())

  /// The text with escapes for characters that a terminal would obey or would not show: values come from files.
  static func visible(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }

  /// Makes SQLite report the statements of a connection, which has to hold this log.
  func attach(to handle: OpaquePointer) {
    var events = SQLITE_TRACE_STMT | SQLITE_TRACE_PROFILE | SQLITE_TRACE_ROW
    if level == 0 { events = 0 }
    // The events and what comes with them: SQLite documentation, "SQL Trace Event Codes".
    let report:
      @convention(c) (UInt32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32 =
        { event, log, statement, detail in
          guard let log, let statement else { return 0 }
          Unmanaged<StatementLog>.fromOpaque(log).takeUnretainedValue().note(
            event, of: OpaquePointer(statement), detail)
          return 0
        }
    _ = sqlite3_trace_v2(handle, UInt32(events), report, Unmanaged.passUnretained(self).toOpaque())
  }

  private func note(_ event: UInt32, of statement: OpaquePointer, _ detail: UnsafeMutableRawPointer?) {
    switch Int32(event) {
    case SQLITE_TRACE_STMT:
      if let detail { began(statement, String(cString: detail.assumingMemoryBound(to: CChar.self))) }
    case SQLITE_TRACE_ROW: foundRow(statement)
    case SQLITE_TRACE_PROFILE: if let detail { ended(statement, nanoseconds: detail.load(as: Int64.self)) }
    default: break
    }
  }

  private func began(_ statement: OpaquePointer, _ text: String) {
    guard !isExplaining else { return }
    write("CoreData: sql: " + Self.shortened(text))
    // A statement inside of a trigger: the one that fired it has the values.
    guard !text.hasPrefix("--") else { return }
    found[statement] = Found()
    if level >= 2, sqlite3_bind_parameter_count(statement) > 0, let expanded = sqlite3_expanded_sql(statement) {
      write("CoreData: details: with values: " + Self.shortened(String(cString: expanded)))
      sqlite3_free(expanded)
    }
    if level >= 4 { explain(statement, text) }
  }

  private func foundRow(_ statement: OpaquePointer) {
    guard !isExplaining else { return }
    found[statement, default: Found()].rowCount += 1
    guard level >= 3, found[statement, default: Found()].keys.count < Self.keysMax,
      let column = Self.keyColumn(of: statement), sqlite3_column_type(statement, column) == SQLITE_INTEGER
    else { return }
    found[statement, default: Found()].keys.append(sqlite3_column_int64(statement, column))
  }

  private static func keyColumn(of statement: OpaquePointer) -> Int32? {
    (0..<sqlite3_column_count(statement)).first { column in
      sqlite3_column_name(statement, column).map { String(cString: $0) == "Z_PK" } ?? false
    }
  }

  private func ended(_ statement: OpaquePointer, nanoseconds: Int64) {
    guard !isExplaining, let found = found.removeValue(forKey: statement) else { return }
    if !found.keys.isEmpty {
      let others = found.rowCount - found.keys.count
      write(
        "CoreData: details: Z_PK of the rows: " + found.keys.map(String.init).joined(separator: ", ")
          + (others > 0 ? " and \(others) more" : ""))
    }
    let seconds = String(format: "%.4f", Double(nanoseconds) / 1e9)
    write("CoreData: annotation: sql execution time: \(seconds)s for \(found.rowCount) rows.")
  }

  /// The plan of a statement, each step under the one that it belongs to.
  private func explain(_ statement: OpaquePointer, _ text: String) {
    isExplaining = true
    defer { isExplaining = false }
    let steps = try? QueryPlan.steps(of: text, sqlite3_db_handle(statement))
    for step in steps ?? [] { write("CoreData: details: plan: " + step) }
  }

  private static func shortened(_ text: String) -> String {
    text.utf8.count <= charactersMax ? text : text.prefix(charactersMax) + "… (\(text.utf8.count) bytes)"
  }
}

/// How SQLite carries out a statement. (SQLite documentation: EXPLAIN QUERY PLAN.)
enum QueryPlan {
  /// One line for each step, indented under the one that it belongs to; none for a statement without a plan.
  ///
  /// - Throws: What keeps SQLite from carrying it out, such as a column that the table lacks.
  static func steps(of text: String, _ handle: OpaquePointer?) throws(SQLiteError) -> [String] {
    var prepared: OpaquePointer?
    guard sqlite3_prepare_v2(handle, "EXPLAIN QUERY PLAN " + text, -1, &prepared, nil) == SQLITE_OK, let prepared else {
      throw failure(text, handle)
    }
    defer { sqlite3_finalize(prepared) }
    var (steps, depths): ([String], [Int32: Int]) = ([], [:])
    var code = sqlite3_step(prepared)
    while code == SQLITE_ROW {
      defer { code = sqlite3_step(prepared) }
      let depth = depths[sqlite3_column_int(prepared, 1)].map { $0 + 1 } ?? 0
      depths[sqlite3_column_int(prepared, 0)] = depth
      let detail = sqlite3_column_text(prepared, 3).map { String(cString: $0) } ?? ""
      steps.append(String(repeating: "  ", count: depth) + detail)
    }
    guard code == SQLITE_DONE else { throw failure(text, handle) }
    return steps
  }

  private static func failure(_ text: String, _ handle: OpaquePointer?) -> SQLiteError {
    SQLiteError(code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)), sql: text)
  }
}
