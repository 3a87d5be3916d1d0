/// The stable name of one kind of problem.
///
/// Codes marked *frictionless* have the names and the meanings of the frictionless framework's error types; the
/// others are this project's, for problems without a frictionless type.
///
/// | code | scope | from | what is wrong |
/// |---|---|---|---|
/// | `type-error` | field | frictionless | the text cannot be read as the column's type |
/// | `constraint-error` | field | frictionless | the value breaks a rule of its column |
/// | `unique-error` | field | frictionless | another record or a stored entry has the value of a unique column |
/// | `missing-cell` | field | frictionless | the record has fewer fields than the header |
/// | `extra-cell` | field | frictionless | the record has more fields than the header |
/// | `blank-row` | record | frictionless | the line, or every field of the record, is empty |
/// | `primary-key` | record | frictionless | an earlier record or a stored entry has the same key |
/// | `row-constraint` | record | frictionless | the record breaks a rule for records as a whole |
/// | `encoding-error` | record | frictionless | the bytes are not UTF-8 |
/// | `unterminated-quote` | record | ours | the input ends inside a quoted field |
/// | `stray-quote` | record | ours | a quote is where RFC 4180 allows none |
/// | `mixed-line-end` | record | ours | the line end is not that of the first record (a warning of `lenient` dialects) |
/// | `json-error` | record | ours | a line of JSON Lines is not one JSON object, or a text of it is not Unicode |
/// | `duplicate-member` | record | ours | two members of a record of JSON Lines have one name or feed one column |
/// | `nul-byte` | record | ours | a field contains a NUL byte |
/// | `field-too-long` | record | ours | a field, or what a transform makes of it, exceeds `limits.fieldBytesMax` |
/// | `record-too-long` | record | ours | a record exceeds `limits.recordBytesMax` |
/// | `model-error` | store | ours | the model's own validation refused the entry |
/// | `store-constraint` | store | ours | a constraint of the store refused the entry |
/// | `missing-object` | store | ours | no object of the store is the one that a record leads to |
/// | `ambiguous-object` | store | ours | several objects of the store are what a record leads to |
/// | `different-object` | store | ours | the object that a record leads to has other values than the record says |
/// | `taken-object` | store | ours | another entry leads to the object, which can belong to one only |
/// | `unwritable-value` | export | ours | the output dialect cannot represent a value of the entry |
/// | `missing-external` | export | ours | the file of an external value is missing (a warning, where asked for) |
/// | `blank-header` | header | frictionless | the header line is empty |
/// | `missing-label` | header | frictionless | a required column is not in the header (a warning if it is not required) |
/// | `extra-label` | header | frictionless | the header names a column that the pipeline does not declare (a warning) |
/// | `blank-label` | header | frictionless | a label of the header is empty (a warning) |
/// | `duplicate-label` | header | frictionless | two labels of the header name the same column |
/// | `header-changed` | header | ours | the header differs from that of the pipeline's last input (a warning) |
/// | `date-order` | header | ours | the dates of a column can be read in another order of day and month |
/// | `expectation-error` | run | ours | the records together are not what the pipeline expects |
/// | `incomplete-wal` | run | ours | the store's write-ahead log lacks changes, as after a power failure (a warning) |
/// | `source-error` | file | frictionless | the input cannot be opened or read |
/// | `compression-error` | file | frictionless | the compressed data are damaged or truncated |
/// | `format-error` | file | frictionless | the input is not text: an archive, a workbook, a database |
/// | `hash-count` | file | frictionless | the input's content does not match its checksum file |
/// | `row-count` | file | frictionless | the input's number of records does not match its checksum file |
/// | `input-refused` | file | ours | it is unknown which part of the input is already in the store |
/// | `dialect-error` | file | frictionless | the input does not follow the declared dialect |
/// | `pipeline-error` | pipeline | frictionless | the pipeline definition is wrong |
public struct IssueCode: RawRepresentable, Hashable, Sendable, Codable, CodingKeyRepresentable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  private init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// The text cannot be read as the column's type.
  public static let typeError = IssueCode("type-error")
  /// The value breaks a rule of its column.
  public static let constraintError = IssueCode("constraint-error")
  /// Another record or a stored entry has the value of a unique column.
  public static let uniqueError = IssueCode("unique-error")
  /// The record breaks a rule for records as a whole.
  public static let rowConstraint = IssueCode("row-constraint")
  /// The record has fewer fields than the header.
  public static let missingCell = IssueCode("missing-cell")
  /// The record has more fields than the header.
  public static let extraCell = IssueCode("extra-cell")
  /// The line, or every field of the record, is empty.
  public static let blankRow = IssueCode("blank-row")
  /// An earlier record or a stored entry has the same key.
  public static let primaryKey = IssueCode("primary-key")
  /// The bytes are not UTF-8.
  public static let encodingError = IssueCode("encoding-error")
  /// The input ends inside a quoted field.
  public static let unterminatedQuote = IssueCode("unterminated-quote")
  /// A quote is where RFC 4180 allows none.
  public static let strayQuote = IssueCode("stray-quote")
  /// The line end is not that of the first record (a warning of `lenient` dialects).
  public static let mixedLineEnd = IssueCode("mixed-line-end")
  /// A line of JSON Lines is not one JSON object, or a text of it is not Unicode.
  public static let jsonError = IssueCode("json-error")
  /// Two members of a record of JSON Lines have one name or feed one column.
  public static let duplicateMember = IssueCode("duplicate-member")
  /// A field contains a NUL byte.
  public static let nulByte = IssueCode("nul-byte")
  /// A field, or what a transform makes of it, exceeds `limits.fieldBytesMax`.
  public static let fieldTooLong = IssueCode("field-too-long")
  /// A record exceeds `limits.recordBytesMax`.
  public static let recordTooLong = IssueCode("record-too-long")
  /// The model's own validation refused the entry.
  public static let modelError = IssueCode("model-error")
  /// A constraint of the store refused the entry.
  public static let storeConstraint = IssueCode("store-constraint")
  /// No object of the store is the one that a record leads to.
  public static let missingObject = IssueCode("missing-object")
  /// Several objects of the store are what a record leads to.
  public static let ambiguousObject = IssueCode("ambiguous-object")
  /// The object that a record leads to has other values than the record says.
  public static let differentObject = IssueCode("different-object")
  /// Another entry leads to the object, which can belong to one only.
  public static let takenObject = IssueCode("taken-object")
  /// The output dialect cannot represent a value of the entry.
  public static let unwritableValue = IssueCode("unwritable-value")
  /// The file of an external value is missing (a warning, where asked for).
  public static let missingExternal = IssueCode("missing-external")
  /// The header line is empty.
  public static let blankHeader = IssueCode("blank-header")
  /// A required column is not in the header (a warning if it is not required).
  public static let missingLabel = IssueCode("missing-label")
  /// The header names a column that the pipeline does not declare (a warning).
  public static let extraLabel = IssueCode("extra-label")
  /// A label of the header is empty (a warning).
  public static let blankLabel = IssueCode("blank-label")
  /// Two labels of the header name the same column.
  public static let duplicateLabel = IssueCode("duplicate-label")
  /// The header differs from that of the pipeline's last input (a warning).
  public static let headerChanged = IssueCode("header-changed")
  /// The dates of a column can be read in another order of day and month.
  public static let dateOrder = IssueCode("date-order")
  /// The records together are not what the pipeline expects.
  public static let expectationError = IssueCode("expectation-error")
  /// The store's write-ahead log lacks changes, as after a power failure (a warning).
  public static let incompleteWAL = IssueCode("incomplete-wal")
  /// The input cannot be opened or read.
  public static let sourceError = IssueCode("source-error")
  /// The compressed data are damaged or truncated.
  public static let compressionError = IssueCode("compression-error")
  /// The input is not text: an archive, a workbook, a database.
  public static let formatError = IssueCode("format-error")
  /// The input's content does not match its checksum file.
  public static let hashCount = IssueCode("hash-count")
  /// The input's number of records does not match its checksum file.
  public static let rowCount = IssueCode("row-count")
  /// It is unknown which part of the input is already in the store.
  public static let inputRefused = IssueCode("input-refused")
  /// The input does not follow the declared dialect.
  public static let dialectError = IssueCode("dialect-error")
  /// The pipeline definition is wrong.
  public static let pipelineError = IssueCode("pipeline-error")
}

