extension RecordBlock {
  /// The value of a field, without quotes and with doubled quotes made single.
  ///
  /// In the plain case the answer is a slice of `bytes`; else the value is written to `scratch` (emptied first)
  /// and the answer is a slice of that. Let go of the answer before the next call, or `scratch` is copied.
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

  /// The value of a field as text; bytes that are no UTF-8 become U+FFFD.
  public func string(of field: FieldSlice) -> String {
    if !field.needsUnescaping { return String(decoding: bytes[field.range], as: UTF8.self) }
    var value: [UInt8] = []
    appendUnescaped(field, to: &value)
    return String(decoding: value, as: UTF8.self)
  }

  /// Of a quoted field's content: two quotes are one; a single quote ends the quoting, and all after it is text.
  @usableFromInline func appendUnescaped(_ field: FieldSlice, to target: inout [UInt8]) {
    var index = field.start
    // The opening quote lies before the content: it tells which byte the dialect quotes with.
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
