import TestSupport
import Testing

@testable import TableGuessing

/// The kinds of pollution that the benchmark Pollock describes (Vitagliano et al., "Pollock: A Data Loading Benchmark",
/// 2023), each made from one table. A guess has the form that the table was written in, or it is refused.
@Suite struct PollutionTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let form: TableForm
    let text: String
    /// Whether nothing in the file decides, so that a refusal is right.
    var isRefusable = false
  }

  private static func form(_ change: (inout TableForm) -> Void) -> TableForm {
    var form = TableForm()
    change(&form)
    return form
  }

  private static func plain(_ name: String, _ change: (inout TableForm) -> Void) -> Case {
    let form = form(change)
    return Case(testDescription: name, form: form, text: form.text(SurfTable()))
  }

  static let dialects: [Case] =
    [",", ";", "\t", "|", "||", "::", "~", "\t\t", "|~|", " ", "^"].flatMap { delimiter in
      [false, true].map { all in
        plain("fields separated by \(delimiter)\(all ? ", all quoted" : "")") {
          $0.delimiter = delimiter
          $0.quotesAll = all
        }
      }
    } + ["\n", "\r", "\r\n"].map { end in plain("records end with \(Array(end.utf8))") { $0.lineEnd = end } } + [
      plain("fields separated by comma and space") { $0.skipsInitialSpace = true },
      plain("all quoted, separated by comma and space") {
        $0.skipsInitialSpace = true
        $0.quotesAll = true
      },
      plain("quotes are apostrophes") {
        $0.quote = "'"
        $0.quotesAll = true
      },
      plain("quotes are apostrophes where needed") { $0.quote = "'" },
      plain("quotes are escaped by a backslash") { $0.escape = "\\" },
    ]

  private static let titles = "PREAMBLE\r\nPREAMBLE\r\nPREAMBLE\r\n"
  private static let wideTitles = String(repeating: "PREAMBLE,,,,,,,,\r\n", count: 3)
  private static let notes = "FOOTNOTE\r\nFOOTNOTE\r\nFOOTNOTE\r\n"
  private static let wideNotes = String(repeating: "FOOTNOTE,,,,,,,,\r\n", count: 3)

  private static func framed(
    _ name: String, above: String = "", below: String = "", _ change: (inout TableForm) -> Void
  ) -> Case {
    let form = form(change)
    return Case(testDescription: name, form: form, text: form.text(SurfTable(), above: above, below: below))
  }

  static let frames: [Case] = [
    framed("three title lines", above: titles) { $0.skipRows = 3 },
    framed("three title lines and a blank one", above: titles + "\r\n") { $0.skipRows = 4 },
    framed("three title lines with delimiters", above: wideTitles) { $0.skipRows = 3 },
    framed("three title lines and a blank one with delimiters", above: wideTitles + ",,,,,,,,\r\n") { $0.skipRows = 4 },
    framed("three footnotes", below: notes) { $0.footer = "stop at FOOTNOTE" },
    framed("three footnotes after a blank line", below: "\r\n" + notes) { $0.footer = "stop at FOOTNOTE" },
    framed("three footnotes with delimiters", below: wideNotes) { $0.footer = "stop at FOOTNOTE" },
    framed("three footnotes with delimiters after a blank line", below: ",,,,,,,,\r\n" + wideNotes) {
      $0.footer = "stop at FOOTNOTE"
    },
    framed("a total without a label", below: ",,,,,,3.4,,\r\n") { $0.footer = "last 1" },
    framed("a blank line at the end", below: "\r\n") { _ in },
    framed("a line that declares the delimiter", above: "sep=;\r\n") {
      $0.delimiter = ";"
      $0.skipRows = 1
    },
    framed("comments above and between", above: "# from the club\r\n# 2014\r\n", below: "# end\r\n") {
      $0.comment = "#"
    },
    framed("no header") { $0.headerRows = 0 },
    framed(
      "two header rows", above: "Session,,Where,Waves,,,Judgement,,\r\n"
    ) { $0.headerRows = 1 },
  ]

  @Test(arguments: dialects)
  func `A dialect is guessed`(_ test: Case) {
    expect(guessed(test.text), test.form, isRefusable: test.isRefusable, what: test.testDescription)
  }

  @Test(arguments: frames.dropLast(2))
  func `What surrounds a table is guessed`(_ test: Case) {
    expect(guessed(test.text), test.form, isRefusable: test.isRefusable, what: test.testDescription)
  }

  @Test func `A file without a header is known as one, or refused for the columns that nothing names`() {
    let guess = guessed(TableForm().text(SurfTable()).split(separator: "\r\n").dropFirst().joined(separator: "\r\n"))
    #expect(guess.layout.headerRows.value == 0)
    #expect(guess.layout.headerRows.confidence >= confidenceMin)
    #expect(guess.isRefused)
  }

  @Test(arguments: [1, 2])
  func `A header of several rows is joined`(_ more: Int) {
    var table = SurfTable()
    table.rows.insert(["", "(hh:mm)", "", "(metres)", "(seconds)", "", "(1-5)", "", ""], at: 0)
    if more == 2 { table.rows.insert(["", "local", "", "faces", "peak", "", "own", "", ""], at: 1) }
    let guess = guessed(TableForm().text(table))
    var form = TableForm()
    form.headerRows = 1 + more
    expect(guess, form, what: "header of \(1 + more) rows")
    #expect(guess.layout.labels[3].hasPrefix("Height (metres)"))
    #expect(guess.attributesByLabel.values.contains("height"))
  }

  @Test func `A file without records, or without anything, is refused`() {
    var table = SurfTable()
    table.rows = []
    #expect(guessed(TableForm().text(table)).isRefused)
    #expect(guessed("").isRefused)
    #expect(guessed("\r\n\r\n").isRefused)
  }

  @Test(arguments: [1, 2, 5])
  func `A table of few records is guessed or refused`(_ count: Int) {
    expect(guessed(TableForm().text(SurfTable(rows: count))), TableForm(), isRefusable: true, what: "\(count) records")
  }

  @Test(arguments: ["Board,Length,Bought\r\n", "Board,Length\r\n", String(repeating: "x,", count: 11) + "x\r\n"])
  func `A second table is a reason to refuse`(_ header: String) {
    let width = header.split(separator: ",").count
    let rows = (0..<10).map { row in (0..<width).map { "b\(row)\($0)" }.joined(separator: ",") + "\r\n" }.joined()
    let guess = guessed(TableForm().text(SurfTable(), below: "\r\n" + header + rows))
    #expect(guess.isRefused)
  }

  @Test func `A second table of the same width is a reason to refuse`() {
    let header = "Board,Length,Width,Litres,Fins,Maker,Year,Link,Note\r\n"
    let row = "Fish,5'8,21 in,34.5,2,Lost,2013,https://example.org/b/1,yellow\r\n"
    let guess = guessed(TableForm().text(SurfTable(), below: "\r\n" + header + String(repeating: row, count: 10)))
    #expect(guess.isRefused)
  }

  @Test func `Quotes that nothing escapes are reported`() {
    var table = SurfTable()
    for index in stride(from: 0, to: 84, by: 7) { table.rows[index][8] = "the UNESCAPED room" }
    let text = TableForm().text(table).replacing("the UNESCAPED room", with: "\"the \"Green\" room\"")
    let guess = guessed(text)
    #expect(guess.form == TableForm())
    #expect(guess.remarks.contains { $0.contains("quote") })
  }

  @Test(arguments: [0, 1, 2, 40, 84])
  func `One damaged record does not mislead`(_ row: Int) {
    var lines = TableForm().text(SurfTable()).split(separator: "\r\n").map(String.init)
    let sound = lines[row]
    func check(_ line: String, _ what: String) {
      lines[row] = line
      // A damaged header can't name the columns.
      expect(guessed(lines.joined(separator: "\r\n") + "\r\n"), TableForm(), isRefusable: row == 0, what: what)
      lines[row] = sound
    }
    let commas = sound.indices.filter { sound[$0] == "," }
    for (column, comma) in commas.enumerated() where Seldom.isChosen(column) {
      var less = sound
      less.remove(at: comma)
      check(less, "row \(row) lacks delimiter \(column)")
      var more = sound
      more.insert(",", at: comma)
      check(more, "row \(row) has delimiter \(column) twice")
      var quoted = sound
      quoted.insert("\"", at: sound.index(after: comma))
      check(quoted, "row \(row) has a quote after delimiter \(column)")
    }
    check(sound.replacing(",", with: " "), "row \(row) is separated by spaces")
    check(sound.replacing(",", with: ";"), "row \(row) is separated by semicolons")
    check("", "row \(row) is empty")
  }

  private enum Seldom {
    /// All columns in the long series, every third otherwise.
    static func isChosen(_ column: Int) -> Bool { TestLength.isLong || column.isMultiple(of: 3) }
  }

  @Test(arguments: ["", "HEAD/%R", "Date", String(repeating: "HEADER", count: 2000)], [0, 3, 8])
  func `A damaged label costs no column its values`(_ label: String, _ column: Int) {
    var table = SurfTable()
    table.header[column] = label
    let guess = guessed(TableForm().text(table))
    if guess.isRefused { return }
    #expect(guess.form == TableForm())
    #expect(guess.formats("date")?.first == "M/d/yyyy H:mm")
    let position = guess.columns.first { $0.attribute.value == "date" }?.profile.index
    #expect(position == 0)
  }

  @Test func `A wide table and a table of one column are guessed`() {
    var wide = SurfTable()
    for column in 0..<300 {
      wide.header.append("extra \(column)")
      for row in wide.rows.indices { wide.rows[row].append("\(row * column)") }
    }
    expect(guessed(TableForm().text(wide)), TableForm(), what: "300 more columns")
    let single = "date\r\n" + (1...20).map { "2014-07-\($0 + 10)\r\n" }.joined()
    let guess = guessed(single)
    #expect(guess.delimiter.value.isEmpty)
    #expect(guess.formats("date") == ["iso8601"])
  }
}
