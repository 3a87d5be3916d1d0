/// How numbers are written: the character before the fraction, and the one between groups of three digits.
package struct NumberNotation: Sendable, Hashable {
  package let decimal: [UInt8]
  /// Empty if digits are not grouped.
  package let group: [UInt8]

  /// A point, and no groups.
  package static let plain = NumberNotation(decimal: ".", group: nil)

  package init(decimal: String, group: String?) {
    self.decimal = Array(decimal.utf8)
    self.group = group.map { Array($0.utf8) } ?? []
  }

  package var isPlain: Bool { self == .plain }

  /// Texts up to this length are rewritten without an allocation.
  private static let inlineBytesMax = 64

  /// Calls `body` with the number in plain notation, so that every reader of numbers rounds as it does for a point;
  /// nil if the text is not written in this notation.
  package func withPlain<Result>(_ text: Span<UInt8>, _ body: (Span<UInt8>) -> Result?) -> Result? {
    if isPlain { return body(text) }
    if text.count > Self.inlineBytesMax {
      var output = [UInt8](repeating: 0, count: text.count)
      guard let count = rewrite(text, { output[$0] = $1 }) else { return nil }
      return body(output.span.extracting(0..<count))
    }
    var output = InlineArray<64, UInt8>(repeating: 0)
    guard let count = rewrite(text, { output[$0] = $1 }) else { return nil }
    return body(output.span.extracting(0..<count))
  }

  /// Writes the plain form, which is never longer; returns its length.
  ///
  /// Groups are exact: one to three digits, then only threes, and none in the fraction. So `1.5` is not 15 where a
  /// point groups.
  private func rewrite(_ text: Span<UInt8>, _ put: (Int, UInt8) -> Void) -> Int? {
    var (at, count) = (0, 0)
    if text.has(UInt8(ascii: "-"), at: 0) || text.has(UInt8(ascii: "+"), at: 0) {
      put(0, text[0])
      (at, count) = (1, 1)
    }
    var (digits, hasGroups) = (0, false)
    while at < text.count {
      if text[at] &- 48 < 10 {
        put(count, text[at])
        (at, count, digits) = (at + 1, count + 1, digits + 1)
      } else if text.has(group, at: at) {
        guard hasGroups ? digits == 3 : (1...3).contains(digits) else { return nil }
        (hasGroups, digits) = (true, 0)
        at += group.count
      } else {
        break
      }
    }
    if hasGroups, digits != 3 { return nil }
    if text.has(decimal, at: at) {
      put(count, UInt8(ascii: "."))
      (at, count) = (at + decimal.count, count + 1)
      while at < text.count, text[at] &- 48 < 10 {
        put(count, text[at])
        (at, count) = (at + 1, count + 1)
      }
    }
    // What remains is an exponent, or not part of a number.
    while at < text.count {
      if text[at] == UInt8(ascii: ".") { return nil }
      put(count, text[at])
      (at, count) = (at + 1, count + 1)
    }
    return count
  }
}

extension Span<UInt8> {
  /// Whether `sign`, if it is not empty, is at `index`.
  func has(_ sign: [UInt8], at index: Int) -> Bool {
    guard !sign.isEmpty, index + sign.count <= count else { return false }
    for offset in sign.indices where self[index + offset] != sign[offset] { return false }
    return true
  }
}
