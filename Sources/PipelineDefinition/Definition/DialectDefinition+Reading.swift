import Foundation

extension DialectDefinition {
  static let keys = CodingKeys.allCases.map(\.rawValue) + ["quoteChar"]

  /// Reads a name, or an object whose keys change the dialect given by its `name` (`rfc4180` by default).
  static func read(
    _ value: JSONValue, path: String, named dialects: [DialectDefinition], mistakes: MistakeList
  ) -> DialectDefinition {
    if case .string(let name) = value { return dialect(named: name, in: dialects, path: path, mistakes: mistakes) }
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return .rfc4180 }
    var dialect = rfc4180
    if let name = reader.string("name") {
      dialect = Self.dialect(named: name, in: dialects, path: reader.path("name"), mistakes: mistakes)
    }
    dialect.readSigns(reader)
    dialect.readRows(reader)
    dialect.readValues(reader)
    for mistake in dialect.contradictions {
      mistakes.add(mistake.key.isEmpty ? path : reader.path(mistake.key), mistake.message)
    }
    return dialect
  }

  /// The encoding, and the characters that structure a record.
  private mutating func readSigns(_ reader: ObjectReader) {
    format = reader.isNull("format") ? nil : reader.choice("format", Format.self) ?? format
    encoding = reader.isNull("encoding") ? nil : reader.string("encoding") ?? encoding
    if let text = reader.string("delimiter") { delimiter = Self.unescaped(text) }
    if reader.holds("quote"), reader.holds("quoteChar") {
      reader.note("quoteChar", "'quote' has the same meaning; remove one of the two")
    }
    // Here null is meaningful: no field is ever quoted.
    for key in ["quote", "quoteChar"] {
      quote = reader.isNull(key) ? nil : reader.character(key) ?? quote
    }
    doubleQuote = reader.bool("doubleQuote") ?? doubleQuote
    escapeChar = reader.isNull("escapeChar") ? nil : reader.character("escapeChar") ?? escapeChar
    lineTerminator = reader.isNull("lineTerminator") ? nil : reader.string("lineTerminator") ?? lineTerminator
    commentChar = reader.isNull("commentChar") ? nil : reader.string("commentChar") ?? commentChar
    skipInitialSpace = reader.bool("skipInitialSpace") ?? skipInitialSpace
    trailingComma = reader.bool("trailingComma") ?? trailingComma
    lineEnding = reader.choice("lineEnding", LineEnding.self) ?? lineEnding
    nulBytes = reader.choice("nulBytes", NulBytes.self) ?? nulBytes
    mode = reader.choice("mode", Mode.self) ?? mode
  }

  /// The header, the columns, and which records count.
  private mutating func readRows(_ reader: ObjectReader) {
    let names = reader.strings("columns", emptyAllowed: true)
    // Columns without a `header` key mean a file without a header.
    header = reader.bool("header") ?? (reader.value("columns") == nil ? header : false)
    // A header replaces the columns that the dialect's name implies.
    columns = names ?? (header ? [] : columns)
    skipRows = reader.integer("skipRows", in: Self.rowsRange) ?? skipRows
    headerRows = headerRows(reader) ?? headerRows
    skipBlankRows = reader.bool("skipBlankRows") ?? skipBlankRows
    stopAt = reader.isNull("stopAt") ? nil : reader.string("stopAt") ?? stopAt
    skipLastRows = reader.integer("skipLastRows", in: Self.rowsRange) ?? skipLastRows
    if let texts = reader.strings("raggedRows") {
      raggedRows = texts.compactMap { text in
        let row = RaggedRows(rawValue: text)
        if row == nil {
          let names = RaggedRows.allCases.map(\.rawValue)
          let hint = NearestName.hint(for: text, in: names)
          reader.note("raggedRows", "'\(text)' is none of \(ObjectReader.list(names))\(hint)")
        }
        return row
      }
    }
    fieldsMatch =
      reader.isNull("fieldsMatch") ? nil : reader.choice("fieldsMatch", FieldsMatch.self) ?? fieldsMatch
  }

  /// A number of records, or as in a Table Dialect the list of their numbers; these must follow one another.
  private mutating func headerRows(_ reader: ObjectReader) -> Int? {
    guard case .array(let items)? = reader.value("headerRows") else {
      let count = reader.integer("headerRows", in: 0...Self.headerRowsMax)
      if count == 0 { header = false }
      return count.map { max(1, $0) }
    }
    let numbers = items.compactMap { item -> Int? in
      if case .number(let number) = item { Int(exactly: number) } else { nil }
    }
    guard let first = numbers.first, first > 0, numbers.count == items.count, items.count <= Self.headerRowsMax,
      numbers == Array(first..<first + numbers.count), skipRows == 0 || first == skipRows + 1 || first == 1
    else {
      reader.note(
        "headerRows",
        "expected a number of records, or the numbers of records that follow one another such as [1, 2]")
      return nil
    }
    if skipRows == 0 { skipRows = first - 1 }
    return numbers.count
  }

  /// How values are written.
  private mutating func readValues(_ reader: ObjectReader) {
    if reader.holds("null"), reader.holds("nullSequences") {
      reader.note("null", "'nullSequences' has the same meaning; remove one of the two")
    }
    if reader.isNull("null") || reader.isNull("nullSequences") {
      nullSequences = []
    } else if let text = reader.string("null") {
      nullSequences = [text]
    } else if let texts = reader.strings("nullSequences", emptyAllowed: true) {
      nullSequences = texts
    }
    decimalChar = reader.string("decimalChar") ?? decimalChar
    groupChar = reader.isNull("groupChar") ? nil : reader.string("groupChar") ?? groupChar
    trueValues = reader.strings("trueValues") ?? trueValues
    falseValues = reader.strings("falseValues") ?? falseValues
  }

  private static let rowsRange = 0...1_000_000
  private static let headerRowsMax = 10

  /// `\t` as people write it on command lines and, with two backslashes, in JSON.
  package static func unescaped(_ text: String) -> String { text.replacingOccurrences(of: "\\t", with: "\t") }

  private static func dialect(
    named name: String, in dialects: [DialectDefinition], path: String, mistakes: MistakeList
  ) -> DialectDefinition {
    if let dialect = dialects.first(where: { $0.name == name }) { return dialect }
    let names = dialects.map(\.name)
    let hint = NearestName.hint(for: name, in: names)
    mistakes.add(path, "unknown dialect '\(name)'; known are \(ObjectReader.list(names))\(hint)")
    return .rfc4180
  }
}

