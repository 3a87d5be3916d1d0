/// Writes records to a `ByteSink` as JSON Lines: each is one object (RFC 8259) in one line that ends with LF.
///
/// The members are in the order of their names, and every record has all of them. Texts are in UTF-8; only quotes,
/// backslashes and control characters are escaped.
///
/// The type is noncopyable for the reason that `CSVWriter` is.
package struct JSONLinesWriter: ~Copyable {
  private static let bufferBytes = 64 << 10

  private let sink: ByteSink
  /// What precedes each value: a brace or comma, the name, and a colon.
  private let heads: [[UInt8]]
  /// Whole records that were not yet passed to the sink, and the current one.
  private var buffer: [UInt8] = []
  private var recordStart = 0
  private var valueCount = 0

  /// - Parameters:
  ///   - sink: where the records go. The caller commits it.
  ///   - names: the names of the members, without repetition.
  package init(_ sink: ByteSink, names: [String]) {
    self.sink = sink
    heads = names.enumerated().map { index, name in
      var head = [UInt8(ascii: index == 0 ? "{" : ",")]
      Self.append(name.utf8.span, to: &head)
      return head + [UInt8(ascii: ":")]
    }
    buffer.reserveCapacity(2 * Self.bufferBytes)
  }

  /// Adds a text; false, with nothing added, if it is not UTF-8.
  package mutating func append(text: Span<UInt8>) -> Bool {
    if !isUTF8(text) { return false }
    beginValue()
    Self.append(text, to: &buffer)
    return true
  }

  /// Adds a number as it is written; false, with nothing added, if it is not a number of JSON.
  package mutating func append(number: Span<UInt8>) -> Bool {
    if !JSONCursor.isNumber(number) { return false }
    beginValue()
    for index in number.indices { buffer.append(number[index]) }
    return true
  }

  package mutating func append(_ value: Bool) {
    beginValue()
    buffer += value ? Self.trueBytes : Self.falseBytes
  }

  package mutating func appendNull() {
    beginValue()
    buffer += Self.nullBytes
  }

  /// Ends the record, which has a value for each name.
  /// - Throws: as `ByteSink.write`.
  package mutating func endRecord() throws(CSVError) {
    // The caller's mistake: of the order of its calls.
    precondition(valueCount == heads.count, "a record has a value for each name")
    buffer.append(UInt8(ascii: "}"))
    buffer.append(ASCII.lf)
    recordStart = buffer.count
    valueCount = 0
    if buffer.count >= Self.bufferBytes { try flush() }
  }

  /// Drops the values of the record so far.
  package mutating func abandonRecord() {
    buffer.removeLast(buffer.count - recordStart)
    valueCount = 0
  }

  /// Sends the buffered records to the sink; not in the middle of a record.
  /// - Throws: as `ByteSink.write`.
  package mutating func flush() throws(CSVError) {
    // The caller's mistake: of the order of its calls.
    precondition(valueCount == 0, "a record is ended or abandoned before the writer is flushed")
    try sink.write(buffer[...])
    buffer.removeAll(keepingCapacity: true)
    recordStart = 0
  }

  private static let trueBytes = Array("true".utf8)
  private static let falseBytes = Array("false".utf8)
  private static let nullBytes = Array("null".utf8)

  private mutating func beginValue() {
    buffer += heads[valueCount]
    valueCount += 1
  }

  /// Appends a text in quotes.
  private static func append(_ text: Span<UInt8>, to target: inout [UInt8]) {
    target.append(JSONText.quote)
    for index in text.indices { JSONText.appendEscaped(text[index], to: &target) }
    target.append(JSONText.quote)
  }
}
