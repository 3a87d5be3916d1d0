/// Finds the encoding of an input by its first bytes.
struct EncodingDetection {
  /// How many bytes are looked at.
  static let frontBytes = 256

  let encoding: CSVEncoding
  /// Length of the byte order mark; 0 if there is none.
  let markBytes: Int

  /// - Parameters:
  ///   - front: the first bytes of the input: `frontBytes`, or all of them.
  ///   - declared: the dialect's encoding.
  /// - Throws: `encoding-error` for UTF-16 or UTF-32 whose byte order is not known, or that is not declared.
  init(_ front: UnsafeBufferPointer<UInt8>, declared: CSVEncoding?, path: String) throws(CSVError) {
    if let mark = CSVEncoding.byteOrderMarks.first(where: { front.starts(with: $0.bytes) }) {
      encoding = mark.encoding
      markBytes = mark.bytes.count
      return
    }
    markBytes = 0
    encoding = declared ?? .utf8
    switch encoding.form {
    case .utf16(nil), .utf32(nil):
      if front.isEmpty { return }
      throw CSVError(
        .encoding,
        "the text has no byte order mark, which encoding \"\(encoding)\" needs; declare the encoding as "
          + "\"\(encoding)le\" or \"\(encoding)be\"", path: path, byte: 0)
    case .utf8:
      guard let found = Self.undeclared(front) else { return }
      throw CSVError(
        .encoding,
        "the text is not UTF-8 but looks like \(found.name.uppercased()) without a byte order mark; declare the "
          + "encoding as \"\(found)\"", path: path, byte: 0)
    case .utf16, .utf32, .latin1, .windows1252, .iconv: return
    }
  }

  /// Text in UTF-16 or UTF-32 has zero bytes where no other text has them: in one half, or three quarters, of the
  /// bytes of an ASCII character.
  private static func undeclared(_ front: UnsafeBufferPointer<UInt8>) -> CSVEncoding? {
    let count = min(front.count, frontBytes) & ~3
    guard count >= 8 else { return nil }
    var zeros = [0, 0, 0, 0]
    for index in 0..<count where front[index] == 0 { zeros[index & 3] += 1 }
    let quarter = count / 4
    // The third byte is not zero outside the basic plane.
    if zeros[0] == 0, zeros[3] == quarter, zeros[2] >= quarter * 3 / 4 { return .utf32LE }
    if zeros[3] == 0, zeros[0] == quarter, zeros[1] >= quarter * 3 / 4 { return .utf32BE }
    let (even, odd) = (zeros[0] + zeros[2], zeros[1] + zeros[3])
    // All characters of a short text, some of a longer one: other scripts have fewer zero bytes.
    let least = count < 64 ? count / 2 : count / 8
    if even == 0, odd >= least { return .utf16LE }
    if odd == 0, even >= least { return .utf16BE }
    return nil
  }
}
