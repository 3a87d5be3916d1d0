/// Makes raw bytes safe to show: on one line, escaped, no longer than a report can bear.
public enum RawText {
  /// Longest text shown, in Unicode scalars, before an ellipsis takes over.
  public static let charactersMax = 60

  /// `bytes` as text: line breaks, tabs, quotes, backslashes and control characters escaped, bytes that are not
  /// UTF-8 as `\xHH`, at most `limit` scalars of the original and then `…`.
  public static func shortened(_ bytes: Span<UInt8>, limit: Int = charactersMax) -> String {
    // Four bytes a scalar at most: what lies behind them can never be shown.
    var head: [UInt8] = []
    for index in 0..<min(bytes.count, limit * 4 + 4) { head.append(bytes[index]) }
    return shortened(head, limit: limit)
  }

  /// The same for bytes in any collection.
  public static func shortened(_ bytes: some Collection<UInt8>, limit: Int = charactersMax) -> String {
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

  /// `text` on one line: line breaks, control characters and those of format escaped, everything else as it is.
  package static func oneLine(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars { shown += plain(scalar) }
    return shown
  }

  private static func plain(_ scalar: Unicode.Scalar) -> String {
    // Format characters (bidirectional overrides among them) could make a report read as something else.
    let category = scalar.properties.generalCategory
    let hidden: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
    return hidden.contains(category) ? "\\u{\(hex(scalar.value, width: 2))}" : String(Character(scalar))
  }

  private static func hex(_ value: UInt32, width: Int) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
