/// The issues of a run: exact counts always, the issues themselves up to a limit.
public struct IssueLog: Sendable, Equatable {
  /// How many issues are kept in `listed`; the counts know no limit.
  public let listedMax: Int
  /// The first issues, in the order in which they were added.
  public private(set) var listed: [RecordIssue] = []
  /// Number of issues per code, errors and warnings together.
  public private(set) var counts: [IssueCode: Int] = [:]
  /// Number of warnings per code.
  public private(set) var warningCounts: [IssueCode: Int] = [:]
  public private(set) var errorsTotal = 0
  public private(set) var warningsTotal = 0

  public init(listedMax: Int = 1000) {
    self.listedMax = max(0, listedMax)
  }

  /// A log as it was when its parts were kept; `listed` are its first issues.
  package init(
    listedMax: Int, counts: [IssueCode: Int], warningCounts: [IssueCode: Int], listed: [RecordIssue]
  ) {
    self.init(listedMax: listedMax)
    (self.counts, self.warningCounts) = (counts, warningCounts)
    warningsTotal = warningCounts.values.reduce(0, +)
    errorsTotal = counts.values.reduce(0, +) - warningsTotal
    self.listed = Array(listed.prefix(self.listedMax))
  }

  public var total: Int { errorsTotal + warningsTotal }
  public var isEmpty: Bool { total == 0 }
  /// Whether issues were counted that the list does not show.
  public var isTruncated: Bool { total > listed.count }

  public mutating func add(_ issue: RecordIssue) {
    add(issue.code, severity: issue.severity) { issue }
  }

  /// Counts one issue; `issue` is made only while the list has room, so a file of a million bad records costs a
  /// million counts and not a million messages.
  public mutating func add(_ code: IssueCode, severity: Severity, issue: () -> RecordIssue) {
    counts[code, default: 0] += 1
    switch severity {
    case .error: errorsTotal += 1
    case .warning:
      warningsTotal += 1
      warningCounts[code, default: 0] += 1
    }
    if listed.count < listedMax { listed.append(issue()) }
  }

  /// Appends a later part of the same run, such as the log of the next chunk.
  public mutating func merge(_ later: IssueLog) {
    counts.merge(later.counts, uniquingKeysWith: +)
    warningCounts.merge(later.warningCounts, uniquingKeysWith: +)
    errorsTotal += later.errorsTotal
    warningsTotal += later.warningsTotal
    listed += later.listed.prefix(listedMax - listed.count)
  }
}
