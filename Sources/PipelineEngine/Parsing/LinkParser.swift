import CSV
import OpenCoreData
import PersistentStores

/// Parses what records say about the objects of one relationship.
struct LinkParser {
  let number: Int
  private let link: EntityLink
  private let columns: [MappedColumn]
  /// Constants of columns that the input lacks.
  private let fills: [(parser: FieldParser, text: [UInt8], slot: Int)]
  private var current: LinkedValues
  private var cells: [ValueCell] = []
  private var arena: [UInt8] = []
  private var scratch: [UInt8] = []
  private var spare: [UInt8] = []

  /// Nil if the input has no column of the link, and the pipeline no constant.
  init?(_ link: EntityLink, number: Int, columns set: ColumnSet, _ mapping: HeaderMapping) {
    self.link = link
    self.number = number
    columns = MappedColumn.all(set, mapping, link: link)
    fills = set.parsers.compactMap { parser in
      guard link.columns.contains(parser.column), mapping.fieldOfColumn[parser.column] == nil,
        let text = parser.textWhenAbsent, let name = link.attribute(of: parser.definition),
        let slot = link.entity.slot(named: name)
      else { return nil }
      return (parser, text, slot)
    }
    if columns.isEmpty, fills.isEmpty { return nil }
    current = LinkedValues(number, link.entity, isToMany: link.separator != nil)
  }

  var isOrdered: Bool { link.relationship.isOrdered }

  func column(_ number: Int) -> MappedColumn? { columns.first { $0.parser.column == number } }

  /// Whether a record of JSON Lines has no member of the link.
  func isAbsent(_ record: RecordSlice, in block: RecordBlock, _ layout: RecordLayout) -> Bool {
    fills.isEmpty && columns.allSatisfy { !$0.parser.fillsEmpty && layout.lacks($0, record, in: block) }
  }

  // MARK: By columns

  /// Whether each attribute depends on one field only.
  var takesColumns: Bool {
    link.separator == nil && fills.isEmpty && !columns.contains(where: \.isMade)
  }

  mutating func fill(_ block: RecordBlock, needsSlowPath: inout [Bool]) {
    let slotCount = current.batch.slotCount
    cells = [ValueCell](repeating: .null, count: block.records.count * slotCount)
    arena = block.bytes
    for column in columns {
      column.parser.fill(
        column.slot, of: slotCount, from: column.field, of: block, cells: &cells, needsSlowPath: &needsSlowPath)
    }
  }

  mutating func beginRow() { current.batch.removeAll() }

  /// Puts the row that was parsed by itself among the others.
  mutating func copyRow(to index: Int) {
    current.batch.copyRow(0, to: &cells, at: index * current.batch.slotCount, &arena)
  }

  /// The values of all records except those in `without`.
  mutating func filled(without: [Int]) -> LinkedValues {
    let slotCount = current.batch.slotCount
    var values = LinkedValues(number, link.entity, isToMany: false)
    values.batch = ObjectBatch(
      entity: link.entity, count: slotCount == 0 ? 0 : cells.count / slotCount, cells: cells, arena: arena)
    (cells, arena) = ([], [])
    if !without.isEmpty { values.batch.removeRows(Set(without)) }
    values.digest(link)
    return values
  }

  // MARK: By records

  mutating func begin() { current = LinkedValues(number, link.entity, isToMany: link.separator != nil) }

  mutating func values() -> LinkedValues {
    current.digest(link)
    return current
  }

  mutating func removeLastRow() { current.removeLastRow() }

  /// Appends the objects that a record names; false if a field is invalid.
  mutating func append(
    _ record: RecordSlice, of block: RecordBlock, _ layout: RecordLayout, faults: inout [FieldFault]
  ) -> Bool {
    var isGood = true
    if link.separator == nil { current.batch.appendRow() }
    for column in columns {
      let isNil =
        column.parts.isEmpty && column.field < record.fieldCount
        && layout.isNull(block.fields[record.firstField + column.field], in: block.bytes)
      scratch.removeAll(keepingCapacity: true)
      if !isNil { layout.append(column, of: record, in: block, to: &scratch) }
      isGood = append(scratch, isNil: isNil, column.parser, at: column.slot, faults: &faults) && isGood
    }
    for fill in fills {
      isGood = append(fill.text, isNil: false, fill.parser, at: fill.slot, faults: &faults) && isGood
    }
    current.endRow()
    return isGood
  }

  /// The value of one field: an attribute of the object, or the names of several.
  private mutating func append(
    _ text: [UInt8], isNil: Bool, _ parser: FieldParser, at slot: Int, faults: inout [FieldFault]
  ) -> Bool {
    guard let separator = link.separator else {
      return set(text, isNil: isNil, parser, at: slot, faults: &faults)
    }
    let parts = isNil ? [] : text.split(by: separator).filter { !$0.span.trimmedRange.isEmpty }
    // An empty field breaks a rule that demands a value.
    guard !parts.isEmpty else { return parser.parseNull(faults: &faults) != nil }
    var isGood = true
    for part in parts {
      current.batch.appendRow()
      let trimmed = part.span.trimmedRange
      isGood =
        set(Array(part[trimmed]), isNil: false, parser, at: slot, faults: &faults) && isGood
    }
    return isGood
  }

  private mutating func set(
    _ text: [UInt8], isNil: Bool, _ parser: FieldParser, at slot: Int, faults: inout [FieldFault]
  ) -> Bool {
    if isNil, !parser.fillsEmpty {
      return parser.set(parser.parseNull(faults: &faults), text: [], at: slot, in: &current.batch)
    }
    guard parser.isTransformed, parser.definition.value == nil else {
      return parser.set(parser.parse(text.span, faults: &faults), text: text[...], at: slot, in: &current.batch)
    }
    var changed = text
    let value = parser.parse(transforming: &changed, spare: &spare, faults: &faults)
    return parser.set(value, text: changed[...], at: slot, in: &current.batch)
  }
}

extension [UInt8] {
  /// The parts between occurrences of `separator`.
  fileprivate func split(by separator: [UInt8]) -> [[UInt8]] {
    var (parts, start, index) = ([[UInt8]](), 0, 0)
    while index + separator.count <= count {
      if self[index..<(index + separator.count)].elementsEqual(separator) {
        parts.append(Array(self[start..<index]))
        index += separator.count
        start = index
      } else {
        index += 1
      }
    }
    return parts + [Array(self[start...])]
  }
}
