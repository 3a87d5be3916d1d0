import CSV

/// How natural the characters beyond ASCII look if bytes are read in a single-byte encoding.
///
/// Every byte is a character in such encodings, so only the text decides: letters belong into words, punctuation
/// between them, capitals not after small letters, and one language has few letters beyond ASCII.
struct Plausibility {
  /// From -2 to 1, the mean over all characters beyond ASCII.
  private(set) var score = 0.0
  /// Share of the letters beyond ASCII that the best single language has.
  private(set) var languageShare = 1.0
  private(set) var characters = 0
  /// The bytes that the encoding does not define.
  private(set) var undefined = 0

  private static let languages: [Set<Unicode.Scalar>] = [
    "äöüßÄÖÜé", "áéíóúüñÁÉÍÓÚÑ", "áâãàçéêíóôõúÁÂÃÀÇÉÊÍÓÔÕÚ", "àâçéèêëîïôùûüÿœæÀÂÇÉÈÊËÎÏÔÙÛÜŒ", "åäöæøÅÄÖÆØé",
    "àèéìíîòóùÀÈÉÌÒÙ",
    "áâêîôûŵŷäëïöüÁ",
  ].map { Set($0.unicodeScalars) }
  private static let letters = languages.reduce(into: Set<Unicode.Scalar>()) { $0.formUnion($1) }
  private static let quotes = Set("‘’“”„«»‚–—…•‹›".unicodeScalars)
  private static let signs = Set("°€£§²³½¼¾µ±×©®ªº¿¡·´\u{A0}".unicodeScalars)

  init(_ bytes: [UInt8], as encoding: CSVEncoding) {
    let table = encoding.upperHalf
    var sum = 0.0
    var counts = [Int](repeating: 0, count: Self.languages.count)
    var letterCount = 0
    for index in bytes.indices where bytes[index] >= 0x80 {
      let scalar = table[Int(bytes[index]) - 0x80]
      characters += 1
      if scalar == "\u{FFFD}" { undefined += 1 }
      if Self.letters.contains(scalar) {
        letterCount += 1
        for (language, letters) in Self.languages.enumerated() where letters.contains(scalar) { counts[language] += 1 }
      }
      sum += Self.score(scalar, at: index, in: bytes, table)
    }
    if characters > 0 { score = sum / Double(characters) }
    if letterCount > 0 { languageShare = Double(counts.max() ?? 0) / Double(letterCount) }
  }

  private static func score(
    _ scalar: Unicode.Scalar, at index: Int, in bytes: [UInt8], _ table: [Unicode.Scalar]
  ) -> Double {
    func neighbour(_ index: Int) -> Unicode.Scalar? {
      guard bytes.indices.contains(index) else { return nil }
      return bytes[index] < 0x80 ? Unicode.Scalar(bytes[index]) : table[Int(bytes[index]) - 0x80]
    }
    func isLetter(_ scalar: Unicode.Scalar?) -> Bool { scalar?.properties.isAlphabetic ?? false }
    let (before, after) = (neighbour(index - 1), neighbour(index + 1))
    let isInWord = isLetter(before) && isLetter(after)
    if scalar == "\u{FFFD}" { return -2 }
    if quotes.contains(scalar) { return isInWord && scalar != "’" ? -1 : 1 }
    if signs.contains(scalar) { return isInWord ? -1 : 0.8 }
    guard scalar.properties.isAlphabetic else { return scalar.value < 0xA0 ? -2 : -0.5 }
    // A word of another script consists of such letters only.
    let isAmongOthers = [index - 1, index + 1].allSatisfy { bytes.indices.contains($0) && bytes[$0] >= 0x80 }
    if isAmongOthers { return -1 }
    if scalar.properties.isUppercase, before?.properties.isLowercase ?? false { return -1 }
    guard letters.contains(scalar) else { return 0.2 }
    return isLetter(before) || isLetter(after) ? 1 : 0.5
  }
}
