import CSV

/// A dialect that the first bytes of an input choose.
enum DialectChoice {
  private static let delimiters = [",", ";", "\t", "|", "||", "::", "§", "→", ", ", "ab", "aab", " "]
  private static let lineTerminators = ["\n", "\r\n", "\r", "|", "\u{1E}", "|\n", "EOL", "aab", "ab"]
  /// How many bytes a choice takes.
  static let bytes = 8

  static func take(from input: inout FuzzInput) -> CSVDialect {
    var dialect = CSVDialect(hasHeader: false)
    dialect.delimiter = Array(input.choice(of: delimiters).utf8)
    let quoting = input.byte()
    dialect.quote = [0x22, 0x22, 0x27, nil][Int(quoting & 3)]
    dialect.doublesQuotes = quoting & 4 == 0
    dialect.escape = [nil, nil, 0x5C, 0x61][Int(quoting >> 3 & 3)]
    dialect.mode = quoting & 32 == 0 ? .strict : .lenient
    dialect.skipsInitialSpace = quoting & 64 != 0
    let lines = input.byte()
    dialect.skipsBlankLines = lines & 1 != 0
    dialect.keepsNulBytes = lines & 2 != 0
    dialect.comment = [nil, nil, "#", "//"][Int(lines >> 2 & 3)].map { Array($0.utf8) }
    dialect.toleratesTrailingDelimiter = lines & 16 != 0
    let ends = input.byte()
    if ends & 3 == 3 { dialect.lineTerminator = Array(lineTerminators[Int(ends >> 2) % lineTerminators.count].utf8) }
    let rows = input.byte()
    dialect.skippedRows = rows & 3 == 3 ? Int(rows >> 2 & 3) : 0
    dialect.droppedLastRows = rows & 48 == 48 ? Int(rows >> 6) : 0
    let others = input.byte()
    if others & 3 == 3 { dialect.stopAt = "bc" }
    if others & 4 != 0 { dialect.columns = ["a", "b"] }
    if others & 24 == 24 { dialect.headerRows = 1 + Int(others >> 5 & 1) }
    if input.byte() & 3 == 3 { dialect.nullTokens = [Array("\\N".utf8)] }
    _ = input.byte()
    // A CR LF is one line end in a footer, and two where each record ends with CR.
    if dialect.lineTerminator == [13] { (dialect.droppedLastRows, dialect.stopAt) = (0, nil) }
    return (try? dialect.validate()) == nil ? CSVDialect(hasHeader: false) : dialect
  }

  /// Choices in front of texts, for seeds.
  static func seeds(_ texts: [String], choices: [[UInt8]] = DialectChoice.common) -> [[UInt8]] {
    choices.flatMap { choice in
      texts.map { choice + [UInt8](repeating: 0, count: max(0, bytes - choice.count)) + Array($0.utf8) }
    }
  }

  /// The default; lenient; with escapes and comments; a delimiter and a line terminator of several bytes.
  static let common: [[UInt8]] = [[], [0, 32], [1, 20 | 32, 8], [9, 0, 0, 3 | 6 << 2], [4, 68, 1, 0, 0, 7]]

  static let texts = [
    "date,height\n2014-07-14,\"3,5\"\n", "a,\"b\"\"c\",\r\n\"d\re\",f\r\n\r\n#x,y\rz", "\"a\"b,\"c\nd,e\n\"f\" ,g\n",
    "\"a \"b\" c\",d\n\"open\nx,y\n", " \"a\", b ,\\,c\n//x\nbc,1\n§→||::\u{FEFF}",
  ]
}
