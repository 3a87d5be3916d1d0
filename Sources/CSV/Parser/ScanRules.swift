/// Dialect and limits in the form in which the scanners use them.
struct ScanRules {
  let delimiter: UInt8
  let hasQuotes: Bool
  /// The delimiter where the dialect has no quotes: a byte that is always taken for something else first.
  let quote: UInt8
  let comment: UInt8?
  let skipsBlankLines: Bool
  let keepsNulBytes: Bool
  let toleratesTrailingDelimiter: Bool
  /// How many columns there are; 0 while nobody knows.
  var columnCount: Int
  let fieldBytesMax: Int
  let recordBytesMax: Int
  let fieldsMax: Int
  /// A longer record may break a limit: the careful scanner looks at it.
  let fastPathBytesMax: Int

  init(_ dialect: CSVDialect, _ limits: CSVLimits) {
    delimiter = dialect.delimiter
    hasQuotes = dialect.quote != nil
    quote = dialect.quote ?? dialect.delimiter
    comment = dialect.comment
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

/// The bytes a scan may look at.
struct ScanInput {
  /// At least 64 bytes beyond `end` can be read; what they hold does not matter.
  let bytes: UnsafePointer<UInt8>
  let end: Int
  /// Nothing will ever follow `end`.
  let isFinal: Bool
  /// The input ended as it should: what is left at `end` is a record too. False after a fault.
  let endsCleanly: Bool
}
