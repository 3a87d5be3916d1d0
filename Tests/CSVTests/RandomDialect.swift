import CSV
import TestSupport

/// Dialects and inputs for random tests.
enum RandomDialect {
  private static let delimiters = [",", ";", "\t", "||", "::", "§", "→", ", ", "ab", "aab", "<tab>"]
  private static let lineTerminators = ["\n", "\r\n", "\r", "|", "\u{1E}", "|\n", "EOL"]

  /// A valid dialect without a header.
  static func make(using random: inout SeededGenerator) -> CSVDialect {
    while true {
      var dialect = CSVDialect(hasHeader: false)
      dialect.delimiter = Array((delimiters.randomElement(using: &random) ?? ",").utf8)
      dialect.quote = [nil, 0x22, 0x22, 0x27].randomElement(using: &random) ?? nil
      dialect.doublesQuotes = Int.random(in: 0..<4, using: &random) > 0
      dialect.escape = [nil, nil, 0x5C, 0x61].randomElement(using: &random) ?? nil
      dialect.comment = ([nil, "#", "//"].randomElement(using: &random) ?? nil).map { Array($0.utf8) }
      dialect.skipsInitialSpace = Bool.random(using: &random)
      dialect.skipsBlankLines = Bool.random(using: &random)
      dialect.mode = Bool.random(using: &random) ? .lenient : .strict
      if Int.random(in: 0..<3, using: &random) == 0 {
        dialect.lineTerminator = lineTerminators.randomElement(using: &random).map { Array($0.utf8) }
      }
      if (try? dialect.validate()) != nil { return dialect }
    }
  }

  /// What has a meaning in the dialect, parts of it, and what has none.
  static func parts(of dialect: CSVDialect) -> [[UInt8]] {
    var parts = ["a", "b", " ", "é", "鵠", "bcdefgh", "\n", "\r", "\r\n"].map { Array($0.utf8) }
    parts += [dialect.delimiter, Array(dialect.delimiter.prefix(1)), dialect.delimiter]
    parts += [dialect.quote, dialect.quote, dialect.escape].compactMap { $0.map { [$0] } }
    parts += [dialect.comment, dialect.lineTerminator, dialect.lineTerminator.map { [$0[0]] }].compactMap { $0 }
    return parts
  }

  static func noise(for dialect: CSVDialect, _ count: Int, using random: inout SeededGenerator) -> [UInt8] {
    let parts = parts(of: dialect) + [[0], [0xFF], [0x0A], [0x0A]]
    return (0..<count).flatMap { _ in parts.randomElement(using: &random) ?? [] }
  }

  /// Values of whole characters only.
  static func records(for dialect: CSVDialect, using random: inout SeededGenerator) -> [[String]] {
    let parts = parts(of: dialect).compactMap { String(validating: $0, as: UTF8.self) } + ["#", "'", "\"", "\u{FEFF}"]
    return (0..<20).map { _ in
      (0..<Int.random(in: 1...4, using: &random)).map { _ in
        (0..<Int.random(in: 0...4, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
      }
    }
  }
}
