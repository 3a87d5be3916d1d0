import CSV
import OpenCoreData

/// Counts the dates of an input whose formats can be read with day and month in either order.
struct InputSurvey: Sendable {
  /// What the dates so far show.
  struct Result: Sendable {
    /// The columns, which read dates in the one order that was found.
    var columns: ColumnSet
    /// Errors where dates can't be read with certainty, and warnings.
    var issues: [RecordIssue] = []
    /// Which formats were chosen, and why.
    var notes: [String] = []
    /// The formats that are not used, as their texts, by the column's name.
    var excluded: [String: [String]] = [:]

    var refusal: RecordIssue? { issues.first { $0.severity == .error } }
  }

  private let input: String
  private let set: ColumnSet
  private let layout: RecordLayout
  private let columns: [MappedColumn]
  /// One for each column.
  private var surveys: [DateSurvey]

  /// Creates a survey for an input with these columns; nil if no date is ambiguous.
  init?(
    _ set: ColumnSet, of mapping: HeaderMapping, definition: PipelineDefinition, entity: NSEntityDescription,
    input: String
  ) {
    self.input = input
    self.set = set
    layout = RecordLayout(definition.dialect, fieldCount: mapping.fieldCount)
    let pairs = MappedColumn.all(set, mapping, entity: entity).compactMap { column in
      column.parser.dateSurvey.map { (column, $0) }
    }
    (columns, surveys) = (pairs.map(\.0), pairs.map(\.1))
    if columns.isEmpty { return nil }
  }

  /// Whether a block has a date that may not be in ISO 8601. Only two bytes are compared, because every date of every
  /// input is.
  func hasDoubt(_ block: RecordBlock) -> Bool {
    let (bytes, fields, records) = (block.bytes, block.fields, block.records)
    return columns.contains { column in
      if column.isMade { return !records.isEmpty }
      return hasDoubt(bytes.span, fields: fields.span, records: records.span, field: column.field)
    }
  }

  private func hasDoubt(
    _ bytes: Span<UInt8>, fields: Span<FieldSlice>, records: Span<RecordSlice>, field: Int
  ) -> Bool {
    let hyphen = UInt8(ascii: "-")
    for index in 0..<records.count {
      let record = records[index]
      if field >= record.fieldCount { continue }
      let slice = fields[record.firstField &+ field]
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

  /// What the dates so far show.
  var result: Result {
    var result = Result(columns: set)
    var changed: [Int: FieldParser] = [:]
    for (column, survey) in zip(columns, surveys) {
      let name = column.parser.definition.name
      let verdict = survey.verdict(column: name)
      if !verdict.excluded.isEmpty {
        changed[column.parser.column] = column.parser.excluding(verdict.excluded)
        result.excluded[name] = verdict.excluded.map(\.text)
      }
      result.notes += verdict.notes.map { "\(input): \($0)" }
      if let warning = verdict.warning { result.issues.append(issue(warning, .warning, of: column)) }
      if let refusal = verdict.refusal { result.issues.append(issue(refusal, .error, of: column)) }
    }
    result.columns = set.replacing(changed)
    return result
  }

  /// An issue of the column as a whole.
  private func issue(_ finding: DateSurvey.Finding, _ severity: Severity, of column: MappedColumn) -> RecordIssue {
    RecordIssue(
      .dateOrder, severity: severity,
      at: RecordPosition(input: input, record: 0, line: UInt64(finding.line ?? 0), byte: 0), field: column.field + 1,
      column: column.parser.definition.name, message: finding.message)
  }
}
