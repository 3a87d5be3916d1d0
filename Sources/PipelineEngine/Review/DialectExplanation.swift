extension DialectDefinition {
  /// What the dialect says beyond the header, the delimiter and the quote, as phrases.
  var details: [String] { rowWords + signWords + valueWords }

  /// Which records count.
  private var rowWords: [String] {
    var words: [String] = []
    func count(_ value: Int, _ noun: String) -> String { "\(value) \(noun)\(value == 1 ? "" : "s")" }
    if let encoding { words.append("in \(encoding)") }
    if skipRows > 0 { words.append("\(count(skipRows, "line")) before the header skipped") }
    if header, headerRows > 1 { words.append("a header of \(headerRows) records, joined") }
    if let commentChar { words.append("lines that begin with \(commentChar) skipped") }
    if skipBlankRows { words.append("blank records skipped") }
    if let stopAt { words.append("up to a record that begins with \(stopAt)") }
    if skipLastRows > 0 { words.append("the last \(count(skipLastRows, "record")) skipped") }
    let repairs = raggedRows.compactMap { row -> String? in
      switch row {
      case .error: nil
      case .pad: "missing fields taken as empty"
      case .truncate: "surplus fields dropped"
      case .joinLast: "surplus fields joined to the last"
      }
    }
    words += repairs
    if mode == .lenient { words.append("irregular records repaired where there is one sensible reading") }
    return words
  }

  /// How records are structured.
  private var signWords: [String] {
    var words: [String] = []
    if !doubleQuote { words.append("quotes within quotes not doubled") }
    if let escapeChar { words.append("escaped by \(escapeChar)") }
    if let lineTerminator { words.append("records ended by \(RawText.shortened(lineTerminator.utf8))") }
    if skipInitialSpace { words.append("spaces after a delimiter skipped") }
    if trailingComma { words.append("a delimiter at the end of records") }
    return words
  }

  /// How values are written.
  private var valueWords: [String] {
    var words: [String] = []
    func list(_ texts: [String]) -> String {
      texts.map { $0.isEmpty ? "an empty field" : "'\($0)'" }.joined(separator: ", ")
    }
    if decimalChar != "." || groupChar != nil {
      words.append("numbers such as 1\(groupChar ?? "")234\(decimalChar)5")
    }
    if !nullSequences.isEmpty { words.append("no value: \(list(nullSequences))") }
    if !trueValues.isEmpty { words.append("true: \(list(trueValues))") }
    if !falseValues.isEmpty { words.append("false: \(list(falseValues))") }
    if nulBytes == .keep { words.append("NUL bytes kept") }
    return words
  }
}

extension PipelineDefinition {
  /// What the header must have, and the zone of times, where the definition says it.
  var headerWords: [String] {
    var words: [String] = []
    switch dialect.fieldsMatch {
    case nil: break
    case .exact: words.append("the header has these columns in this order, and no others")
    case .equal: words.append("the header has these columns, and no others")
    case .subset: words.append("the header has these columns, and maybe others")
    case .superset: words.append("the header has no other columns")
    }
    switch extraColumns {
    case .warn: break
    case .error: words.append("a file with other columns is refused")
    case .ignore: words.append("other columns are ignored")
    }
    switch missingColumns {
    case .warn: break
    case .error: words.append("a file that lacks one of them is refused")
    case .ignore: words.append("columns may be missing")
    }
    if let timeZone { words.append("dates and times without a zone are in \(timeZone)") }
    return words
  }
}