extension DialectDefinition {
  /// The keys that say something and have no meaning for what is written: that is UTF-8, with the points of numbers.
  var readingKeys: [String] {
    let usual = DialectDefinition.rfc4180
    let keys: [(CodingKeys, Bool)] = [
      (.format, format != nil), (.encoding, encoding != nil), (.commentChar, commentChar != nil),
      (.skipInitialSpace, skipInitialSpace), (.headerRows, headerRows != 1), (.skipRows, skipRows > 0),
      (.skipBlankRows, skipBlankRows), (.stopAt, stopAt != nil), (.skipLastRows, skipLastRows > 0),
      (.decimalChar, decimalChar != usual.decimalChar), (.groupChar, groupChar != nil),
      (.trueValues, !trueValues.isEmpty), (.falseValues, !falseValues.isEmpty),
      (.raggedRows, raggedRows != usual.raggedRows), (.fieldsMatch, fieldsMatch != nil), (.mode, mode != usual.mode),
    ]
    return keys.filter(\.1).map(\.0.rawValue)
  }

  /// What the dialect says that can't be, by key; also of one that options have changed.
  package var contradictions: [(key: String, message: String)] {
    var found: [(key: String, message: String)] = []
    for token in nullSequences where !token.isEmpty {
      guard let fault = csv.fault(ofNullToken: Array(token.utf8)) else { continue }
      let key = nullSequences.count == 1 ? "null" : "nullSequences"
      found.append((key, "the text for no value \(fault); use one such as \"\\\\N\""))
    }
    if Set(nullSequences).count < nullSequences.count {
      found.append(("nullSequences", "names a text twice; remove one of the two"))
    }
    found += signContradictions + numberContradictions
    if !header, columns.isEmpty {
      found.append(("header", "without a header the columns must be named: add \"columns\": [\"date\", …]"))
    }
    if header, !columns.isEmpty {
      found.append(
        ("columns", "columns are for files without a header; remove them or set \"header\": false"))
    }
    if raggedRows.contains(.truncate), raggedRows.contains(.joinLast) {
      found.append(("raggedRows", "surplus fields can't be dropped and joined; remove 'truncate' or 'joinLast'"))
    }
    if raggedRows.contains(.error), raggedRows.count > 1 {
      found.append(("raggedRows", "'error' excludes the others; remove it"))
    }
    for text in trueValues where falseValues.contains(where: { $0.lowercased() == text.lowercased() }) {
      found.append(("falseValues", "'\(text)' is true and false; remove it from one of the two"))
    }
    found += csvKeys
    if found.isEmpty, let fault = csvFault { found.append(fault) }
    return found
  }

