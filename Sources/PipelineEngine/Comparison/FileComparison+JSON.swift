import Foundation

extension FileComparison {
  /// Writes JSON Lines: an object for each difference and each issue, then one with the counts.
  /// `Pipelines/difference.schema.json` describes them.
  package func writeJSON(countsDifferences: Bool = false, _ write: (String) throws -> Void) throws {
    guard let content else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    func line(_ value: some Encodable) throws {
      try write(RawText.json(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n")
    }
    try content.each { try line(DifferenceLine($0, content)) }
    for summary in content.summaries {
      for issue in summary.issues.listed { try line(IssueLine(issue: issue)) }
    }
    try line(CountsLine(content, exitCode: exitCode(countsDifferences: countsDifferences)))
  }
}

private struct DifferenceLine: Encodable {
  private let kind: Difference.Kind
  /// The side that has the entry; both for a changed one.
  private let side: String
  private let line: Int64?
  private let record: Int64?
  private let oldLine: Int64?
  private let oldRecord: Int64?
  /// The number of the entry in the store.
  private let oldEntry: Int64?
  private let key: [String: JSONCell]?
  private let old: [String: JSONCell]?
  private let new: [String: JSONCell]?

  init(_ difference: Difference, _ content: FileComparison.Content) {
    kind = difference.kind
    side = difference.new == nil ? "old" : difference.old == nil ? "new" : "both"
    (line, record) = (difference.new?.line, difference.new?.number)
    oldLine = content.isStore ? nil : difference.old?.line
    oldRecord = content.isStore ? nil : difference.old?.number
    oldEntry = content.isStore ? difference.old?.number : nil
    let (keys, others) = content.values(difference)
    func object(_ values: [FileComparison.Content.Value], _ text: (FileComparison.Content.Value) -> String?)
      -> [String: JSONCell]
    {
      Dictionary(values.map { ($0.name, JSONCell(text: text($0), type: $0.type)) }) { first, _ in first }
    }
    key = keys.isEmpty ? nil : object(keys, \.text)
    old = difference.old == nil || kind == .duplicate ? nil : object(others, \.old)
    new = difference.new == nil || kind == .duplicate ? nil : object(others, \.new)
  }
}

private struct IssueLine: Encodable {
  private enum Key: String, CodingKey { case kind }

  let issue: RecordIssue

  func encode(to encoder: any Encoder) throws {
    try issue.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(issue.severity == .error ? "rejected" : "warning", forKey: .kind)
  }
}

private struct CountsLine: Encodable {
  private let kind = "counts"
  private let formatVersion = 1
  private let old: String
  private let new: String
  private let key: [String]
  private let compared: [String]
  private let oldEntries: Int
  private let newEntries: Int
  private let added: Int
  private let changed: Int
  private let unchanged: Int
  private let missing: Int
  private let duplicatesOld: Int
  private let duplicatesNew: Int
  private let rejectedOld: Int
  private let rejectedNew: Int
  private let notes: [String]
  private let exitCode: Int32

  init(_ content: FileComparison.Content, exitCode: ExitCode) {
    let (counts, columns) = (content.counts, content.columns)
    (old, new) = (content.oldName, content.newName)
    let attributes = columns.texts.columns.map(\.attribute)
    key = zip(attributes, columns.isKey).filter(\.1).map(\.0)
    compared = zip(attributes, columns.isKey).filter { !$0.1 }.map(\.0)
    (oldEntries, newEntries) = (counts.old, counts.new)
    (added, changed, unchanged, missing) = (counts.added, counts.changed, counts.unchanged, counts.missing)
    (duplicatesOld, duplicatesNew) = (counts.duplicatesOld, counts.duplicatesNew)
    rejectedOld = content.oldSummary?.counts.rejected ?? 0
    rejectedNew = content.newSummary.counts.rejected
    notes = content.notes
    self.exitCode = exitCode.rawValue
  }
}
