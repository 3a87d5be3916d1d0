import CSV
import OpenCoreData

/// Surveys the dates of an input whose formats leave a doubt about day and month.
struct InputSurvey: Sendable {
  /// What came of it.
  struct Result: Sendable {
    /// The columns, which read dates in the one order that was found.
    var columns: ColumnSet
    /// Errors where dates can't be read with certainty, and warnings.
    var issues: [RecordIssue] = []
    /// Which formats were chosen, and why.
    var notes: [String] = []

    var refusal: RecordIssue? { issues.first { $0.severity == .error } }
  }

  private let input: String
  private let set: ColumnSet
  private let layout: RecordLayout
  private let columns: [InputColumn]
  /// Of each column.
  private var surveys: [DateSurvey]

  /// Makes a survey for an input with these columns; nil if no date leaves a doubt.
  init?(
    _ set: ColumnSet, _ mapping: HeaderMapping, _ definition: PipelineDefinition, entity: NSEntityDescription,
    input: String
  ) {
    self.input = input
    self.set = set
    layout = RecordLayout(definition.dialect, fieldCount: mapping.fieldCount)
    let pairs = InputColumn.all(set, mapping, entity: entity).compactMap { column in
      column.parser.dateSurvey.map { (column, $0) }
    }
    (columns, surveys) = (pairs.map(\.0), pairs.map(\.1))
    if columns.isEmpty { return nil }
  }

  /// Whether a block has a date that is not certainly one in ISO 8601. A look at two bytes, for it is taken at every
  /// date of every input.
  func hasDoubt(_ block: RecordBlock) -> Bool {
    let (bytes, fields, records) = (block.bytes, block.fields, block.records)
    return columns.contains { column in
      if column.isMade { return !records.isEmpty }
      return hasDoubt(bytes.span, fields.span, records.span, column.field)
    }
  }

  private func hasDoubt(
    _ bytes: Span<UInt8>, _ fields: Span<FieldSlice>, _ records: Span<RecordSlice>, _ field: Int
  ) -> Bool {
    let hyphen = UInt8(ascii: "-")
    for index in 0..<records.count where field < records[index].fieldCount {
      let slice = fields[records[index].firstField &+ field]
      if slice.count == 0 { continue }
      guard slice.count >= 10, bytes[slice.start &+ 4] == hyphen, bytes[slice.start &+ 7] == hyphen else { return true }
    }
    return false
  }

  /// Counts the dates of a block.
  mutating func add(_ block: RecordBlock) {
    var text: [UInt8] = []
    for record in block.records where RecordFaults.isSound(record) && layout.accepts(record, block.fields) {
      for index in columns.indices {
        text.removeAll(keepingCapacity: true)
        let column = columns[index]
        layout.append(column, of: record, in: block, to: &text)
        if column.parser.isTransformed { text = column.parser.transformed(text.span) }
        let span = text.span
        surveys[index].add(span.extracting(span.trimmedRange), line: record.line)
      }
    }
  }

  /// What the dates so far say.
  var result: Result {
    var result = Result(columns: set)
    var changed: [Int: FieldParser] = [:]
    for (column, survey) in zip(columns, surveys) {
      let name = column.parser.definition.name
      let verdict = survey.verdict(column: name)
      if !verdict.excluded.isEmpty { changed[column.parser.column] = column.parser.excluding(verdict.excluded) }
      result.notes += verdict.notes.map { "\(input): \($0)" }
      if let warning = verdict.warning { result.issues.append(issue(warning, .warning, column)) }
      if let refusal = verdict.refusal { result.issues.append(issue(refusal, .error, column)) }
    }
    result.columns = set.replacing(changed)
    return result
  }

  /// An issue of the column as a whole.
  private func issue(_ finding: DateSurvey.Finding, _ severity: Severity, _ column: InputColumn) -> RecordIssue {
    RecordIssue(
      .dateOrder, severity: severity,
      at: RecordPosition(input: input, record: 0, line: UInt64(finding.line ?? 0), byte: 0), field: column.field + 1,
      column: column.parser.definition.name, message: finding.message)
  }
}
