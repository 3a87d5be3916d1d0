import Foundation

/// What expressions compute of single values. One implementation for values in memory and, as SQL functions, for rows.
///
/// A function of null is null, except for functions of many values, which leave null out. A result that is not a number
/// is null too: that of a division by 0, or the root of a negative number. Whole numbers stay whole; a result beyond 64
/// bits becomes a floating-point number, as in SQLite. A division of whole numbers drops the remainder. Decimals are
/// calculated as the `Double` that a store keeps of them.
package enum ScalarFunction: String, Sendable, Hashable, CaseIterable {
  case add, subtract, multiply, divide
  case power, modulus
  case absolute, ceiling, floor, truncation, squareRoot, naturalLogarithm, logarithm, exponential
  case bitwiseAnd, bitwiseOr, bitwiseXor, leftShift, rightShift, onesComplement
  case lowercase, uppercase, length, canonical
  case sum, count, minimum, maximum, average, median, deviation
  /// A whole number as a floating-point number.
  case real
  case textAsNumber, numberAsText, textAsDate
  case random, randomBelow

  /// Whether equal arguments give equal results.
  package var isDeterministic: Bool { self != .random && self != .randomBelow }

  /// The operator of SQLite that does the same.
  package var sqlOperator: String? {
    switch self {
    case .add: "+"
    case .subtract: "-"
    case .multiply: "*"
    case .divide: "/"
    default: nil
    }
  }

  package func value(_ arguments: [StoredValue]) -> StoredValue {
    if let summary {
      var state = SummaryState(summary)
      for argument in arguments { state.add(argument) }
      return Self.checked(state.result)
    }
    if self == .count { return .integer(Int64(arguments.count)) }
    if arguments.contains(where: StoredValueOrder.isNull) { return .null }
    switch arguments.count {
    case 0: return .integer(.random(in: 0...Int64(Int32.max)))
    case 1: return Self.checked(unary(arguments[0]))
    default: return Self.checked(binary(arguments[0], arguments[1]))
    }
  }

  private static func checked(_ value: StoredValue) -> StoredValue {
    StoredValueOrder.isNull(value) ? .null : value
  }

  private var summary: ValueSummary? {
    switch self {
    case .sum: .sum
    case .minimum: .minimum
    case .maximum: .maximum
    case .average: .average
    case .median: .median
    case .deviation: .deviation
    default: nil
    }
  }

  // MARK: One value

  private func unary(_ value: StoredValue) -> StoredValue {
    switch value {
    case .text(let text): ofText(text)
    case .integer(let number): ofWhole(number)
    case .real(let number): ofReal(number)
    case .decimal(let number): ofReal(number.storedReal)
    case .null, .blob: .null
    }
  }

  private func ofText(_ text: String) -> StoredValue {
    switch self {
    case .lowercase: .text(text.lowercased())
    case .uppercase: .text(text.uppercased())
    case .length: .integer(Int64(text.utf16.count))
    case .canonical: .text(TextFolding.fold(text, .folding))
    case .textAsNumber: PredicateConstant.text(text).stored(as: .integer) ?? .null
    case .textAsDate: PredicateConstant.text(text).stored(as: .date) ?? .null
    default: .null
    }
  }

  private func ofWhole(_ number: Int64) -> StoredValue {
    switch self {
    case .absolute: number == .min ? .real(-Double(number)) : .integer(abs(number))
    case .ceiling, .floor, .truncation: .integer(number)
    case .onesComplement: .integer(~number)
    case .numberAsText: .text(String(number))
    case .randomBelow: number > 0 ? .integer(.random(in: 0..<number)) : .null
    default: ofReal(Double(number))
    }
  }

  private func ofReal(_ number: Double) -> StoredValue {
    switch self {
    case .absolute: .real(abs(number))
    case .ceiling: .real(number.rounded(.up))
    case .floor: .real(number.rounded(.down))
    case .truncation: .real(number.rounded(.towardZero))
    case .squareRoot: .real(number.squareRoot())
    case .naturalLogarithm: .real(Foundation.log(number))
    case .logarithm: .real(log10(number))
    case .exponential: .real(exp(number))
    case .real: .real(number)
    case .numberAsText: .text(Int64(exactly: number).map(String.init) ?? "\(number)")
    default: .null
    }
  }

  // MARK: Two values

  private func binary(_ left: StoredValue, _ right: StoredValue) -> StoredValue {
    if case .integer(let left) = left, case .integer(let right) = right { return ofWholes(left, right) }
    guard let left = left.number, let right = right.number else { return .null }
    return ofReals(left, right)
  }

  private func ofWholes(_ left: Int64, _ right: Int64) -> StoredValue {
    let exact: (partialValue: Int64, overflow: Bool)
    switch self {
    case .add: exact = left.addingReportingOverflow(right)
    case .subtract: exact = left.subtractingReportingOverflow(right)
    case .multiply: exact = left.multipliedReportingOverflow(by: right)
    case .divide:
      guard right != 0 else { return .null }
      exact = left.dividedReportingOverflow(by: right)
    case .modulus:
      guard right != 0 else { return .null }
      return .integer(left.remainderReportingOverflow(dividingBy: right).partialValue)
    case .bitwiseAnd: return .integer(left & right)
    case .bitwiseOr: return .integer(left | right)
    case .bitwiseXor: return .integer(left ^ right)
    case .leftShift: return .integer(left << right)
    case .rightShift: return .integer(left >> right)
    default: return ofReals(Double(left), Double(right))
    }
    return exact.overflow ? ofReals(Double(left), Double(right)) : .integer(exact.partialValue)
  }

  private func ofReals(_ left: Double, _ right: Double) -> StoredValue {
    switch self {
    case .add: .real(left + right)
    case .subtract: .real(left - right)
    case .multiply: .real(left * right)
    case .divide: right == 0 ? .null : .real(left / right)
    case .modulus: right == 0 ? .null : .real(left.truncatingRemainder(dividingBy: right))
    // Stores keep no sign of 0.
    case .power: left == 0 ? (right < 0 ? .null : .real(pow(0, right))) : .real(pow(left, right))
    default: .null
    }
  }
}
