import CSV
import OpenCoreData

/// A column that the input has.
struct MappedColumn: Sendable {
  let parser: FieldParser
  /// Index of its field in a record, the first one of several.
  let field: Int
  /// Its fields, if it is made of several.
  let parts: [Int]
  let slot: Int

  /// The columns that the input has, by its header.
  static func all(_ set: ColumnSet, _ mapping: HeaderMapping, entity: NSEntityDescription) -> [MappedColumn] {
    set.parsers.compactMap { parser in
      guard let field = mapping.fieldOfColumn[parser.column],
        let slot = entity.slot(named: parser.definition.attribute)
      else { return nil }
      return MappedColumn(parser: parser, field: field, parts: mapping.partsOfColumn[parser.column] ?? [], slot: slot)
    }
  }

  /// The columns of a link that the input has, in batches of the related entity.
  static func all(_ set: ColumnSet, _ mapping: HeaderMapping, link: EntityLink) -> [MappedColumn] {
    set.parsers.compactMap { parser in
      guard link.columns.contains(parser.column), let field = mapping.fieldOfColumn[parser.column],
        let name = link.attribute(of: parser.definition), let slot = link.entity.slot(named: name)
      else { return nil }
      return MappedColumn(parser: parser, field: field, parts: mapping.partsOfColumn[parser.column] ?? [], slot: slot)
    }
  }

  /// Whether its text is not the content of one field.
  var isMade: Bool { !parts.isEmpty || parser.isTransformed }
}

/// The layout of an input's records: what is nil, what is blank, and how missing and additional fields are treated.
struct RecordLayout: Sendable {
  /// The fields that a record should have.
  let fieldCount: Int
  /// The unquoted texts that mean nil.
  let nullTokens: [[UInt8]]
  private let keepsEmptyText: Bool
  /// Whether an empty field without quotes is a member that is null or missing.
  private let isJSONLines: Bool
  private let delimiter: [UInt8]
  private let pads: Bool
  private let truncates: Bool
  /// Whether additional fields are dropped if they are empty.
  private let truncatesEmpty: Bool
  private let joinsLast: Bool
  /// Whether records without any content are skipped.
  let skipsBlank: Bool

  init(_ dialect: DialectDefinition, fieldCount: Int) {
    self.fieldCount = fieldCount
    isJSONLines = dialect.format == .jsonl
    nullTokens = isJSONLines ? [[]] : dialect.csv.nullTokens
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

  /// Whether every field of a record is empty. Where the dialect has a text for nil, empty fields are values, unless
  /// blank records are skipped.
  @inline(__always)
  func isBlank(_ record: RecordSlice, _ fields: [FieldSlice]) -> Bool {
    if isJSONLines { return fields[record.fieldIndices].allSatisfy { $0.count == 0 && !$0.isQuoted } }
    // A record with more bytes has more than delimiters and pairs of quotes.
    return record.contentRange.count <= record.fieldCount * (delimiter.count + 2) && record.fieldCount > 1
      && (skipsBlank || !keepsEmptyText) && fields[record.fieldIndices].allSatisfy { $0.count == 0 }
  }

  @inline(__always)
  func isNull(_ field: FieldSlice, in bytes: [UInt8]) -> Bool {
    for token in nullTokens where field.isUnquoted(token, in: bytes) { return true }
    return false
  }

  /// Whether a record of JSON Lines lacks every member of a column.
  func lacks(_ column: MappedColumn, _ record: RecordSlice, in block: RecordBlock) -> Bool {
    let fields = column.parts.isEmpty ? [column.field] : column.parts
    return fields.allSatisfy { block.lacksMember(block.fields[record.firstField + $0], of: record) }
  }

  /// Whether the text of a field is that of several fields, because the record has too many.
  @inline(__always)
  func joins(_ field: Int, of record: RecordSlice) -> Bool {
    joinsLast && record.fieldCount > fieldCount && field == fieldCount - 1
  }

  /// Appends the text of a column, or nothing if the record lacks its field.
  func append(_ column: MappedColumn, of record: RecordSlice, in block: RecordBlock, to text: inout [UInt8]) {
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
