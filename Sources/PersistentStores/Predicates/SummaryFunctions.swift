import CSQLite
import ManagedObjectModel

extension ValueSummary {
  /// The aggregate function of this library that computes the same in SQL; nil where SQLite's own does.
  var ownFunction: String? {
    switch self {
    case .minimum, .maximum: nil
    case .sum: "OCD_SUM"
    case .average: "OCD_AVERAGE"
    case .median: "OCD_MEDIAN"
    case .deviation: "OCD_DEVIATION"
    }
  }

  /// The name of the aggregate function in SQL.
  var sqlFunction: String {
    switch self {
    case .minimum: "min"
    case .maximum: "max"
    case .sum, .average, .median, .deviation: ownFunction ?? ""
    }
  }
}

extension ValueSummary {
  /// The SQL of a summary that may be of nothing: a sum is 0 then. That of reals is real even if columns keep all of them
  /// as whole numbers, so that a division of it keeps the remainder.
  ///
  /// - Parameter type: That of the summary.
  func sqlOfAny(_ summary: SQLFragment, _ type: PredicateValueType) -> SQLFragment {
    guard self == .sum else { return summary }
    guard type != .integer else { return SQLFragment("coalesce(") + summary + SQLFragment(", 0)") }
    return SQLFragment("coalesce(CAST(") + summary + SQLFragment(" AS REAL), 0.0)")
  }
}

extension SQLiteConnection {
  /// Registers aggregate functions whose result does not depend on the order of the rows, as SQLite's sums do.
  func registerSummaryFunctions() throws {
    for kind in ValueSummary.allCases {
      guard let name = kind.ownFunction else { continue }
      let step: @convention(c) (OpaquePointer?, Int32, Arguments?) -> Void =
        switch kind {
        case .average: addToAverage
        case .median: { context, _, arguments in add(arguments, to: context, kind: .median) }
        case .deviation: { context, _, arguments in add(arguments, to: context, kind: .deviation) }
        default: addToSum
        }
      let code = sqlite3_create_function_v2(
        handle, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil, nil,
        step, returnSummary, nil)
      guard code == SQLITE_OK else { throw SQLiteError(handle, code: code, sql: nil) }
    }
  }
}

/// Keeps the state between the rows of one group.
private final class SummaryBox {
  var state: SummaryState
  init(_ kind: ValueSummary) { state = SummaryState(kind) }
}

private typealias Arguments = UnsafeMutablePointer<OpaquePointer?>

private func addToSum(_ context: OpaquePointer?, _ count: Int32, _ arguments: Arguments?) {
  add(arguments, to: context, kind: .sum)
}

private func addToAverage(_ context: OpaquePointer?, _ count: Int32, _ arguments: Arguments?) {
  add(arguments, to: context, kind: .average)
}

/// SQLite keeps a zeroed pointer for each group, which holds the box from the first row to the end of the group.
private func slot(_ context: OpaquePointer?, size: Int) -> UnsafeMutablePointer<UnsafeMutableRawPointer?>? {
  sqlite3_aggregate_context(context, Int32(size))?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
}

private func add(_ arguments: Arguments?, to context: OpaquePointer?, kind: ValueSummary) {
  guard let value = arguments?[0], let slot = slot(context, size: MemoryLayout<UnsafeMutableRawPointer?>.size) else {
    sqlite3_result_error_nomem(context)
    return
  }
  let box: SummaryBox
  if let known = slot.pointee {
    box = Unmanaged<SummaryBox>.fromOpaque(known).takeUnretainedValue()
  } else {
    box = SummaryBox(kind)
    slot.pointee = Unmanaged.passRetained(box).toOpaque()
  }
  switch sqlite3_value_type(value) {
  case SQLITE_INTEGER: box.state.add(.integer(sqlite3_value_int64(value)))
  case SQLITE_FLOAT: box.state.add(.real(sqlite3_value_double(value)))
  default: break
  }
}

private func returnSummary(_ context: OpaquePointer?) {
  var result = StoredValue.null
  // A group without rows has no box.
  if let slot = slot(context, size: 0), let known = slot.pointee {
    result = Unmanaged<SummaryBox>.fromOpaque(known).takeRetainedValue().state.result
    slot.pointee = nil
  }
  switch result {
  case .integer(let number): sqlite3_result_int64(context, number)
  case .real(let number): sqlite3_result_double(context, number)
  default: sqlite3_result_null(context)
  }
}
