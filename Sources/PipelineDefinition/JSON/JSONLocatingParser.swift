import Foundation

/// Parses JSON with comments (JSON5) into a tree and records the source location of each value.
///
/// Foundation's decoder accepts JSON5 but reports neither the location of a mistake nor a duplicate key. So this
/// parser handles the structure, texts and plain numbers; Foundation decodes all other numbers.
struct JSONLocatingParser {
  /// Deeper nesting is refused, so that a hostile document cannot exhaust the stack.
  static let depthMax = 64

  /// The locations by key path, such as `columns[2].formats[0]`; for a member of an object, the location of its key.
  private(set) var locations: [String: SourceLocation] = ["": SourceLocation(line: 1, column: 1)]
  private let bytes: [UInt8]
  private var at = 0
  /// The last offset whose location was asked for, and that location.
  private var mark = (offset: 0, location: SourceLocation(line: 1, column: 1))
  private let decoder: JSONDecoder

  init(_ data: Data) {
    bytes = Array(data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data)
    decoder = JSONDecoder()
    decoder.allowsJSON5 = true
  }

  /// Parses the whole document; throws a ``PipelineError`` with the location of the first syntax error.
  mutating func read() throws(PipelineError) -> JSONValue {
    try skipSpace()
    let value = try readValue(path: "", depth: 0)
    try skipSpace()
    guard at == bytes.count else {
      throw mistake(at, "something follows after the end of the document; remove it, or check the braces before it")
    }
    return value
  }

