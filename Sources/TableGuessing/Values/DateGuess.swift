import PipelineDefinition

/// The formats of a column of dates, with what speaks for them.
struct DateGuess: Sendable {
  /// The formats, the most frequent first; their confidence is that of the order of day and month.
  private(set) var formats: Finding<[String]>
  private(set) var values = 0
  /// How many values the formats read.
  private(set) var read = 0
  /// Whether some dates have a time.
  private(set) var hasTime = false
  /// Values that no format reads.
  private(set) var unread: [String] = []
  /// Whether names of months stand for their numbers, after the day or before it.
  private(set) var hasMonthNames = false
  private(set) var isMonthFirst = false

  /// Share of values that are dates.
  var share: Double { values == 0 ? 0 : Double(read) / Double(values) }

  /// Looks at the values of a column, in the order of the file.
  ///
  /// - Parameter hint: why a day is probably written before the month, from other evidence; nil for no such evidence.
  init(_ texts: [[UInt8]], dayFirstHint hint: String? = nil) {
    values = texts.count
    formats = Finding([], confidence: 0, evidence: "no values")
    var forms: [DateForm: [[UInt8]]] = [:]
    var named: [DateForm: [[UInt8]]] = [:]
    var counts: [String: Int] = [:]
    for bytes in texts {
      if DateFormat.iso8601.seconds(bytes.span) != nil {
        counts["iso8601", default: 0] += 1
        if bytes.count > 10 { hasTime = true }
      } else if let form = DateForm(bytes) {
        forms[form, default: []].append(bytes)
      } else if let words = MonthNames.words(bytes.text), let form = DateForm(Array(words.numbered.utf8)) {
        hasMonthNames = true
        isMonthFirst = words.isMonthFirst
        named[form, default: []].append(Array(words.numbered.utf8))
      } else {
        unread.append(bytes.text)
      }
    }
    var orders: [Finding<DateOrder>] = []
    let ranked = Self.ranked(forms)
    for (mark, group) in Dictionary(grouping: ranked, by: { $0.form.mark.prefix(1) }).sorted(by: { $0.key < $1.key }) {
      let order = Self.order(
        of: group.flatMap(\.members), forms: group.map(\.form), mark: mark.first, texts: texts, hint: hint)
      orders.append(order)
      for (form, members) in group {
        count(members, form, in: form.isYearFirst ? .yearMonth : order.value, into: &counts)
      }
    }
    for (form, members) in Self.ranked(named) { count(members, form, in: .dayMonth, into: &counts) }
    read = counts.values.reduce(0, +)
    let names = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let worst = orders.min { $0.confidence < $1.confidence }
    let evidence =
      ([worst?.evidence] + [names.map { "\($0.value) of \(values) are \($0.key)" }.joined(separator: ", ")])
      .compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "; ")
    formats = Finding(
      names.map(\.key), confidence: names.isEmpty ? 0 : worst?.confidence ?? 1,
      evidence: names.isEmpty ? "none of \(values) values is a date" : evidence, choices: worst?.choices ?? [])
  }

  /// The forms with their values, the most frequent first: a dictionary's own order differs from run to run.
  private static func ranked(_ forms: [DateForm: [[UInt8]]]) -> [(form: DateForm, members: [[UInt8]])] {
    forms.sorted { ($1.value.count, $0.key.name) < ($0.value.count, $1.key.name) }.map { ($0.key, $0.value) }
  }

  private mutating func count(
    _ members: [[UInt8]], _ form: DateForm, in order: DateOrder, into counts: inout [String: Int]
  ) {
    let pattern = form.pattern(order)
    let count = Self.reads(pattern, members)
    unread += members.filter { Self.reads(pattern, [$0]) == 0 }.map(\.text)
    if count > 0 { counts[pattern, default: 0] += count }
    if !form.time.isEmpty { hasTime = true }
  }

  private static func reads(_ pattern: String, _ texts: [[UInt8]]) -> Int {
    guard let format = try? DateFormat(pattern) else { return 0 }
    return texts.count { format.seconds($0.span) != nil }
  }

  // MARK: The order of day and month

  private static func order(
    of group: [[UInt8]], forms: [DateForm], mark: Character?, texts: [[UInt8]], hint: String?
  ) -> Finding<DateOrder> {
    guard let main = forms.first(where: { !$0.isYearFirst }) else {
      return Finding(.yearMonth, confidence: 1, evidence: "dates begin with the year")
    }
    let members = Set(group)
    let ordered = texts.filter { members.contains($0) && DateForm($0)?.isYearFirst == false }
    let orders: [DateOrder] =
      forms.contains { $0.yearDigits == 2 } ? [.dayMonth, .monthDay, .yearMonth] : [.dayMonth, .monthDay]
    let allForms = Set(ordered.compactMap { DateForm($0) }).sorted { $0.name < $1.name }
    var counts = DateReadings(
      orders.map { order in
        let formats = allForms.compactMap { try? DateFormat($0.pattern(order)) }
        return DateReadings.Reading(order.pattern(mark: main.mark, yearDigits: main.yearDigits), formats: formats)
      })
    for text in ordered { counts.add(text.span, isDate: true) }
    let evidence = Evidence(orders: orders, counts: counts, texts: ordered)
    let complete = counts.complete
    if complete.count == 1 { return evidence.only(complete[0]) }
    if complete.isEmpty { return evidence.partial }
    if mark == ".", let dayMonth = complete.first(where: { orders[$0] == .dayMonth }) {
      return Finding(
        .dayMonth, confidence: 0.93,
        evidence: "dates with dots begin with the day, and \(counts.allCanBe([dayMonth]))")
    }
    return evidence.undecided(complete, hint: hint)
  }
}

