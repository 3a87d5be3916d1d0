import CSV
import OpenCoreData
import PersistentStores

/// Parses blocks of records into batches of entries, or issues. The hot path of an import: valid records allocate
/// nothing of their own.
struct ChunkParser {
  private let input: String
  private let entity: NSEntityDescription
  private let mapping: HeaderMapping
  private let parsers: [FieldParser]
  private let definition: PipelineDefinition
  /// The columns that the input has.
  private let columns: [MappedColumn]
  /// Values that the pipeline puts into every record: constants, and defaults of columns that the input lacks.
  private let fills: [Fill]
  private let defaults: [AttributeDefault]
  private let digester: RowDigester
  /// The unquoted text that means nil; empty where the dialect has none.
  private let nullToken: [UInt8]
  private var faults: [FieldFault] = []
  private var scratch: [UInt8] = []
  private var spare: [UInt8] = []
  private var validator: RecordValidator

  /// With `takesDefaults` the attribute of a declared column that the input lacks gets the model's default, like that
  /// of an undeclared column.
  init(
    input: String, definition: PipelineDefinition, columns set: ColumnSet, mapping: HeaderMapping,
    entity: NSEntityDescription, takesDefaults: Bool, digester: RowDigester
  ) {
    self.input = input
    self.definition = definition
    self.entity = entity
    self.mapping = mapping
    parsers = set.parsers
    nullToken = definition.dialect.csv.nullToken ?? []
    columns = set.parsers.compactMap { parser in
      guard let field = mapping.fieldOfColumn[parser.column],
        let slot = entity.slot(named: parser.definition.attribute)
      else { return nil }
      return MappedColumn(parser: parser, field: field, slot: slot, isTransformed: parser.isTransformed)
    }
    fills = set.parsers.compactMap { parser in
      guard mapping.fieldOfColumn[parser.column] == nil, let text = parser.textWhenAbsent,
        let slot = entity.slot(named: parser.definition.attribute)
      else { return nil }
      return Fill(parser: parser, value: parser.valueWhenAbsent, text: text[...], slot: slot)
    }
    let declared = set.parsers.filter { !takesDefaults || mapping.fieldOfColumn[$0.column] != nil }
    defaults = AttributeDefault.all(
      of: entity, except: Set(declared.compactMap { entity.slot(named: $0.definition.attribute) }))
    validator = RecordValidator(set, entity: entity)
    self.digester = digester
  }

  mutating func parse(_ block: RecordBlock) -> ParsedChunk {
    takesColumns ? parseByColumns(block) : parseByRecords(block)
  }

  /// Whether each attribute depends on one field only, so that the columns can be parsed one after the other.
  private var takesColumns: Bool {
    nullToken.isEmpty && fills.isEmpty && defaults.isEmpty && !validator.hasChecks
      && !columns.contains(where: \.isTransformed)
  }

  /// Parses the ordinary records by column: what a column needs is looked up once, and not for each field. The other
  /// records are parsed one by one and inserted at their index.
  private mutating func parseByColumns(_ block: RecordBlock) -> ParsedChunk {
    let (records, fields, bytes, slotCount) = (block.records, block.fields, block.bytes, entity.attributeSlots.count)
    var cells = [ValueCell](repeating: .null, count: records.count * slotCount)
    var needsSlowPath = records.map { !$0.problems.isEmpty || $0.fieldCount != mapping.fieldCount || isBlank($0) }
    for column in columns {
      column.parser.fill(
        column.slot, of: slotCount, from: column.field, of: block, cells: &cells, needsSlowPath: &needsSlowPath)
    }
    var chunk = ParsedChunk(block: block, batch: ObjectBatch(entity: entity))
    chunk.recordOfRow.reserveCapacity(records.count)
    var (arena, row) = (bytes, ObjectBatch(entity: entity))
    for index in records.indices {
      guard needsSlowPath[index] else {
        chunk.recordOfRow.append(Int32(index))
        continue
      }
      row.removeAll()
      if parse(records[index], bytes: bytes, fields: fields, block: block, into: &row) {
        chunk.recordOfRow.append(Int32(index))
        row.copyRow(0, to: &cells, at: index * slotCount, &arena)
        if !faults.isEmpty { note(records[index], at: index, in: &chunk, isRejected: false) }
      } else {
        reject(records[index], at: index, in: &chunk)
      }
    }
    chunk.batch = ObjectBatch(entity: entity, count: records.count, cells: cells, arena: arena)
    if !chunk.rejected.isEmpty { chunk.batch.removeRows(Set(chunk.rejected)) }
    chunk.digests = digester.digests(of: chunk.batch)
    return chunk
  }

