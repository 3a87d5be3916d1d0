import PipelineDefinition
import Testing

@testable import TableGuessing

@Suite struct DateGuessTests {
  private static func guess(_ texts: [String], hint: String? = nil) -> DateGuess {
    DateGuess(texts.map { Array($0.utf8) }, dayFirstHint: hint)
  }

  @Test func `A day past the 12th decides, and the evidence has the numbers`() {
    let guess = Self.guess(["3/4/14", "5/4/14", "13/4/14", "28/4/14"])
    #expect(guess.formats.value == ["d/M/yy"])
    #expect(guess.formats.confidence >= confidenceMin)
    #expect(guess.formats.evidence.contains("4 of 4 can be d/M/yy, 2 can't be M/d/yy"))
  }

  @Test func `The month may be first as well`() {
    #expect(Self.guess(["7/14/14", "7/15/14", "8/1/14"]).formats.value == ["M/d/yy"])
    #expect(Self.guess(["7/14/2014", "7/15/2014"]).formats.value == ["M/d/yyyy"])
  }

  @Test func `Dates that nothing decides are not sure, and both readings are the choices`() {
    let guess = Self.guess(["3/4/2014", "5/4/2014", "1/2/2014"])
    #expect(guess.formats.confidence < confidenceMin)
    #expect(Set(guess.formats.choices) == ["d/M/yyyy", "M/d/yyyy"])
  }

  @Test func `The order of the records decides where the dates do not`() {
    let rising = ["1/4/2014", "3/4/2014", "7/4/2014", "11/4/2014", "2/5/2014", "4/5/2014", "12/5/2014", "1/6/2014"]
    let guess = Self.guess(rising)
    #expect(guess.formats.value == ["d/M/yyyy"])
    #expect(guess.formats.confidence >= confidenceMin)
    #expect(Self.guess(rising.reversed()).formats.value == ["d/M/yyyy"])
  }

  @Test func `Where a file comes from is not enough alone`() {
    let guess = Self.guess(["3/4/2014", "5/4/2014", "1/2/2014"], hint: "the labels are German")
    #expect(guess.formats.value == ["d/M/yyyy"])
    #expect(guess.formats.confidence < confidenceMin)
    #expect(guess.formats.evidence.contains("the labels are German"))
  }

  @Test func `A column with both orders is refused`() {
    let guess = Self.guess(["13/4/2014", "14/4/2014", "4/15/2014", "4/16/2014", "1/1/2014"])
    #expect(guess.formats.confidence < confidenceMin)
  }

  @Test(arguments: [
    ("14.07.2014", "d.M.yyyy"), ("14.7.14", "d.M.yy"), ("2014-07-14", "iso8601"), ("2014-07-14T06:30:00Z", "iso8601"),
    ("2014-07-14 06:30", "iso8601"), ("14.07.2014 06:30", "d.M.yyyy H:mm"), ("14/07/2014 6:30:15", "d/M/yyyy H:mm:ss"),
    ("2014/07/14", "yyyy/M/d"), ("14-07-2014", "d-M-yyyy"), ("14. 7. 2014", "d. M. yyyy"),
    ("14.07.2014, 06:30 Uhr", "d.M.yyyy, H:mm' Uhr'"), ("14. Juli 2014", "d.M.yyyy"), ("Jul 14, 2014", "d.M.yyyy"),
    ("14-jul-14", "d.M.yy"), ("14 août 2014", "d.M.yyyy"), ("14 de julio de 2014", ""), ("yesterday", ""),
  ])
  func `A form of dates is recognized`(_ text: String, _ format: String) throws {
    let guess = Self.guess([text, text])
    #expect(guess.formats.value == (format.isEmpty ? [] : [format]))
    // What is named is a format that pipelines have.
    for format in guess.formats.value { _ = try DateFormat(format) }
  }

  @Test func `Several forms in one column are several formats`() {
    let guess = Self.guess(["2014-07-14", "2014-07-15", "2014-07-16T06:30:00Z", "7/17/14", "7/18/14", "soon"])
    #expect(guess.formats.value == ["iso8601", "M/d/yy"])
    #expect(guess.unread == ["soon"])
    #expect(guess.read == 5)
  }

  @Test func `Month names are replaced by numbers before the date is read`() throws {
    let guess = Self.guess(["14. März 2014", "1. Mai 2014"])
    #expect(guess.hasMonthNames)
    let replacements = MonthNames.replacements(isMonthFirst: false)
    #expect(replacements.count == 12)
    #expect(replacements[2].matches.contains("mär"))
    #expect(replacements[2].with == "$1.3.$2")
  }

  @Test(arguments: [
    ("1,5", NumberForm.Reading.decimal(UInt8(ascii: ","), group: nil)),
    ("1.234,5", .decimal(UInt8(ascii: ","), group: UInt8(ascii: "."))), ("1,234", .either(UInt8(ascii: ","))),
    ("0,234", .decimal(UInt8(ascii: ","), group: nil)), ("1 234 567", .grouped(32)), ("12", .whole),
  ])
  func `A number's marks are read`(_ text: String, _ reading: NumberForm.Reading) {
    #expect(NumberForm(Array(text.utf8)[...])?.reading == reading)
  }

  @Test func `Marks of numbers that nothing decides are not sure`() {
    let texts = ["1,234", "5,678"].map { Array($0.utf8) }
    #expect(NumberMarks.guess(texts).confidence < confidenceMin)
    #expect(NumberMarks.guess(texts + [Array("1,5".utf8)]).value.decimal == ",")
    #expect(NumberMarks.guess(["1,5 m", "3,5–4 ft"].map { Array($0.utf8) }).value.decimal == ",")
  }

  @Test(arguments: [
    ("1,5 m", CellKind.quantity), ("3–5 ft", .quantity), ("12 s", .quantity), ("6'", .quantity), ("14.07.2014", .date),
    ("06:30", .time), ("7:30 PM", .time), ("2014-07-14T06:30:00Z", .dateTime), ("n/a", .null), ("–", .null),
    ("ja", .boolean),
    ("hüfthoch", .text), ("https://example.org", .link), ("ann@example.org", .link), ("", .empty), ("3-5", .quantity),
    ("C Street", .text), ("4+", .text), ("192.168.0.1", .text),
  ])
  func `A field's kind is what it looks like`(_ text: String, _ kind: CellKind) {
    #expect(CellKind(Array(text.utf8)) == kind)
  }
}