/// What the dates of a column show about their order.
private struct Evidence {
  let orders: [DateOrder]
  let counts: DateReadings
  /// In the order of the file.
  let texts: [[UInt8]]

  /// The readings, those first that read the most values.
  private var ranked: [Int] {
    counts.readings.indices.sorted { counts.readings[$0].count > counts.readings[$1].count }
  }

  private func name(_ index: Int) -> String { counts.readings[index].name }

  /// The instants in a reading; nil for values that it does not read.
  private func seconds(_ index: Int) -> [Double?] { texts.map { counts.readings[index].seconds($0.span) } }

  /// One order reads all values.
  func only(_ best: Int) -> Finding<DateOrder> {
    let second = ranked[1]
    let missed = counts.total - counts.readings[second].count
    return Finding(
      orders[best], confidence: missed == 1 ? 0.9 : 0.97,
      evidence: "\(counts.canBe(best)), \(missed) can't be \(name(second))")
  }

  /// No order reads all values.
  var partial: Finding<DateOrder> {
    let (best, second) = (ranked[0], ranked[1])
    let pairs = zip(seconds(best), seconds(second))
    let onlySecond = pairs.count { $0 == nil && $1 != nil }
    let onlyBest = pairs.count { $0 != nil && $1 == nil }
    let evidence = "\(counts.canBe(best)), \(counts.readings[second].count) can be \(name(second))"
    if onlySecond == 0 {
      return Finding(orders[best], confidence: onlyBest > 1 ? 0.9 : 0.6, evidence: evidence)
    }
    return Finding(
      orders[best], confidence: onlyBest >= 10 * onlySecond ? 0.7 : 0.3,
      evidence: "\(evidence): the column mixes orders, or has mistakes", choices: [name(best), name(second)])
  }

  /// Several orders read all values: the order of the records may decide, and where the file comes from.
  func undecided(_ complete: [Int], hint: String?) -> Finding<DateOrder> {
    let steps = complete.map { (index: $0, back: Self.backSteps(seconds($0))) }.sorted { $0.back.share < $1.back.share }
    let (best, second) = (steps[0], steps[1])
    let names = complete.map(name)
    let both = counts.allCanBe(complete)
    let isChronological = best.back.pairs >= 5 && best.back.share <= 0.05 && second.back.share >= 0.2
    let isHinted = hint != nil && complete.contains { orders[$0] == .dayMonth }
    if isChronological {
      let isDayFirst = orders[best.index] == .dayMonth
      let confidence = !isHinted ? 0.85 : isDayFirst ? 0.93 : 0.6
      return Finding(
        orders[best.index], confidence: confidence,
        evidence:
          "\(both); as \(name(best.index)) they are in the order of time, as \(name(second.index)) they are not",
        choices: confidence < 0.8 ? names : [])
    }
    if let hint, isHinted {
      return Finding(.dayMonth, confidence: 0.7, evidence: "\(both); \(hint)", choices: names)
    }
    return Finding(
      orders[complete[0]], confidence: 0.45, evidence: "\(both), and nothing else decides", choices: names)
  }

  /// The share of neighbours that are against the direction of most.
  private static func backSteps(_ seconds: [Double?]) -> (share: Double, pairs: Int) {
    let known = seconds.compactMap(\.self)
    var (rising, falling) = (0, 0)
    for (one, two) in zip(known, known.dropFirst()) {
      if two > one { rising += 1 } else if two < one { falling += 1 }
    }
    let pairs = rising + falling
    return (pairs == 0 ? 1 : Double(min(rising, falling)) / Double(pairs), pairs)
  }
}
