/// The issues of a run: exact counts, and the issues themselves up to a limit.
public struct IssueLog: Sendable, Equatable {
  /// How many issues `listed` keeps; the counts have no limit.
  public let listedMax: Int
  /// Issues in the order in which they were added: the first ones, and when the list is full, the first of each code and
  /// of each input in place of the last ones of the most frequent code and input.
  public private(set) var listed: [RecordIssue] = []
  /// Number of listed issues per code, and of these per input.
  private var listedCounts: [IssueCode: ListedCount] = [:]
  /// How many issues of each code are listed before others, if there are as many, and how many of each input with that
  /// code. A list that is too short for that has the first issues.
  static let listedMin = 10

  /// What is wrong with a value, or with a record as a whole.
  package struct Fault: Sendable, Hashable, Codable {
    package var code: IssueCode
    package var severity: Severity
    /// The column's name in the pipeline; nil for a record as a whole.
    package var column: String?
    /// Index of the rule that is broken, in its column or among the rules for records.
    package var rule: Int?

    package init(_ code: IssueCode, _ severity: Severity, column: String? = nil, rule: Int? = nil) {
      (self.code, self.severity, self.column, self.rule) = (code, severity, column, rule)
    }

    /// Whether issues of the code are counted by column and rule.
    static func isCounted(_ code: IssueCode) -> Bool {
      [.typeError, .constraintError, .uniqueError, .rowConstraint].contains(code)
    }
  }

  private struct ListedCount: Sendable, Equatable {
    var total = 0
    var inputs: [String: Int] = [:]

    /// The input with the most issues; of several the last by name.
    var greatest: (input: String, count: Int)? {
      inputs.max { ($0.value, $0.key) < ($1.value, $1.key) }.map { ($0.key, $0.value) }
    }
  }
  /// Number of issues per code, errors and warnings together.
  public private(set) var counts: [IssueCode: Int] = [:]
  /// Number of warnings per code.
  public private(set) var warningCounts: [IssueCode: Int] = [:]
  /// Number of issues of the values of records, by what is wrong.
  package private(set) var faultCounts: [Fault: Int] = [:]
  /// Number of issues of the severity error.
  public private(set) var errorsTotal = 0
  /// Number of issues of the severity warning.
  public private(set) var warningsTotal = 0

  /// An empty log.
  ///
  /// - Parameter listedMax: The largest number of issues that are listed; all are counted.
  public init(listedMax: Int = 1000) {
    self.listedMax = max(0, listedMax)
  }

  /// Restores a log from its parts; `listed` are its first issues.
  package init(
    listedMax: Int, counts: [IssueCode: Int], warningCounts: [IssueCode: Int], listed: [RecordIssue],
    faultCounts: [Fault: Int] = [:]
  ) {
    self.init(listedMax: listedMax)
    (self.counts, self.warningCounts, self.faultCounts) = (counts, warningCounts, faultCounts)
    warningsTotal = warningCounts.values.reduce(0, +)
    errorsTotal = counts.values.reduce(0, +) - warningsTotal
    for issue in listed { list(issue.code, of: issue.input) { issue } }
  }

  /// Number of issues of either severity.
  public var total: Int { errorsTotal + warningsTotal }
  /// Whether there are no issues.
  public var isEmpty: Bool { total == 0 }
  /// Whether there are more issues than the list contains.
  public var isTruncated: Bool { total > listed.count }

  /// Counts an issue, and lists it if the list is not full, or if its code or input has too few issues there.
  public mutating func add(_ issue: RecordIssue) {
    count(PackedIssues.Kind(issue.code, severity: issue.severity, column: issue.column, message: ""), by: 1)
    list(issue.code, of: issue.input) { issue }
  }

  /// Counts issues, and makes only those that are listed.
  package mutating func add(_ issues: PackedIssues) {
    var totals = [Int](repeating: 0, count: issues.kinds.count)
    // A kind that is not listed once is not listed later: the list stays full.
    var isListed = [Bool](repeating: true, count: issues.kinds.count)
    for index in issues.indices {
      let kind = issues.kind(at: index)
      totals[kind] += 1
      if isListed[kind] { isListed[kind] = list(issues.kinds[kind].code, of: issues.input) { issues[index] } }
    }
    for (kind, total) in zip(issues.kinds, totals) where total > 0 { count(kind, by: total) }
  }

  private mutating func count(_ kind: PackedIssues.Kind, by total: Int) {
    let code = kind.code
    counts[code, default: 0] += total
    if Fault.isCounted(code) {
      faultCounts[Fault(code, kind.severity, column: kind.column, rule: kind.rule), default: 0] += total
    }
    switch kind.severity {
    case .error: errorsTotal += total
    case .warning:
      warningsTotal += total
      warningCounts[code, default: 0] += total
    }
  }

  /// Lists an issue if the list is not full, or if its code or input has too few and another too many; false if it is
  /// not listed. `issue` is called only for an issue that is listed.
  @discardableResult
  private mutating func list(_ code: IssueCode, of input: String, _ issue: () -> RecordIssue) -> Bool {
    if listed.count >= listedMax {
      guard listedMax >= 2 * Self.listedMin, makeRoom(for: code, of: input) else { return false }
    }
    listed.append(issue())
    listedCounts[code, default: ListedCount()].total += 1
    listedCounts[code, default: ListedCount()].inputs[input, default: 0] += 1
    return true
  }

  /// Removes the last issue of the most frequent code, or of the most frequent input of the same code; false if none has
  /// more than its share.
  private mutating func makeRoom(for code: IssueCode, of input: String) -> Bool {
    let own = listedCounts[code] ?? ListedCount()
    if own.total < Self.listedMin {
      guard let most = listedCounts.max(by: { ($0.value.total, $1.key) < ($1.value.total, $0.key) }),
        most.value.total > Self.listedMin, let greatest = most.value.greatest
      else { return false }
      return drop(most.key, of: greatest.input)
    }
    // The inputs of a code share its part of the list. Where each has one issue, there is nothing to share.
    guard own.inputs[input, default: 0] < Self.listedMin, own.inputs.count < own.total, let greatest = own.greatest,
      greatest.count > own.inputs[input, default: 0] + 1
    else { return false }
    return drop(code, of: greatest.input)
  }

  private mutating func drop(_ code: IssueCode, of input: String) -> Bool {
    guard let last = listed.lastIndex(where: { $0.code == code && $0.input == input }) else { return false }
    listed.remove(at: last)
    listedCounts[code]?.total -= 1
    let left = (listedCounts[code]?.inputs[input] ?? 1) - 1
    listedCounts[code]?.inputs[input] = left == 0 ? nil : left
    return true
  }

  /// Appends the log of a later part of the same run, such as the next chunk.
  public mutating func merge(_ later: IssueLog) {
    counts.merge(later.counts, uniquingKeysWith: +)
    warningCounts.merge(later.warningCounts, uniquingKeysWith: +)
    faultCounts.merge(later.faultCounts, uniquingKeysWith: +)
    errorsTotal += later.errorsTotal
    warningsTotal += later.warningsTotal
    for issue in later.listed { list(issue.code, of: issue.input) { issue } }
  }
}
