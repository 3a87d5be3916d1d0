import OpenCoreData

/// How the values of a column of the output are written.
enum ColumnContent: Sendable {
  /// Texts, and numbers as Swift writes them: with the fewest digits that bring them back.
  case plain
  /// Likewise of numbers in single precision, which need fewer.
  case single
  case date(DateColumn)
  case decimal
  case uuid
  case bytes(BinaryFormat)

  /// `formats` are the column's own; without them a date takes `dateFormat`. `patterns` are those of named formats.
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

  /// Whether dates are written as ISO 8601 and in no other way.
  var isISODate: Bool { if case .date(let formats) = self { formats.isISO } else { false } }

  /// Appends the text of a value that is neither nil nor a text itself, or answers why there is none.
  func append(_ cell: ValueCell, of batch: ObjectBatch, to output: inout [UInt8]) -> String? {
    switch (cell.kind, self) {
    case (.integer, _):
      // Ratings and the like: one digit needs no text made of it.
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
      // What is out of a decimal's bounds is shown as the store has it.
      if let number = DecimalText(digits.span) { number.append(to: &output) } else { output += digits }
    case (.blob, .uuid):
      let bytes = batch.bytes(of: cell)
      return UUIDText.append(bytes.span, to: &output) ? nil : "is no UUID: it has \(bytes.count) bytes, not 16"
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

  /// One format alone writes what it has letters for; of several, the first that loses nothing.
  func append(_ seconds: Double, to output: inout [UInt8]) -> Bool {
    if others.isEmpty { return first.append(seconds, to: &output) }
    return first.appendExactly(seconds, to: &output)
      || others.contains { $0.appendExactly(seconds, to: &output) }
  }
}
