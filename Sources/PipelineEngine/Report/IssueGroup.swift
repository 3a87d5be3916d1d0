/// Issues of one input that differ in their lines and values only: reports show the first one, and the lines of the
/// others.
struct IssueGroup {
  let first: RecordIssue
  /// The lines of the other issues, in their order.
  private(set) var otherLines: [UInt64] = []
  /// The values of the other issues, each once, without that of the first.
  private var otherValues: [String] = []

  private init(first: RecordIssue) { self.first = first }

  /// The number of issues.
  var count: Int { 1 + otherLines.count }

  /// Line ranges that a report shows; more are counted.
  private static let rangesMax = 8
  /// Values that a report shows.
  private static let valuesMax = 3

  /// What the issues of a group have in common.
  private struct Key: Hashable {
    let (code, severity): (IssueCode, Severity)
    let (input, message): (String, String)
    let (column, field): (String?, Int?)

    init(_ issue: RecordIssue) {
      (code, severity) = (issue.code, issue.severity)
      (input, message) = (issue.input, issue.message)
      (column, field) = (issue.column, issue.field)
    }
  }

  /// The groups, in the order of their first issues.
  static func all(of issues: some Sequence<RecordIssue>) -> [IssueGroup] {
    var groups: [IssueGroup] = []
    var numbers: [Key: Int] = [:]
    for issue in issues {
      let key = Key(issue)
      // Issues of one line differ in what they show: the members of a record, or the labels of a header.
      if let number = numbers[key], groups[number].first.line != issue.line {
        groups[number].append(issue)
      } else {
        numbers[key] = groups.count
        groups.append(IssueGroup(first: issue))
      }
    }
    return groups
  }

  private mutating func append(_ issue: RecordIssue) {
    otherLines.append(issue.line)
    guard otherValues.count <= Self.valuesMax, let value = issue.value, value != first.value else { return }
    if !otherValues.contains(value) { otherValues.append(value) }
  }

  /// Where the other issues are, such as `also in lines 8, 15–17 and 20, with "five", "six", …`; nil if there are none.
  var others: String? {
    if otherLines.isEmpty { return nil }
    let ranges = lineRanges
    var parts = ranges.prefix(Self.rangesMax).map { range in
      range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)–\(range.upperBound)"
    }
    let hidden = ranges.dropFirst(Self.rangesMax).reduce(0) { $0 + $1.count }
    if hidden > 0 { parts.append("\(TextTable.grouped(hidden)) more") }
    let last = parts.removeLast()
    let isOne = ranges.count == 1 && ranges[0].count == 1
    return "also in \(isOne ? "line" : "lines") "
      + (parts.isEmpty ? last : parts.joined(separator: ", ") + " and \(last)") + values
  }

  private var values: String {
    if otherValues.isEmpty { return "" }
    let shown = otherValues.prefix(Self.valuesMax).map { "\"\($0)\"" }
    return ", with " + (shown + (otherValues.count > Self.valuesMax ? ["…"] : [])).joined(separator: ", ")
  }

  /// The different lines of the other issues, next to each other in one range.
  private var lineRanges: [ClosedRange<UInt64>] {
    var ranges: [ClosedRange<UInt64>] = []
    for line in Set(otherLines).sorted() {
      if let last = ranges.last, last.upperBound + 1 == line {
        ranges[ranges.count - 1] = last.lowerBound...line
      } else {
        ranges.append(line...line)
      }
    }
    return ranges
  }
}
