import PersistentStores

extension FieldParser {
  /// Sets the last row's value to the one that parsing `text` has returned.
  ///
  /// - Returns: False for a value that is refused.
  @inline(__always)
  func set(_ value: FieldValue?, text: ArraySlice<UInt8>, at slot: Int, in batch: inout ObjectBatch) -> Bool {
    switch value {
    case .null?: break
    case .integer(let number)?: batch.setInteger(number, at: slot)
    case .real(let number)?: batch.setReal(number, at: slot)
    case .text?: batch.setText(text, at: slot)
    case .encoded?: store(text.span, at: slot, in: &batch)
    case nil: return false
    }
    return true
  }

  /// Stores the value of a field, which parsing returned as ``FieldValue/encoded``, in the last row of `batch`.
  package func store(_ bytes: Span<UInt8>, at slot: Int, in batch: inout ObjectBatch) {
    let text = bytes.extracting(bytes.trimmedRange)
    switch type {
    case .uuid: batch.setBytes(.blob, at: slot) { UUIDText.appendBytes(UUIDText.read(text) ?? 0, to: &$0) }
    case .binary, .archive: batch.setBytes(.blob, at: slot) { binaryFormat.decode(text, into: &$0) }
    case .decimal:
      batch.setBytes(.decimal, at: slot) { bytes in
        notation.numbers.withPlain(text) { DecimalText($0) }?.append(to: &bytes)
      }
    case .uri: batch.setBytes(.text, at: slot) { for index in 0..<text.count { $0.append(text[index]) } }
    case .text, .integer, .real, .single, .boolean, .date: break
    }
  }
}
