/// The issues of a run: exact counts, and the issues themselves up to a limit.
public struct IssueLog: Sendable, Equatable {
  /// How many issues `listed` keeps; the counts have no limit.
  public let listedMax: Int
  /// Issues in the order in which they were added: the first ones, and when the list is full, the first of each code in
  /// place of the last ones of the most frequent code.
  public private(set) var listed: [RecordIssue] = []
  /// Number of listed issues per code.
  private var listedCounts: [IssueCode: Int] = [:]
  /// How many issues of each code are listed before others, if there are as many. A list that is too short for that
  /// has the first issues.
  static let listedPerCodeMin = 10
  /// Number of issues per code, errors and warnings together.
  public private(set) var counts: [IssueCode: Int] = [:]
  /// Number of warnings per code.
  public private(set) var warningCounts: [IssueCode: Int] = [:]
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
    listedMax: Int, counts: [IssueCode: Int], warningCounts: [IssueCode: Int], listed: [RecordIssue]
  ) {
    self.init(listedMax: listedMax)
    (self.counts, self.warningCounts) = (counts, warningCounts)
    warningsTotal = warningCounts.values.reduce(0, +)
    errorsTotal = counts.values.reduce(0, +) - warningsTotal
    for issue in listed { list(issue.code) { issue } }
  }

  /// Number of issues of either severity.
  public var total: Int { errorsTotal + warningsTotal }
  /// Whether there are no issues.
  public var isEmpty: Bool { total == 0 }
  /// Whether there are more issues than the list contains.
  public var isTruncated: Bool { total > listed.count }

  /// Counts an issue, and lists it if the list is not full.
  public mutating func add(_ issue: RecordIssue) {
    add(issue.code, severity: issue.severity) { issue }
  }

  /// Counts one issue; `issue` is called only while the list is not full, so a file with a million rejects costs a
  /// million counts but not a million messages.
  public mutating func add(_ code: IssueCode, severity: Severity, issue: () -> RecordIssue) {
    count(code, severity, by: 1)
    list(code, issue)
  }

  /// Counts issues, and makes only those that are listed.
  package mutating func add(_ issues: PackedIssues) {
    var totals = [Int](repeating: 0, count: issues.kinds.count)
    // A kind that is not listed once is not listed later: the list stays full.
    var isListed = [Bool](repeating: true, count: issues.kinds.count)
    for index in issues.indices {
      let kind = issues.kind(at: index)
      totals[kind] += 1
      if isListed[kind] { isListed[kind] = list(issues.kinds[kind].code) { issues[index] } }
    }
    for (kind, total) in zip(issues.kinds, totals) where total > 0 { count(kind.code, kind.severity, by: total) }
  }

  private mutating func count(_ code: IssueCode, _ severity: Severity, by total: Int) {
    counts[code, default: 0] += total
    switch severity {
    case .error: errorsTotal += total
    case .warning:
      warningsTotal += total
      warningCounts[code, default: 0] += total
    }
  }

  /// Lists an issue if the list is not full, or if its code has too few and another too many; false if it is not listed.
  @discardableResult
  private mutating func list(_ code: IssueCode, _ issue: () -> RecordIssue) -> Bool {
    if listed.count >= listedMax {
      guard listedMax >= 2 * Self.listedPerCodeMin, listedCounts[code, default: 0] < Self.listedPerCodeMin,
        dropMostFrequent()
      else { return false }
    }
    listed.append(issue())
    listedCounts[code, default: 0] += 1
    return true
  }

  /// Removes the last issue of the most frequent code; false if no code has more than its share.
  private mutating func dropMostFrequent() -> Bool {
    guard let most = listedCounts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }),
      most.value > Self.listedPerCodeMin,
      let last = listed.lastIndex(where: { $0.code == most.key })
    else { return false }
    listed.remove(at: last)
    listedCounts[most.key] = most.value - 1
    return true
  }

  /// Appends the log of a later part of the same run, such as the next chunk.
  public mutating func merge(_ later: IssueLog) {
    counts.merge(later.counts, uniquingKeysWith: +)
    warningCounts.merge(later.warningCounts, uniquingKeysWith: +)
    errorsTotal += later.errorsTotal
    warningsTotal += later.warningsTotal
    for issue in later.listed { list(issue.code) { issue } }
  }
}
