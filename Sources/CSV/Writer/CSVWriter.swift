/// Writes records to a `ByteSink`, quoting only where it must.
///
/// Quoted are values with a delimiter, a quote or a line end in them, with a space first or last, and what would be
/// read as something else: the empty value of a record of one field, a comment sign in front of a record, a byte
/// order mark at the start of the file, the dialect's text for no value. A dialect without quotes writes quotes and spaces as they are and refuses
/// the rest.
///
/// A value without copies, so that a field costs no run-time check of who else holds the writer: keep it in a local
/// variable, or hand it on `inout`.
public struct CSVWriter: ~Copyable {
  public let dialect: CSVDialect
  public let sink: ByteSink
  /// Records ended so far; a header counts.
  public private(set) var recordCount = 0

  private static let bufferBytes = 64 << 10

  private var encoder: RecordEncoder

  /// - Throws: `dialect-error` for a dialect that cannot be.
  public init(_ sink: ByteSink, dialect: CSVDialect = .csv) throws(CSVError) {
    try dialect.validate()
    self.sink = sink
    self.dialect = dialect
    encoder = RecordEncoder(dialect, capacity: 2 * Self.bufferBytes)
  }

  /// Adds a field to the record.
  /// - Throws: `unquotable-value` with the field's index, where the dialect has no quotes and the value needs them.
  ///   The fields of the record so far are dropped: go on with the next record.
  public mutating func append(field value: Span<UInt8>) throws(CSVError) {
    if let reason = encoder.append(value) { throw refuse(reason) }
  }

  /// Adds a field. Throws as `append(field:)` of a span.
  public mutating func append(field value: ArraySlice<UInt8>) throws(CSVError) { try append(field: value.span) }

  /// Adds a field. Throws as `append(field:)` of a span.
  public mutating func append(field value: [UInt8]) throws(CSVError) { try append(field: value.span) }

  /// Adds a field. Throws as `append(field:)` of a span.
  public mutating func append(field value: String) throws(CSVError) { try append(field: value.utf8.span) }

  /// Adds a field without a value: the dialect's text for it, or nothing between the delimiters.
  public mutating func appendNull() { encoder.appendNull() }

  /// Ends the record. Bytes go to the sink when enough have gathered.
  /// - Throws: `unquotable-value`, the record dropped, for a record of one empty field in a dialect without quotes:
  ///   it would be a blank line. Else as `ByteSink.write`.
  public mutating func endRecord() throws(CSVError) {
    precondition(encoder.fieldCount > 0, "a record has at least one field")
    if let reason = encoder.endRecord() { throw refuse(reason) }
    recordCount += 1
    if encoder.used >= Self.bufferBytes { try flush() }
  }

  /// Drops the fields of the record so far.
  public mutating func abandonRecord() { encoder.abandonRecord() }

  /// Writes one record. Throws as `append(field:)` and `endRecord`.
  public mutating func write(_ values: [String]) throws(CSVError) {
    for value in values { try append(field: value) }
    try endRecord()
  }

  /// Sends whole records on to the sink; call it before `ByteSink.commit()`. Not in the middle of a record.
  /// - Throws: as `ByteSink.write`.
  public mutating func flush() throws(CSVError) {
    precondition(encoder.fieldCount == 0, "a record is ended or abandoned before the writer is flushed")
    try sink.write(encoder.storage[..<encoder.used])
    encoder.removeAll()
  }

  private mutating func refuse(_ reason: RecordEncoder.Refusal) -> CSVError {
    // A lone empty field was counted already; any other was not added.
    let field = reason == .onlyEmpty ? 0 : encoder.fieldCount
    encoder.abandonRecord()
    return CSVError(
      .unquotableValue,
      "the value \(reason.rawValue), and this dialect has no quotes; change the value or take a dialect with quotes",
      path: sink.name, field: field)
  }
}
