import CSV

/// What a file probably is: its form, its columns, and how sure each point is.
package struct TableGuess: Sendable {
  package var name: String
  /// Whether the file is JSON Lines; the points of a dialect then say nothing.
  package var isJSONLines: Bool
  /// How much of the file was looked at.
  package var sampled: String
  package var encoding: Finding<CSVEncoding>
  /// Whether a byte order mark names the encoding.
  package var hasByteOrderMark: Bool
  package var delimiter: Finding<String>
  package var quote: Finding<String?>
  package var escape: Finding<QuoteEscape>
  /// What ends a record, where other line ends are text; nil for any.
  package var end: Finding<String?>
  package var skipsInitialSpace: Finding<Bool>
  package var layout: Layout
  package var numbers: Finding<NumberMarks>
  /// Whether a column whose attribute is a number has fractions or groups of digits.
  package var needsNumberMarks: Bool
  /// Texts without a value in columns that are imported.
  package var nullSequences: [String]
  /// Texts of true and false, where they are not the usual ones.
  package var trueValues: [String]
  package var falseValues: [String]
  package var columns: [ColumnGuess]
  /// Attributes whose values together are unique in the sample; empty if there are none.
  package var key: [String]
  /// Points that stand for themselves: a second table, a missing date.
  package var doubts: [GuessPoint]
  /// What the user should know, in sentences.
  package var remarks: [String]
  /// The first entries, by attribute, as they would be stored; nil for no value.
  package var entries: [[String: String]]
  /// The attributes of entries, in order.
  package var attributes: [String]

  /// Whether columns are named by position: there is no header, or it does not name each column once.
  package var namesColumnsByPosition: Bool {
    if isJSONLines { return false }
    if layout.headerRows.value == 0 { return true }
    return layout.labels.contains("") || Set(layout.labels.map { $0.lowercased() }).count < layout.labels.count
  }

  /// The points that decide what a run stores, in the order of the report.
  package var points: [GuessPoint] {
    (isJSONLines ? [Self.jsonLines] : dialectPoints) + columns.map(\.point) + columns.compactMap(\.formatPoint) + doubts
  }

  private static let jsonLines = GuessPoint(
    name: "format", shown: "JSON Lines", confidence: 1, evidence: "the first line is one JSON object", key: "format")

  /// The points of a table's form.
  private var dialectPoints: [GuessPoint] {
    var points = [
      encoding.point("encoding", shown: encoding.value.displayName, key: "encoding"),
      delimiter.point("delimiter", shown: DialectSniffer.shown(delimiter.value), key: "delimiter"),
      quote.point("quotes", shown: quote.value ?? "none", key: "quoteChar"),
    ]
    if case .escaped(let byte) = escape.value {
      points.append(escape.point("escape", shown: String(Character(Unicode.Scalar(byte))), key: "escapeChar"))
    } else if escape.confidence < 1 {
      points.append(escape.point("escape", shown: "doubled quotes", key: "doubleQuote"))
    }
    if let text = end.value {
      points.append(end.point("record ends", shown: DefinitionText.quoted(text), key: "lineTerminator"))
    }
    if skipsInitialSpace.value {
      points.append(skipsInitialSpace.point("spaces", shown: "skipped before fields", key: "skipInitialSpace"))
    }
    if layout.comment.value != nil || layout.comment.confidence < 1 {
      points.append(layout.comment.point("comments", shown: layout.comment.value ?? "none", key: "commentChar"))
    }
    let skipped = layout.skipRows.value
    if skipped > 0 {
      points.append(layout.skipRows.point("title lines", shown: "\(skipped)", key: "skipRows"))
    }
    points.append(layout.headerRows.point("header", shown: headerText, key: "headerRows"))
    switch layout.footer.value {
    case .none: if layout.footer.confidence < 1 { points.append(layout.footer.point("footer", shown: "none")) }
    case .stopAt(let text): points.append(layout.footer.point("footer", shown: "from \"\(text)\" on", key: "stopAt"))
    case .last(let count):
      points.append(layout.footer.point("footer", shown: "the last \(counted(count, "record"))", key: "skipLastRows"))
    }
    if layout.ragged.value != .none {
      let shown = layout.ragged.value == .pad ? "filled up" : "read leniently"
      points.append(
        layout.ragged.point(
          "short records", shown: shown, key: layout.ragged.value == .pad ? "raggedRows" : "mode"))
    }
    if needsNumberMarks {
      points.append(numbers.point("numbers", shown: "\(numbers.value.decimal) before the fraction", key: "decimalChar"))
    }
    return points
  }

  private var headerText: String {
    guard let lines = layout.headerLines else { return "none" }
    return lines.count == 1 ? "line \(lines.lowerBound)" : "lines \(lines.lowerBound) to \(lines.upperBound)"
  }

  /// The least sure of all points.
  package var confidence: Double { points.map(\.confidence).min() ?? 0 }

  /// The points below a confidence.
  package func undecided(below confidence: Double) -> [GuessPoint] {
    // What is not delimited text has no other points.
    if let otherFormat, otherFormat.confidence < confidence { return [otherFormat] }
    return points.filter { $0.confidence < confidence }
  }

  /// The doubt about a file that is not delimited text; nil for others.
  package var otherFormat: GuessPoint? { doubts.first { $0.name == KnownFormat.pointName } }
}

/// A column and what it fills.
package struct ColumnGuess: Sendable {
  package var profile: ColumnProfile
  /// The attribute; nil for a column that is left out.
  package var attribute: Finding<String?>
  /// A second column whose text is joined to this one's, the time of a date.
  package var joined: Int?
  /// The label of `joined`.
  package var joinedLabel: String?
  /// The formats of dates; nil for other attributes.
  package var formats: Finding<[String]>?
  /// Transforms, each as JSON.
  package var transforms: [String] = []
  /// Rules, each as JSON.
  package var rules: [String] = []
  /// Sentences on its values.
  package var remarks: [String] = []

  package var shownLabel: String {
    let label = profile.label.isEmpty ? "column \(profile.index + 1)" : profile.label
    return joinedLabel.map { "\(label) + \($0)" } ?? label
  }

  var point: GuessPoint {
    attribute.point(shownLabel, shown: attribute.value.map { "→ \($0)" } ?? "left out", key: "columns")
  }

  var formatPoint: GuessPoint? {
    guard attribute.value != nil, let formats else { return nil }
    let shown = formats.value.isEmpty ? "none" : formats.value.joined(separator: ", ")
    return formats.point("date format", shown: shown, key: "formats")
  }
}
