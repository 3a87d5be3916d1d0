import Foundation

/// Compares the records of a run with what its pipeline expects of them together.
struct ExpectationCheck {
  let expect: ExpectDefinition
  /// Records read by the last completed runs of the pipeline, the newest first.
  let lastRuns: [Int]
  let startedAt: Date

  /// An expectation that is not met.
  struct Violation: Equatable {
    let severity: Severity
    /// Nil for the number of records.
    var column: String?
    let message: String
  }

  func violations(records: Int, _ statistics: EntryStatistics?) -> [Violation] {
    let ofColumns = statistics.map { statistics in
      statistics.isComplete ? statistics.columns.flatMap { violations($0, entries: statistics.entries) } : []
    }
    return violations(records: records) + (ofColumns ?? [])
  }

  /// Expectations that could not be compared, and why.
  func notes(_ statistics: EntryStatistics?) -> [String] {
    var notes: [String] = []
    if expect.records?.comparesRuns == true, lastRuns.isEmpty {
      notes.append("the number of records was not compared with earlier runs: the store's ledger has none")
    }
    if statistics?.isComplete == false {
      notes.append(
        "the columns were not compared with what is expected of them: the run continued one that had not counted them")
    }
    return notes
  }

  // MARK: The number of records

  private func violations(records count: Int) -> [Violation] {
    guard let rule = expect.records else { return [] }
    var messages: [String] = []
    if let min = rule.min, count < min { messages.append("\(read(count)); expected at least \(min)") }
    if let max = rule.max, count > max { messages.append("\(read(count)); expected at most \(max)") }
    if !lastRuns.isEmpty {
      let total = lastRuns.reduce(0, +)
      // Compared without a division, so that a mean of 0 needs no case of its own.
      let share = Double(count) * 100 * Double(lastRuns.count)
      let runs = lastRuns.count == 1 ? "the last run" : "the last \(lastRuns.count) runs"
      let mean = Self.plain((Double(total) / Double(lastRuns.count) * 10).rounded() / 10)
      if let percent = rule.minPercentOfMean, share < percent * Double(total) {
        messages.append("\(read(count)); expected at least \(Self.plain(percent)) % of \(mean), the mean of \(runs)")
      }
      if let percent = rule.maxPercentOfMean, share > percent * Double(total) {
        messages.append("\(read(count)); expected at most \(Self.plain(percent)) % of \(mean), the mean of \(runs)")
      }
    }
    return messages.map { Violation(severity: rule.severity, message: $0) }
  }

  private func read(_ count: Int) -> String { "\(count) \(count == 1 ? "record was" : "records were") read" }

  // MARK: Columns

  private func violations(_ column: ColumnStatistics, entries: Int) -> [Violation] {
    let rule = column.rule
    var messages: [String] = []
    if let percent = rule.emptyPercentMax, Double(column.empty) * 100 > percent * Double(entries) {
      let share = (Double(column.empty) * 1000 / Double(entries)).rounded() / 10
      // A share that is rounded to the limit would contradict the message.
      let shown = share > percent ? ", \(Self.plain(share)) %" : ""
      messages.append(
        "\(column.empty) of \(entries) values are empty\(shown); expected at most \(Self.plain(percent)) %")
    }
    let values = column.distinct == 1 ? "1 different value" : "\(column.distinct) different values"
    if let min = rule.distinctMin, column.distinct < min { messages.append("\(values); expected at least \(min)") }
    if let max = rule.distinctMax, column.distinct > max {
      messages.append("\(column.isDistinctBounded ? "at least " : "")\(values); expected at most \(max)")
    }
    if let days = rule.newestWithinDays, let message = age(column.newest, days) { messages.append(message) }
    return messages.map { Violation(severity: rule.severity, column: rule.name, message: $0) }
  }

  private func age(_ newest: Double?, _ days: Double) -> String? {
    let expected = "expected one within \(Self.plain(days)) \(days == 1 ? "day" : "days") before the run"
    guard let newest else { return "no value has a date; \(expected)" }
    let oldest = startedAt.timeIntervalSinceReferenceDate - days * 86_400
    guard newest < oldest else { return nil }
    return "the newest date is \(DateFormat.iso8601.string(newest) ?? "\(newest)"); \(expected)"
  }

  private static func plain(_ number: Double) -> String { QuantityPattern.plain(number) }
}
