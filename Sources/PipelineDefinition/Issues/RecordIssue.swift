/// The position of a record in its input.
public struct RecordPosition: Sendable, Hashable {
  /// Path of the input as the user gave it; `-` for standard input.
  public var input: String
  /// 1 for the first record after the header; 0 for the header itself or for the file as a whole.
  public var record: UInt64
  /// Line on which the record begins, from 1; a record with quoted line breaks spans several.
  public var line: UInt64
  /// Offset of the record's first byte in the (inflated) input, from 0.
  public var byte: UInt64

  /// Makes a position. The parameters are the properties of the same names.
  public init(input: String, record: UInt64, line: UInt64, byte: UInt64) {
    self.input = input
    self.record = record
    self.line = line
    self.byte = byte
  }
}

/// One problem of one record, header or file.
///
/// The coding keys are part of the JSON report and must not change.
public struct RecordIssue: Sendable, Hashable, Codable {
  /// What kind of problem it is.
  public var code: IssueCode
  /// Whether it rejects the record.
  public var severity: Severity
  /// Path of the input as the user gave it; `-` for standard input.
  public var input: String
  /// Number of the record, from 1; 0 for the header or the file as a whole.
  public var record: UInt64
  /// Line on which the record begins, from 1.
  public var line: UInt64
  /// Offset of the record's first byte in the (inflated) input, from 0.
  public var byte: UInt64
  /// Number of the field within the record, from 1; `nil` if the issue concerns the whole record.
  public var field: Int?
  /// Name of the column in the pipeline.
  public var column: String?
  /// The raw text, escaped and shortened to 60 characters.
  public var value: String?
  /// What is wrong and what to do about it: one sentence or two.
  public var message: String

  /// Makes an issue at a position. The other parameters are the properties of the same names.
  public init(
    _ code: IssueCode, severity: Severity = .error, at position: RecordPosition, field: Int? = nil,
    column: String? = nil, value: String? = nil, message: String
  ) {
    self.code = code
    self.severity = severity
    input = position.input
    record = position.record
    line = position.line
    byte = position.byte
    self.field = field
    self.column = column
    self.value = value
    self.message = message
  }
}

extension RecordIssue: CustomStringConvertible {
  /// `log.csv:12: rating "six": type-error: …`, a format that editors and terminals make clickable.
  public var description: String {
    var subject = ""
    if let column { subject = "\(column)" } else if let field { subject = "field \(field)" }
    if let value { subject += subject.isEmpty ? "\"\(value)\"" : " \"\(value)\"" }
    let location = line > 0 ? "\(input):\(line): " : "\(input): "
    let kind = severity == .warning ? "warning: \(code)" : "\(code)"
    return location + (subject.isEmpty ? "" : subject + ": ") + "\(kind): \(message)"
  }
}
