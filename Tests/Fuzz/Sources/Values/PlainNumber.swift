import Foundation

/// Numbers by their grammar, character by character.
enum PlainNumber {
  /// The digits before and after the point, and the exponent; nil if the text is not `[+-]digits[.digits][e[+-]digits]`
  /// with a digit before or after the point.
  static func parts(_ text: String) -> (sign: String, whole: String, fraction: String, exponent: String)? {
    var left = Array(text.unicodeScalars)[...]
    func digits() -> String {
      let found = left.prefix { ("0"..."9").contains($0) }
      left = left.dropFirst(found.count)
      return String(String.UnicodeScalarView(found))
    }
    func take(_ choices: [Unicode.Scalar]) -> String {
      guard let next = left.first, choices.contains(next) else { return "" }
      left = left.dropFirst()
      return String(next)
    }
    let sign = take(["+", "-"])
    let whole = digits()
    let hasPoint = !take(["."]).isEmpty
    let fraction = hasPoint ? digits() : ""
    guard !whole.isEmpty || !fraction.isEmpty else { return nil }
    var exponent = ""
    if !take(["e", "E"]).isEmpty {
      exponent = take(["+", "-"])
      let power = digits()
      guard !power.isEmpty, power.count <= 9 else { return nil }
      exponent += power
    }
    return left.isEmpty ? (sign, whole, fraction, exponent) : nil
  }

  /// The number with a sign, digits and an exponent, as C reads it.
  static func plain(_ text: String) -> String? {
    parts(text).map { parts in
      let whole = parts.whole.isEmpty ? "0" : parts.whole
      let fraction = parts.fraction.isEmpty ? "0" : parts.fraction
      return "\(parts.sign)\(whole).\(fraction)e\(parts.exponent.isEmpty ? "0" : parts.exponent)"
    }
  }

  /// A text with a group and a decimal sign in plain notation; nil if the groups are not of three digits.
  static func ungrouped(_ text: String, decimal: Character, group: Character?) -> String? {
    var rest = Substring(text)
    var sign = ""
    if let first = rest.first, first == "+" || first == "-" { sign = String(rest.removeFirst()) }
    // The whole part ends at the first character that is neither digit nor group.
    let whole = rest.prefix { ("0"..."9").contains($0) || $0 == group }
    rest = rest.dropFirst(whole.count)
    if let group, whole.contains(group) {
      let groups = whole.split(separator: group, omittingEmptySubsequences: false)
      guard (1...3).contains(groups[0].count), groups.dropFirst().allSatisfy({ $0.count == 3 }) else { return nil }
    }
    let digits = whole.filter { $0 != group }
    if rest.first == decimal {
      rest.removeFirst()
      return rest.contains(".") ? nil : "\(sign)\(digits).\(rest)"
    }
    return rest.contains(".") ? nil : "\(sign)\(digits)\(rest)"
  }
}
