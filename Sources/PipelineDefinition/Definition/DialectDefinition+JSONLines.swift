import CSV

extension DialectDefinition {
  /// The dialect for an input that is JSON Lines: what says how CSV is written does not apply.
  package var forJSONLines: DialectDefinition {
    var dialect = DialectDefinition.rfc4180
    dialect.name = name
    dialect.format = .jsonl
    (dialect.trueValues, dialect.falseValues) = (trueValues, falseValues)
    dialect.skipBlankRows = skipBlankRows
    // The members of an object have no order.
    dialect.fieldsMatch = fieldsMatch == .exact ? .equal : fieldsMatch
    return dialect
  }

  /// What the dialect says of CSV that would make values of JSON Lines mean something else; nil if nothing does.
  package var jsonLinesFault: String? {
    if decimalChar != "." || groupChar != nil {
      return "numbers of JSON have a point, and the dialect declares other numbers; read the file with a pipeline or "
        + "options without decimalChar and groupChar"
    }
    if let encoding, CSVEncoding(named: encoding) != .utf8 {
      return "JSON Lines are in UTF-8, and the dialect declares '\(encoding)'; convert the file if it is in that "
        + "encoding, and read it without the declaration"
    }
    return nil
  }

  /// Keys that are for CSV, in a dialect whose format is JSON Lines.
  var csvKeys: [(key: String, message: String)] {
    guard format == .jsonl else { return [] }
    let usual = forJSONLines
    let keys: [(CodingKeys, Bool)] = [
      (.encoding, encoding != nil && encoding.flatMap(CSVEncoding.init(named:)) != .utf8),
      (.delimiter, delimiter != usual.delimiter), (.quote, quote != usual.quote),
      (.doubleQuote, doubleQuote != usual.doubleQuote), (.escapeChar, escapeChar != nil),
      (.lineTerminator, lineTerminator != nil), (.commentChar, commentChar != nil),
      (.skipInitialSpace, skipInitialSpace), (.header, !header), (.headerRows, headerRows != 1),
      (.skipRows, skipRows > 0), (.stopAt, stopAt != nil), (.skipLastRows, skipLastRows > 0),
      (.columns, !columns.isEmpty), (.trailingComma, trailingComma), (.null, !nullSequences.isEmpty),
      (.nulBytes, nulBytes != usual.nulBytes), (.decimalChar, decimalChar != usual.decimalChar),
      (.groupChar, groupChar != nil), (.raggedRows, raggedRows != usual.raggedRows), (.mode, mode != usual.mode),
    ]
    return keys.filter(\.1).map {
      ($0.0.rawValue, "is for CSV, and has no effect on JSON Lines; remove it, or the format jsonl")
    }
  }
}
