import Foundation

/// What is computed from many values.
package enum ValueSummary: Int64, Sendable, Hashable, CaseIterable {
  case sum, average, minimum, maximum
  /// The middle one of the sorted numbers, or the mean of the two in the middle.
  case median
  /// The standard deviation of a whole population.
  case deviation
}

/// Computes one value from many, one after the other. The store's SQL functions and objects in memory use it, so both
/// give the same result, in any order of the values. Null does not count.
package struct SummaryState: Sendable {
  private let kind: ValueSummary
  private var count = 0
  private var whole: Int128 = 0
  private var reals: ExactSum?
  private var extreme = StoredValue.null
  /// For what needs all of them at once.
  private var numbers: [Double] = []

  package init(_ kind: ValueSummary) { self.kind = kind }

  package mutating func add(_ value: StoredValue) {
    guard !StoredValueOrder.isNull(value) else { return }
    count += 1
    switch kind {
    case .minimum: if count == 1 || StoredValueOrder.compare(value, extreme) < 0 { extreme = value }
    case .maximum: if count == 1 || StoredValueOrder.compare(value, extreme) > 0 { extreme = value }
    case .sum, .average: addNumber(value)
    case .median, .deviation: numbers.append(value.number ?? .nan)
    }
  }

  private mutating func addNumber(_ value: StoredValue) {
    switch value {
    case .integer(let number): whole += Int128(number)
    case .real(let number): reals = (reals ?? ExactSum()).adding(number)
    case .decimal(let number): reals = (reals ?? ExactSum()).adding(number.storedReal)
    case .null, .text, .blob: break
    }
  }

  /// The sum of no values is 0; an average or extreme of none is null.
  package var result: StoredValue {
    switch kind {
    case .minimum, .maximum: return extreme
    case .sum:
      guard let reals else { return Int64(exactly: whole).map { .integer($0) } ?? .real(Double(whole)) }
      return .real(reals.adding(Double(whole)).result)
    case .average:
      guard count > 0 else { return .null }
      guard let reals else { return .real(Double(whole) / Double(count)) }
      return .real(reals.adding(Double(whole)).result / Double(count))
    case .median: return median
    case .deviation: return deviation
    }
  }

  private var median: StoredValue {
    let sorted = numbers.sorted()
    guard let last = sorted.last else { return .null }
    let middle = sorted.count / 2
    if sorted.count == 1 { return .real(last) }
    return .real(sorted.count % 2 == 1 ? sorted[middle] : sorted[middle - 1] / 2 + sorted[middle] / 2)
  }

  private var deviation: StoredValue {
    guard !numbers.isEmpty else { return .null }
    let mean = Self.sum(numbers) / Double(numbers.count)
    return .real((Self.sum(numbers.map { ($0 - mean) * ($0 - mean) }) / Double(numbers.count)).squareRoot())
  }

  private static func sum(_ numbers: [Double]) -> Double {
    numbers.reduce(ExactSum()) { $0.adding($1) }.result
  }
}

/// A sum of doubles without rounding errors, rounded once at the end (Shewchuk, "Adaptive Precision Floating-Point
/// Arithmetic and Fast Robust Geometric Predicates", 1997). The order of the numbers does not matter.
private struct ExactSum {
  /// Do not overlap; ascending by magnitude.
  private var parts: [Double] = []
  /// Infinities, NaN, and what exceeds the range.
  private var special = 0.0

  consuming func adding(_ number: Double) -> ExactSum {
    var (rest, kept) = (number, 0)
    guard number.isFinite else {
      special += number
      return self
    }
    for part in parts {
      let (large, small) = abs(rest) < abs(part) ? (part, rest) : (rest, part)
      let sum = large + small
      guard sum.isFinite else {
        special += sum
        return self
      }
      let error = small - (sum - large)
      if error != 0 {
        parts[kept] = error
        kept += 1
      }
      rest = sum
    }
    parts.removeSubrange(kept...)
    parts.append(rest)
    return self
  }

  var result: Double {
    if special != 0 || special.isNaN { return special }
    var remaining = parts
    guard var sum = remaining.popLast() else { return 0 }
    var error = 0.0
    while error == 0, let part = remaining.popLast() {
      let before = sum
      sum = before + part
      error = part - (sum - before)
    }
    // Half of a unit in the last place rounds towards the parts that are left.
    if let next = remaining.last, error != 0, (error < 0) == (next < 0) {
      let twice = error * 2
      let rounded = sum + twice
      if twice == rounded - sum { sum = rounded }
    }
    return sum
  }
}