  /// Mistakes of the characters that structure a record.
  private var signContradictions: [(key: String, message: String)] {
    var found: [(key: String, message: String)] = []
    if delimiter == quote {
      found.append(("delimiter", "delimiter and quote are the same character; change one of them"))
    }
    if delimiter.isEmpty || delimiter.unicodeScalars.contains(where: { ["\n", "\r", "\0"].contains($0) })
      || delimiter.utf8.count > Self.delimiterBytesMax
    {
      let shown = RawText.shortened(delimiter.utf8)
      found.append(
        (
          "delimiter",
          "expected one or several characters such as \",\" \";\" \"\\t\" or \"||\", found \"\(shown)\""
        ))
    }
    if let escapeChar, escapeChar == delimiter || escapeChar == quote {
      found.append(
        ("escapeChar", "is also the delimiter or the quote; a quote that is doubled needs no escape character"))
    }
    if let commentChar, commentChar == delimiter || commentChar == quote {
      found.append(("commentChar", "is also the delimiter or the quote; change one of them"))
    }
    return found
  }

  private static let delimiterBytesMax = 16

  private var numberContradictions: [(key: String, message: String)] {
    var found: [(key: String, message: String)] = []
    for (key, text) in [("decimalChar", decimalChar)] + (groupChar.map { [("groupChar", $0)] } ?? []) {
      let isSign = text.unicodeScalars.count == 1 && !text.utf8.contains { $0 &- 48 < 10 }
      if !isSign || ["+", "-", "e", "E"].contains(text) {
        let shown = RawText.shortened(text.utf8)
        found.append((key, "expected one character such as \".\" \",\" or \"'\", found \"\(shown)\""))
      }
    }
    if decimalChar == groupChar {
      found.append(("groupChar", "is also the decimal character; change one of them"))
    }
    if decimalChar == delimiter, quote == nil {
      found.append(("decimalChar", "is also the delimiter, and nothing is quoted; change one of them"))
    }
    return found
  }
}

extension ObjectReader {
  /// One ASCII character that can separate or enclose fields.
  fileprivate func character(_ key: String) -> String? {
    guard let text = string(key) else { return nil }
    let scalars = Array(text.unicodeScalars)
    if scalars.count == 1, scalars[0].isASCII, !["\n", "\r", "\0"].contains(text) { return text }
    note(key, "expected one ASCII character such as \",\" \";\" or \"\\t\", found \"\(RawText.shortened(text.utf8))\"")
    return nil
  }

  fileprivate func holds(_ key: String) -> Bool { isNull(key) || value(key) != nil }
}
