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
    for (mark, group) in Dictionary(grouping: forms, by: { $0.key.mark.prefix(1) }).sorted(by: { $0.key < $1.key }) {
      let order = Self.order(
        of: group.flatMap(\.value), forms: group.map(\.key), mark: mark.first, texts: texts, hint: hint)
      orders.append(order)
      for (form, members) in group {
        count(members, form, in: form.isYearFirst ? .yearMonth : order.value, into: &counts)
      }
    }
    for (form, members) in named { count(members, form, in: .dayMonth, into: &counts) }
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

  private mutating func count(
    _ members: [[UInt8]], _ form: DateForm, in order: DateOrder, into counts: inout [String: Int]
  ) {
    let pattern = form.pattern(order)
    let fitting = Self.reads(pattern, members)
    unread += members.filter { Self.reads(pattern, [$0]) == 0 }.map(\.text)
    if fitting > 0 { counts[pattern, default: 0] += fitting }
    if !form.time.isEmpty { hasTime = true }
  }

  private static func reads(_ pattern: String, _ texts: [[UInt8]]) -> Int {
    guard let format = try? DateFormat(pattern) else { return 0 }
    return texts.count { format.seconds($0.span) != nil }
  }

  // MARK: The order of day and month

  private struct Reading {
    let order: DateOrder
    let pattern: String
    var fits = 0
    /// The instants, in the order of the file; nil for values that do not fit.
    var seconds: [Double?] = []
  }

  private static func order(
    of group: [[UInt8]], forms: [DateForm], mark: Character?, texts: [[UInt8]], hint: String?
  ) -> Finding<DateOrder> {
    guard let main = forms.first(where: { !$0.isYearFirst }) else {
      return Finding(.yearMonth, confidence: 1, evidence: "dates begin with the year")
    }
    let members = Set(group)
    let ordered = texts.filter { members.contains($0) && DateForm($0)?.isYearFirst == false }
    let orders: [DateOrder] = main.yearDigits == 2 ? [.dayMonth, .monthDay, .yearMonth] : [.dayMonth, .monthDay]
    let readings = orders.map { reading($0, of: ordered, main) }.sorted { $0.fits > $1.fits }
    let (best, second) = (readings[0], readings[1])
    let total = ordered.count
    let full = readings.filter { $0.fits == total }
    if full.count == 1 {
      let missed = total - second.fits
      return Finding(
        best.order, confidence: missed == 1 ? 0.9 : 0.97,
        evidence: "\(total) of \(total) can be \(best.pattern), \(missed) can't be \(second.pattern)")
    }
    if full.isEmpty { return partial(best, second, of: total) }
    if mark == ".", full.contains(where: { $0.order == .dayMonth }) {
      return Finding(
        .dayMonth, confidence: 0.93,
        evidence: "dates with dots begin with the day, and all can be \(pattern(.dayMonth, main))")
    }
    return undecided(full, of: total, hint: hint)
  }

  private static func pattern(_ order: DateOrder, _ form: DateForm) -> String {
    order.pattern(mark: form.mark, yearDigits: form.yearDigits)
  }

  private static func reading(_ order: DateOrder, of texts: [[UInt8]], _ main: DateForm) -> Reading {
    var reading = Reading(order: order, pattern: pattern(order, main))
    var formats: [DateForm: DateFormat] = [:]
    for text in texts {
      guard let form = DateForm(text) else { continue }
      let format = formats[form] ?? (try? DateFormat(form.pattern(order)))
      formats[form] = format
      let seconds = format?.seconds(text.span)
      if seconds != nil { reading.fits += 1 }
      reading.seconds.append(seconds)
    }
    return reading
  }

  /// No order reads all values.
  private static func partial(_ best: Reading, _ second: Reading, of total: Int) -> Finding<DateOrder> {
    let onlySecond = zip(best.seconds, second.seconds).count { $0 == nil && $1 != nil }
    let onlyBest = zip(best.seconds, second.seconds).count { $0 != nil && $1 == nil }
    let evidence = "\(best.fits) of \(total) can be \(best.pattern), \(second.fits) can be \(second.pattern)"
    if onlySecond == 0 {
      return Finding(best.order, confidence: onlyBest > 1 ? 0.9 : 0.6, evidence: evidence)
    }
    return Finding(
      best.order, confidence: onlyBest >= 10 * onlySecond ? 0.7 : 0.3,
      evidence: "\(evidence): the column mixes orders, or has mistakes", choices: [best.pattern, second.pattern])
  }

  /// Several orders read all values: the order of the records may decide, and where the file comes from.
  private static func undecided(_ readings: [Reading], of total: Int, hint: String?) -> Finding<DateOrder> {
    let steps = readings.map { (reading: $0, back: backSteps($0.seconds)) }.sorted { $0.back.share < $1.back.share }
    let (best, second) = (steps[0], steps[1])
    let names = readings.map(\.pattern)
    let both = "all \(total) can be \(names.joined(separator: " or "))"
    let isChronological = best.back.pairs >= 5 && best.back.share <= 0.05 && second.back.share >= 0.2
    let isHinted = hint != nil && readings.contains { $0.order == .dayMonth }
    if isChronological {
      let agrees = isHinted && best.reading.order == .dayMonth
      let contradicts = isHinted && best.reading.order != .dayMonth
      let confidence = agrees ? 0.93 : contradicts ? 0.6 : 0.85
      return Finding(
        best.reading.order, confidence: confidence,
        evidence:
          "\(both); as \(best.reading.pattern) they are in the order of time, as \(second.reading.pattern) they are not",
        choices: confidence < 0.8 ? names : [])
    }
    if let hint, isHinted {
      return Finding(.dayMonth, confidence: 0.7, evidence: "\(both); \(hint)", choices: names)
    }
    return Finding(readings[0].order, confidence: 0.45, evidence: "\(both), and nothing else decides", choices: names)
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
