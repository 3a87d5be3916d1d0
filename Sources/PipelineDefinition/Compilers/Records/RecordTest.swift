/// A condition compiled for the rows of a batch.
package indirect enum RecordTest: Sendable {
  case all([RecordTest])
  case any([RecordTest])
  case not(RecordTest)
  /// Columns are indices in the ``ColumnSet``.
  case isEmpty(column: Int)
  case compare(column: Int, Comparison, RecordOperand, emptyHolds: Bool)
  case oneOf(column: Int, [RecordOperand])
}

/// The right side of a comparison. It determines how the left side is read.
package enum RecordOperand: Sendable {
  case text([UInt8])
  case number(RecordNumber)
  case textColumn(Int)
  case numberColumn(Int)
}

/// A number, or a date in seconds. Whole numbers compare exactly beyond what a Double holds.
package enum RecordNumber: Sendable {
  case integer(Int64)
  case real(Double)

  package init(_ value: Double) {
    self = Int64(exactly: value).map { .integer($0) } ?? .real(value)
  }

  package func compared(to other: RecordNumber) -> Int {
    if case .integer(let left) = self, case .integer(let right) = other {
      return left < right ? -1 : left == right ? 0 : 1
    }
    return real < other.real ? -1 : real == other.real ? 0 : 1
  }

  private var real: Double {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    }
  }
}

extension Comparison {
  package func allows(_ order: Int) -> Bool {
    switch self {
    case .less: order < 0
    case .atMost: order <= 0
    case .equal: order == 0
    case .notEqual: order != 0
    case .atLeast: order >= 0
    case .greater: order > 0
    }
  }
}
