/// A sequence of records: their bytes in UTF-8, and the positions of records and fields in them.
///
/// A block is reusable: `CSVReader.next(into:recordsMax:)` empties it and keeps its storage. Between records `bytes`
/// may contain those of skipped blank lines.
///
/// ```swift
/// var block = RecordBlock()
/// while try reader.next(into: &block, recordsMax: 1000) {
///   for record in block.records {
///     if let field = block.field(0, of: record) { print(record.line, block.string(of: field)) }
///   }
/// }
/// ```
public struct RecordBlock: Sendable {
  /// The text of the records in UTF-8.
  public internal(set) var bytes: [UInt8] = []
  /// The fields of all records, in order.
  public internal(set) var fields: [FieldSlice] = []
  /// The records, in order.
  public internal(set) var records: [RecordSlice] = []
  /// Position of the first record; record `i` of the block has the number `start.record + i`.
  public internal(set) var start = ReaderPosition.start
  /// Position after the last record, from which a later reader can continue.
  public internal(set) var end = ReaderPosition.start
  /// What is wrong with the members of the block's records, in the order of the records.
  package internal(set) var memberFaults: [MemberFault] = []
  var syntax = FieldSyntax()
  /// The encoding of the input; the bytes here are converted.
  var encoding = CSVEncoding.utf8

  /// An empty block.
  public init() {}

  /// An empty block with about the capacity that another one uses, which avoids reallocation.
  public init(capacityOf other: RecordBlock) {
    bytes.reserveCapacity(other.bytes.count + other.bytes.count / 8)
    fields.reserveCapacity(other.fields.count + other.fields.count / 8)
    records.reserveCapacity(other.records.count)
  }

  /// Number (from 1) of the data record at `index` of `records`.
  @inlinable public func number(ofRecordAt index: Int) -> Int { start.record + index }

  /// The original bytes of a record, line end included. If the input has another encoding, they are converted to UTF-8,
  /// and each byte FF stands for bytes that are not a character of that encoding.
  @inlinable public func originalBytes(of record: RecordSlice) -> ArraySlice<UInt8> { bytes[record.range] }

  /// The fields of a record.
  @inlinable public func fields(of record: RecordSlice) -> ArraySlice<FieldSlice> { fields[record.fieldIndices] }

  /// The field of the column (from 0), or nil if the record is shorter.
  @inlinable public func field(_ column: Int, of record: RecordSlice) -> FieldSlice? {
    column < record.fieldCount ? fields[record.firstField + column] : nil
  }

  /// Size of the record in the input in bytes, line end included, even if only a part was kept.
  public func inputByteCount(ofRecordAt index: Int) -> Int {
    let record = records[index]
    guard record.problems.contains(.cut) else { return inputByteCount(of: record.range) }
    return (index + 1 < records.count ? records[index + 1].byteOffset : end.byteOffset) - record.byteOffset
  }

  /// Line (from 1) in which a field starts, its opening quote included. For an unterminated quote it is the line in
  /// which the quote opened.
  public func line(of field: FieldSlice, in record: RecordSlice) -> Int {
    var counter = LineCounter(joinsCRLF: syntax.joinsCRLF)
    counter.take(bytes[record.range.lowerBound..<field.rangeWithQuotes.lowerBound])
    return record.line + counter.lines
  }

  /// Offset (from 0) of a field's first byte in the inflated input, its opening quote included.
  ///
  /// It counts bytes of the input's own encoding, and is exact unless iconv converts the encoding and knows several
  /// spellings of a character that precedes in the record.
  public func byteOffset(of field: FieldSlice, in record: RecordSlice) -> Int {
    record.byteOffset + inputByteCount(of: record.range.lowerBound..<field.rangeWithQuotes.lowerBound)
  }

  /// Number of bytes in the input that a range of `bytes`, within one record, stands for.
  private func inputByteCount(of range: Range<Int>) -> Int {
    if encoding == .utf8 { return range.count }
    return bytes.withUnsafeBytes { EncodedLength.of(UnsafeRawBufferPointer(rebasing: $0[range]), in: encoding) }
  }

  /// Offset in the inflated input of the record's first byte that is not a character of its encoding; nil if all are.
  public func byteOffsetOfInvalidUTF8(in record: RecordSlice) -> Int? {
    let range = record.contentRange
    let found = bytes.withUnsafeBytes { firstInvalidUTF8(UnsafeRawBufferPointer(rebasing: $0[range])) }
    return found.map { record.byteOffset + inputByteCount(of: range.lowerBound..<range.lowerBound + $0) }
  }

  /// The faults of the record at `index` of `records`.
  package func memberFaults(ofRecordAt index: Int) -> ArraySlice<MemberFault> {
    var (low, high) = (0, memberFaults.count)
    while low < high {
      let middle = (low + high) / 2
      if memberFaults[middle].record < index { low = middle + 1 } else { high = middle }
    }
    return memberFaults[low...].prefix { $0.record == index }
  }

  /// Whether a record of JSON Lines has no member for the field. One that is null has: its empty field is where `null`
  /// is, and that of a missing member where the record begins.
  package func lacksMember(_ field: FieldSlice, of record: RecordSlice) -> Bool {
    isJSONLines && field.count == 0 && !field.isQuoted && field.start == record.range.lowerBound
  }

  /// Removes the records from `index` on, with their fields and bytes.
  mutating func removeRecords(from index: Int) {
    let first = records[index]
    bytes.removeLast(bytes.count - first.range.lowerBound)
    fields.removeLast(fields.count - first.firstField)
    records.removeLast(records.count - index)
  }

  /// Whether the records are those of JSON Lines.
  package var isJSONLines: Bool { syntax.isJSON }

  mutating func reset(at position: ReaderPosition, _ syntax: FieldSyntax, _ encoding: CSVEncoding?) {
    self.syntax = syntax
    self.encoding = encoding ?? .utf8
    bytes.removeAll(keepingCapacity: true)
    fields.removeAll(keepingCapacity: true)
    records.removeAll(keepingCapacity: true)
    memberFaults.removeAll(keepingCapacity: true)
    start = position
    end = position
  }
}