extension IssueCode: CustomStringConvertible, Comparable {
  public var description: String { rawValue }

  public static func < (left: IssueCode, right: IssueCode) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension IssueCode {
  /// The subject of a problem. It determines where a report lists the problem and whether a record caused it.
  public enum Scope: String, Sendable, Codable, CaseIterable {
    /// One field of a record.
    case field
    /// A whole record.
    case record
    /// A record and what the store or the model says of it.
    case store
    /// An entry that is exported.
    case export
    /// The header of a file.
    case header
    /// All records of a run together.
    case run
    /// A file as a whole.
    case file
    /// The definition.
    case pipeline
  }

  /// Every code that the engine can report, in the order of the table above.
  public static let all: [IssueCode] = Scope.allCases.flatMap { codes[$0] ?? [] }

  /// The codes for problems of one record's own bytes: the dirty sample must contain all of them.
  public static let recordLevel: [IssueCode] = (codes[.field] ?? []) + (codes[.record] ?? [])

  /// `nil` for a code that this version does not know.
  public var scope: Scope? {
    Scope.allCases.first { Self.codes[$0]?.contains(self) == true }
  }

  /// Whether the code is one of frictionless's; the others are this project's.
  public var isFrictionless: Bool {
    !Self.ours.contains(self) && scope != nil
  }

  private static let codes: [Scope: [IssueCode]] = [
    .field: [.typeError, .constraintError, .uniqueError, .missingCell, .extraCell],
    .record: [
      .blankRow, .primaryKey, .rowConstraint, .encodingError, .unterminatedQuote, .strayQuote, .mixedLineEnd,
      .jsonError, .duplicateMember, .nulByte, .fieldTooLong, .recordTooLong,
    ],
    .store: [.modelError, .storeConstraint, .missingObject, .ambiguousObject, .differentObject, .takenObject],
    .export: [.unwritableValue, .missingExternal],
    .header: [.blankHeader, .missingLabel, .extraLabel, .blankLabel, .duplicateLabel, .headerChanged, .dateOrder],
    .run: [.expectationError, .incompleteWAL],
    .file: [.sourceError, .compressionError, .formatError, .hashCount, .rowCount, .inputRefused, .dialectError],
    .pipeline: [.pipelineError],
  ]

  private static let ours: Set<IssueCode> = [
    .unterminatedQuote, .strayQuote, .mixedLineEnd, .jsonError, .duplicateMember, .nulByte, .fieldTooLong,
    .recordTooLong, .modelError, .storeConstraint, .unwritableValue, .inputRefused, .headerChanged, .dateOrder,
    .expectationError, .incompleteWAL, .missingExternal, .missingObject, .ambiguousObject, .differentObject,
    .takenObject,
  ]
}
