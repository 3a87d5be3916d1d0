/// A number as written: its digits in groups, and the marks between them.
package struct NumberForm: Sendable, Hashable {
  /// The bytes between groups of digits: points, commas, apostrophes, spaces.
  var marks: [UInt8] = []
  /// How many digits each group has.
  var groups: [Int] = []
  var hasLeadingZero = false
  /// The number of bytes of the number, including its sign.
  var length = 0

  enum Reading: Sendable, Hashable {
    case whole
    /// A decimal number with this mark before its fraction, and possibly groups by another.
    case decimal(UInt8, group: UInt8?)
    /// A whole number in groups of three.
    case grouped(UInt8)
    /// One mark before three digits: `1,234`.
    case either(UInt8)
  }

  /// The number at the start of `bytes`; nil if there is none.
  init?(_ bytes: ArraySlice<UInt8>) {
    var at = bytes.startIndex
    if at < bytes.endIndex, bytes[at] == UInt8(ascii: "-") || bytes[at] == UInt8(ascii: "+") { at += 1 }
    hasLeadingZero = at < bytes.endIndex && bytes[at] == UInt8(ascii: "0")
    while true {
      let start = at
      while at < bytes.endIndex, bytes[at].isDigit { at += 1 }
      guard at > start else { return nil }
      groups.append(at - start)
      guard at + 1 < bytes.endIndex, Self.isMark(bytes[at]), bytes[at + 1].isDigit else { break }
      // A space separates groups of three digits only; otherwise another word begins.
      if bytes[at] == 32, !Self.hasThreeDigits(bytes, at: at + 1) || groups[0] > 3 { break }
      marks.append(bytes[at])
      at += 1
    }
    length = at - bytes.startIndex
  }

  private static func isMark(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ".") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "'") || byte == 32
  }

  private static func hasThreeDigits(_ bytes: ArraySlice<UInt8>, at index: Int) -> Bool {
    guard index + 3 <= bytes.endIndex, bytes[index].isDigit, bytes[index + 1].isDigit, bytes[index + 2].isDigit
    else { return false }
    return index + 3 == bytes.endIndex || !bytes[index + 3].isDigit
  }

  /// What number this is; nil if it is none, such as a date.
  var reading: Reading? {
    guard let last = marks.last else { return .whole }
    let isDecimalMark = last == UInt8(ascii: ".") || last == UInt8(ascii: ",")
    if marks.count == 1 {
      guard isDecimalMark else { return groups[1] == 3 && groups[0] <= 3 ? .grouped(last) : nil }
      if groups[1] == 3, groups[0] <= 3, !(hasLeadingZero && groups[0] == 1) { return .either(last) }
      return .decimal(last, group: nil)
    }
    let inner = marks.dropLast()
    guard let group = inner.first, inner.allSatisfy({ $0 == group }), groups[0] <= 3,
      groups.dropFirst().dropLast().allSatisfy({ $0 == 3 })
    else { return nil }
    if group == last { return groups.last == 3 ? .grouped(group) : nil }
    return isDecimalMark ? .decimal(last, group: group) : nil
  }
}

/// A number or a range with a unit: `1,5 m`, `3–5 ft`, `12 s`, `6'`.
package struct QuantityForm: Sendable, Hashable {
  var first: NumberForm
  var second: NumberForm?
  /// The unit as written; empty for a bare range.
  package var unit: String

  /// Reads all of `bytes`; nil if they are something else, or a number alone.
  init?(_ bytes: [UInt8]) {
    guard let first = NumberForm(bytes[...]), first.reading != nil else { return nil }
    self.first = first
    var at = first.length
    var next = at
    while next < bytes.count, bytes[next] == 32 { next += 1 }
    let dash = Self.dashLength(bytes, at: next)
    if dash > 0 {
      next += dash
      while next < bytes.count, bytes[next] == 32 { next += 1 }
      if next < bytes.count, let second = NumberForm(bytes[next...]), second.reading != nil, bytes[next].isDigit {
        self.second = second
        at = next + second.length
      }
    }
    while at < bytes.count, bytes[at] == 32 { at += 1 }
    let rest = Array(bytes[at...])
    guard rest.count <= 8, Self.isUnit(rest) else { return nil }
    if rest.isEmpty, second == nil { return nil }
    unit = rest.text
  }

  private static func dashLength(_ bytes: [UInt8], at index: Int) -> Int {
    if index < bytes.count, bytes[index] == UInt8(ascii: "-") { return 1 }
    return bytes.has([0xE2, 0x80, 0x93], at: index) || bytes.has([0xE2, 0x80, 0x94], at: index) ? 3 : 0
  }

  /// Letters, with a slash, a prime, a degree or a percent sign; no digits, no other signs.
  private static func isUnit(_ bytes: [UInt8]) -> Bool {
    bytes.allSatisfy { $0.isLetter || $0 >= 0x80 || "/'\"%$".utf8.contains($0) }
      && bytes.filter { $0 == UInt8(ascii: "/") }.count <= 1
  }
}
