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
  }

  /// What is needed of a column for every entry: numbers alone, for to copy a `Column` is to count who holds its parts.
  private struct Place: Sendable {
    /// The slot in the entity of the batch being written, which may be a subentity with more attributes; of a path beyond
    /// the entity the number among those.
    var number: Int
    let isBeyondEntity: Bool
    let isISODate: Bool
  }

  private let columns: [Column]
  /// One for each column.
  private var places: [Place]
  private var entity: NSEntityDescription
  private var scratch: [UInt8] = []

  init(
    _ export: ExportDefinition, entity: NSEntityDescription, dateFormats: [String: String] = [:]
  ) throws(PipelineError) {
    let wanted = export.columns.isEmpty ? Self.allColumns(export, entity.columnTypes) : export.columns
    var columns: [Column] = []
    var places: [Place] = []
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
        let content = try ColumnContent(
          path.type, column.format, dateFormat: export.dateFormat, named: dateFormats)
        let slot = path.ownAttribute.map { entity.slot(named: $0) ?? 0 }
        places.append(
          Place(
            number: slot ?? columns.count { $0.isBeyondEntity }, isBeyondEntity: slot == nil,
            isISODate: content.isISODate))
        columns.append(Column(name: column.name, path: path, content: content, isBeyondEntity: slot == nil))
      } catch {
        mistakes.append(.init(path: key + ".format", message: error.message))
      }
    }
    if wanted.isEmpty { mistakes = [.init(path: "entity", message: Self.nothingToWrite(entity))] }
    if !mistakes.isEmpty { throw PipelineError(mistakes: mistakes) }
    self.columns = columns
    self.places = places
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

  /// Writes the entries in `rows`; `refuse` is told the row of each that the output can't carry, of which nothing is
  /// written then.
  ///
  /// - Returns: The number of entries written.
  mutating func write(
    _ rows: Range<Int>, of batch: ObjectBatch, to writer: inout CSVWriter, _ refuse: (Int, Refusal) -> Void
  ) throws(CSVError) -> Int {
    findPlaces(in: batch)
    // Taken out of the batch once, not for each value.
    let (cells, arena) = (batch.cells, batch.arena)
    var refused = 0
    for row in rows {
      let start = row * batch.slotCount
      if let refusal = try write(row, of: batch, cells[start..<(start + batch.slotCount)], arena, &writer) {
        refused += 1
        refuse(row, refusal)
      }
    }
    return rows.count - refused
  }

  private mutating func findPlaces(in batch: ObjectBatch) {
    guard batch.entity !== entity else { return }
    entity = batch.entity
    for index in columns.indices {
      if let name = columns[index].path.ownAttribute, let slot = entity.slot(named: name) {
        places[index].number = slot
      }
    }
  }

  /// - Returns: nil, or the column whose value the output can't carry and why.
  private mutating func write(
    _ row: Int, of batch: ObjectBatch, _ cells: ArraySlice<ValueCell>, _ arena: [UInt8], _ writer: inout CSVWriter
  ) throws(CSVError) -> Refusal? {
    var index = 0
    do throws(CSVError) {
      while index < places.count {
        let place = places[index]
        let cell =
          place.isBeyondEntity
          ? batch.extraCell(row: row, place.number) : cells[cells.startIndex + place.number]
        switch cell.kind {
        case .null: writer.appendNull()
        case .text: try writer.append(field: arena.span.extracting(cell.range))
        case .integer, .real, .decimal, .blob:
          if let reason = format(cell, at: index, place, batch) {
            writer.abandonRecord()
            return Refusal(column: index, name: columns[index].name, reason: reason)
          }
          try writer.append(field: scratch.span)
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

  /// Makes the text of a value in `scratch`, or answers why there is none.
  private mutating func format(_ cell: ValueCell, at index: Int, _ place: Place, _ batch: ObjectBatch) -> String? {
    scratch.removeAll(keepingCapacity: true)
    // The dates of nearly all exports.
    if place.isISODate, case .real = cell.kind, DateText.append(cell.real, to: &scratch) { return nil }
    return columns[index].content.append(cell, of: batch, to: &scratch)
  }
}
