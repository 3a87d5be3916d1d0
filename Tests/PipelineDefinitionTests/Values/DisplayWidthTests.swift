import TestSupport
import Testing

@testable import PipelineDefinition

@Suite("The columns of a text are those that a terminal gives it")
struct DisplayWidthTests {
  @Test func `Every assigned character has the width that Python's table of Unicode gives it`() throws {
    // Categories without a width of their own, and emoji, whose width is that of their default presentation.
    let answer = try python(
      """
      import unicodedata
      ranges, start, last = [], 0, None
      for code in range(0x80, 0x110000):
          char = chr(code)
          kind = unicodedata.category(char)
          width = -1 if kind in ("Cn", "Cs", "Co", "Cc") else 0 if kind in ("Mn", "Me", "Cf") \\
              else 2 if unicodedata.east_asian_width(char) in "WF" else 1
          if width != last:
              if last is not None: ranges.append((start, code - 1, last))
              start, last = code, width
      for range_ in ranges: print(*range_)
      """)
    var wrong: [String] = []
    for line in answer.split(separator: "\n") {
      let parts = line.split(separator: " ").compactMap { Int($0) }
      guard parts.count == 3, parts[2] >= 0 else { continue }
      for code in parts[0]...parts[1] {
        // The halves of a flag have no width of their own.
        guard let scalar = Unicode.Scalar(UInt32(code)), !(0x1F1E6...0x1F1FF).contains(code) else { continue }
        let width = DisplayWidth.of(scalar)
        // A character that is newer than Python's table may be a mark or an emoji by now.
        if width != parts[2] { wrong.append(String(code, radix: 16)) }
      }
    }
    #expect(wrong.count < 20, "\(wrong.prefix(50))")
  }

  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("湘南", 4), ("🏄", 2), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤️", 2), ("ｱ", 1),
    ("Ａ", 2), ("한", 2),
  ])
  func `A character of several scalars counts once`(_ text: String, _ columns: Int) {
    #expect(DisplayWidth.of(text) == columns)
  }

  @Test func `A cut text ends in an ellipsis within its columns, and never divides a character`() {
    for (text, columns, cut) in [
      ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("湘南海岸", 7, "湘南海…"), ("湘南海岸", 6, "湘南…"), ("a", 0, ""),
      ("🏄🏄", 3, "🏄…"), ("🏄🏄", 2, "…"),
    ] {
      #expect(DisplayWidth.cut(text, to: columns) == cut)
      #expect(DisplayWidth.of(cut) <= columns)
    }
    #expect(DisplayWidth.padded("湘", to: 4) == "湘  ")
    #expect(DisplayWidth.padded("湘", to: 4, isRight: true) == "  湘")
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567"), (Int.min, "-9,223,372,036,854,775,808"),
  ])
  func `Digits are in groups of three`(_ number: Int, _ text: String) { #expect(number.grouped == text) }
}
