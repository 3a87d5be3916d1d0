/// The text operators over UTF-8 bytes; they optionally lowercase ASCII letters during the comparison.
struct ByteComparison {
  let lowersCase: Bool

  func holds(_ operation: TextOperation, left: Span<UInt8>, right: Span<UInt8>) -> Bool {
    switch operation {
    case .equal: left.count == right.count && order(left, right) == 0
    case .less: order(left, right) < 0
    case .lessOrEqual: order(left, right) <= 0
    case .greater: order(left, right) > 0
    case .greaterOrEqual: order(left, right) >= 0
    case .contains: contains(left, right)
    case .beginsWith: !right.isEmpty && holds(right, in: left, at: 0)
    case .endsWith: !right.isEmpty && holds(right, in: left, at: left.count - right.count)
    case .like: isLike(left, right)
    case .matches: false
    }
  }

  @inline(__always)
  private func letter(_ byte: UInt8) -> UInt8 {
    lowersCase && byte &- 0x41 < 26 ? byte | 0x20 : byte
  }

  /// Like memcmp; a prefix sorts before the longer text.
  func order(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
    let shared = min(left.count, right.count)
    var index = 0
    while index < shared {
      let (first, second) = (letter(left[index]), letter(right[index]))
      if first != second { return first < second ? -1 : 1 }
      index += 1
    }
    return left.count - right.count
  }

  private func holds(_ part: Span<UInt8>, in text: Span<UInt8>, at start: Int) -> Bool {
    guard start >= 0, part.count <= text.count - start else { return false }
    var index = 0
    while index < part.count {
      guard letter(text[start + index]) == letter(part[index]) else { return false }
      index += 1
    }
    return true
  }

  private func contains(_ text: Span<UInt8>, _ part: Span<UInt8>) -> Bool {
    guard !part.isEmpty else { return false }
    let first = letter(part[0])
    var start = 0
    while start <= text.count - part.count {
      if letter(text[start]) == first && holds(part, in: text, at: start) { return true }
      start += 1
    }
    return false
  }

  // MARK: LIKE

  /// `?` matches one character (Unicode scalar), `*` any number of them, and a backslash takes the next character
  /// literally. On a mismatch the last `*` consumes one more character: no recursion, no allocation.
  private func isLike(_ text: Span<UInt8>, _ pattern: Span<UInt8>) -> Bool {
    var (at, expected) = (0, 0)
    var retry: (text: Int, pattern: Int)?
    while at < text.count || expected < pattern.count {
      if expected < pattern.count, pattern[expected] == UInt8(ascii: "*") {
        expected += 1
        retry = (at, expected)
      } else if let step = step(text, at: at, pattern: pattern, expected: expected) {
        at += step.text
        expected += step.pattern
      } else if let last = retry, last.text < text.count {
        let start = last.text + scalarWidth(text, last.text)
        retry = (start, last.pattern)
        (at, expected) = (start, last.pattern)
      } else {
        return false
      }
    }
    return true
  }

  /// The next positions of both if the pattern's next character matches.
  private func step(
    _ text: Span<UInt8>, at: Int, pattern: Span<UInt8>, expected: Int
  ) -> (text: Int, pattern: Int)? {
    guard at < text.count, expected < pattern.count else { return nil }
    if pattern[expected] == UInt8(ascii: "?") { return (scalarWidth(text, at), 1) }
    let isEscape = pattern[expected] == UInt8(ascii: "\\") && expected + 1 < pattern.count
    let literal = isEscape ? expected + 1 : expected
    guard letter(text[at]) == letter(pattern[literal]) else { return nil }
    return (1, isEscape ? 2 : 1)
  }

  private func scalarWidth(_ text: Span<UInt8>, _ start: Int) -> Int {
    var end = start + 1
    while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
    return end - start
  }
}
