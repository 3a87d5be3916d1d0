/// The permitted values of a column of sizes or times: `3.9`, `3-5ft`, `1.8m`, `6'`, `12 sec`, `Flat`, `Waist high`.
///
/// A value is a number with an optional decimal point, or two numbers with `-` or `–` between them (a range, low end
/// first), followed by an optional unit with an optional space before it; or one of the declared words. Letter case
/// is ignored.
public struct QuantityRule: Sendable, Hashable, Codable {
  /// Units that may follow the number, as written: `ft`, `m`, `'`, `sec`.
  public var units: [String]
  /// Whether a number without a unit is refused.
  public var unitRequired: Bool
  /// Whether a range such as `3-5` is allowed.
  public var ranges: Bool
  /// Texts allowed in place of a number.
  public var words: [String]
  /// Lower bound of the number as written, regardless of its unit.
  public var min: Double?
  /// Upper bound of the number as written, regardless of its unit.
  public var max: Double?

  /// Makes a rule. The parameters are the properties of the same names.
  public init(
    units: [String] = [], unitRequired: Bool = false, ranges: Bool = true, words: [String] = [],
    min: Double? = nil, max: Double? = nil
  ) {
    self.units = units
    self.unitRequired = unitRequired
    self.ranges = ranges
    self.words = words
    self.min = min
    self.max = max
  }
}

/// A ``QuantityRule`` compiled for bytes. Checking allocates nothing.
package struct QuantityPattern: Sendable {
  enum Verdict: Int {
    case valid
    case isNoQuantity, needsUnit, hasUnknownUnit, isRangeRefused, isRangeReversed, isOutOfBounds
  }

  let rule: QuantityRule
  private let units: [[UInt8]]
  private let words: [[UInt8]]
  private let numbers: NumberNotation

  init(_ rule: QuantityRule, _ numbers: NumberNotation = .plain) {
    self.rule = rule
    self.numbers = numbers
    units = rule.units.map { Array($0.lowercased().utf8) }
    words = rule.words.map { Array($0.lowercased().utf8) }
  }

  /// Checks `bytes`, which have no surrounding spaces.
  func verdict(_ bytes: Span<UInt8>) -> Verdict {
    for word in words where matches(bytes, word, from: 0) { return .valid }
    var at = 0
    guard let low = number(bytes, &at) else { return .isNoQuantity }
    var high = low
    let end = at
    if Self.skipRangeMark(bytes, &at), let second = number(bytes, &at) {
      guard rule.ranges else { return .isRangeRefused }
      guard second >= low else { return .isRangeReversed }
      high = second
    } else {
      at = end
    }
    if bytes.has(32, at: at) { at += 1 }
    if at == bytes.count {
      if rule.unitRequired { return .needsUnit }
    } else if !units.contains(where: { matches(bytes, $0, from: at) }) {
      return .hasUnknownUnit
    }
    if let min = rule.min, low < min { return .isOutOfBounds }
    if let max = rule.max, high > max { return .isOutOfBounds }
    return .valid
  }

  /// A description of the rule, for messages.
  var explanation: String {
    var text = rule.ranges ? "a number or a range such as 3-5" : "a number"
    if let min = rule.min { text += " from \(Self.plain(min))" }
    if let max = rule.max { text += rule.min == nil ? " up to \(Self.plain(max))" : " to \(Self.plain(max))" }
    if !rule.units.isEmpty {
      let list = rule.units.joined(separator: ", ")
      text += rule.unitRequired ? ", followed by one of: \(list)" : ", alone or followed by one of: \(list)"
    }
    if !rule.words.isEmpty { text += "; or one of the words: \(rule.words.joined(separator: ", "))" }
    return text
  }

  /// Names beyond ASCII are compared in lower case on a slow path.
  private func matches(_ bytes: Span<UInt8>, _ name: [UInt8], from index: Int) -> Bool {
    if bytes.equalsIgnoringCase(name, from: index) { return true }
    guard name.contains(where: { $0 >= 0x80 }), index < bytes.count else { return false }
    var rest: [UInt8] = []
    for at in index..<bytes.count { rest.append(bytes[at]) }
    return Array(String(decoding: rest, as: UTF8.self).lowercased().utf8) == name
  }

  private func number(_ bytes: Span<UInt8>, _ at: inout Int) -> Double? {
    let start = at
    var end = bytes.digitsEnd(from: at)
    guard end > start else { return nil }
    if bytes.has(numbers.decimal, at: end) {
      let fractionStart = end + numbers.decimal.count
      let fractionEnd = bytes.digitsEnd(from: fractionStart)
      guard fractionEnd > fractionStart else { return nil }
      end = fractionEnd
    }
    at = end
    return numbers.withPlain(bytes.extracting(start..<end), NumberText.real)
  }

  /// Skips `-` or `–` (U+2013) with spaces around it.
  private static func skipRangeMark(_ bytes: Span<UInt8>, _ at: inout Int) -> Bool {
    if bytes.has(32, at: at) { at += 1 }
    if bytes.has(UInt8(ascii: "-"), at: at) {
      at += 1
    } else if bytes.has(0xE2, at: at), bytes.has(0x80, at: at + 1), bytes.has(0x93, at: at + 2) {
      at += 3
    } else {
      return false
    }
    if bytes.has(32, at: at) { at += 1 }
    return true
  }

  /// A bound without a trailing `.0`.
  package static func plain(_ value: Double) -> String {
    value == value.rounded() && value.magnitude < 1e15 ? String(Int(value)) : String(value)
  }
}
