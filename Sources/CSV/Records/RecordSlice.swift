/// The irregularities of a record. Parsing always succeeds; the caller decides whether a problem rejects the record.
public struct RecordProblems: OptionSet, Sendable, Hashable {
  public let rawValue: UInt16
  @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Bytes that are not UTF-8 (Unicode 15, table 3-7). Not checked in a record that is `cut`.
  public static let invalidUTF8 = RecordProblems(rawValue: 1 << 0)
  /// A zero byte, inside or outside quotes, in a dialect that does not keep zero bytes.
  public static let nulByte = RecordProblems(rawValue: 1 << 1)
  /// The last field opens a quote that is not closed before the end of the input or the record limit, or that the next
  /// single quote cannot close because it is in a later line and text follows it. The record ends with the line in
  /// which the quote opens, and reading continues with the next line; `RecordSlice.linesInDoubt` says how many of the
  /// following lines the quote may have claimed.
  public static let unterminatedQuote = RecordProblems(rawValue: 1 << 2)
  /// A quote inside an unquoted field, or text after a closing quote. Both are taken as text.
  public static let strayQuote = RecordProblems(rawValue: 1 << 3)
  /// A field over `fieldBytesMax`. The block contains all of it.
  public static let fieldTooLong = RecordProblems(rawValue: 1 << 4)
  /// The record is over `recordBytesMax`.
  public static let recordTooLong = RecordProblems(rawValue: 1 << 5)
  /// The record has more than `fieldsMax` fields. The additional fields are not listed; their bytes are in the block.
  public static let tooManyFields = RecordProblems(rawValue: 1 << 6)
  /// An empty line; the record has no fields.
  public static let blank = RecordProblems(rawValue: 1 << 7)
  /// The block contains only the first bytes of the record, and only the fields that are entirely within them.
  public static let cut = RecordProblems(rawValue: 1 << 8)
  /// A stray quote that a lenient dialect repaired: one in an unquoted field is text; so is one in a quoted field that
  /// is closed later in the same line; spaces between a closing quote and the end of the field are dropped.
  public static let repairedStrayQuote = RecordProblems(rawValue: 1 << 9)
  /// A quote that the last line of the input opens and does not close; a lenient dialect closes it there.
  public static let repairedOpenQuote = RecordProblems(rawValue: 1 << 10)

  /// A line end that is not that of the first record, such as LF after CRLF; a lenient dialect marks it. Every dialect
  /// without a line terminator of its own reads it.
  public static let repairedLineEnd = RecordProblems(rawValue: 1 << 13)

  /// Something is wrong with a member of a record of JSON Lines, or with its syntax: `RecordBlock.memberFaults` says
  /// what.
  package static let refusedMember = RecordProblems(rawValue: 1 << 11)
  /// A record of JSON Lines has members that no column has and that the first records lack.
  package static let extraMember = RecordProblems(rawValue: 1 << 12)

  /// The problems that were repaired: the record's values are usable, but the caller must report them.
  public static let repairs: RecordProblems = [
    .repairedStrayQuote, .repairedOpenQuote, .repairedLineEnd, .extraMember,
  ]
}

/// The position of one record in a `RecordBlock` and in the input.
public struct RecordSlice: Sendable, Hashable {
  @usableFromInline let firstField32: UInt32
  @usableFromInline let fieldCount32: UInt32
  @usableFromInline let start32: UInt32
  @usableFromInline let end32: UInt32
  /// The physical line (from 1) in which the record starts; a line end within quotes counts too.
  public let line: Int
  /// Offset (from 0) of the record's first byte in the inflated input, in the bytes of its encoding. A byte order mark
  /// counts.
  public internal(set) var byteOffset: Int
  /// What is irregular about the record; empty for a regular one.
  public internal(set) var problems: RecordProblems
  @usableFromInline let lineEndBytes: UInt8
  let linesInDoubt32: UInt32

  /// For a record marked `unterminatedQuote`, how many of the following physical lines its quote may have claimed. They
  /// are read as records, although they may be text of this one; 0 for any other record.
  public var linesInDoubt: Int { Int(linesInDoubt32) }
  /// Index of the first field in `RecordBlock.fields`.
  @inlinable public var firstField: Int { Int(firstField32) }
  /// Number of the record's fields.
  @inlinable public var fieldCount: Int { Int(fieldCount32) }
  /// Indices of the fields in `RecordBlock.fields`.
  @inlinable public var fieldIndices: Range<Int> { firstField..<firstField + fieldCount }
  /// Range in `RecordBlock.bytes`, line end included: the original bytes.
  @inlinable public var range: Range<Int> { Int(start32)..<Int(end32) }
  /// Range in `RecordBlock.bytes` without the line end.
  @inlinable public var contentRange: Range<Int> { Int(start32)..<Int(end32) - Int(lineEndBytes) }
}
