/// Writes records to a `ByteSink` and quotes fields only where necessary.
///
/// Quoted are values that contain a delimiter, a quote or a line end, that begin or end with a space, or that would
/// be read as something else: the empty value of a record of one field, a comment sign at the start of a record, a
/// byte order mark at the start of the file, the dialect's texts for no value. A dialect without quotes writes quotes
/// and spaces unchanged, and escapes the other values or, without an escape character, refuses them.
///
/// A writer writes neither the rows that a dialect skips before the header and drops at the end, nor comments.
///
/// ```swift
/// let sink = try ByteSink(path: "surf-log.csv")
/// var writer = try CSVWriter(sink)
/// try writer.write(["date", "location"])
/// try writer.write(["2014-07-14", "Rincon, CA"])
/// try writer.flush()
/// try sink.commit()
/// ```
///
/// The type is noncopyable, so that a field costs no exclusivity check at run time: keep a writer in a local
/// variable, or pass it `inout`.
public struct CSVWriter: ~Copyable {
  /// The form of the file, as the writer was made with.
  public let dialect: CSVDialect
  /// Where the records go. The caller commits it.
  public let sink: ByteSink
  /// Number of records written so far, including a header.
  public private(set) var recordCount = 0

  private static let bufferBytes = 64 << 10

  private var encoder: RecordEncoder

  /// Creates a writer.
  ///
  /// ```swift
  /// let sink = try ByteSink(path: "surf-log.csv")
  /// var writer = try CSVWriter(sink, dialect: .semicolon)
  /// ```
  ///
  /// - Parameters:
  ///   - sink: where the records go. The caller commits it.
  ///   - dialect: the form of the file.
  /// - Throws: `CSVError` with the code `dialect-error` for a contradictory dialect.
  public init(_ sink: ByteSink, dialect: CSVDialect = .csv) throws(CSVError) {
    try dialect.validate()
    self.sink = sink
    self.dialect = dialect
    encoder = RecordEncoder(dialect, capacity: 2 * Self.bufferBytes)
    if let encoding = dialect.encoding, encoding != .utf8 { encoder.putByteOrderMark() }
  }

  /// Adds a field to the record.
  ///
  /// ```swift
  /// try writer.append(field: "2014-07-14")
  /// writer.appendNull()
  /// try writer.endRecord()
  /// ```
  ///
  /// - Parameter value: the text in UTF-8, without quotes; the writer adds them where they are necessary.
  /// - Throws: `CSVError` with the code `unquotable-value` and the field's index, if the dialect has no quotes and
  ///   the value needs them. The fields of the record so far are dropped; continue with the next record.
  public mutating func append(field value: Span<UInt8>) throws(CSVError) {
    if let reason = encoder.append(value) { throw refuse(reason) }
  }

  /// Adds the field `value`; throws as `append(field:)` of a span.
  public mutating func append(field value: ArraySlice<UInt8>) throws(CSVError) { try append(field: value.span) }

  /// Adds the field `value`; throws as `append(field:)` of a span.
  public mutating func append(field value: [UInt8]) throws(CSVError) { try append(field: value.span) }

  /// Adds the field `value`; throws as `append(field:)` of a span.
  public mutating func append(field value: String) throws(CSVError) { try append(field: value.utf8.span) }

  /// Adds a field without a value: the dialect's text for it, or nothing between the delimiters.
  public mutating func appendNull() { encoder.appendNull() }

  /// Ends the record. The bytes go to the sink when the buffer is full.
  ///
  /// ```swift
  /// for value in ["2014-07-14", "Rincon, CA"] { try writer.append(field: value) }
  /// try writer.endRecord()
  /// ```
  ///
  /// - Throws: `CSVError` with the code `unquotable-value` for a record of one empty field in a dialect without
  ///   quotes, which would be a blank line; the record is dropped. Otherwise as `ByteSink.write`.
  public mutating func endRecord() throws(CSVError) {
    // The caller's mistake: of the order of its calls.
    precondition(encoder.fieldCount > 0, "a record has at least one field")
    if let reason = encoder.endRecord() { throw refuse(reason) }
    recordCount += 1
    if encoder.used >= Self.bufferBytes { try flush() }
  }

  /// Drops the fields of the record so far.
  public mutating func abandonRecord() { encoder.abandonRecord() }

  /// Writes one record with the fields `values`. Throws as `append(field:)` and `endRecord()`.
  ///
  /// ```swift
  /// try writer.write(["2014-07-14", "Rincon, CA"])  // 2014-07-14,"Rincon, CA"
  /// ```
  public mutating func write(_ values: [String]) throws(CSVError) {
    for value in values { try append(field: value) }
    try endRecord()
  }

  /// Sends the buffered records to the sink; call it before `ByteSink.commit()`, not in the middle of a record.
  ///
  /// ```swift
  /// try writer.flush()
  /// try writer.sink.commit()
  /// ```
  ///
  /// - Throws: as `ByteSink.write`.
  public mutating func flush() throws(CSVError) {
    // The caller's mistake: of the order of its calls.
    precondition(encoder.fieldCount == 0, "a record is ended or abandoned before the writer is flushed")
    try sink.write(encoder.storage[..<encoder.used])
    encoder.removeAll()
  }

  private mutating func refuse(_ reason: RecordEncoder.Refusal) -> CSVError {
    // A single empty field is already counted; any other refused field was not added.
    let field = reason == .onlyEmpty ? 0 : encoder.fieldCount
    encoder.abandonRecord()
    let advice =
      dialect.quote == nil
      ? "this dialect has no quotes; change the value or use a dialect with quotes"
      : "this dialect cannot write it; change the value or let the dialect double quotes"
    return CSVError(
      .unquotableValue, "the value \(reason.rawValue), and \(advice)",
      path: sink.name, field: field)
  }
}
