extension RecordBlock {
  /// The value of a field, without quotes and with doubled quotes reduced to one.
  ///
  /// In the plain case the result is a slice of `bytes`; otherwise the value is written to `scratch` (emptied first)
  /// and the result is a slice of that. Release the result before the next call, or `scratch` is copied.
  @inlinable public func value(of field: FieldSlice, scratch: inout [UInt8]) -> ArraySlice<UInt8> {
    if !field.needsUnescaping { return bytes[field.range] }
    scratch.removeAll(keepingCapacity: true)
    appendUnescaped(field, to: &scratch)
    return scratch[...]
  }

  /// Appends the value of a field to `target`.
  public func appendValue(of field: FieldSlice, to target: inout [UInt8]) {
    if field.needsUnescaping {
      appendUnescaped(field, to: &target)
    } else {
      target.append(contentsOf: bytes[field.range])
    }
  }

  /// The value of a field as text; bytes that are not UTF-8 become U+FFFD.
  public func string(of field: FieldSlice) -> String {
    if !field.needsUnescaping { return String(decoding: bytes[field.range], as: UTF8.self) }
    var value: [UInt8] = []
    appendUnescaped(field, to: &value)
    return String(decoding: value, as: UTF8.self)
  }

  /// Unescapes the content of a field: the byte after an escape character is text; two quotes are one where the dialect
  /// doubles them. A single quote ends the quoting, and everything after it is text; but in a field that is closed it
  /// was repaired and is text itself.
  @usableFromInline func appendUnescaped(_ field: FieldSlice, to target: inout [UInt8]) {
    if syntax.isJSON { return JSONText.appendUnescaped(bytes.span.extracting(field.range), to: &target) }
    var index = field.start
    var quote = field.isQuoted ? syntax.quote : nil
    while index < field.end {
      let byte = bytes[index]
      index += 1
      if byte == syntax.escape, index < field.end {
        target.append(bytes[index])
        index += 1
        continue
      }
      if byte == quote {
        if syntax.doublesQuotes, index < field.end, bytes[index] == quote {
          index += 1
        } else if !field.isClosed {
          quote = nil
          continue
        }
      }
      target.append(byte)
    }
  }
}

/// How the content of a field is written, as far as its value differs from it.
struct FieldSyntax: Sendable {
  var quote: UInt8? = UInt8(ascii: "\"")
  var doublesQuotes = true
  var escape: UInt8?
  /// Whether texts have the escapes of JSON instead.
  var isJSON = false
  /// See ``LineCounter``.
  var joinsCRLF = true

  /// Texts of JSON Lines.
  static let json: FieldSyntax = {
    var syntax = FieldSyntax()
    syntax.isJSON = true
    return syntax
  }()

  init() {}

  init(_ dialect: CSVDialect) {
    quote = dialect.quote
    doublesQuotes = dialect.doublesQuotes
    escape = dialect.escape
    joinsCRLF = dialect.joinsCRLF
  }
}
