extension FieldParser {
  /// Whether the text, which is not empty and has no spaces around it, is of a type whose values are not its bytes.
  func isEncoding(_ text: Span<UInt8>) -> Bool {
    switch type {
    case .uuid: UUIDText.read(text) != nil
    case .uri: TextFormat.isURIReference(text)
    case .binary, .archive: binaryFormat.byteCount(of: text) != nil
    case .text, .integer, .real, .single, .decimal, .boolean, .date: false
    }
  }
}
