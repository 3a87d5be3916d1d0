/// An encoding that a guess can name.
package enum TextEncoding: String, Sendable, Hashable, CaseIterable {
  case utf8 = "utf-8"
  case utf16LittleEndian = "utf-16le"
  case utf16BigEndian = "utf-16be"
  case utf32LittleEndian = "utf-32le"
  case utf32BigEndian = "utf-32be"
  case windows1252 = "windows-1252"
  case latin1 = "iso-8859-1"
  case macRoman = "macintosh"
  case codePage850 = "cp850"

  /// Bytes per code unit.
  var unitBytes: Int {
    switch self {
    case .utf16LittleEndian, .utf16BigEndian: 2
    case .utf32LittleEndian, .utf32BigEndian: 4
    default: 1
    }
  }

  /// The byte order marks, the longest first because one begins with another.
  static let marks: [(bytes: [UInt8], encoding: TextEncoding)] = [
    ([0xFF, 0xFE, 0, 0], .utf32LittleEndian), ([0, 0, 0xFE, 0xFF], .utf32BigEndian),
    ([0xEF, 0xBB, 0xBF], .utf8), ([0xFF, 0xFE], .utf16LittleEndian), ([0xFE, 0xFF], .utf16BigEndian),
  ]

  /// The characters of the bytes 80 to FF of a single-byte encoding; nil for the others.
  var upperHalf: [Unicode.Scalar]? {
    switch self {
    case .windows1252: Self.windows1252Table
    case .latin1: (0x80...0xFF).map { Unicode.Scalar(UInt8($0)) }
    case .macRoman: Self.macRomanTable
    case .codePage850: Self.codePage850Table
    default: nil
    }
  }

  // The tables are those of Unicode's mapping files for CP1252, ROMAN and CP850; U+FFFD stands for bytes without one.
  private static let windows1252Table =
    Array(
      ("€\u{FFFD}‚ƒ„…†‡ˆ‰Š‹Œ\u{FFFD}Ž\u{FFFD}\u{FFFD}‘’“”•–—˜™š›œ\u{FFFD}žŸ".unicodeScalars))
    + (0xA0...0xFF).map { Unicode.Scalar(UInt8($0)) }

  private static let macRomanTable = Array(
    """
    ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{A0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{F8FF}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ
    """.unicodeScalars)

  private static let codePage850Table = Array(
    """
    ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{AD}±‗¾¶§÷¸°¨·¹³²■\u{A0}
    """.unicodeScalars)
}
