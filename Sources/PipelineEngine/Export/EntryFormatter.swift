import CSV
import OpenCoreData
import PersistentStores

/// Formats entries as records of the output.
struct EntryFormatter {
  /// The part of an entry that a column shows.
  private struct Column: Sendable {
    let name: String
    let path: ColumnPath
    let content: ColumnContent
    let isBeyondEntity: Bool
    let isList: Bool
  }

  /// What is needed of a column for every entry: only numbers, because copying a `Column` retains its parts.
  private struct Source: Sendable {
    /// The slot in the entity of the batch being written, which may be a subentity with more attributes; for a path
    /// beyond the entity its index among those paths.
    var number: Int
    let isBeyondEntity: Bool
    let isISODate: Bool
    /// Whether numbers are dates, which are texts in JSON.
    let isDate: Bool
    let isBoolean: Bool
  }

  private let columns: [Column]
  /// Columns that join values; an entry's are behind those of the paths.
  let lists: [RelatedList]
  /// Entries of the current batch whose values can't be joined, by row.
  var refusedLists: [Int: Refusal] = [:]
  /// One for each column.
  private var sources: [Source]
  private var entity: NSEntityDescription
  private var scratch: [UInt8] = []
  private let guardsFormulas: Bool
  /// The limits of the pipeline: what no import would read is not written.
  private let fieldBytesMax: Int
  private let recordBytesMax: Int

  init(
    _ export: ExportDefinition, entity: NSEntityDescription, dateFormats: [String: String] = [:],
    limits: LimitsDefinition = LimitsDefinition()
  ) throws(PipelineError) {
    guardsFormulas = export.guardFormulas
    fieldBytesMax = limits.fieldBytesMax
    recordBytesMax = limits.recordBytesMax
    let exported = export.columns.isEmpty ? Self.allColumns(export, entity.columnTypes) : export.columns
    var columns: [Column] = []
    var sources: [Source] = []
    var lists: [RelatedList] = []
    var mistakes: [PipelineError.Mistake] = []
    for (index, column) in exported.enumerated() {
      let key = "export.columns[\(index)]"
      let path: ColumnPath
      let isOfRecord = column.attribute.split(separator: ".").last.map(String.init) == PipelineDefinition.recordName
      do {
        if isOfRecord {
          path = try ColumnPath(toRecords: column.attribute, of: entity)
        } else if column.separator == nil {
          path = try ColumnPath(column.attribute, of: entity)
        } else {
          path = try ColumnPath(listing: column.attribute, of: entity)
        }
      } catch {
        mistakes.append(.init(path: key, message: error.message))
        continue
      }
      do {
        let content = try ColumnContent(
          path.type, column.format, dateFormat: export.dateFormat, named: dateFormats)
        let isList = isOfRecord || column.separator != nil
        let slot = isList ? nil : path.ownAttribute.map { entity.slot(named: $0) ?? 0 }
        if isList {
          lists.append(
            RelatedList(
              column: sources.count, name: column.name, path, content,
              separator: column.separator ?? LinkDefinition.usualSeparator))
        }
        sources.append(
          Source(
            number: slot ?? columns.count { $0.isBeyondEntity && !$0.isList }, isBeyondEntity: slot == nil,
            isISODate: content.isISODate, isDate: path.type == .date, isBoolean: path.type == .boolean))
        columns.append(
          Column(
            name: column.name, path: path, content: content, isBeyondEntity: slot == nil,
            isList: isList))
      } catch {
        mistakes.append(.init(path: key + ".format", message: error.message))
      }
    }
    if exported.isEmpty { mistakes = [.init(path: "entity", message: Self.nothingToWrite(entity))] }
    if !mistakes.isEmpty { throw PipelineError(mistakes: mistakes) }
    let pathCount = columns.count { $0.isBeyondEntity && !$0.isList }
    for (number, list) in lists.enumerated() { sources[list.column].number = pathCount + number }
    self.columns = columns
    self.lists = lists
    self.sources = sources
    self.entity = entity
  }

  /// A dialect with fixed columns defines their order; otherwise attributes are sorted by name.
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

  /// Throws if two columns have one name, which members of a JSON object can't.
  func checkNames() throws(PipelineError) {
    var known: Set<String> = []
    for (index, name) in names.enumerated() where !known.insert(name).inserted {
      throw PipelineError(
        path: "export.columns[\(index)]",
        "'\(name)' is the name of another column too, and members of an object have names of their own; rename one of "
          + "the two")
    }
  }

  /// The attributes of the entity whose values a batch must have.
  var ownAttributes: Set<String> { Set(columns.filter { !$0.isList }.compactMap(\.path.ownAttribute)) }

  /// The paths over relationships whose values a batch must have, in this order.
  var pathsBeyondEntity: [String] { columns.filter { $0.isBeyondEntity && !$0.isList }.map(\.path.text) }

  /// Writes the entries in `rows`. Entries that the output can't represent are left out, and `refuse` is called with
  /// the row of each.
  ///
  /// - Returns: The number of entries written.
  mutating func write(
    _ rows: Range<Int>, of batch: ObjectBatch, to writer: inout CSVWriter, _ refuse: (Int, Refusal) -> Void
  ) throws(CSVError) -> Int {
    updateSlots(in: batch)
    // Read from the batch once, not for each value.
    let (cells, arena) = (batch.cells, batch.arena)
    var refused = 0
    for row in rows {
      let start = row * batch.slotCount
      let values = cells.span.extracting(start..<(start + batch.slotCount))
      if let refusal = try write(row, of: batch, cells: values, arena: arena, to: &writer) {
        refused += 1
        refuse(row, refusal)
      }
    }
    return rows.count - refused
  }

