/// Reads JSON (RFC 8259) token by token, strictly: what the grammar does not allow is an error with its offset.
///
/// The bytes are passed to each function and are valid UTF-8.
struct JSONCursor {
  /// The text is not JSON.
  struct SyntaxError: Error {
    let message: String
    let offset: Int
  }

  /// What a string has in addition to characters written as they are.
  struct StringTraits {
    var hasEscapes = false
    /// Whether an escape is half of a surrogate pair.
    var hasHalfCharacter = false
  }

  /// How deep arrays and objects may be nested.
  static let depthMax = 128

  /// Offset of the next byte.
  var at: Int
  let end: Int

  /// The next byte; 0, which no token begins with, at the end.
  @inline(__always)
  func next(_ bytes: Span<UInt8>) -> UInt8 { at < end ? bytes[at] : 0 }

  @inline(__always)
  mutating func skipSpace(_ bytes: Span<UInt8>) {
    while at < end, JSONText.isSpace(bytes[at]) { at += 1 }
  }

  func error(_ message: String) -> SyntaxError { SyntaxError(message: message, offset: at) }

  /// What is missing at the next byte.
  func expected(_ what: String, _ bytes: Span<UInt8>) -> SyntaxError {
    if at >= end { return error("the line ends where \(what) is expected; write each object in one line") }
    return error("\(what) is expected")
  }

  mutating func take(_ byte: UInt8, as what: String, in bytes: Span<UInt8>) throws(SyntaxError) {
    guard next(bytes) == byte else { throw expected(what, bytes) }
    at += 1
  }

  /// Reads a string, from its opening quote to behind its closing one.
  mutating func readString(_ bytes: Span<UInt8>) throws(SyntaxError) -> StringTraits {
    var traits = StringTraits()
    at += 1
    while at < end {
      let byte = bytes[at]
      if byte == JSONText.quote {
        at += 1
        return traits
      }
      if byte == JSONText.backslash {
        traits.hasEscapes = true
        if try !readEscape(bytes) { traits.hasHalfCharacter = true }
      } else if byte < 0x20 {
        throw error("a control character is in a string; write it as an escape such as \\n or \\u0000")
      } else {
        at += 1
      }
    }
    throw error("the line ends within a string; write a line break as \\n")
  }

  /// - Returns: False for half of a surrogate pair.
  private mutating func readEscape(_ bytes: Span<UInt8>) throws(SyntaxError) -> Bool {
    let sign = at + 1 < end ? bytes[at + 1] : 0
    if JSONText.character(sign) != nil {
      at += 2
      return true
    }
    guard sign == UInt8(ascii: "u"), at + 6 <= end, let unit = JSONText.unit(bytes, at: at + 2) else {
      throw error("a backslash is not followed by one of \"\\/bfnrt, or u and four hexadecimal digits")
    }
    at += 6
    if unit & 0xF800 != 0xD800 { return true }
    guard unit & 0xFC00 == 0xD800, at + 6 <= end, bytes[at] == JSONText.backslash, bytes[at + 1] == UInt8(ascii: "u"),
      let low = JSONText.unit(bytes, at: at + 2), low & 0xFC00 == 0xDC00
    else { return false }
    at += 6
    return true
  }

  mutating func readNumber(_ bytes: Span<UInt8>) throws(SyntaxError) {
    if next(bytes) == UInt8(ascii: "-") { at += 1 }
    if next(bytes) == UInt8(ascii: "0") {
      at += 1
    } else {
      try readDigits(bytes)
    }
    if next(bytes) == UInt8(ascii: ".") {
      at += 1
      try readDigits(bytes)
    }
    if next(bytes) | 0x20 == UInt8(ascii: "e") {
      at += 1
      if next(bytes) == UInt8(ascii: "+") || next(bytes) == UInt8(ascii: "-") { at += 1 }
      try readDigits(bytes)
    }
  }

  private mutating func readDigits(_ bytes: Span<UInt8>) throws(SyntaxError) {
    let start = at
    while at < end, bytes[at] &- 0x30 < 10 { at += 1 }
    if at == start { throw expected("a digit", bytes) }
  }

