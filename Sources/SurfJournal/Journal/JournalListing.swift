import CSV
import Foundation
import PipelineEngine

/// Formats a list of entries of any length incrementally.
public struct JournalListing: Sendable {
  /// The forms of a listing.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    /// Columns for a terminal, as wide as the rows so far need; long texts are shortened.
    case text
    /// With a header; all values as in an export.
    case csv
    /// An array with an object for each entry.
    case json
  }

  /// The largest width of a column in a terminal.
  private static let charactersMax = 40
  private static let gap = "  "

  /// How many entries were formatted.
  public private(set) var count = 0
  private let format: Format
  /// The key and the attributes.
  private let columns: [String]
  /// Widths of the columns in characters.
  private var widths: [Int]

  /// A listing of entries in a format; nothing is written yet.
  public init(_ format: Format) { self.init(format, .entry) }

  /// The same for objects of any entity. A table and records have the attributes that all of them have.
  package init(_ format: Format, _ kind: ObjectKind) {
    self.format = format
    columns = [kind.keyName] + kind.attributes
    widths = columns.map(\.count)
  }

  /// Formats the next entries.
  ///
  /// - Throws: The error of encoding JSON or CSV, which entries do not cause.
  public mutating func next(_ records: [JournalRecord]) throws -> String {
    let isFirst = count == 0
    count += records.count
    switch format {
    case .text: return table(records, isFirst: isFirst)
    case .csv: return try csv(records, isFirst: isFirst)
    case .json: return records.isEmpty ? "" : (isFirst ? "[\n" : ",\n") + (try json(records))
    }
  }

  /// The text after the last entry.
  ///
  /// - Throws: As `next(_:)`.
  public func end() throws -> String {
    switch format {
    case .text: ""
    case .csv: count == 0 ? try csv([], isFirst: true) : ""
    case .json: count == 0 ? "[]\n" : "\n]\n"
    }
  }

  // MARK: Formats

  private mutating func table(_ records: [JournalRecord], isFirst: Bool) -> String {
    var rows = records.map { record in
      [record.id.map(String.init) ?? ""] + columns.dropFirst().map { Self.shortened(record[$0].shortText ?? "") }
    }
    if isFirst, !rows.isEmpty { rows.insert(columns, at: 0) }
    for row in rows {
      for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) }
    }
    return rows.map(line).joined()
  }

  private func line(_ cells: [String]) -> String {
    let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
    let text = padded.joined(separator: Self.gap)
    return text.prefix(text.count - text.reversed().prefix { $0 == " " }.count) + "\n"
  }

  private func csv(_ records: [JournalRecord], isFirst: Bool) throws -> String {
    let sink = try ByteSink.memory()
    var writer = try CSVWriter(sink)
    if isFirst { try writer.write(columns) }
    for record in records { try writer.write(cells(record).map { $0 ?? "" }) }
    try writer.flush()
    try sink.finish()
    return String(decoding: sink.bytes, as: UTF8.self)
  }

  private func json(_ records: [JournalRecord]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try records.map { "  " + String(decoding: try encoder.encode($0), as: UTF8.self) }.joined(separator: ",\n")
  }

  private func cells(_ record: JournalRecord) -> [String?] {
    [record.id.map(String.init)] + columns.dropFirst().map { record[$0].text }
  }

  private static func shortened(_ text: String) -> String {
    let line = RawText.oneLine(text)
    return line.count > charactersMax ? line.prefix(charactersMax - 1) + "…" : line
  }
}
