import Foundation
import TestSupport
import Testing

@testable import PipelineEngine

/// Lines for a terminal, and what the comparison writes in them.
@Suite struct TextLayoutTests {
  @Test(.seeded, arguments: Randomness.seeds(50, long: 5000))
  func `Pieces keep their order and spaces, and only a word that is too long exceeds 80 columns`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func word() -> String {
      String(repeating: "abé😀"[...].randomElement(using: &random) ?? "x", count: .random(in: 0...30, using: &random))
    }
    let pieces = (0..<Int.random(in: 1...9, using: &random)).map { _ in
      (0..<Int.random(in: 1...12, using: &random)).map { _ in word() }.joined(separator: " ")
    }
    let lines = TextLayout.lines(pieces, after: "  line 7: ", separator: " · ")
    let indent = 10
    for line in lines where line.count > 80 {
      #expect(!line.dropFirst(indent).contains(" "), "\(line)")
    }
    let text = lines.map { String($0.dropFirst(indent)) }.joined()
    #expect(text.filter { $0 != " " } == pieces.joined(separator: " · ").filter { $0 != " " })
  }

  @Test func `A text is divided at single spaces, and keeps its others`() {
    let text = String(repeating: "a  b ", count: 30)
    let lines = TextLayout.lines([text], after: "")
    #expect(lines.joined(separator: " ") == text)
  }

  @Test func `Values that look alike are shown by their scalars, and spaces at an end in quotes`() {
    #expect(ComparisonText.excerpts("caf\u{E9}", "cafe\u{301}") == ("caf\\u{E9}", "cafe\\u{301}"))
    #expect(ComparisonText.excerpts("a", "a ") == ("a", "\"a \""))
    #expect(ComparisonText.excerpts(nil, "") == ("(none)", "\"\""))
  }

  @Test(.seeded, arguments: Randomness.seeds(50, long: 5000))
  func `Values come out of the spool as they went in`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let texts: [String?] = [nil, "", "a", "é", "e\u{301}", "\u{0}", "😀", String(repeating: "x", count: 70_000)]
    let values = (0..<Int.random(in: 0...20, using: &random)).map { _ in texts.randomElement(using: &random) ?? nil }
    let spool = try DifferenceSpool()
    let entry = Difference.Entry(number: 5, line: 7, values: values)
    try spool.addNew([.init(kind: .changed, entry: entry, old: 3)])
    try spool.addOld([.init(kind: .changed, entry: .init(number: 3, line: 2, values: values.reversed()))])
    let found = try #require(try spool.newPage(after: .min, max: 10).first)
    func bytes(_ values: [String?]?) -> [[UInt8]?]? { values?.map { $0.map { Array($0.utf8) } } }
    #expect(bytes(found.new?.values) == bytes(values) && found.new?.number == 5 && found.new?.line == 7)
    #expect(bytes(found.old?.values) == bytes(values.reversed()) && found.old?.number == 3)
    #expect(try spool.oldPage(after: .min, max: 10).isEmpty)
    #expect(try spool.newPage(after: 5, max: 10).isEmpty)
  }
}