  /// Parses the records one after the other, whatever they contain.
  mutating func parseByRecords(_ block: RecordBlock) -> ParsedChunk {
    var chunk = ParsedChunk(block: block, batch: ObjectBatch(entity: entity, rowCapacity: block.records.count))
    chunk.batch.reserveText(block.bytes.count)
    chunk.recordOfRow.reserveCapacity(block.records.count)
    let (bytes, fields, records) = (block.bytes, block.fields, block.records)
    for index in records.indices {
      let record = records[index]
      if parse(record, bytes: bytes, fields: fields, block: block, into: &chunk.batch) {
        chunk.recordOfRow.append(Int32(index))
        if !faults.isEmpty || !validator.broken.isEmpty { note(record, at: index, in: &chunk, isRejected: false) }
      } else {
        reject(record, at: index, in: &chunk)
      }
    }
    chunk.digests = digester.digests(of: chunk.batch)
    return chunk
  }

  /// Appends the entry of a record, or nothing if the record is invalid.
  @inline(__always)
  private mutating func parse(
    _ record: RecordSlice, bytes: [UInt8], fields: [FieldSlice], block: RecordBlock, into batch: inout ObjectBatch
  ) -> Bool {
    record.problems.isEmpty && record.fieldCount == mapping.fieldCount && !isBlank(record)
      && parseFields(fields, of: bytes, first: record.firstField, block: block, into: &batch)
  }

  /// Whether there is nothing between the delimiters. Where nil has a text of its own, empty fields are values.
  @inline(__always)
  private func isBlank(_ record: RecordSlice) -> Bool {
    record.contentRange.count == record.fieldCount - 1 && record.fieldCount > 1 && nullToken.isEmpty
  }

  /// Appends the entry of a record, or nothing if one of its fields is invalid; `faults` has what was found.
  @inline(__always)
  private mutating func parseFields(
    _ fields: [FieldSlice], of bytes: [UInt8], first: Int, block: RecordBlock, into batch: inout ObjectBatch
  ) -> Bool {
    faults.removeAll(keepingCapacity: true)
    validator.forget()
    batch.appendRow()
    var isGood = true
    for column in columns {
      let field = fields[first + column.field]
      if !nullToken.isEmpty, field.isUnquoted(nullToken, in: bytes), !column.parser.fillsEmpty {
        let value = column.parser.parseNull(faults: &faults)
        isGood = store(value, text: [], at: column.slot, parser: column.parser, in: &batch) && isGood
      } else if field.needsUnescaping || column.isTransformed {
        isGood = parseCopy(of: field, column: column, block: block, into: &batch) && isGood
      } else {
        let value = column.parser.parse(bytes.span.extracting(field.range), faults: &faults)
        isGood = store(value, text: bytes[field.range], at: column.slot, parser: column.parser, in: &batch) && isGood
      }
    }
    for fill in fills { _ = store(fill.value, text: fill.text, at: fill.slot, parser: fill.parser, in: &batch) }
    for value in defaults { value.fill(&batch) }
    if isGood, validator.hasChecks { isGood = validator.accepts(batch) }
    if !isGood { batch.removeLastRow() }
    return isGood
  }

