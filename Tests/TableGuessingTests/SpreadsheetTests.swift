import CSV
import Foundation
import PipelineDefinition
import TestSupport
import Testing

@testable import TableGuessing

/// Files as spreadsheet programs write them.
@Suite struct SpreadsheetTests {
  private static let diary = "SampleData/surftagebuch.csv"

  private static func diaryText() throws -> String {
    let bytes = Array(try Data(contentsOf: Repository.file(diary)))
    return String(decoding: CSVEncoding.windows1252.utf8(bytes), as: UTF8.self)
  }

  /// The table of the diary without what surrounds it, in another form.
  private static func table(delimiter: String, date: (String) -> String = { $0 }) throws -> String {
    let records = RecordSplitter.records(
      of: Array(try diaryText().utf8), CandidateDialect(delimiter: [UInt8(ascii: ";")]))
    let table = records.dropFirst(2).filter { !$0.isBlank }.dropLast(2)
    return table.map { record in
      let fields = [date(record.text(0))] + (1..<8).map { record.text($0) }
      return fields.map { $0.contains(delimiter) || $0.contains("\"") ? "\"\($0.replacing("\"", with: "\"\""))\"" : $0 }
        .joined(separator: delimiter) + "\r\n"
    }.joined()
  }

  private static let attributes = [
    "Datum": "date", "Spot": "location", "Wellenhöhe": "height", "Periode (s)": "period", "Wind": "wind",
    "Bewertung (1-5)": "rating",
  ]

  @Test func `Excel's CSV of a German spreadsheet is understood`() throws {
    let guess = TableGuesser(vocabulary: .journal).guess(try FileSample(path: Repository.path(Self.diary)))
    #expect(!guess.isRefused)
    #expect(guess.encoding.value == .windows1252)
    var form = TableForm()
    form.delimiter = ";"
    form.skipRows = 2
    form.footer = "stop at Summe:"
    expect(guess, form, what: "the diary")
    #expect(guess.layout.blankRecords > 0)
    #expect(guess.attributesByLabel == Self.attributes)
    #expect(guess.formats("date") == ["d.M.yyyy H:mm", "d.M.yyyy"])
    #expect(guess.columns[0].joinedLabel == "Uhrzeit")
    #expect(guess.nullSequences == ["–"])
    #expect(guess.numbers.value.decimal == ",")
  }

  @Test func `Every entry of the German spreadsheet has the values that it must have`() throws {
    let sample = try FileSample(path: Repository.path(Self.diary))
    let guess = TableGuesser(vocabulary: .journal).guess(sample)
    let encoding = guess.encoding.value
    let dialect = CandidateDialect(delimiter: Array(guess.delimiter.value.utf8))
    let records = RecordSplitter.records(of: encoding.utf8(sample.head), dialect)
      .filter {
        $0.line > guess.layout.skipRows.value + 1 && !$0.isBlank && !$0.text(0).hasPrefix("Summe")
          && !$0.text(0).hasPrefix("*")
      }
    let entries = EntryPreview(guess, .journal).entries(records, limit: .max)
    let expected = RecordSplitter.records(
      of: Array(try Data(contentsOf: Repository.file("SampleData/surftagebuch.expected.csv"))),
      CandidateDialect(delimiter: [UInt8(ascii: ",")]))
    #expect(entries.count == expected.count - 1)
    let names = expected[0].cells.map(\.text)
    for (entry, record) in zip(entries, expected.dropFirst()) {
      for (column, name) in names.enumerated() {
        #expect(entry[name] ?? "" == record.text(column), "line \(record.line), \(name)")
      }
    }
  }

  @Test func `A Numbers export is understood`() throws {
    let guess = guessed(try Self.table(delimiter: ";"))
    #expect(!guess.isRefused)
    #expect(guess.encoding.value == .utf8)
    #expect(guess.delimiter.value == ";")
    #expect(guess.attributesByLabel == Self.attributes)
    #expect(guess.layout.footer.value == .none)
  }

  @Test func `Excel's text in UTF-16 with tabs is understood`() throws {
    let text = try Self.table(delimiter: "\t")
    let guess = guessed([0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
    #expect(!guess.isRefused)
    #expect(guess.encoding.value == .utf16LE)
    #expect(guess.hasByteOrderMark)
    #expect(guess.delimiter.value == "\t")
    #expect(guess.attributesByLabel == Self.attributes)
  }

  @Test func `A first line that names the delimiter is followed`() throws {
    let guess = guessed("sep=;\r\n" + (try Self.table(delimiter: ";")))
    #expect(!guess.isRefused)
    #expect(guess.delimiter == Finding(";", confidence: 1, evidence: "the first line is sep=;"))
    #expect(guess.layout.skipRows.value == 1)
    #expect(guess.attributesByLabel == Self.attributes)
  }

  @Test(arguments: [",", "|", "\t"])
  func `Dates of Google Sheets with the day first are understood`(_ delimiter: String) throws {
    let text = try Self.table(delimiter: delimiter) { text in
      let parts = text.split(separator: ".").compactMap { Int($0) }
      return parts.count == 3 ? "\(parts[0])/\(parts[1])/\(parts[2])" : text
    }
    let guess = guessed(text)
    #expect(!guess.isRefused)
    #expect(guess.delimiter.value == delimiter)
    #expect(guess.formats("date") == ["d/M/yyyy H:mm", "d/M/yyyy"])
  }

  @Test(arguments: [
    "Datum,Ort,Wellenhöhe,Periode,Wind,Bewertung", "Fecha,Lugar,Altura de ola,Período,Viento,Valoración",
    "Data,Local,Altura da onda,Período,Vento,Avaliação", "Date,Lieu,Hauteur,Période,Vent,Note",
    "Date,Spot,Wave height (ft),Period (s),Wind,Stars", "session_date,surf_spot,waveHeight,swellPeriod,wind,rating",
  ])
  func `Labels of five languages are understood`(_ header: String) {
    let rows = (1...20).map { "2014-07-\($0 + 10),Rincon,3-5 ft,\(8 + $0 % 5),offshore,\($0 % 5 + 1)\n" }.joined()
    let guess = guessed(header + "\n" + rows)
    #expect(!guess.isRefused)
    #expect(
      guess.columns.map(\.attribute.value) == ["date", "location", "height", "period", "wind", "rating"])
  }

  @Test func `Two columns that may both be one attribute are a reason to refuse`() {
    let rows = (1...20).map { "2014-07-\($0 + 10),3 ft,4 ft,Rincon\n" }.joined()
    let guess = guessed("Date,Wave height,Surf height,Spot\n" + rows)
    #expect(guess.isRefused)
    #expect(guess.undecided(below: confidenceMin).contains { $0.choices == ["\"Wave height\"", "\"Surf height\""] })
  }

  @Test func `A file without a column of dates is refused by name`() {
    let guess = guessed("Spot,Rating\nRincon,4\nMundaka,5\nTrestles,3\nMalibu,1\n")
    #expect(guess.isRefused)
    #expect(guess.doubts.contains { $0.name == "date" })
  }

  @Test func `A declared format of dates replaces the guess`() {
    let text = "Date,Spot\n3/4/2014,Rincon\n1/2/2014,Mundaka\n5/4/2014,Malibu\n"
    #expect(guessed(text).isRefused)
    let guess = guessed(Array(text.utf8), dateFormats: ["d/M/yyyy"])
    #expect(!guess.isRefused)
    #expect(guess.entries[0]["date"] == "2014-04-03T00:00:00Z")
    #expect(guessed(Array(text.utf8), dateFormats: ["yyyy-MM-dd"]).isRefused)
  }

  @Test func `Ratings that are not whole numbers from 1 to 5 are named`() {
    let rows = (1...20).map { "2014-07-\($0 + 10),\($0 % 7 == 0 ? "4+" : "\($0 % 5 + 1)")\n" }.joined()
    let guess = guessed("Date,Rating\n" + rows)
    #expect(guess.columns[1].remarks.first?.contains("\"4+\" (2)") ?? false)
  }

  @Test func `Files of one form are guessed together, of several are refused`() {
    func sample(_ name: String, _ text: String) -> FileSample { FileSample(name: name, head: Array(text.utf8)) }
    let guesser = TableGuesser(vocabulary: .journal)
    let first = sample("a.csv", "Date,Spot\n3/4/2014,Rincon\n1/2/2014,Mundaka\n5/4/2014,Malibu\n")
    let second = sample("b.csv", "Date,Spot\n13/4/2014,Rincon\n28/2/2014,Mundaka\n")
    #expect(guesser.guess(first).isRefused)
    #expect(guesser.guess([first, second])?.formats("date") == ["d/M/yyyy"])
    #expect(guesser.guess([first, second])?.isRefused == false)
    let other = sample("c.csv", "Date;Spot\n13/4/2014;Rincon\n28/2/2014;Mundaka\n")
    #expect(guesser.guess([first, other])?.doubts.contains { $0.name == "files" } == true)
  }
}

/// A file without a header whose order of columns is known.
@Suite struct KnownOrderTests {
  @Test func `The journal app's own export is understood by the order of its columns`() {
    let rows = (10...28).map { "7/\($0)/14,3.9,\($0 % 7 + 8),1.9,C Street,\($0 % 5 + 1)\n" }.joined()
    let guess = guessed(rows)
    #expect(!guess.isRefused)
    #expect(guess.columns.map(\.attribute.value) == ["date", "height", "period", "wind", "location", "rating"])
    #expect(guess.formats("date") == ["M/d/yy"])
    let text = PipelineText(guess, name: "a", program: "surfjournal").text
    #expect(text.contains("\"header\": false"))
    #expect(text.contains("\"columns\": [\"date\", \"height\", \"period\", \"wind\", \"location\", \"rating\"]"))
  }
}
