import CSV

extension DialectDefinition {
  /// The dialect as a value of the CSV module.
  package var csv: CSVDialect {
    var dialect = CSVDialect(
      delimiter: Array(delimiter.utf8), quote: quote?.utf8.first, hasHeader: header,
      columns: header ? nil : columns, toleratesTrailingDelimiter: trailingComma,
      writesTrailingDelimiter: trailingComma, skipsBlankLines: skipBlankRows,
      comment: commentChar.map { Array($0.utf8) }, lineEnd: lineEnding == .crlf ? .crlf : .lf,
      keepsNulBytes: nulBytes == .keep)
    if header { dialect.headerRows = headerRows }
    dialect.nullTokens = nullSequences.filter { !$0.isEmpty }.map { Array($0.utf8) }
    dialect.encoding = encoding.flatMap(CSVEncoding.init(named:))
    dialect.doublesQuotes = doubleQuote
    dialect.escape = escapeChar?.utf8.first
    dialect.skipsInitialSpace = skipInitialSpace
    // Table Dialect's default means every usual line end.
    dialect.lineTerminator = lineTerminator == "\r\n" ? nil : lineTerminator.map { Array($0.utf8) }
    dialect.skippedRows = skipRows
    dialect.stopAt = stopAt
    dialect.droppedLastRows = skipLastRows
    dialect.mode = mode == .lenient ? .lenient : .strict
    return dialect
  }

  /// Why the CSV module refuses the dialect; nil if it does not.
  package var csvFault: (key: String, message: String)? {
    if let encoding, CSVEncoding(named: encoding) == nil {
      return (
        "encoding",
        "unknown encoding '\(encoding)'; use one such as utf-8, utf-16, iso-8859-1, windows-1252, or another that "
          + "'iconv -l' lists"
      )
    }
    do {
      try csv.validate()
      return nil
    } catch {
      return ("", error.message)
    }
  }
}

extension LimitsDefinition {
  package var csv: CSVLimits { CSVLimits(fieldBytesMax: fieldBytesMax, recordBytesMax: recordBytesMax) }
}