  mutating func readLiteral(_ bytes: Span<UInt8>) throws(SyntaxError) {
    for word in ["true", "false", "null"] where next(bytes) == word.utf8.first {
      for byte in word.utf8 { try take(byte, as: "a value", in: bytes) }
      return
    }
    throw expected("a value", bytes)
  }

  /// Passes a value of any kind.
  mutating func skipValue(_ bytes: Span<UInt8>, depth: Int) throws(SyntaxError) {
    switch next(bytes) {
    case JSONText.quote: _ = try readString(bytes)
    case UInt8(ascii: "-"), 0x30...0x39: try readNumber(bytes)
    case UInt8(ascii: "["): try skipArray(bytes, depth: depth)
    case UInt8(ascii: "{"): try skipObject(bytes, depth: depth)
    default: try readLiteral(bytes)
    }
  }

  private mutating func skipObject(_ bytes: Span<UInt8>, depth: Int) throws(SyntaxError) {
    guard try openObject(bytes, depth: depth) else { return }
    repeat {
      _ = try readName(bytes)
      try skipValue(bytes, depth: depth + 1)
    } while try passesToNextMember(bytes)
  }

  private mutating func skipArray(_ bytes: Span<UInt8>, depth: Int) throws(SyntaxError) {
    try enter(depth)
    skipSpace(bytes)
    if next(bytes) == UInt8(ascii: "]") {
      at += 1
      return
    }
    while true {
      try skipValue(bytes, depth: depth + 1)
      skipSpace(bytes)
      if next(bytes) == UInt8(ascii: "]") { break }
      try take(UInt8(ascii: ","), as: "a comma or ]", in: bytes)
      skipSpace(bytes)
    }
    at += 1
  }

  /// Passes the brace of an object; false if the object has no members.
  mutating func openObject(_ bytes: Span<UInt8>, depth: Int) throws(SyntaxError) -> Bool {
    try enter(depth)
    skipSpace(bytes)
    guard next(bytes) == UInt8(ascii: "}") else { return true }
    at += 1
    return false
  }

  /// Reads the name of a member up to its value; returns the range of the name's content.
  @inline(__always)
  mutating func readName(
    _ bytes: Span<UInt8>
  ) throws(SyntaxError) -> (content: Range<Int>, traits: StringTraits) {
    guard next(bytes) == JSONText.quote else { throw expected("a name in quotes", bytes) }
    let start = at + 1
    let traits = try readString(bytes)
    let content = start..<at - 1
    skipSpace(bytes)
    try take(UInt8(ascii: ":"), as: "a colon", in: bytes)
    skipSpace(bytes)
    return (content, traits)
  }

  /// Passes what follows a member; false at the end of the object.
  @inline(__always)
  mutating func passesToNextMember(_ bytes: Span<UInt8>) throws(SyntaxError) -> Bool {
    skipSpace(bytes)
    if next(bytes) == UInt8(ascii: "}") {
      at += 1
      return false
    }
    try take(UInt8(ascii: ","), as: "a comma or }", in: bytes)
    skipSpace(bytes)
    return true
  }

  private mutating func enter(_ depth: Int) throws(SyntaxError) {
    if depth >= Self.depthMax { throw error("arrays and objects are nested deeper than \(Self.depthMax) levels") }
    at += 1
  }

  /// Whether the bytes are one number.
  static func isNumber(_ bytes: Span<UInt8>) -> Bool {
    var cursor = JSONCursor(at: 0, end: bytes.count)
    do throws(SyntaxError) {
      try cursor.readNumber(bytes)
      return cursor.at == cursor.end
    } catch {
      return false
    }
  }

  /// Whether the bytes are one object, with nothing but white space around it.
  static func isObject(_ bytes: Span<UInt8>) -> Bool {
    var cursor = JSONCursor(at: 0, end: bytes.count)
    do throws(SyntaxError) {
      cursor.skipSpace(bytes)
      guard cursor.next(bytes) == UInt8(ascii: "{") else { return false }
      try cursor.skipValue(bytes, depth: 0)
      cursor.skipSpace(bytes)
      return cursor.at == cursor.end
    } catch {
      return false
    }
  }
}