  private mutating func readValue(path: String, depth: Int) throws(PipelineError) -> JSONValue {
    guard depth < Self.depthMax else {
      throw mistake(
        at,
        "nested more than \(Self.depthMax) levels deep; remove "
          + "levels")
    }
    if locations[path] == nil || path.hasSuffix("]") { locations[path] = location(of: at) }
    switch at < bytes.count ? bytes[at] : 0 {
    case UInt8(ascii: "{"): return try readObject(path: path, depth: depth)
    case UInt8(ascii: "["): return try readArray(path: path, depth: depth)
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try readString())
    default: return try readWord()
    }
  }

  private mutating func readObject(path: String, depth: Int) throws(PipelineError) -> JSONValue {
    let start = at
    at += 1
    var members: [String: JSONValue] = [:]
    while true {
      try skipSpace()
      if take("}") { return .object(members) }
      let keyStart = at
      let key = try readKey(objectStart: start)
      let memberPath = path.isEmpty ? key : "\(path).\(key)"
      guard members[key] == nil else { throw mistake(keyStart, path: memberPath, "'\(key)' occurs twice; remove one") }
      locations[memberPath] = location(of: keyStart)
      try skipSpace()
      guard take(":") else { throw mistake(at, path: memberPath, "a ':' is missing after '\(key)'; add it") }
      try skipSpace()
      members[key] = try readValue(path: memberPath, depth: depth + 1)
      try skipSpace()
      if !take(","), !next("}") { throw unclosed(start, "}", orMissing: "a ',' or '}' is missing here; add it") }
    }
  }

  private mutating func readArray(path: String, depth: Int) throws(PipelineError) -> JSONValue {
    let start = at
    at += 1
    var items: [JSONValue] = []
    while true {
      try skipSpace()
      if take("]") { return .array(items) }
      guard at < bytes.count else { throw unclosed(start, "]") }
      items.append(try readValue(path: "\(path)[\(items.count)]", depth: depth + 1))
      try skipSpace()
      if !take(","), !next("]") { throw unclosed(start, "]", orMissing: "a ',' or ']' is missing here; add it") }
    }
  }

  private mutating func readKey(objectStart: Int) throws(PipelineError) -> String {
    if next("\"") || next("'") { return try readString() }
    let start = at
    while at < bytes.count, Self.isWordByte(bytes[at]) { at += 1 }
    guard at > start else {
      throw unclosed(objectStart, "}", orMissing: "a key is missing here: write \"name\": value")
    }
    return String(decoding: bytes[start..<at], as: UTF8.self)
  }

  private mutating func readString() throws(PipelineError) -> String {
    let start = at
    let quote = bytes[at]
    at += 1
    var isPlain = true
    while at < bytes.count, bytes[at] != quote {
      // A line break within a text is a syntax error, nearly always caused by a missing quote.
      if bytes[at] == UInt8(ascii: "\n") { break }
      if bytes[at] < 0x20 || bytes[at] == UInt8(ascii: "\\") { isPlain = false }
      at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard at < bytes.count, bytes[at] == quote else {
      throw mistake(start, "the text that begins here has no closing quote on its line; add it")
    }
    at += 1
    let content = bytes[start + 1..<at - 1]
    guard let text = isPlain ? String(validating: content, as: UTF8.self) : EscapedText.decoded(content) else {
      throw mistake(start, "this text has an invalid escape, or is not UTF-8; write \\\\ for a backslash")
    }
    return text
  }

  private mutating func readWord() throws(PipelineError) -> JSONValue {
    let start = at
    while at < bytes.count, Self.isWordByte(bytes[at]) || [43, 45, 46].contains(bytes[at]) { at += 1 }
    let word = String(decoding: bytes[start..<at], as: UTF8.self)
    switch word {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    case "":
      throw mistake(
        start,
        start < bytes.count
          ? "a value is missing here; add it"
          : "the document ends too "
            + "early; complete it")
    default:
      if let number = Self.whole(bytes[start..<at]) { return .number(number) }
      // The line break ends the number: of a long one, Foundation also reads the memory behind the data.
      guard let number = try? decoder.decode(Double.self, from: Data((word + "\n").utf8)) else {
        throw mistake(start, "\(word) is neither a number nor true, false or null; put quotes around a text")
      }
      return .number(number)
    }
  }

  /// A number of few digits and nothing else; nil for everything that Foundation has to read.
  private static func whole(_ word: ArraySlice<UInt8>) -> Double? {
    guard word.count <= 15, word.allSatisfy({ $0 &- 48 < 10 }), word.count == 1 || word.first != 48 else { return nil }
    return Double(word.reduce(0) { $0 * 10 + Int($1 - 48) })
  }

  /// Skips white space and comments (`//` to the end of the line, `/* … */`).
  private mutating func skipSpace() throws(PipelineError) {
    while at < bytes.count {
      switch bytes[at] {
      case 9, 10, 13, 32: at += 1
      case UInt8(ascii: "/") where at + 1 < bytes.count && bytes[at + 1] == UInt8(ascii: "/"):
        while at < bytes.count, bytes[at] != 10 { at += 1 }
      case UInt8(ascii: "/") where at + 1 < bytes.count && bytes[at + 1] == UInt8(ascii: "*"):
        let start = at
        at += 2
        while at + 1 < bytes.count, bytes[at] != UInt8(ascii: "*") || bytes[at + 1] != UInt8(ascii: "/") { at += 1 }
        guard at + 1 < bytes.count else { throw mistake(start, "the comment that begins here is not closed; add */") }
        at += 2
      default: return
      }
    }
  }

  private func next(_ character: Unicode.Scalar) -> Bool {
    at < bytes.count && bytes[at] == UInt8(ascii: character)
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next(character) else { return false }
    at += 1
    return true
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- 97 < 26 || byte &- 48 < 10 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
      || byte >= 0x80
  }

  /// Counted on from the last one, as most are asked for in their order.
  private mutating func location(of offset: Int) -> SourceLocation {
    let end = min(offset, bytes.count)
    if end < mark.offset { mark = (0, SourceLocation(line: 1, column: 1)) }
    var (line, column) = (mark.location.line, mark.location.column)
    for byte in bytes[mark.offset..<end] {
      if byte == 10 {
        (line, column) = (line + 1, 1)
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    mark = (end, SourceLocation(line: line, column: column))
    return mark.location
  }

  private mutating func unclosed(_ start: Int, _ closing: String, orMissing message: String = "") -> PipelineError {
    if at < bytes.count { return mistake(at, message) }
    return mistake(start, "what begins here is not closed: a '\(closing)' is missing at the end")
  }

  private mutating func mistake(_ offset: Int, path: String = "", _ message: String) -> PipelineError {
    let location = location(of: offset)
    return PipelineError(mistakes: [
      PipelineError.Mistake(path: path, line: location.line, column: location.column, message: message)
    ])
  }
}
