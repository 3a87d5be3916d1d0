import Foundation
import SystemSupport

/// A compiled rule on a number or length. These checks allocate nothing for a valid field; the other checks run after
/// them.
struct QuickCheck: Sendable {
  enum Test: Sendable {
    /// Inclusive bounds of a number or of a date's seconds.
    case within(Double, Double)
    /// `now`, and the latest midnight of a day that has already begun in some time zone, both in seconds since 2001.
    case notAfterNow(Double, latestDay: Double)
    /// Bounds in Unicode scalars.
    case length(Int, Int)
  }

  var test: Test
  var rule: Int
  var severity: Severity

  @inline(__always)
  func passes(_ value: Double) -> Bool {
    switch test {
    case .within(let low, let high): value >= low && value <= high
    case .notAfterNow(let now, let latestDay):
      value <= now || (value <= latestDay && value.remainder(dividingBy: 86_400) == 0)
    case .length: true
    }
  }

  @inline(__always)
  func passes(_ bytes: Span<UInt8>) -> Bool {
    guard case .length(let low, let high) = test else { return true }
    if NumberText.isLonger(bytes, than: high) { return false }
    return low == 0 || NumberText.scalarCount(bytes) >= low
  }
}

/// A rule on the text itself.
struct TextCheck: Sendable {
  enum Test: Sendable {
    case oneOf([[UInt8]])
    case noneOf([[UInt8]])
    case format(TextFormat)
    case expression(NSRegularExpression)
    case quantity(QuantityPattern)
  }

  var test: Test
  var rule: Int
  var severity: Severity

  func passes(_ bytes: Span<UInt8>) -> Bool {
    switch test {
    case .oneOf(let values):
      return values.contains { bytes.equals($0) }
    case .noneOf(let values):
      return !values.contains { bytes.equals($0) }
    case .format(let format):
      return format.matches(bytes)
    case .quantity(let pattern):
      return pattern.verdict(bytes.extracting(bytes.trimmedRange)) == .valid
    case .expression(let expression):
      if case .match = expression.boundedMatch(in: String(decoding: bytes.array, as: UTF8.self)) { return true }
      return false
    }
  }
}

extension Span<UInt8> {
  /// A copy as an array, for slow paths.
  var array: [UInt8] {
    var copy: [UInt8] = []
    copy.reserveCapacity(count)
    for index in 0..<count { copy.append(self[index]) }
    return copy
  }
}
