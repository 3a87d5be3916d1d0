#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The encoding of a file's text.
///
/// UTF-8, UTF-16, UTF-32, Latin-1 and Windows-1252 are converted by this module, which is several times as fast as
/// iconv(3); every other encoding that the C library's iconv knows is converted by that.
///
/// ```swift
/// var dialect = CSVDialect.semicolon
/// dialect.encoding = CSVEncoding(named: "windows-1252")
/// ```
public struct CSVEncoding: Sendable, Hashable, CustomStringConvertible {
  enum Form: Sendable, Hashable {
    case utf8
    /// Nil where only a byte order mark can decide.
    case utf16(isBigEndian: Bool?)
    case utf32(isBigEndian: Bool?)
    case latin1, windows1252
    /// The encoding that iconv calls by `name`.
    case iconv
  }

  /// The name in lower case, such as "utf-16le", "windows-1252" or "shift_jis".
  public let name: String
  let form: Form

  public var description: String { name }

  /// UTF-8, with or without a byte order mark.
  public static let utf8 = CSVEncoding(name: "utf-8", form: .utf8)
  /// UTF-16 with a byte order mark. A file without one is refused: name `utf16LE` or `utf16BE` for it.
  public static let utf16 = CSVEncoding(name: "utf-16", form: .utf16(isBigEndian: nil))
  /// UTF-16, the lower byte first.
  public static let utf16LE = CSVEncoding(name: "utf-16le", form: .utf16(isBigEndian: false))
  /// UTF-16, the higher byte first.
  public static let utf16BE = CSVEncoding(name: "utf-16be", form: .utf16(isBigEndian: true))
  /// UTF-32 with a byte order mark. A file without one is refused: name `utf32LE` or `utf32BE` for it.
  public static let utf32 = CSVEncoding(name: "utf-32", form: .utf32(isBigEndian: nil))
  /// UTF-32, the lowest byte first.
  public static let utf32LE = CSVEncoding(name: "utf-32le", form: .utf32(isBigEndian: false))
  /// UTF-32, the highest byte first.
  public static let utf32BE = CSVEncoding(name: "utf-32be", form: .utf32(isBigEndian: true))
  /// ISO 8859-1: every byte is the character of that number.
  public static let latin1 = CSVEncoding(name: "iso-8859-1", form: .latin1)
  /// Windows code page 1252. The bytes 81, 8D, 8F, 90 and 9D stand for no character.
  public static let windows1252 = CSVEncoding(name: "windows-1252", form: .windows1252)

  /// The encoding with that name, ignoring letter case, hyphens and underscores in the names of those above; nil if
  /// neither this module nor the C library's iconv knows the name.
  public init?(named name: String) {
    let lowercased = name.lowercased()
    let letters = String(lowercased.filter { $0 != "-" && $0 != "_" && $0 != " " })
    if let known = Self.known[letters] {
      self = known
      return
    }
    let alias = Self.aliases[letters] ?? lowercased
    guard Self.isKnownToIconv(alias) else { return nil }
    self.init(name: alias, form: .iconv)
  }

  /// Whether reading can begin at any record: what precedes it does not matter, and each byte of a line end is one of
  /// ASCII.
  package var startsAnywhere: Bool {
    switch form {
    case .utf8, .latin1, .windows1252: true
    case .utf16, .utf32, .iconv: false
    }
  }

  private init(name: String, form: Form) {
    self.name = name
    self.form = form
  }

  private static let known: [String: CSVEncoding] = [
    "utf8": .utf8, "utf8sig": .utf8, "utf16": .utf16, "ucs2": .utf16, "utf16le": .utf16LE, "ucs2le": .utf16LE,
    "utf16be": .utf16BE, "ucs2be": .utf16BE, "utf32": .utf32, "utf32le": .utf32LE, "ucs4le": .utf32LE,
    "utf32be": .utf32BE, "ucs4be": .utf32BE, "ucs4": .utf32BE, "latin1": .latin1, "l1": .latin1,
    "iso88591": .latin1, "windows1252": .windows1252, "cp1252": .windows1252,
  ]

  /// Common names that the C library has under another one.
  private static let aliases = ["macroman": "macintosh", "xmacroman": "macintosh", "ascii": "us-ascii"]

  /// A slash would separate an option such as TRANSLIT, and the empty name is the locale's encoding.
  private static func isKnownToIconv(_ name: String) -> Bool {
    let isName = !name.isEmpty && name.utf8.allSatisfy { $0 > ASCII.space && $0 < 0x7F && $0 != UInt8(ascii: "/") }
    guard isName, let descriptor = iconv_open("UTF-8", name), descriptor != iconv_t(bitPattern: -1) else {
      return false
    }
    iconv_close(descriptor)
    return true
  }
}