  /// The same for JSON Lines.
  mutating func write(
    _ rows: Range<Int>, of batch: ObjectBatch, to writer: inout JSONLinesWriter, _ refuse: (Int, Refusal) -> Void
  ) throws(CSVError) -> Int {
    updateSlots(in: batch)
    let arena = batch.arena
    var refused = 0
    for row in rows {
      if let refusal = append(row, of: batch, arena: arena, to: &writer) {
        writer.abandonRecord()
        refused += 1
        refuse(row, refusal)
      } else {
        try writer.endRecord()
      }
    }
    return rows.count - refused
  }

  /// - Returns: nil, or the column whose value JSON can't represent and why.
  private mutating func append(
    _ row: Int, of batch: ObjectBatch, arena: [UInt8], to writer: inout JSONLinesWriter
  ) -> Refusal? {
    if !refusedLists.isEmpty, let refusal = refusedLists[row] { return refusal }
    var bytes = 0
    for index in sources.indices {
      let source = sources[index]
      let cell =
        source.isBeyondEntity ? batch.extraCell(row: row, source.number) : batch.cell(row: row, slot: source.number)
      var reason = excess(cell, &bytes)
      if let reason { return Refusal(column: index, name: columns[index].name, reason: reason) }
      switch cell.kind {
      case .null: writer.appendNull()
      case .text: if !writer.append(text: arena.span.extracting(cell.range)) { reason = "is not valid Unicode" }
      case .integer where source.isBoolean && (0...1).contains(cell.integer): writer.append(cell.integer == 1)
      case .integer, .real, .decimal, .blob:
        reason = format(cell, at: index, from: source, of: batch)
        let isText = source.isDate || cell.kind == .blob
        if reason == nil, !(isText ? writer.append(text: scratch.span) : writer.append(number: scratch.span)) {
          reason = "is not a finite number, and JSON has no other"
        }
      }
      if let reason { return Refusal(column: index, name: columns[index].name, reason: reason) }
    }
    return nil
  }

  private mutating func updateSlots(in batch: ObjectBatch) {
    guard batch.entity !== entity else { return }
    entity = batch.entity
    for index in columns.indices {
      if let name = columns[index].path.ownAttribute, let slot = entity.slot(named: name) {
        sources[index].number = slot
      }
    }
  }

  /// - Returns: nil, or the column whose value the output can't represent and why.
  private mutating func write(
    _ row: Int, of batch: ObjectBatch, cells: Span<ValueCell>, arena: [UInt8], to writer: inout CSVWriter
  ) throws(CSVError) -> Refusal? {
    var index = 0
    var bytes = 0
    if !refusedLists.isEmpty, let refusal = refusedLists[row] { return refusal }
    do throws(CSVError) {
      while index < sources.count {
        let source = sources[index]
        let cell =
          source.isBeyondEntity
          ? batch.extraCell(row: row, source.number) : cells[source.number]
        if let reason = excess(cell, &bytes) {
          writer.abandonRecord()
          return Refusal(column: index, name: columns[index].name, reason: reason)
        }
        switch cell.kind {
        case .null: writer.appendNull()
        case .text where guardsFormulas && FormulaGuard.isNeeded(arena.span.extracting(cell.range)):
          FormulaGuard.write(arena[cell.range], to: &scratch)
          try writer.append(field: scratch.span)
        case .text: try writer.append(field: arena.span.extracting(cell.range))
        case .integer, .real, .decimal, .blob:
          if let reason = format(cell, at: index, from: source, of: batch) {
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

  /// Why a value or the record with it is too long; nil if it is not.
  ///
  /// - Parameter bytes: The sum of the lengths in the record so far.
  @inline(__always)
  private func excess(_ cell: ValueCell, _ bytes: inout Int) -> String? {
    let length: Int
    switch cell.kind {
    case .text: length = cell.length
    // Bytes are written as base64 or hexadecimal digits, which are longer.
    case .blob: length = (cell.length + 2) / 3 * 4
    case .null, .integer, .real, .decimal: return nil
    }
    bytes += length
    if length <= fieldBytesMax, bytes <= recordBytesMax { return nil }
    return excessText(length)
  }

  private func excessText(_ length: Int) -> String {
    if length > fieldBytesMax {
      return "has \(length) bytes, more than the pipeline's limit fieldBytesMax, \(fieldBytesMax), and no import with "
        + "it would read the value"
    }
    return "makes a record of more than the pipeline's limit recordBytesMax, \(recordBytesMax) bytes"
  }

  struct Refusal {
    let column: Int
    let name: String
    let reason: String
  }

  /// Formats a value into `scratch`, or returns why it has no text.
  private mutating func format(
    _ cell: ValueCell, at index: Int, from source: Source, of batch: ObjectBatch
  ) -> String? {
    scratch.removeAll(keepingCapacity: true)
    // A fast path for the most common format of dates.
    if source.isISODate, case .real = cell.kind, DateText.append(cell.real, to: &scratch) { return nil }
    return columns[index].content.append(cell, of: batch, to: &scratch)
  }
}
