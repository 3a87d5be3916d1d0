/// Dialect and limits in the form that the scanners use.
struct ScanRules {
  let delimiter: UInt8
  let hasQuotes: Bool
  /// The delimiter if the dialect has no quotes: the scanners always test for the delimiter first.
  let quote: UInt8
  let comment: UInt8?
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
    delimiter = dialect.delimiter[0]
    hasQuotes = dialect.quote != nil
    quote = dialect.quote ?? dialect.delimiter[0]
    comment = dialect.comment?.first
    skipsBlankLines = dialect.skipsBlankLines
    keepsNulBytes = dialect.keepsNulBytes
    toleratesTrailingDelimiter = dialect.toleratesTrailingDelimiter
    columnCount = dialect.columns?.count ?? 0
    fieldBytesMax = limits.fieldBytesMax
    recordBytesMax = limits.recordBytesMax
    fieldsMax = limits.fieldsMax
    fastPathBytesMax = min(limits.fieldBytesMax, limits.recordBytesMax)
  }
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
