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

  /// Unescapes the content of a quoted field: two quotes are one; a single quote ends the quoting, and everything
  /// after it is text.
  @usableFromInline func appendUnescaped(_ field: FieldSlice, to target: inout [UInt8]) {
    var index = field.start
    // The opening quote is the byte before the content; it shows which byte the dialect quotes with.
    let quote = bytes[field.start - 1]
    while index < field.end {
      let byte = bytes[index]
      index += 1
      if byte == quote {
        if index < field.end, bytes[index] == quote {
          index += 1
        } else {
          target.append(contentsOf: bytes[index..<field.end])
          return
        }
      }
      target.append(byte)
    }
  }
}
