extension FieldParser {
  /// Whether the text, which is not empty and has no surrounding spaces, is valid for a type whose values differ from
  /// their bytes.
  func isEncoding(_ text: Span<UInt8>) -> Bool {
    switch type {
    case .uuid: UUIDText.read(text) != nil
    case .uri: TextFormat.isURIReference(text)
    case .binary, .archive: binaryFormat.byteCount(of: text) != nil
    case .text, .integer, .real, .single, .decimal, .boolean, .date: false
    }
  }
}
