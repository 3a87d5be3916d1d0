import CSV
import Foundation
import PipelineEngine

/// Formats a list of entries of any length incrementally.
public struct JournalListing: Sendable {
  /// The forms of a listing.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    /// Columns for a terminal, as wide as the rows so far need; long texts are shortened.
    case text = "table"
    /// With a header; all values as in an export.
    case csv
    /// The same with tabs between the values.
    case tsv
    /// An array with an object for each entry.
    case json
    /// JSON Lines: an object for each entry, in a line of its own.
    case jsonl
  }

  /// The largest width of a column where the terminal's is not known.
  private static let cellColumnsMax = 40

  /// How many entries were formatted.
  public private(set) var count = 0
  private let format: Format
  private let columns: [ListedColumn]
  /// Whether JSON has only the columns.
  private let hasChosenColumns: Bool
  private var layout: FittedTable
  /// The columns of the terminal; nil where it is not known, or there is none.
  private let columnsMax: Int?

  /// A listing of entries in a format; nothing is written yet.
  public init(_ format: Format) { self.init(format, .entry) }

  /// The same for objects of any entity. A table and records have the attributes that all of them have.
  ///
  /// - Parameters:
  ///   - columns: What is listed; nil for the key and all attributes.
  ///   - columnsMax: The columns of the terminal, which a table fits into.
  package init(_ format: Format, _ kind: ObjectKind, columns: [ListedColumn]? = nil, columnsMax: Int? = nil) {
    self.format = format
    self.columnsMax = columnsMax
    hasChosenColumns = columns != nil
    self.columns = columns ?? [.key(kind.keyName)] + kind.attributes.map(ListedColumn.attribute)
    layout = FittedTable(self.columns.map { FittedTable.Column($0.name) }, columnsMax: columnsMax)
  }

  /// The attributes that a table has no space for.
  package var leftOut: [String] { layout.leftOut }

  /// The first line of a table, which names its columns.
  package var heading: String { layout.heading }

  /// Formats the next entries.
  ///
  /// - Throws: The error of encoding JSON or CSV, which entries do not cause.
  public mutating func next(_ records: [JournalRecord]) throws -> String {
    let isFirst = count == 0
    count += records.count
    switch format {
    case .text: return table(records, isFirst: isFirst)
    case .csv, .tsv: return try csv(records, isFirst: isFirst)
    case .jsonl: return try records.map { try line($0) + "\n" }.joined()
    case .json: return records.isEmpty ? "" : (isFirst ? "[\n" : ",\n") + (try json(records))
    }
  }

  /// The text after the last entry.
  ///
  /// - Throws: As `next(_:)`.
  public func end() throws -> String {
    switch format {
    case .text, .jsonl: ""
    case .csv, .tsv: count == 0 ? try csv([], isFirst: true) : ""
    case .json: count == 0 ? "[]\n" : "\n]\n"
    }
  }

  // MARK: Formats

  private mutating func table(_ records: [JournalRecord], isFirst: Bool) -> String {
    let rows = records.map { record in
      columns.map { column in
        switch column {
        case .key: record.id.map(String.init) ?? ""
        case .attribute(let name), .path(let name, _): cell(record[name].shortText ?? "")
        case .relationship(let name): cell(record.linkText(name))
        }
      }
    }
    layout.fit(rows)
    return (isFirst && !rows.isEmpty ? layout.heading : "") + rows.map(layout.line).joined()
  }

  private func cell(_ text: String) -> String {
    let columns = columnsMax ?? Self.cellColumnsMax
    // An escaped character is longer than the original.
    return DisplayWidth.cut(RawText.oneLine(String(text.prefix(columns + 1))), to: columns)
  }

  private func csv(_ records: [JournalRecord], isFirst: Bool) throws -> String {
    let sink = try ByteSink.memory()
    var dialect = CSVDialect.csv
    if format == .tsv { dialect.delimiter = Array("\t".utf8) }
    var writer = try CSVWriter(sink, dialect: dialect)
    if isFirst { try writer.write(columns.map(\.name)) }
    for record in records { try writer.write(cells(record).map { $0 ?? "" }) }
    try writer.flush()
    try sink.finish()
    return String(decoding: sink.bytes, as: UTF8.self)
  }

  private func json(_ records: [JournalRecord]) throws -> String {
    try records.map { "  " + (try line($0)) }.joined(separator: ",\n")
  }

  private func line(_ record: JournalRecord) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let data = try hasChosenColumns ? encoder.encode(ListedValues(record, columns)) : encoder.encode(record)
    return String(decoding: data, as: UTF8.self)
  }

  private func cells(_ record: JournalRecord) -> [String?] {
    columns.map { column in
      switch column {
      case .key: record.id.map(String.init)
      case .attribute(let name), .path(let name, _): record[name].text
      case .relationship(let name): record.linkText(name)
      }
    }
  }
}
