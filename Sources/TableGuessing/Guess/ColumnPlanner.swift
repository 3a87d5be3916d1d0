import PipelineDefinition

/// Decides what becomes of each column: its attribute, formats, transforms and rules.
struct ColumnPlanner {
  let vocabulary: AttributeVocabulary
  let index: LabelIndex
  let profiles: [ColumnProfile]
  let hasLabels: Bool
  /// Why a day is probably written before the month.
  let hint: String?
  /// Formats of dates that the user declares.
  let dateFormats: [String]
  /// How many records repeat the header.
  var repeatedHeaders = 0

  struct Plan {
    var columns: [ColumnGuess] = []
    var needsNumberMarks = false
    var nullSequences: [String] = []
    /// Texts of true and false, where a column has others than the usual ones.
    var trueValues: [String] = []
    var falseValues: [String] = []
    var key: [String] = []
    var doubts: [GuessPoint] = []
    var remarks: [String] = []
  }

  func plan(_ records: [SplitRecord]) -> Plan {
    var plan = Plan()
    let matches = AttributeMatcher(vocabulary: vocabulary, index: index, profiles: profiles, hasLabels: hasLabels)
      .guess()
    plan.columns = zip(profiles, matches).map { ColumnGuess(profile: $0, attribute: $1) }
    for index in plan.columns.indices { complete(index, &plan) }
    for attribute in vocabulary.attributes where !plan.columns.contains(where: { $0.attribute.value == attribute.name })
    {
      if attribute.isRequired {
        plan.doubts.append(
          GuessPoint(
            name: attribute.name, shown: "no column", confidence: 0,
            evidence: "no column is \(attribute.name), by its label or by its values", choices: profiles.map(\.label)))
      } else {
        plan.remarks.append("No column is \(attribute.name).")
      }
    }
    completeBooleans(&plan)
    if repeatedHeaders > 0 { refuseHeaders(records, &plan) }
    plan.key = key(plan, records)
    return plan
  }

  private func attribute(_ name: String?) -> AttributeVocabulary.Attribute? {
    vocabulary.attributes.first { $0.name == name }
  }

  /// Makes sure that records that repeat the header are rejected, if only texts are read of them: by a rule for a column
  /// whose label is not a value of other records.
  private func refuseHeaders(_ records: [SplitRecord], _ plan: inout Plan) {
    let filled = plan.columns.indices.filter { plan.columns[$0].attribute.value != nil }
    if filled.contains(where: { attribute(plan.columns[$0].attribute.value)?.kind != .text }) { return }
    let column = filled.first { column in
      let label = profiles[column].label
      return !label.isEmpty
        && records.count { column < $0.cells.count && $0.cells[column].text == label } == repeatedHeaders
    }
    guard let column else {
      plan.doubts.append(
        GuessPoint(
          name: "repeated header", shown: counted(repeatedHeaders, "line"), confidence: 0.4,
          evidence: "each label is also a value, so no rule can tell these lines from records",
          choices: ["remove the lines from the file"]))
      return
    }
    let label = DefinitionText.quoted(profiles[column].label)
    plan.columns[column].rules.append("{ \"rule\": \"notOneOf\", \"values\": [\(label)] }")
    plan.columns[column].remarks.append("lines that repeat the header are rejected by the rule")
  }

