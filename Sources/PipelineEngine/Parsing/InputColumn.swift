import CSV
import OpenCoreData

/// A column that the input has.
struct InputColumn: Sendable {
  let parser: FieldParser
  /// Index of its field in a record, the first one of several.
  let field: Int
  /// Its fields, if it is made of several.
  let parts: [Int]
  let slot: Int

  /// The columns that the input has, by its header.
  static func all(_ set: ColumnSet, _ mapping: HeaderMapping, entity: NSEntityDescription) -> [InputColumn] {
    set.parsers.compactMap { parser in
      guard let field = mapping.fieldOfColumn[parser.column],
        let slot = entity.slot(named: parser.definition.attribute)
      else { return nil }
      return InputColumn(parser: parser, field: field, parts: mapping.partsOfColumn[parser.column] ?? [], slot: slot)
    }
  }

  /// Whether its text is not the content of one field.
  var isMade: Bool { !parts.isEmpty || parser.isTransformed }
}

/// The layout of an input's records: what is nil, what is blank, what to do with fields that lack or are too many.
struct RecordLayout: Sendable {
  /// The fields that a record should have.
  let fieldCount: Int
  /// The texts that stand unquoted for nil.
  let nullTokens: [[UInt8]]
  private let keepsEmptyText: Bool
  private let delimiter: [UInt8]
  private let pads: Bool
  private let truncates: Bool
  /// Whether surplus fields are dropped if they are empty.
  private let truncatesEmpty: Bool
  private let joinsLast: Bool
  /// Whether records without any content are passed over.
  let skipsBlank: Bool

  init(_ dialect: DialectDefinition, fieldCount: Int) {
    self.fieldCount = fieldCount
    nullTokens = dialect.csv.nullTokens
    keepsEmptyText = dialect.keepsEmptyText
    delimiter = dialect.csv.delimiter
    let repairs = dialect.mode == .lenient
    pads = dialect.raggedRows.contains(.pad) || repairs
    truncates = dialect.raggedRows.contains(.truncate)
    joinsLast = dialect.raggedRows.contains(.joinLast)
    truncatesEmpty = repairs
    skipsBlank = dialect.skipBlankRows
  }

  /// Whether a record of this number of fields is an entry; its repair is reported if the number differs.
  func accepts(_ record: RecordSlice, _ fields: [FieldSlice]) -> Bool {
    if record.fieldCount == fieldCount { return true }
    if record.fieldCount < fieldCount { return pads }
    if truncates || joinsLast { return true }
    return truncatesEmpty
      && fields[(record.firstField + fieldCount)..<(record.firstField + record.fieldCount)].allSatisfy { $0.count == 0 }
  }

  /// Whether every field of a record is empty. If nil has a text of its own, empty fields are values.
  @inline(__always)
  func isBlank(_ record: RecordSlice, _ fields: [FieldSlice]) -> Bool {
    // Nothing but delimiters and pairs of quotes has so few bytes.
    record.contentRange.count <= record.fieldCount * (delimiter.count + 2) && record.fieldCount > 1
      && !keepsEmptyText && fields[record.fieldIndices].allSatisfy { $0.count == 0 }
  }

  @inline(__always)
  func isNull(_ field: FieldSlice, in bytes: [UInt8]) -> Bool {
    for token in nullTokens where field.isUnquoted(token, in: bytes) { return true }
    return false
  }

  /// Whether the text of a field is that of several, because the record has too many.
  @inline(__always)
  func joins(_ field: Int, of record: RecordSlice) -> Bool {
    joinsLast && record.fieldCount > fieldCount && field == fieldCount - 1
  }

  /// Appends the text of a column, which is nothing where the record lacks its field.
  func append(_ column: InputColumn, of record: RecordSlice, in block: RecordBlock, to text: inout [UInt8]) {
    guard !column.parts.isEmpty else { return append(column.field, of: record, in: block, to: &text) }
    for field in column.parts where field < record.fieldCount {
      if isNull(block.fields[record.firstField + field], in: block.bytes) { continue }
      let start = text.count
      if start > 0 { text.append(ASCII.space) }
      let content = text.count
      append(field, of: record, in: block, to: &text)
      while text.count > content, text[text.count - 1] == ASCII.space { text.removeLast() }
      while text.count > content, text[content] == ASCII.space { text.remove(at: content) }
      if text.count == content { text.removeLast(content - start) }
    }
  }

  private func append(_ field: Int, of record: RecordSlice, in block: RecordBlock, to text: inout [UInt8]) {
    guard field < record.fieldCount else { return }
    let last = joins(field, of: record) ? record.fieldCount - 1 : field
    for index in field...last {
      if index > field { text += delimiter }
      block.appendValue(of: block.fields[record.firstField + index], to: &text)
    }
  }
}

private enum ASCII {
  static let space = UInt8(ascii: " ")
}
