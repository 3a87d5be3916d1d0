/// Dialect and limits in the form that the scanners use.
struct ScanRules {
  /// The first byte of the delimiter.
  let delimiter: UInt8
  let delimiterToken: ScanToken
  let hasQuotes: Bool
  /// The first byte of the delimiter if the dialect has no quotes: the scanners always test for the delimiter first.
  let quote: UInt8
  let doublesQuotes: Bool
  let escape: UInt8?
  let skipsInitialSpace: Bool
  /// Nil for LF, CRLF and CR.
  let lineTerminator: ScanToken?
  let joinsCRLF: Bool
  let comment: ScanToken?
  let isLenient: Bool
  let skipsBlankLines: Bool
  let keepsNulBytes: Bool
  let toleratesTrailingDelimiter: Bool
  /// The number of columns; 0 while it is unknown.
  var columnCount: Int
  let fieldBytesMax: Int
  let recordBytesMax: Int
  let fieldsMax: Int
  /// A longer record may exceed a limit and needs the reference scanner.
  let fastPathBytesMax: Int

  init(_ dialect: CSVDialect, _ limits: CSVLimits) {
    delimiterToken = ScanToken(dialect.delimiter)
    delimiter = delimiterToken.first
    hasQuotes = dialect.quote != nil
    quote = dialect.quote ?? delimiterToken.first
    doublesQuotes = dialect.doublesQuotes
    escape = dialect.escape
    skipsInitialSpace = dialect.skipsInitialSpace
    lineTerminator = dialect.lineTerminator.map { ScanToken($0) }
    joinsCRLF = dialect.joinsCRLF
    comment = dialect.comment.map { ScanToken($0) }
    isLenient = dialect.mode == .lenient
    skipsBlankLines = dialect.skipsBlankLines
    keepsNulBytes = dialect.keepsNulBytes
    toleratesTrailingDelimiter = dialect.toleratesTrailingDelimiter
    columnCount = dialect.columns?.count ?? 0
    fieldBytesMax = limits.fieldBytesMax
    recordBytesMax = limits.recordBytesMax
    fieldsMax = limits.fieldsMax
    fastPathBytesMax = min(limits.fieldBytesMax, limits.recordBytesMax)
  }

  /// Whether `FastScanner` knows the dialect. Escapes and other line terminators are rare enough to be left to the
  /// reference scanner.
  var canScanFast: Bool { escape == nil && (doublesQuotes || !hasQuotes) && lineTerminator == nil }

  /// Whether the fast scanner needs none of the tests for several bytes, initial spaces and comments.
  var isPlain: Bool { delimiterToken.count == 1 && !skipsInitialSpace && comment == nil }

  /// How far beyond `recordBytesMax` a scanner may have to look to decide a record.
  var lookaheadBytes: Int { 2 + ScanToken.bytesMax }
}

/// The bytes that a scan may read.
struct ScanInput {
  /// At least 64 bytes beyond `end` are readable; their content does not matter.
  let bytes: UnsafePointer<UInt8>
  let end: Int
  /// Whether no bytes will follow `end`.
  let isFinal: Bool
  /// Whether the input ended regularly, so that the bytes left at `end` are a record. False after an error.
  let endsCleanly: Bool
}
