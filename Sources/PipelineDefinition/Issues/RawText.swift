/// Makes raw bytes safe to display: on one line, escaped, and of limited length.
package enum RawText {
  /// Longest text displayed, in Unicode scalars; longer ones end in an ellipsis.
  package static let charactersMax = 60

  /// `bytes` as text: line breaks, tabs, quotes, backslashes and control characters escaped, bytes that are not UTF-8
  /// as `\xHH`, at most `limit` scalars of the original followed by `…`.
  package static func shortened(_ bytes: Span<UInt8>, limit: Int = charactersMax) -> String {
    // A scalar has at most four bytes, so the bytes after these are never displayed.
    var head: [UInt8] = []
    for index in 0..<min(bytes.count, limit * 4 + 4) { head.append(bytes[index]) }
    return shortened(head, limit: limit)
  }

  /// The same for bytes in any collection.
  package static func shortened(_ bytes: some Collection<UInt8>, limit: Int = charactersMax) -> String {
    // Other modules call a generic function unspecialised, so the work is done by one that is not generic.
    shortened(Array(bytes.prefix(limit * 4 + 4)), limit: limit)
  }

  /// Appends the text that ``shortened(_:limit:)`` makes of `bytes`.
  static func appendShortened(_ bytes: Span<UInt8>, to target: inout [UInt8]) {
    if !appendASCII(bytes, limit: charactersMax, to: &target) { target += shortened(bytes).utf8 }
  }

  private static func shortened(_ bytes: [UInt8], limit: Int) -> String {
    var text: [UInt8] = []
    if appendASCII(bytes.span, limit: limit, to: &text) { return String(decoding: text, as: UTF8.self) }
    var shown = ""
    var count = 0
    var input = bytes.makeIterator()
    var raw = bytes.makeIterator()
    var parser = Unicode.UTF8.ForwardParser()
    while true {
      switch parser.parseScalar(from: &input) {
      case .emptyInput:
        return shown
      case .valid(let encoded):
        if count == limit { return shown + "…" }
        for _ in encoded { _ = raw.next() }
        shown += escaped(Unicode.UTF8.decode(encoded))
      case .error(let length):
        if count == limit { return shown + "…" }
        for _ in 0..<length { if let byte = raw.next() { shown += "\\x" + hex(UInt32(byte), width: 2) } }
      }
      count += 1
    }
  }

  /// Appends the displayed text of most ASCII; false, and nothing is appended, if there are other bytes to display.
  private static func appendASCII(_ bytes: Span<UInt8>, limit: Int, to target: inout [UInt8]) -> Bool {
    let (start, backslash) = (target.count, UInt8(ascii: "\\"))
    for index in 0..<min(bytes.count, limit) {
      let byte = bytes[index]
      switch byte {
      case backslash, UInt8(ascii: "\""):
        target.append(backslash)
        target.append(byte)
      case 0x20..<0x7F: target.append(byte)
      case 0x09: target += "\\t".utf8
      case 0x0A: target += "\\n".utf8
      case 0x0D: target += "\\r".utf8
      default:
        target.removeLast(target.count - start)
        return false
      }
    }
    if bytes.count > limit { target += "…".utf8 }
    return true
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": return "\\n"
    case "\r": return "\\r"
    case "\t": return "\\t"
    case "\"": return "\\\""
    case "\\": return "\\\\"
    default: return plain(scalar)
    }
  }

  /// `text` on one line: line breaks, control characters and format characters escaped, everything else unchanged.
  package static func oneLine(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars { shown += plain(scalar) }
    return shown
  }

  /// `text` with its line breaks and tabs; other control and format characters escaped, everything else unchanged.
  package static func lines(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafeInLines) else { return text }
    var shown = ""
    shown.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      if isUnsafeInLines(scalar) { shown += plain(scalar) } else { shown.unicodeScalars.append(scalar) }
    }
    return shown
  }

  /// Whether `lines` escapes the character.
  package static func isUnsafeInLines(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value < 0x20 && scalar != "\n" && scalar != "\t" || scalar.value == 0x7F }
    return isHidden(scalar)
  }

  private static func plain(_ scalar: Unicode.Scalar) -> String {
    isHidden(scalar) ? "\\u{\(hex(scalar.value, width: 2))}" : String(Character(scalar))
  }

  /// Format characters (bidirectional overrides among them) could make a report misleading.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  private static func hex(_ value: UInt32, width: Int) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