  /// The value of a field whose text is not the bytes of the file.
  private mutating func parseCopy(
    of field: FieldSlice, column: MappedColumn, block: RecordBlock, into batch: inout ObjectBatch
  ) -> Bool {
    // Moved out of `self` while it is read, because the faults in `self` are written meanwhile.
    var text: [UInt8] = []
    swap(&text, &scratch)
    defer { swap(&text, &scratch) }
    text.removeAll(keepingCapacity: true)
    // Nil is parsed here only in order to be filled like an empty field.
    let isNil = !nullToken.isEmpty && field.isUnquoted(nullToken, in: block.bytes)
    if !isNil { block.appendValue(of: field, to: &text) }
    let value =
      column.isTransformed
      ? column.parser.parse(transforming: &text, spare: &spare, faults: &faults)
      : column.parser.parse(text.span, faults: &faults)
    return store(value, text: text[...], at: column.slot, parser: column.parser, in: &batch)
  }

  @inline(__always)
  private func store(
    _ value: FieldValue?, text: ArraySlice<UInt8>, at slot: Int, parser: FieldParser, in batch: inout ObjectBatch
  ) -> Bool {
    switch value {
    case .null?: break
    case .integer(let number)?: batch.setInteger(number, at: slot)
    case .real(let number)?: batch.setReal(number, at: slot)
    case .text?: batch.setText(text, at: slot)
    case .encoded?: parser.store(text.span, at: slot, in: &batch)
    case nil: return false
    }
    return true
  }

  // MARK: Issues

  private mutating func reject(_ record: RecordSlice, at index: Int, in chunk: inout ParsedChunk) {
    chunk.rejected.append(index)
    let position = chunk.position(ofRecord: index, input: input)
    if let issue = RecordFaults.issue(of: record, in: chunk.block, at: position, limits: definition.limits) {
      chunk.issues.append(issue)
      return
    }
    if isBlank(record) {
      chunk.issues.append(
        RecordIssue(.blankRow, at: position, message: "every field is empty; remove the record, or fill it in"))
      return
    }
    let ragged = raggedIssues(record, in: chunk.block, at: position)
    if !ragged.isEmpty {
      chunk.issues += ragged
      return
    }
    note(record, at: index, in: &chunk, isRejected: true)
  }

  private func raggedIssues(
    _ record: RecordSlice, in block: RecordBlock, at position: RecordPosition
  ) -> [RecordIssue] {
    let lastIsEmpty = record.fieldCount > 0 && block.fields[record.firstField + record.fieldCount - 1].count == 0
    return mapping.raggedIssues(
      fieldCount: record.fieldCount, lastIsEmpty: lastIsEmpty, dialect: definition.dialect,
      columns: parsers.map(\.definition), at: position)
  }

  /// Appends the issues for the faults of a record.
  private func note(_ record: RecordSlice, at index: Int, in chunk: inout ParsedChunk, isRejected: Bool) {
    for fault in faults {
      guard let column = columns.first(where: { $0.parser.column == fault.column }) else { continue }
      let field = chunk.block.fields[record.firstField + column.field]
      var value: [UInt8] = []
      chunk.block.appendValue(of: field, to: &value)
      let position = chunk.position(ofRecord: index, input: input)
      chunk.issues.append(
        column.parser.issue(for: fault, bytes: value.span, at: position, field: column.field + 1))
    }
    if validator.broken.isEmpty { return }
    chunk.issues += validator.issues(
      at: chunk.position(ofRecord: index, input: input), shown: chunk.shownValue(ofRecord: index)
    ) { shownValue(ofColumn: $0, record, chunk.block) }
  }

  /// The text of a column in the record; for a column that the pipeline fills, the value that it puts there.
  private func shownValue(ofColumn column: Int, _ record: RecordSlice, _ block: RecordBlock) -> String? {
    guard let input = columns.first(where: { $0.parser.column == column }) else {
      return parsers[column].textWhenAbsent.map { RawText.shortened($0) }
    }
    var value: [UInt8] = []
    block.appendValue(of: block.fields[record.firstField + input.field], to: &value)
    return RawText.shortened(value)
  }
}

/// A column that the input has.
private struct MappedColumn: Sendable {
  let parser: FieldParser
  let field: Int
  let slot: Int
  let isTransformed: Bool
}

/// A value that the pipeline gives to every record.
private struct Fill: Sendable {
  let parser: FieldParser
  let value: FieldValue
  let text: ArraySlice<UInt8>
  let slot: Int
}
