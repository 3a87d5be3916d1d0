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
  /// The related objects that the input names; empty for most pipelines.
  private var links: [LinkParser]
  private let digester: RowDigester
  private let layout: RecordLayout
  private var faults: [FieldFault] = []
  private var scratch: [UInt8] = []
  private var spare: [UInt8] = []
  private var validator: RecordValidator
  private let members: MemberFaults
  /// The numbers of `columns` in the pipeline.
  private let columnNumbers: [Int]
  /// The kinds of a chunk's issues for records of a number of fields.
  private var raggedKinds: [RaggedForm: [Int]] = [:]

  /// With `takesDefaults` the attribute of a declared column that the input lacks gets the model's default, like that
  /// of an undeclared column.
  init(
    input: String, definition: PipelineDefinition, columns set: ColumnSet, links: [EntityLink] = [],
    mapping: HeaderMapping,
    entity: NSEntityDescription, takesDefaults: Bool, digester: RowDigester
  ) {
    self.input = input
    self.definition = definition
    self.entity = entity
    self.mapping = mapping
    parsers = set.parsers
    layout = RecordLayout(definition.dialect, fieldCount: mapping.fieldCount)
    columns = MappedColumn.all(set, mapping, entity: entity)
    fills = set.parsers.compactMap { parser in
      guard mapping.fieldOfColumn[parser.column] == nil, let text = parser.textWhenAbsent,
        let slot = entity.slot(named: parser.definition.attribute)
      else { return nil }
      return Fill(parser: parser, value: parser.valueWhenAbsent, text: text[...], slot: slot)
    }
    let declared = set.parsers.filter { !takesDefaults || mapping.fieldOfColumn[$0.column] != nil }
    columnNumbers = columns.map(\.parser.column)
    defaults = AttributeDefault.all(
      of: entity, except: Set(declared.compactMap { entity.slot(named: $0.definition.attribute) }))
    self.links = links.indices.compactMap { LinkParser(links[$0], number: $0, columns: set, mapping) }
    validator = RecordValidator(set, entity: entity)
    members = MemberFaults(mapping: mapping, columns: set.parsers.map(\.definition.name))
    self.digester = digester
  }

  mutating func parse(_ block: RecordBlock) -> ParsedChunk {
    takesColumns ? parseByColumns(block) : parseByRecords(block)
  }

  /// Whether each attribute depends on one field only, so that the columns can be parsed one after the other.
  private var takesColumns: Bool {
    layout.nullTokens.isEmpty && fills.isEmpty && defaults.isEmpty && !validator.hasChecks
      && !columns.contains(where: \.isMade) && links.allSatisfy(\.takesColumns)
  }

  /// Parses the ordinary records by column: what a column needs is looked up once, and not for each field. The other
  /// records are parsed one by one and inserted at their index.
  private mutating func parseByColumns(_ block: RecordBlock) -> ParsedChunk {
    let (records, fields, bytes, slotCount) = (block.records, block.fields, block.bytes, entity.attributeSlots.count)
    var cells = [ValueCell](repeating: .null, count: records.count * slotCount)
    let fieldCount = mapping.fieldCount
    var needsSlowPath = records.map {
      !$0.problems.isEmpty || $0.fieldCount != fieldCount || layout.isBlank($0, fields)
    }
    for column in columns {
      column.parser.fill(
        column.slot, of: slotCount, from: column.field, of: block, cells: &cells, needsSlowPath: &needsSlowPath)
    }
    for index in links.indices { links[index].fill(block, needsSlowPath: &needsSlowPath) }
    raggedKinds.removeAll(keepingCapacity: true)
    var chunk = ParsedChunk(block: block, batch: ObjectBatch(entity: entity), issues: PackedIssues(input: input))
    chunk.recordOfRow.reserveCapacity(records.count)
    var (arena, row) = (bytes, ObjectBatch(entity: entity))
    for index in records.indices {
      guard needsSlowPath[index] else {
        chunk.recordOfRow.append(Int32(index))
        continue
      }
      row.removeAll()
      for link in links.indices { links[link].beginRow() }
      if parse(records[index], bytes: bytes, fields: fields, block: block, into: &row) {
        chunk.recordOfRow.append(Int32(index))
        row.copyRow(0, to: &cells, at: index * slotCount, &arena)
        for link in links.indices { links[link].copyRow(to: index) }
        noteAccepted(records[index], at: index, in: &chunk)
      } else {
        reject(records[index], at: index, in: &chunk)
      }
    }
    chunk.batch = ObjectBatch(entity: entity, count: records.count, cells: cells, arena: arena)
    let without = chunk.rejected + chunk.skipped
    if !without.isEmpty { chunk.batch.keepRows(chunk.recordOfRow.map { Int($0) }) }
    chunk.digests = digester.digests(of: chunk.batch)
    for index in links.indices { chunk.links.append(links[index].filled(without: without)) }
    digestLinks(of: &chunk)
    return chunk
  }

  /// Parses the records one after the other, whatever they contain.
  mutating func parseByRecords(_ block: RecordBlock) -> ParsedChunk {
    raggedKinds.removeAll(keepingCapacity: true)
    var chunk = ParsedChunk(
      block: block, batch: ObjectBatch(entity: entity, rowCapacity: block.records.count),
      issues: PackedIssues(input: input))
    chunk.batch.reserveText(block.bytes.count)
    chunk.recordOfRow.reserveCapacity(block.records.count)
    let (bytes, fields, records) = (block.bytes, block.fields, block.records)
    for index in links.indices { links[index].begin() }
    for index in records.indices {
      let record = records[index]
      if parse(record, bytes: bytes, fields: fields, block: block, into: &chunk.batch) {
        chunk.recordOfRow.append(Int32(index))
        if block.isJSONLines { noteAbsent(record, in: &chunk) }
        noteAccepted(record, at: index, in: &chunk)
      } else {
        reject(record, at: index, in: &chunk)
      }
    }
    chunk.digests = digester.digests(of: chunk.batch)
    for index in links.indices { chunk.links.append(links[index].values()) }
    digestLinks(of: &chunk)
    return chunk
  }

  /// An update compares what a record leads to with its other values.
  private func digestLinks(of chunk: inout ParsedChunk) {
    if chunk.digests.values.isEmpty || !digester.comparesLinks { return }
    for values in chunk.links {
      let isOrdered = values.starts == nil || links.contains { $0.number == values.link && $0.isOrdered }
      for row in 0..<chunk.batch.count {
        let digest = chunk.digests.values[row] &* 0x9E37_79B9_7F4A_7C15
        chunk.digests.values[row] = digest &+ values.digest(ofRow: row, isOrdered: isOrdered)
      }
    }
  }

  /// Notes which values the record of the last row does not state. What the pipeline puts in their place is stated.
  private func noteAbsent(_ record: RecordSlice, in chunk: inout ParsedChunk) {
    for column in columns where !column.parser.fillsEmpty && layout.lacks(column, record, in: chunk.block) {
      chunk.absent.append(row: chunk.batch.count - 1, slot: column.slot)
    }
    for link in links where link.isAbsent(record, in: chunk.block, layout) {
      chunk.absent.append(row: chunk.batch.count - 1, slot: AbsentValues.slot(ofLink: link.number, entity))
    }
  }

  /// Appends the entry of a record, or nothing if the record is invalid.
  @inline(__always)
  private mutating func parse(
    _ record: RecordSlice, bytes: [UInt8], fields: [FieldSlice], block: RecordBlock, into batch: inout ObjectBatch
  ) -> Bool {
    RecordFaults.isSound(record) && layout.accepts(record, fields) && !layout.isBlank(record, fields)
      && parseFields(of: record, fields: fields, bytes: bytes, block: block, into: &batch)
  }

  /// Appends the entry of a record, or nothing if one of its fields is invalid; `faults` has what was found.
  @inline(__always)
  private mutating func parseFields(
    of record: RecordSlice, fields: [FieldSlice], bytes: [UInt8], block: RecordBlock, into batch: inout ObjectBatch
  ) -> Bool {
    faults.removeAll(keepingCapacity: true)
    validator.forget()
    batch.appendRow()
    var isGood = true
    for column in columns {
      guard column.field < record.fieldCount else {
        isGood = parseCopy(of: column, record: record, block: block, into: &batch) && isGood
        continue
      }
      let field = fields[record.firstField + column.field]
      if column.parts.isEmpty, !column.parser.fillsEmpty, layout.isNull(field, in: bytes) {
        let value = column.parser.parseNull(faults: &faults)
        isGood = column.parser.set(value, text: [], at: column.slot, in: &batch) && isGood
      } else if field.needsUnescaping || column.isMade || layout.joins(column.field, of: record) {
        isGood = parseCopy(of: column, record: record, block: block, into: &batch) && isGood
      } else {
        let value = column.parser.parse(bytes.span.extracting(field.range), faults: &faults)
        isGood = column.parser.set(value, text: bytes[field.range], at: column.slot, in: &batch) && isGood
      }
    }
    for fill in fills { _ = fill.parser.set(fill.value, text: fill.text, at: fill.slot, in: &batch) }
    for value in defaults { value.fill(&batch) }
    for index in links.indices {
      isGood = links[index].append(record, of: block, layout, faults: &faults) && isGood
    }
    if isGood, validator.hasChecks { isGood = validator.accepts(batch) }
    if !isGood {
      batch.removeLastRow()
      for index in links.indices { links[index].removeLastRow() }
    }
    return isGood
  }

  /// The value of a field whose text is not the bytes of the file.
  private mutating func parseCopy(
    of column: MappedColumn, record: RecordSlice, block: RecordBlock, into batch: inout ObjectBatch
  ) -> Bool {
    // Moved out of `self` while it is read, because the faults in `self` are written meanwhile.
    var text: [UInt8] = []
    swap(&text, &scratch)
    defer { swap(&text, &scratch) }
    text.removeAll(keepingCapacity: true)
    // Nil is parsed here only in order to be filled like an empty field.
    let isNil =
      column.parts.isEmpty && column.field < record.fieldCount
      && layout.isNull(block.fields[record.firstField + column.field], in: block.bytes)
    if !isNil { layout.append(column, of: record, in: block, to: &text) }
    let value =
      column.parser.isTransformed
      ? column.parser.parse(transforming: &text, spare: &spare, faults: &faults)
      : column.parser.parse(text.span, faults: &faults)
    return column.parser.set(value, text: text[...], at: column.slot, in: &batch)
  }

  // MARK: Issues

  private mutating func reject(_ record: RecordSlice, at index: Int, in chunk: inout ParsedChunk) {
    let isBlank = layout.isBlank(record, chunk.block.fields)
    if isBlank, layout.skipsBlank {
      chunk.skipped.append(index)
      return
    }
    chunk.rejected.append(index)
    let position = chunk.position(ofRecord: index, input: input)
    var found = RecordFaults.issues(of: record, in: chunk.block, at: position, limits: definition.limits)
    if record.problems.contains(.refusedMember) {
      found += members.issues(ofRecord: index, in: chunk.block, at: position)
    }
    if !found.isEmpty {
      chunk.issues.append(contentsOf: found)
      return
    }
    if isBlank {
      chunk.issues.append(
        RecordIssue(
          .blankRow, at: position,
          message: chunk.block.isJSONLines
            ? "no member of the record has a value for a column; remove the record, or fill it in"
            : "every field is empty; remove the record, or fill it in"))
      return
    }
    guard layout.accepts(record, chunk.block.fields) else {
      noteRagged(record, at: index, .error, in: &chunk)
      return
    }
    noteAccepted(record, at: index, in: &chunk)
  }

  /// Reports the repairs of a record, and the faults of its fields and of itself.
  @inline(__always)
  private mutating func noteAccepted(_ record: RecordSlice, at index: Int, in chunk: inout ParsedChunk) {
    if record.fieldCount != mapping.fieldCount || !record.problems.isEmpty {
      let position = chunk.position(ofRecord: index, input: input)
      chunk.issues.append(contentsOf: RecordFaults.repairs(of: record, in: chunk.block, at: position))
      chunk.issues.append(contentsOf: members.issues(ofRecord: index, in: chunk.block, at: position))
      noteRagged(record, at: index, .warning, in: &chunk)
    }
    if !faults.isEmpty || !validator.broken.isEmpty { note(record, at: index, in: &chunk) }
  }

  /// Appends the issues for a record of another number of fields than the header.
  private mutating func noteRagged(
    _ record: RecordSlice, at index: Int, _ severity: Severity, in chunk: inout ParsedChunk
  ) {
    if record.fieldCount == mapping.fieldCount { return }
    let lastIsEmpty =
      record.fieldCount > 0 && chunk.block.fields[record.firstField + record.fieldCount - 1].count == 0
    let form = RaggedForm(fieldCount: record.fieldCount, lastIsEmpty: lastIsEmpty, severity: severity)
    if raggedKinds[form] == nil {
      let issues = mapping.raggedIssues(
        fieldCount: form.fieldCount, lastIsEmpty: lastIsEmpty, dialect: definition.dialect,
        columns: parsers.map(\.definition), severity: severity, at: chunk.position(ofRecord: index, input: input))
      raggedKinds[form] = issues.map { chunk.issues.kind(of: $0) }
    }
    let position = chunk.packedPosition(ofRecord: index)
    for kind in raggedKinds[form] ?? [] { chunk.issues.append(kind: kind, at: position) }
  }

  /// Appends the issues for the faults of a record.
  private mutating func note(_ record: RecordSlice, at index: Int, in chunk: inout ParsedChunk) {
    let position = chunk.packedPosition(ofRecord: index)
    let bytes = chunk.block.bytes
    for fault in faults {
      guard let column = column(fault.column) else { continue }
      if column.parts.isEmpty, column.field < record.fieldCount, !layout.joins(column.field, of: record) {
        let field = chunk.block.fields[record.firstField + column.field]
        if !field.needsUnescaping {
          note(fault, of: column, bytes.span.extracting(field.range), at: position, in: &chunk.issues)
          continue
        }
      }
      scratch.removeAll(keepingCapacity: true)
      layout.append(column, of: record, in: chunk.block, to: &scratch)
      note(fault, of: column, scratch.span, at: position, in: &chunk.issues)
    }
    if validator.broken.isEmpty { return }
    let issues = validator.issues(
      at: chunk.position(ofRecord: index, input: input), shown: chunk.shownValue(ofRecord: index)
    ) { shownValue(ofColumn: $0, of: record, in: chunk.block) }
    for (rule, issue) in zip(validator.broken, issues) { chunk.issues.append(issue, rule: rule) }
  }

  /// Appends the issue for a fault of a field with this content. Its message is made only if it is a new one.
  private func note(
    _ fault: FieldFault, of column: MappedColumn, _ value: Span<UInt8>, at position: PackedIssues.Position,
    in issues: inout PackedIssues
  ) {
    let (parser, field) = (column.parser, column.field + 1)
    let key = (fault.column << 20 | fault.rule & 0xFFFF) << 4
    let kind =
      if let variant = parser.messageVariant(of: fault, bytes: value) {
        issues.kind(forKey: key | variant) { parser.issueKind(for: fault, bytes: value, field: field) }
      } else {
        issues.kind(forKey: key, text: value) { parser.issueKind(for: fault, bytes: value, field: field) }
      }
    issues.append(kind: kind, at: position, value: value)
  }

  private func column(_ number: Int) -> MappedColumn? {
    if let index = columnNumbers.firstIndex(of: number) { return columns[index] }
    return links.lazy.compactMap { $0.column(number) }.first
  }

  /// The text of a column in the record; for a column that the pipeline fills, the value that it puts there.
  private func shownValue(ofColumn column: Int, of record: RecordSlice, in block: RecordBlock) -> String? {
    guard let input = self.column(column) else {
      return parsers[column].textWhenAbsent.map { RawText.shortened($0) }
    }
    var value: [UInt8] = []
    layout.append(input, of: record, in: block, to: &value)
    return RawText.shortened(value)
  }
}

/// What decides the issues of a record of another number of fields than the header.
private struct RaggedForm: Hashable, Sendable {
  let fieldCount: Int
  let lastIsEmpty: Bool
  let severity: Severity
}

/// A value that the pipeline gives to every record.
private struct Fill: Sendable {
  let parser: FieldParser
  let value: FieldValue
  let text: ArraySlice<UInt8>
  let slot: Int
}
