import CSV
import OpenCoreData

/// Turns entries into records of the output.
struct EntryFormatter {
  /// What of an entry a column shows.
  private enum Content: Sendable {
    case date(DateColumn)
    case integer
    case real
    case text
  }

  private let columns: [(name: String, slot: Int, content: Content)]
  private var scratch: [UInt8] = []

  init(_ export: ExportDefinition, entity: NSEntityDescription) throws(PipelineError) {
    let types = entity.columnTypes
    let wanted = export.columns.isEmpty ? Self.allColumns(export, types) : export.columns
    var columns: [(name: String, slot: Int, content: Content)] = []
    var mistakes: [PipelineError.Mistake] = []
    for (index, column) in wanted.enumerated() {
      let path = "export.columns[\(index)]"
      guard let type = types[column.attribute], let slot = entity.slot(named: column.attribute) else {
        let hint = NearestName.hint(for: column.attribute, in: types.keys.sorted())
        let text = "\(entity.name ?? "") has no attribute '\(column.attribute)' that can be written as CSV\(hint)"
        mistakes.append(PipelineError.Mistake(path: path, message: text))
        continue
      }
      do {
        columns.append(
          (column.name, slot, try Self.content(of: type, column.format.isEmpty ? export.dateFormat : column.format)))
      } catch {
        mistakes.append(PipelineError.Mistake(path: path + ".format", message: error.message))
      }
    }
    if !mistakes.isEmpty { throw PipelineError(mistakes: mistakes) }
    self.columns = columns
  }

  /// A dialect with fixed columns has their order; else attributes go by name.
  private static func allColumns(
    _ export: ExportDefinition, _ types: [String: ColumnType]
  ) -> [ExportDefinition.Column] {
    let names = export.dialect.columns.isEmpty ? types.keys.sorted() : export.dialect.columns
    return names.map { ExportDefinition.Column($0) }
  }

  private static func content(of type: ColumnType, _ formats: [String]) throws(PipelineError) -> Content {
    switch type {
    case .date: .date(try DateColumn(formats))
    case .integer, .boolean: .integer
    case .real: .real
    case .text: .text
    }
  }

  var names: [String] { columns.map(\.name) }

  /// Writes the entry in `row`.
  ///
  /// - Returns: nil, or the column whose value the output can't carry and why; nothing of the entry is written then.
  mutating func write(
    _ row: Int, of batch: ObjectBatch, to writer: inout CSVWriter
  ) throws(CSVError) -> Refusal? {
    var index = 0
    do throws(CSVError) {
      while index < columns.count {
        let column = columns[index]
        guard try append(batch.cell(row: row, slot: column.slot), column.content, batch, &writer) else {
          writer.abandonRecord()
          return Refusal(column: index, name: column.name, reason: "is a date that no format of the column can express")
        }
        index += 1
      }
      try writer.endRecord()
      return nil
    } catch {
      guard error.code == .unquotableValue else { throw error }
      return Refusal(column: index, name: columns[min(index, columns.count - 1)].name, reason: error.message)
    }
  }

  struct Refusal {
    let column: Int
    let name: String
    let reason: String
  }

  private mutating func append(
    _ cell: ValueCell, _ content: Content, _ batch: ObjectBatch, _ writer: inout CSVWriter
  ) throws(CSVError) -> Bool {
    switch (cell.kind, content) {
    case (.null, _): writer.appendNull()
    case (.text, _): try writer.append(field: batch.bytes(of: cell))
    case (.real, .date(let formats)):
      scratch.removeAll(keepingCapacity: true)
      guard formats.append(cell.real, to: &scratch) else { return false }
      try writer.append(field: scratch)
    case (.integer, _):
      // Ratings and the like: one digit needs no text made of it.
      if (0...9).contains(cell.integer) {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(UInt8(ascii: "0") + UInt8(cell.integer))
        try writer.append(field: scratch)
      } else {
        try writer.append(field: String(cell.integer))
      }
    default: try writer.append(field: "\(cell.real)")
    }
    return true
  }
}

/// The formats of a column of dates.
private struct DateColumn: Sendable {
  private let first: DateFormat
  private let others: [DateFormat]

  init(_ formats: [String]) throws(PipelineError) {
    var compiled: [DateFormat] = []
    for format in formats { compiled.append(try DateFormat(format)) }
    first = compiled.first ?? .iso8601
    others = Array(compiled.dropFirst())
  }

  /// One format alone writes what it has letters for; of several, the first that loses nothing.
  func append(_ seconds: Double, to output: inout [UInt8]) -> Bool {
    if others.isEmpty { return first.append(seconds, to: &output) }
    return first.appendExactly(seconds, to: &output)
      || others.contains { $0.appendExactly(seconds, to: &output) }
  }
}
