import CSV
import OpenCoreData

/// Turns entries into records of the output.
struct EntryFormatter {
  /// What of an entry a column shows.
  private struct Column: Sendable {
    let name: String
    let path: ColumnPath
    let content: ColumnContent
    let isBeyondEntity: Bool
    /// In the entity of the batch being written, which may be a subentity with more attributes; of a path beyond the
    /// entity the number among those.
    var place: Int
  }

  private var columns: [Column]
  private var entity: NSEntityDescription
  private var scratch: [UInt8] = []

  init(_ export: ExportDefinition, entity: NSEntityDescription) throws(PipelineError) {
    let wanted = export.columns.isEmpty ? Self.allColumns(export, entity.columnTypes) : export.columns
    var columns: [Column] = []
    var mistakes: [PipelineError.Mistake] = []
    for (index, column) in wanted.enumerated() {
      let key = "export.columns[\(index)]"
      let path: ColumnPath
      do {
        path = try ColumnPath(column.attribute, of: entity)
      } catch {
        mistakes.append(.init(path: key, message: error.message))
        continue
      }
      do {
        let content = try ColumnContent(path.type, column.format, dateFormat: export.dateFormat)
        let slot = path.ownAttribute.map { entity.slot(named: $0) ?? 0 }
        columns.append(
          Column(
            name: column.name, path: path, content: content, isBeyondEntity: slot == nil,
            place: slot ?? columns.count { $0.isBeyondEntity }))
      } catch {
        mistakes.append(.init(path: key + ".format", message: error.message))
      }
    }
    if wanted.isEmpty { mistakes = [.init(path: "entity", message: Self.nothingToWrite(entity))] }
    if !mistakes.isEmpty { throw PipelineError(mistakes: mistakes) }
    self.columns = columns
    self.entity = entity
  }

  /// A dialect with fixed columns has their order; else attributes go by name.
  private static func allColumns(
    _ export: ExportDefinition, _ types: [String: ColumnType]
  ) -> [ExportDefinition.Column] {
    let names = export.dialect.columns.isEmpty ? types.keys.sorted() : export.dialect.columns
    return names.map { ExportDefinition.Column($0) }
  }

  private static func nothingToWrite(_ entity: NSEntityDescription) -> String {
    let problem = "\(entity.name ?? "") has no attribute that is kept in stores and can be written as CSV"
    let paths = entity.relationshipsByName.filter { !$0.value.isToMany }.sorted { $0.key < $1.key }
      .compactMap { name, relationship in
        relationship.destinationEntity?.columnTypes.keys.min().map { "\(name).\($0)" }
      }
    return problem + (paths.first.map { "; name columns of what it leads to, such as \($0)" } ?? "")
  }

  var names: [String] { columns.map(\.name) }

  /// The attributes of the entity whose values must come with a batch.
  var ownAttributes: Set<String> { Set(columns.compactMap(\.path.ownAttribute)) }

  /// The paths over relationships whose values must come with a batch, in this order.
  var pathsBeyondEntity: [String] { columns.filter(\.isBeyondEntity).map(\.path.text) }

  /// Looks for the columns where `batch` has them; to be called before rows of another batch are written.
  mutating func prepare(for batch: ObjectBatch) {
    guard batch.entity !== entity else { return }
    entity = batch.entity
    for index in columns.indices {
      if let name = columns[index].path.ownAttribute, let slot = entity.slot(named: name) {
        columns[index].place = slot
      }
    }
  }

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
        let cell =
          column.isBeyondEntity
          ? batch.extraCell(row: row, column.place) : batch.cell(row: row, slot: column.place)
        if let reason = try append(cell, column.content, batch, &writer) {
          writer.abandonRecord()
          return Refusal(column: index, name: column.name, reason: reason)
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

  /// Appends a field, or answers why it can't be written.
  private mutating func append(
    _ cell: ValueCell, _ content: ColumnContent, _ batch: ObjectBatch, _ writer: inout CSVWriter
  ) throws(CSVError) -> String? {
    switch (cell.kind, content) {
    case (.null, _): writer.appendNull()
    case (.text, _): try writer.append(field: batch.bytes(of: cell))
    case (.integer, _):
      // Ratings and the like: one digit needs no text made of it.
      if (0...9).contains(cell.integer) {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(UInt8(ascii: "0") + UInt8(cell.integer))
        try writer.append(field: scratch)
      } else {
        try writer.append(field: String(cell.integer))
      }
    case (.real, .single): try writer.append(field: "\(Float(cell.real))")
    case (.real, .plain): try writer.append(field: "\(cell.real)")
    default:
      scratch.removeAll(keepingCapacity: true)
      if let reason = content.append(cell, of: batch, to: &scratch) { return reason }
      try writer.append(field: scratch)
    }
    return nil
  }
}
