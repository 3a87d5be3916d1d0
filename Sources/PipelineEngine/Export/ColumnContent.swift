import PersistentStores

/// The format of the values of an output column.
enum ColumnContent: Sendable {
  /// Texts, and numbers in Swift's format: the fewest digits that give the same number when read.
  case plain
  /// The same for numbers in single precision, which need fewer digits.
  case single
  case date(DateColumn)
  case decimal
  case uuid
  case bytes(BinaryFormat)

  /// `formats` are the column's own; without them a date uses `dateFormat`. `patterns` are those of named formats.
  init(
    _ type: ColumnType, _ formats: [String], dateFormat: [String], named patterns: [String: String]
  ) throws(PipelineError) {
    switch type {
    case .date: self = .date(try DateColumn(formats.isEmpty ? dateFormat : formats, named: patterns))
    case .binary, .archive: self = .bytes(try BinaryFormat(only: formats))
    case .text, .uri, .integer, .boolean, .real: self = .plain
    case .single: self = .single
    case .decimal: self = .decimal
    case .uuid: self = .uuid
    }
    if formats.isEmpty || type == .date || type.isBinary { return }
    throw PipelineError("formats are for dates and binary data, and this column is \(type.noun); remove it")
  }

  /// Whether dates are written only as ISO 8601.
  var isISODate: Bool { if case .date(let formats) = self { formats.isISO } else { false } }

  /// Appends the text of a value that is neither nil nor a text itself, or returns why there is none.
  func append(_ cell: ValueCell, of batch: ObjectBatch, to output: inout [UInt8]) -> String? {
    switch (cell.kind, self) {
    case (.integer, _):
      // A fast path for ratings and the like: one digit needs no String.
      if (0...9).contains(cell.integer) {
        output.append(UInt8(ascii: "0") + UInt8(cell.integer))
      } else {
        output += String(cell.integer).utf8
      }
    case (.real, .single): output += "\(Float(cell.real))".utf8
    case (.real, .plain): output += "\(cell.real)".utf8
    case (.real, .date(let formats)):
      return formats.append(cell.real, to: &output) ? nil : "is a date that no format of the column can express"
    case (.decimal, _):
      let digits = batch.bytes(of: cell)
      // A value that is not a valid decimal is written as stored.
      if let number = DecimalText(digits.span) { number.append(to: &output) } else { output += digits }
    case (.blob, .uuid):
      let bytes = batch.bytes(of: cell)
      return UUIDText.append(bytes.span, to: &output) ? nil : "is not a UUID: it has \(bytes.count) bytes, not 16"
    case (.blob, .bytes(let format)): format.encode(batch.bytes(of: cell).span, into: &output)
    default: return "is a value of another type than its attribute; the store is damaged"
    }
    return nil
  }
}

/// The formats of a column of dates.
struct DateColumn: Sendable {
  private let first: DateFormat
  private let others: [DateFormat]

  init(_ formats: [String], named patterns: [String: String]) throws(PipelineError) {
    var compiled: [DateFormat] = []
    for format in formats { compiled.append(try DateFormat(format, named: patterns)) }
    first = compiled.first ?? .iso8601
    others = Array(compiled.dropFirst())
  }

  var isISO: Bool { first == .iso8601 && others.isEmpty }

  /// A single format writes the components that it has; of several, the first that is exact is used.
  func append(_ seconds: Double, to output: inout [UInt8]) -> Bool {
    if others.isEmpty { return first.append(seconds, to: &output) }
    return first.appendExactly(seconds, to: &output)
      || others.contains { $0.appendExactly(seconds, to: &output) }
  }
}
