/// Conversions to Unicode, unit by unit, for comparison.
enum PlainDecoding {
  /// The text as scalars; U+FFFD for each unit that is not a character, and for an incomplete unit at the end. Nil for
  /// an encoding that is not known here.
  static func scalars(_ bytes: [UInt8], encoding: String) -> [UInt32]? {
    switch encoding {
    case "iso-8859-1": return bytes.map { UInt32($0) }
    case "windows-1252": return bytes.map { $0 & 0xE0 == 0x80 ? upper[Int($0 & 31)] : UInt32($0) }
    case "utf-16le", "utf-16be": return utf16(units(bytes, width: 2, isBigEndian: encoding == "utf-16be"))
    case "utf-32le", "utf-32be":
      return units(bytes, width: 4, isBigEndian: encoding == "utf-32be").map { unit in
        unit.flatMap { Unicode.Scalar($0)?.value } ?? 0xFFFD
      }
    default: return nil
    }
  }

  /// The units; nil for an incomplete one.
  private static func units(_ bytes: [UInt8], width: Int, isBigEndian: Bool) -> [UInt32?] {
    stride(from: 0, to: bytes.count, by: width).map { start in
      guard start + width <= bytes.count else { return nil }
      let unit = bytes[start..<start + width]
      return (isBigEndian ? Array(unit) : unit.reversed()).reduce(0) { $0 << 8 | UInt32($1) }
    }
  }

  private static func utf16(_ units: [UInt32?]) -> [UInt32] {
    var scalars: [UInt32] = []
    var index = 0
    while index < units.count {
      let unit = units[index] ?? 0xFFFD
      let next = index + 1 < units.count ? units[index + 1] ?? 0 : 0
      index += 1
      switch unit {
      case 0xD800...0xDBFF where (0xDC00...0xDFFF).contains(next):
        scalars.append(0x10000 + (unit - 0xD800) * 0x400 + next - 0xDC00)
        index += 1
      case 0xD800...0xDFFF: scalars.append(0xFFFD)
      default: scalars.append(unit)
      }
    }
    return scalars
  }

  /// Unicode's CP1252.TXT, bytes 80 to 9F.
  private static let upper: [UInt32] =
    Array(
      "\u{20AC}\u{FFFD}\u{201A}\u{0192}\u{201E}\u{2026}\u{2020}\u{2021}\u{02C6}\u{2030}\u{0160}\u{2039}\u{0152}\u{FFFD}"
        .unicodeScalars.map(\.value))
    + Array(
      "\u{017D}\u{FFFD}\u{FFFD}\u{2018}\u{2019}\u{201C}\u{201D}\u{2022}\u{2013}\u{2014}\u{02DC}\u{2122}\u{0161}\u{203A}"
        .unicodeScalars.map(\.value)) + [0x0153, 0xFFFD, 0x017E, 0x0178]
}
