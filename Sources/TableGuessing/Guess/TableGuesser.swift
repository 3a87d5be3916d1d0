import CSV
import PipelineDefinition

/// Guesses the form of files from their samples.
///
/// ```swift
/// let sample = try FileSample(path: "surftagebuch.csv")
/// let guess = TableGuesser(vocabulary: .journal).guess(sample)
/// print(GuessReport(guess).text)
/// ```
package struct TableGuesser: Sendable {
  private let vocabulary: AttributeVocabulary
  private let index: LabelIndex
  private let dateFormats: [String]

  /// - Parameters:
  ///   - vocabulary: the attributes that columns may fill.
  ///   - dateFormats: formats of dates that the user declares; they are checked instead of guessed.
  package init(vocabulary: AttributeVocabulary, dateFormats: [String] = []) {
    self.vocabulary = vocabulary
    index = LabelIndex(vocabulary)
    self.dateFormats = dateFormats
  }

  /// The guess for one file.
  package func guess(_ sample: FileSample) -> TableGuess { guess(form(sample), others: []) }

  /// The guess for files of one form. A difference in their forms is a doubt of the guess; the values of all of them
  /// count for types and dates.
  package func guess(_ samples: [FileSample]) -> TableGuess? {
    if samples.count > 1, samples.allSatisfy({ JSONLinesSample.begins($0.head) }) {
      return guess(form(ofJSONLines: samples), others: [])
    }
    let forms = samples.map(form)
    return forms.first.map { guess($0, others: Array(forms.dropFirst())) }
  }

  /// A file's form, and its records.
  private struct Form {
    var sample: FileSample
    var encoding: Finding<CSVEncoding>
    var hasMark: Bool
    var dialect: DialectSniffer.Result
    var layout: Layout
    var body: [SplitRecord]
    var doubts: [GuessPoint]
    var remarks: [String]
    var isJSONLines = false
  }

  private func form(_ sample: FileSample) -> Form {
    if JSONLinesSample.begins(sample.head) { return form(ofJSONLines: [sample]) }
    let (encoding, hasMark) = EncodingSniffer(sample: sample).guess()
    let decoded = DecodedSample(sample, encoding.value)
    let dialect = DialectSniffer(decoded).guess()
    let table = TableSniffer(decoded, dialect, isLabel: index.isLabel)
    var doubts = table.doubts
    if let doubt = KnownFormat.doubt(sample) { doubts = [doubt] }
    return Form(
      sample: sample, encoding: encoding, hasMark: hasMark, dialect: dialect, layout: table.layout, body: table.body,
      doubts: doubts, remarks: table.remarks)
  }

  /// JSON Lines as a table: its columns are the members of all records.
  private func form(ofJSONLines samples: [FileSample]) -> Form {
    let decoded = samples.map { DecodedSample($0, .utf8) }
    let table = JSONLinesSample(decoded.flatMap { [$0.head] + $0.blocks + [$0.tail] })
    var remarks: [String] = []
    if table.faultyLines > 0 {
      remarks.append("\(counted(table.faultyLines, "line")) can't be read as JSON and will be rejected.")
    }
    for label in table.arrays.sorted() {
      remarks.append("\(label) is an array in some records, and those are rejected if it is a column.")
    }
    let body = table.records.enumerated().map { index, cells in
      SplitRecord(cells: cells.map { SplitCell(Self.plain($0), isQuoted: $0.isText) }, line: index + 1, start: 0)
    }
    return Form(
      sample: samples[0], encoding: Finding(.utf8, confidence: 1, evidence: "JSON Lines are in UTF-8"), hasMark: false,
      dialect: .none, layout: Layout(labels: table.labels), body: body, doubts: [], remarks: remarks, isJSONLines: true)
  }

  /// The text of a value; that of a whole number such as 3.0 is without its fraction.
  private static func plain(_ cell: JSONLinesSample.Cell) -> [UInt8] {
    guard !cell.isText, let number = NumberText.wholeNumber(cell.bytes.span) else { return cell.bytes }
    return Array("\(number)".utf8)
  }

  private func guess(_ form: Form, others: [Form]) -> TableGuess {
    let layout = form.layout
    let records = form.body + others.flatMap(\.body)
    let profiles = (0..<layout.width).map { index in
      ColumnProfile(index, label: index < layout.labels.count ? layout.labels[index] : "", records)
    }
    let numbers =
      form.isJSONLines
      ? Finding(NumberMarks(), confidence: 1, evidence: "numbers of JSON have a point")
      : NumberMarks.guess(records.lazy.flatMap(\.cells).map(\.bytes.trimmed))
    let isText = form.doubts.first?.name != "format"
    let planner = ColumnPlanner(
      vocabulary: vocabulary, index: index, profiles: profiles, hasLabels: layout.headerRows.value > 0,
      hint: isText ? dayFirstHint(form, numbers) : nil, dateFormats: dateFormats,
      repeatedHeaders: layout.repeatedHeaders + others.reduce(0) { $0 + $1.layout.repeatedHeaders })
    var plan = planner.plan(records)
    if !isText { plan.doubts = [] }
    var guess = TableGuess(
      name: form.sample.name, isJSONLines: form.isJSONLines, sampled: Self.sampled(form.sample, records: records.count),
      encoding: form.encoding,
      hasByteOrderMark: form.hasMark, delimiter: form.dialect.delimiter, quote: form.dialect.quote,
      escape: form.dialect.escape, end: form.dialect.end, skipsInitialSpace: form.dialect.skipsInitialSpace,
      layout: layout, numbers: numbers,
      needsNumberMarks: plan.needsNumberMarks && !form.isJSONLines,
      nullSequences: form.isJSONLines ? [] : plan.nullSequences, trueValues: plan.trueValues,
      falseValues: plan.falseValues, columns: plan.columns, key: plan.key,
      doubts: form.doubts + others.flatMap { differences($0, from: form) } + plan.doubts,
      remarks: form.remarks + plan.remarks, entries: [], attributes: vocabulary.attributes.map(\.name))
    guess.entries = EntryPreview(guess, vocabulary).entries(records, limit: 3)
    return guess
  }

  /// Where another file has another form.
  private func differences(_ other: Form, from form: Form) -> [GuessPoint] {
    var names: [String] = []
    if other.isJSONLines != form.isJSONLines { names.append("format") }
    if other.encoding.value != form.encoding.value, other.encoding.evidence.contains("ASCII") == false {
      names.append("encoding (\(other.encoding.value.displayName))")
    }
    if other.dialect.delimiter.value != form.dialect.delimiter.value {
      names.append("delimiter (\(DialectSniffer.shown(other.dialect.delimiter.value)))")
    }
    if other.layout.labels != form.layout.labels { names.append("header") }
    if other.layout.skipRows.value != form.layout.skipRows.value { names.append("title lines") }
    if names.isEmpty { return [] }
    let evidence = "\(other.sample.name) differs from \(form.sample.name) in \(names.joined(separator: ", "))"
    return [
      GuessPoint(
        name: "files", shown: "of several forms", confidence: 0, evidence: evidence, choices: ["guess them one by one"])
    ]
  }

  /// Why a day is probably written before the month.
  private func dayFirstHint(_ form: Form, _ numbers: Finding<NumberMarks>) -> String? {
    let labels = form.layout.labels.filter { index.isDayFirst(LabelText($0)) }
    if labels.count >= 2 {
      return "labels such as \(quoted(labels, limit: 2)) are of a language that writes the day first"
    }
    if form.dialect.delimiter.value == ";", numbers.value.decimal == ",", numbers.confidence > 0.8 {
      return "semicolons and decimal commas are usual where the day is written first"
    }
    return nil
  }

  private static func sampled(_ sample: FileSample, records: Int) -> String {
    if sample.isWhole { return "all \(counted(records, "record"))" }
    let kilobytes = "\(sample.sampledBytes >> 10) KiB"
    let total = sample.totalBytes.map { " of \($0 >> 10) KiB" } ?? ""
    let parts = sample.hasEnd ? "at its beginning, its end and between" : "from its beginning on; its end was not seen"
    return "\(counted(records, "record")) in \(kilobytes)\(total) \(parts)"
  }
}
