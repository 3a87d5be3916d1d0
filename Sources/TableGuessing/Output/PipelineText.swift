/// A guess as a pipeline file: JSON with comments that say how sure each point is, and why.
package struct PipelineText: Sendable {
  package let guess: TableGuess
  /// The pipeline's name.
  package var name: String
  /// The inputs, relative to the file's folder; none for a pipeline that is given its input.
  package var sources: [String]
  package var store: String?
  /// The program's name, for the first comment.
  package var program: String
  /// The entity and the model, where they differ from the usual ones.
  package var entity: String?
  package var model: String?

  package init(
    _ guess: TableGuess, name: String, sources: [String] = [], store: String? = nil, program: String
  ) {
    self.guess = guess
    self.name = name
    self.sources = sources
    self.store = store
    self.program = program
  }

  /// One member of an object: comments above it, its key and its value, which may have several lines.
  private struct Member {
    var comments: [String] = []
    var key: String
    var value: String
    /// Whether it is itself a comment, to be activated by hand.
    var isOff = false
  }

  package var text: String {
    var members = [Member(key: "name", value: DefinitionText.quoted(name))]
    if !sources.isEmpty { members.append(Member(key: "source", value: DefinitionText.list(sources))) }
    if let store {
      members.append(Member(key: "store", value: DefinitionText.quoted(store)))
    }
    if let model { members.append(Member(key: "model", value: DefinitionText.quoted(model))) }
    if let entity { members.append(Member(key: "entity", value: DefinitionText.quoted(entity))) }
    let dialect = dialectMembers
    if !dialect.isEmpty { members.append(Member(key: "dialect", value: Self.object(dialect, indent: 2))) }
    if guess.columns.contains(where: { $0.joined != nil }) {
      members.append(
        Member(
          comments: ["Times without a zone are UTC unless a zone is declared."], key: "timeZone",
          value: DefinitionText.quoted("Europe/Berlin"), isOff: true))
    }
    if !guess.key.isEmpty {
      members.append(
        Member(
          comments: [
            "In \(guess.sampled) no two have the same \(guess.key.joined(separator: " and ")): as a key",
            "they make sure that an entry is stored once, also from a corrected file.",
          ], key: "key", value: DefinitionText.list(guess.key), isOff: true))
    }
    let columns = columnTexts
    members.append(Member(key: "columns", value: "[\n\(columns.joined(separator: ",\n"))\n  ]"))
    let head = [
      "Guessed from \(guess.name) by '\(program) guess': \(guess.sampled).",
      "A number is how sure a point is, from 0 to 1. Correct what is wrong, then '\(program) check' this file.",
    ]
    return (head.map { "// \(DefinitionText.comment($0))\n" }.joined()) + Self.object(members, indent: 0) + "\n"
  }

  private static func object(_ members: [Member], indent: Int) -> String {
    let blank = String(repeating: " ", count: indent + 2)
    let last = members.lastIndex { !$0.isOff }
    var lines: [String] = ["{"]
    for (index, member) in members.enumerated() {
      lines += member.comments.map { blank + "// " + DefinitionText.comment($0) }
      let comma = index == last ? "" : ","
      lines.append("\(blank)\(member.isOff ? "// " : "")\(DefinitionText.quoted(member.key)): \(member.value)\(comma)")
    }
    return (lines + [String(repeating: " ", count: indent) + "}"]).joined(separator: "\n")
  }

  private static func comment<Value>(_ finding: Finding<Value>) -> String {
    "\(GuessReport.number(finding.confidence)): \(finding.evidence)"
  }

  // MARK: The dialect

  private var dialectMembers: [Member] {
    if guess.isJSONLines {
      return [Member(key: "format", value: DefinitionText.quoted("jsonl"))] + valueMembers
    }
    var members: [Member] = []
    func add<Value>(_ key: String, _ value: String, from finding: Finding<Value>) {
      members.append(Member(comments: [Self.comment(finding)], key: key, value: value))
    }
    // A byte order mark says it in every file, also in one that has another.
    if guess.encoding.value != .utf8, !guess.hasByteOrderMark {
      add("encoding", DefinitionText.quoted(guess.encoding.value.name), from: guess.encoding)
    }
    if guess.delimiter.value != ",", !guess.delimiter.value.isEmpty {
      add("delimiter", DefinitionText.quoted(guess.delimiter.value), from: guess.delimiter)
    }
    if guess.quote.value != "\"" {
      add("quoteChar", guess.quote.value.map(DefinitionText.quoted) ?? "null", from: guess.quote)
    }
    if case .escaped(let byte) = guess.escape.value {
      add("escapeChar", DefinitionText.quoted(String(Character(Unicode.Scalar(byte)))), from: guess.escape)
    }
    if let end = guess.end.value { add("lineTerminator", DefinitionText.quoted(end), from: guess.end) }
    if guess.skipsInitialSpace.value { add("skipInitialSpace", "true", from: guess.skipsInitialSpace) }
    if let sign = guess.layout.comment.value {
      add("commentChar", DefinitionText.quoted(sign), from: guess.layout.comment)
    }
    return members + rowMembers + valueMembers
  }

  private var rowMembers: [Member] {
    let layout = guess.layout
    var members: [Member] = []
    func add<Value>(_ key: String, _ value: String, from finding: Finding<Value>) {
      members.append(Member(comments: [Self.comment(finding)], key: key, value: value))
    }
    if guess.namesColumnsByPosition {
      if let lines = layout.headerLines {
        members.append(
          Member(
            comments: ["The header does not name each column once, so it is skipped and columns count by position."],
            key: "skipRows", value: "\(lines.upperBound)"))
      } else if layout.skipRows.value > 0 {
        add("skipRows", "\(layout.skipRows.value)", from: layout.skipRows)
      }
      add("header", "false", from: layout.headerRows)
      members.append(Member(key: "columns", value: DefinitionText.list(positionalNames)))
    } else {
      if layout.skipRows.value > 0 { add("skipRows", "\(layout.skipRows.value)", from: layout.skipRows) }
      if layout.headerRows.value > 1 { add("headerRows", "\(layout.headerRows.value)", from: layout.headerRows) }
    }
    if layout.blankRecords > 0 {
      members.append(
        Member(
          comments: ["\(counted(layout.blankRecords, "blank row")) in what was looked at."], key: "skipBlankRows",
          value: "true"))
    }
    switch layout.ragged.value {
    case .none: break
    case .pad: add("raggedRows", DefinitionText.quoted("pad"), from: layout.ragged)
    case .lenient: add("mode", DefinitionText.quoted("lenient"), from: layout.ragged)
    }
    switch layout.footer.value {
    case .none: break
    case .stopAt(let text): add("stopAt", DefinitionText.quoted(PatternText.matching(text)), from: layout.footer)
    case .last(let count): add("skipLastRows", "\(count)", from: layout.footer)
    }
    return members
  }

  private var valueMembers: [Member] {
    var members: [Member] = []
    if !guess.nullSequences.isEmpty {
      members.append(
        Member(
          comments: ["Texts without a value in columns below; the empty text is one of them."], key: "nullSequences",
          value: DefinitionText.list([""] + guess.nullSequences)))
    }
    for (key, texts) in [("trueValues", guess.trueValues), ("falseValues", guess.falseValues)] where !texts.isEmpty {
      members.append(Member(key: key, value: DefinitionText.list(texts)))
    }
    if guess.needsNumberMarks {
      let comment = Self.comment(guess.numbers)
      if guess.numbers.value.decimal != "." {
        members.append(
          Member(comments: [comment], key: "decimalChar", value: DefinitionText.quoted(guess.numbers.value.decimal)))
      }
      if let group = guess.numbers.value.group {
        members.append(Member(comments: [comment], key: "groupChar", value: DefinitionText.quoted(group)))
      }
    }
    return members
  }

  // MARK: The columns

  /// Names of columns by position; empty for those that are left out.
  private var positionalNames: [String] {
    var names = Array(repeating: "", count: guess.layout.width)
    for column in guess.columns {
      guard let attribute = column.attribute.value else { continue }
      names[column.profile.index] = attribute
      if let joined = column.joined { names[joined] = "\(attribute)-time" }
    }
    return names
  }

  private var columnTexts: [String] {
    guess.columns.compactMap { column in
      guard let attribute = column.attribute.value else {
        guard column.profile.filled > 0, !isJoined(column.profile.index) else { return nil }
        return nil
      }
      return "    " + Self.object(members(column, attribute), indent: 4)
    }
  }

  private func isJoined(_ index: Int) -> Bool { guess.columns.contains { $0.joined == index } }

  private func members(_ column: ColumnGuess, _ attribute: String) -> [Member] {
    let names = positionalNames
    let isPositional = guess.namesColumnsByPosition
    var members: [Member] = []
    let name = isPositional || column.joined != nil ? attribute : column.profile.label
    members.append(
      Member(
        comments: ["\(column.shownLabel): \(Self.comment(column.attribute))"] + column.remarks, key: "name",
        value: DefinitionText.quoted(name)))
    if let joined = column.joined {
      let parts = isPositional ? [attribute, names[joined]] : [column.profile.label, guess.layout.labels[joined]]
      members.append(Member(key: "from", value: DefinitionText.list(parts)))
    }
    if name != attribute { members.append(Member(key: "attribute", value: DefinitionText.quoted(attribute))) }
    if let formats = column.formats, !formats.value.isEmpty {
      members.append(
        Member(comments: [Self.comment(formats)], key: "formats", value: DefinitionText.list(formats.value)))
    }
    if !column.transforms.isEmpty {
      members.append(Member(key: "transforms", value: Self.lines(column.transforms)))
    }
    if !column.rules.isEmpty { members.append(Member(key: "rules", value: Self.lines(column.rules))) }
    return members
  }

  private static func lines(_ items: [String]) -> String {
    let single = "[\(items.joined(separator: ", "))]"
    if single.count <= 90 { return single }
    return "[\n" + items.map { "        " + $0 }.joined(separator: ",\n") + "\n      ]"
  }
}
