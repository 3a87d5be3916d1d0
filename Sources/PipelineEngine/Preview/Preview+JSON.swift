import Foundation

extension Preview {
  /// As `Pipelines/preview.schema.json` describes it: keys sorted, indented, ending with a line break.
  package func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(Document(self)), as: UTF8.self) + "\n"
  }

  private struct Document: Encodable {
    let formatVersion = 1
    let pipeline: String
    let exitCode: Int32
    let failure: String?
    let note: String?
    let issues: [RecordIssue]
    let files: [File]

    init(_ preview: Preview) {
      pipeline = preview.pipeline
      exitCode = preview.exitCode.rawValue
      (failure, note, issues) = (preview.failure?.message, preview.note, preview.headerIssues)
      files = preview.files.map(File.init)
    }
  }

  private struct File: Encodable {
    let input: String
    let read: Int
    let accepted: Int
    let rejected: Int
    let warned: Int
    let ignoredFields: Int
    let distinctMax: Int
    let columns: [Column]
    let first: [Record]
    let last: [Record]
    let odd: [Record]

    init(_ file: FilePreview) {
      input = file.input
      (read, accepted, rejected, warned) = (file.read, file.accepted, file.rejected, file.warned)
      (ignoredFields, distinctMax) = (file.ignoredFields, file.distinctMax)
      columns = file.columns.map(Column.init)
      func records(_ records: [FilePreview.Record]) -> [Record] { records.map { Record($0, file.columns) } }
      (first, last, odd) = (records(file.first), records(file.last), records(file.odd))
    }
  }

  private struct Column: Encodable {
    let name: String
    let attribute: String
    let type: String
    let filled: Int
    let distinct: Int
    let distinctIsExact: Bool
    let least: JSONCell?
    let greatest: JSONCell?
    let shortest: Int?
    let longest: Int?
    let frequent: [Count]
    let refused: Int
    let refusals: [RecordIssue]

    struct Count: Encodable {
      let value: JSONCell
      let count: Int
    }

    init(_ column: FilePreview.Column) {
      (name, attribute, type) = (column.name, column.attribute, column.type.jsonName)
      (filled, distinct, distinctIsExact) = (column.filled, column.distinct, column.distinctIsExact)
      least = column.range.map { JSONCell(text: $0.least, type: column.type) }
      greatest = column.range.map { JSONCell(text: $0.greatest, type: column.type) }
      (shortest, longest) = (column.lengths?.lowerBound, column.lengths?.upperBound)
      frequent = column.frequent.map { Count(value: JSONCell(text: $0.value, type: column.type), count: $0.count) }
      (refused, refusals) = (column.refused, column.refusals)
    }
  }

  private struct Record: Encodable {
    let record: Int
    let line: Int
    let values: [String: JSONCell]?
    let text: String?
    let reasons: [String]?
    let issues: [RecordIssue]?

    init(_ shown: FilePreview.Record, _ columns: [FilePreview.Column]) {
      (record, line, text) = (shown.number, shown.line, shown.text)
      let pairs = zip(columns, shown.values).map { ($0.name, JSONCell(text: $1, type: $0.type)) }
      values = shown.text == nil ? Dictionary(pairs) { first, _ in first } : nil
      reasons = shown.reasons.isEmpty ? nil : shown.reasons
      issues = shown.issues.isEmpty ? nil : shown.issues
    }
  }
}

extension ColumnType {
  fileprivate var jsonName: String {
    switch self {
    case .text: "text"
    case .integer: "integer"
    case .real, .single: "number"
    case .decimal: "decimal"
    case .boolean: "boolean"
    case .date: "date"
    case .uuid: "uuid"
    case .uri: "uri"
    case .binary, .archive: "binary"
    }
  }
}