  private func complete(_ index: Int, _ plan: inout Plan) {
    guard let attribute = attribute(plan.columns[index].attribute.value) else { return }
    let profile = profiles[index]
    plan.columns[index].rules = attribute.rules
    for text in profile.nulls.keys.sorted() where !plan.nullSequences.contains(text) { plan.nullSequences.append(text) }
    switch attribute.kind {
    case .date: completeDate(index, in: &plan)
    case .whole, .decimal: completeNumber(index, attribute, in: &plan)
    case .boolean: emptyNulls(index, in: &plan)
    case .text:
      emptyNulls(index, in: &plan)
      if profile.kind == .quantity {
        let units = profile.units.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key).filter { !$0.isEmpty }
        if !units.isEmpty { plan.columns[index].remarks.append("units: \(units.joined(separator: ", "))") }
      }
    }
  }

  // MARK: Dates

  private func completeDate(_ index: Int, in plan: inout Plan) {
    let values = profiles[index].values.filter { !NullWords.isWord($0.text) }
    emptyNulls(index, words: true, in: &plan)
    if values.isEmpty {
      plan.columns[index].remarks.append("no value was seen; dates are read as ISO 8601")
      return
    }
    if !dateFormats.isEmpty {
      plan.columns[index].formats = declared(values)
      return
    }
    if values.allSatisfy({ $0.count == 10 && $0.allSatisfy(\.isDigit) }) {
      plan.columns[index].formats = Finding(
        ["unix"], confidence: 0.9,
        evidence: "all \(counted(values.count, "value")) have ten digits, as seconds since 1970 have")
      return
    }
    let guess = DateGuess(values, dayFirstHint: hint)
    var formats = guess.formats
    if guess.hasMonthNames {
      plan.columns[index].transforms += MonthNames.replacements(isMonthFirst: guess.isMonthFirst).map {
        #"{ "transform": "replace", "matches": \#(DefinitionText.quoted($0.matches)), "with": \#(DefinitionText.quoted($0.with)) }"#
      }
    }
    if guess.share < 0.9 { formats.confidence = min(formats.confidence, guess.share * 0.7) }
    if !guess.unread.isEmpty {
      let count = guess.unread.count
      plan.columns[index].remarks.append(
        "\(count) of \(guess.values) values \(count == 1 ? "is not a date" : "are not dates"): "
          + "\(quoted(guess.unread)); such records are rejected")
    }
    if !guess.hasTime, let time = timeColumn(besides: index, plan), !formats.value.isEmpty {
      join(time, to: index, formats: &formats, in: &plan)
    }
    plan.columns[index].formats = formats
  }

  private func declared(_ values: [[UInt8]]) -> Finding<[String]> {
    let formats = dateFormats.compactMap { try? DateFormat($0) }
    let read = values.count { value in formats.contains { $0.seconds(value.span) != nil } }
    return Finding(
      dateFormats, confidence: read * 10 >= values.count * 9 ? 1 : 0.3,
      evidence: "declared, and \(read) of \(values.count) values are read so")
  }

  /// The column with the times of day of a date without them: of the only date, and without an attribute of its own.
  private func timeColumn(besides date: Int, _ plan: Plan) -> Int? {
    let dates = plan.columns.count { attribute($0.attribute.value)?.kind == .date }
    guard dates == 1 else { return nil }
    let times = profiles.indices.filter { column in
      let profile = profiles[column]
      guard column != date, plan.columns[column].attribute.value == nil, profile.filled > 0 else { return false }
      let read = TimeReader.guess(profile.values).read
      return read * 10 >= profile.filled * 8 && (isTimeLabelled(column) || profile.kind == .time)
    }
    let labelled = times.filter(isTimeLabelled)
    return labelled.count == 1 ? labelled[0] : times.count == 1 ? times[0] : nil
  }

  private func isTimeLabelled(_ column: Int) -> Bool {
    hasLabels && index.isTime(LabelText(profiles[column].label))
  }

  private func join(_ time: Int, to date: Int, formats: inout Finding<[String]>, in plan: inout Plan) {
    let clock = TimeReader.guess(profiles[time].values)
    let days = formats.value.map { $0 == "iso8601" ? "yyyy-MM-dd" : $0 }
    formats.value = days.flatMap { day in clock.patterns.map { "\(day) \($0)" } } + days
    formats.evidence +=
      "; \(clock.read) of \(profiles[time].filled) times are \(clock.patterns.joined(separator: ", "))"
    plan.columns[date].joined = time
    plan.columns[date].joinedLabel = profiles[time].label.isEmpty ? "column \(time + 1)" : profiles[time].label
    plan.columns[time].attribute = Finding(nil, confidence: 1, evidence: "the time of day of the date")
    let nulls = profiles[time].wrappedNulls.sorted().map(PatternText.matching).joined(separator: "|")
    if !nulls.isEmpty {
      plan.columns[date].transforms.append(
        "{ \"transform\": \"replace\", \"matches\": \(DefinitionText.quoted(" ?(?:\(nulls))$")), \"with\": \"\" }")
    }
    let unread = profiles[time].filled - clock.read
    if unread > 0 {
      plan.columns[date].remarks.append("\(counted(unread, "time")) can't be read; such records are rejected")
    }
    plan.remarks.append(
      "Times have no zone and are taken as UTC; add \"timeZone\": \"Europe/Berlin\" or another to the pipeline.")
  }

  // MARK: Numbers

  private func completeNumber(_ index: Int, _ attribute: AttributeVocabulary.Attribute, in plan: inout Plan) {
    let profile = profiles[index]
    emptyNulls(index, words: true, in: &plan)
    if profile.kinds[.decimal] != nil { plan.needsNumberMarks = true }
    let refused = profile.texts.filter { text, _ in
      if NullWords.isWord(text) { return false }
      let bytes = Array(text.utf8)
      if attribute.kind == .whole, CellKind(bytes) != .whole { return true }
      guard let range = attribute.range, let value = NumberText.real(bytes.span) else { return false }
      return !range.contains(value)
    }
    guard !refused.isEmpty else { return }
    let count = refused.values.reduce(0, +)
    let shown = refused.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(4)
      .map { "\"\($0.key)\" (\($0.value))" }.joined(separator: ", ")
    let bounds = attribute.range.map { " from \(Int($0.lowerBound)) to \(Int($0.upperBound))" } ?? ""
    plan.columns[index].remarks.append(
      "\(count) of \(profile.filled) values \(count == 1 ? "is not a" : "are not") "
        + "\(attribute.kind == .whole ? "whole " : "")number\(count == 1 ? "" : "s")\(bounds): \(shown); such records are rejected"
    )
  }

  /// Declares the texts of true and false if a column has others than those that are read without a declaration.
  private func completeBooleans(_ plan: inout Plan) {
    let usual = [("true", "false"), ("yes", "no"), ("1", "0")]
    let columns = plan.columns.indices.filter { attribute(plan.columns[$0].attribute.value)?.kind == .boolean }
    var pairs: [(yes: String, no: String)] = []
    for index in columns {
      let texts = Set(profiles[index].texts.keys.map { $0.lowercased() })
      let known = usual.map { (yes: $0.0, no: $0.1) } + BooleanWords.pairs
      let isUsual = texts.isSubset(of: usual.flatMap { [$0.0, $0.1] })
      if isUsual {
        pairs += usual.map { (yes: $0.0, no: $0.1) }.filter { texts.contains($0.yes) || texts.contains($0.no) }
      } else if let pair = known.first(where: { texts.isSubset(of: [$0.yes, $0.no]) }) {
        pairs.append(pair)
      } else {
        let shown = quoted(profiles[index].frequent(4).map(\.text))
        plan.doubts.append(
          GuessPoint(
            name: plan.columns[index].shownLabel, shown: "true and false", confidence: 0.5,
            evidence: "its values are \(shown), and it is unknown which of them are true",
            choices: ["\"trueValues\"", "\"falseValues\""]))
      }
    }
    guard pairs.contains(where: { pair in !usual.contains { $0.0 == pair.yes && $0.1 == pair.no } }) else { return }
    plan.trueValues = Set(pairs.map(\.yes)).sorted()
    plan.falseValues = Set(pairs.map(\.no)).subtracting([""]).sorted()
  }

  /// Empties texts for no value that the dialect's do not cover: those in quotes, and words, which elsewhere may be a
  /// value.
  private func emptyNulls(_ index: Int, words includesWords: Bool = false, in plan: inout Plan) {
    let words = includesWords ? profiles[index].texts.keys.filter { NullWords.isWord($0) }.sorted() : []
    if !words.isEmpty { plan.columns[index].remarks.append("\(quoted(words)) mean no value") }
    let texts = profiles[index].wrappedNulls.sorted() + words
    if texts.isEmpty { return }
    let members = texts.map { "\(DefinitionText.quoted($0)): \"\"" }.joined(separator: ", ")
    plan.columns[index].transforms.append("{ \"transform\": \"map\", \"values\": { \(members) } }")
  }

  // MARK: Keys

  private func key(_ plan: Plan, _ records: [SplitRecord]) -> [String] {
    let parts = plan.columns.filter { attribute($0.attribute.value)?.isPartOfKey ?? false }
    guard records.count > 1, !parts.isEmpty else { return [] }
    var seen: Set<[String]> = []
    let isUnique = records.allSatisfy { record in
      let values = parts.flatMap { column in
        [record.text(column.profile.index)] + (column.joined.map { [record.text($0)] } ?? [])
      }
      return seen.insert(values).inserted
    }
    return isUnique ? parts.compactMap(\.attribute.value) : []
  }
}
