import CSV

extension DialectDefinition {
  /// The dialect as a value of the CSV module.
  package var csv: CSVDialect {
    CSVDialect(
      delimiter: delimiter.utf8.first ?? UInt8(ascii: ","), quote: quote?.utf8.first, hasHeader: header,
      columns: header ? nil : columns, toleratesTrailingDelimiter: trailingComma || !columns.isEmpty,
      writesTrailingDelimiter: trailingComma, lineEnd: lineEnding == .crlf ? .crlf : .lf,
      nullToken: null.map { Array($0.utf8) }, keepsNulBytes: nulBytes == .keep)
  }
}

extension LimitsDefinition {
  package var csv: CSVLimits { CSVLimits(fieldBytesMax: fieldBytesMax, recordBytesMax: recordBytesMax) }
}
