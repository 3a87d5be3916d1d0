import Foundation

/// Folds case and accents: `String.folding(options:locale:)` without a locale, then NFC, so that different encodings of
/// an accented letter are equal.
///
/// One fetch may scan a million rows. Tables therefore fold ASCII and the Latin letters below U+0250, which do not
/// change the folding of their neighbours. Any other character passes the whole text to Foundation.
package enum TextFolding {
  static func fold(_ text: String, _ options: TextOptions) -> String {
    String(decoding: fold(text.utf8Span.span, options), as: UTF8.self)
  }

  package static func fold(_ text: Span<UInt8>, _ options: TextOptions) -> [UInt8] {
    guard let table = table(options) else { return bytes(of: text) }
    let lowersCase = options.contains(.caseInsensitive)
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      let byte = text[index]
      if byte < 0x80 {
        result.append(lowersCase && byte &- 0x41 < 26 ? byte | 0x20 : byte)
        index += 1
      } else if (0xC2...0xC9).contains(byte), index + 1 < text.count, text[index + 1] & 0xC0 == 0x80,
        let folded = table[latinIndex(byte, text[index + 1])]
      {
        result += folded
        index += 2
      } else {
        return Array(foundationFold(String(decoding: bytes(of: text), as: UTF8.self), options).utf8)
      }
    }
    return result
  }

  /// The definition; the tables only speed it up.
  static func foundationFold(_ text: String, _ options: TextOptions) -> String {
    var compare: String.CompareOptions = []
    if options.contains(.caseInsensitive) { compare.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { compare.insert(.diacriticInsensitive) }
    return text.folding(options: compare, locale: nil).precomposedStringWithCanonicalMapping
  }

  /// The index in the table for a character of two UTF-8 bytes: its code point minus 0x80.
  private static func latinIndex(_ lead: UInt8, _ continuation: UInt8) -> Int {
    (Int(lead) & 0x1F) << 6 + Int(continuation) & 0x3F - 0x80
  }

  private static func bytes(of text: Span<UInt8>) -> [UInt8] {
    [UInt8](capacity: text.count) { output in
      for index in text.indices { output.append(text[index]) }
    }
  }

  private typealias Table = [[UInt8]?]

  private static func table(_ options: TextOptions) -> Table? {
    switch (options.contains(.caseInsensitive), options.contains(.diacriticInsensitive)) {
    case (false, false): nil
    case (true, false): caseTable
    case (false, true): diacriticTable
    case (true, true): bothTable
    }
  }

  private static let caseTable = makeTable([.caseInsensitive])
  private static let diacriticTable = makeTable([.diacriticInsensitive])
  private static let bothTable = makeTable([.caseInsensitive, .diacriticInsensitive])

  /// U+0080 to U+027F. Foundation folds U+0250 and above.
  private static func makeTable(_ options: TextOptions) -> Table {
    (UInt32(0x80)..<0x280).map { code in
      guard code < 0x250, let scalar = Unicode.Scalar(code) else { return nil }
      return Array(foundationFold(String(Character(scalar)), options).utf8)
    }
  }
}
