/// What the text of a field looks like.
package enum CellKind: Sendable, Hashable {
  case empty
  /// A sign or word for no value, such as `-` or `n/a`.
  case null
  case whole, decimal
  /// A number, or two, with a unit.
  case quantity
  case date, time, dateTime
  case boolean
  /// A URL or an e-mail address.
  case link
  case text

  /// Whether it says more than that there is some text.
  var isTyped: Bool {
    switch self {
    case .empty, .null, .text: false
    default: true
    }
  }

  /// The kind of a field's text without surrounding blanks.
  package init(_ bytes: [UInt8]) {
    guard let first = bytes.first else {
      self = .empty
      return
    }
    if NullWords.isSign(bytes) {
      self = .null
    } else if first.isDigit || first == UInt8(ascii: "-") || first == UInt8(ascii: "+"), let kind = Self.numeric(bytes)
    {
      self = kind
    } else if first.isLetter, DateLook.isNamed(bytes) {
      self = .date
    } else if bytes.count <= 5, BooleanWords.isWord(bytes) {
      self = .boolean
    } else {
      self = Self.isLink(bytes) ? .link : .text
    }
  }

  private static func numeric(_ bytes: [UInt8]) -> CellKind? {
    if let number = NumberForm(bytes[...]), number.length == bytes.count, let reading = number.reading {
      return reading == .whole ? .whole : .decimal
    }
    if let kind = DateLook.kind(bytes) { return kind }
    if QuantityForm(bytes) != nil { return .quantity }
    return DateLook.isNamed(bytes) ? .date : nil
  }

  private static func isLink(_ bytes: [UInt8]) -> Bool {
    if bytes.has(Array("http://".utf8), at: 0) || bytes.has(Array("https://".utf8), at: 0) {
      return !bytes.contains(32)
    }
    guard let at = bytes.firstIndex(of: UInt8(ascii: "@")), at > 0, !bytes.contains(32) else { return false }
    return bytes[at...].contains(UInt8(ascii: "."))
  }
}

/// Words for true and false.
enum BooleanWords {
  static let pairs: [(yes: String, no: String)] = [
    ("true", "false"), ("yes", "no"), ("ja", "nein"), ("wahr", "falsch"), ("si", "no"), ("sí", "no"), ("sim", "não"),
    ("oui", "non"), ("vrai", "faux"), ("y", "n"), ("j", "n"), ("t", "f"), ("x", ""), ("on", "off"),
  ]
  private static let words = Set(pairs.flatMap { [$0.yes, $0.no] }).subtracting([""])

  static func isWord(_ bytes: [UInt8]) -> Bool { words.contains(bytes.text.lowercased()) }
}

/// Signs and words for no value.
enum NullWords {
  /// Texts that mean no value wherever they are.
  static let signs: Set<String> = [
    "-", "--", "–", "—", "n/a", "na", "#n/a", "#nv", "#na", "null", "nil", "nan", "\\n", "n.a.", "k.a.", "k. a.",
    "n. a.",
    "s/d", "(null)", "?",
  ]
  /// Texts that mean no value in a column of numbers or dates, and may be a value in a column of texts.
  static let words: Set<String> = [
    "none", "keine", "kein", "keiner", "keines", "ninguno", "ninguna", "nenhum", "nenhuma", "aucun", "aucune",
    "unbekannt", "unknown", "desconocido", "desconhecido", "inconnu", "missing", "fehlt", "leer",
  ]

  static func isSign(_ bytes: [UInt8]) -> Bool { bytes.count <= 6 && signs.contains(bytes.text.lowercased()) }
  static func isWord(_ text: String) -> Bool { words.contains(text.lowercased()) }
}
