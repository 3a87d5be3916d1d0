import CSV

/// Lines of the file next to the rejects: an object for each issue of a rejected record, its members sorted by name.
///
/// An encoder of Foundation builds a tree of objects for each line, which costs more than all else of a reject.
struct RejectDetails {
  private(set) var bytes: [UInt8] = []
  private let run: String

  /// - Parameter run: The run that rejects the records.
  init(run: String) { self.run = run }

  /// The members, in the order in which they are written.
  private enum Member: Int, CaseIterable {
    case byte, code, column, field, input, line, message, record, reject, run, severity, value
  }

  /// The name of each member, with what precedes and follows it.
  private static let heads = Member.allCases.map { Array(",\"\($0)\":".utf8) }

  /// Adds an issue of the reject with the number `reject`, from 1.
  mutating func append(_ issue: RecordIssue, reject: Int) {
    let start = bytes.count
    append(.byte, Int(clamping: issue.byte))
    append(.code, issue.code.rawValue)
    if let column = issue.column { append(.column, column) }
    if let field = issue.field { append(.field, field) }
    append(.input, issue.input)
    append(.line, Int(clamping: issue.line))
    append(.message, issue.message)
    append(.record, Int(clamping: issue.record))
    append(.reject, reject)
    append(.run, run)
    append(.severity, issue.severity.rawValue)
    if let value = issue.value { append(.value, value) }
    bytes[start] = UInt8(ascii: "{")
    bytes.append(UInt8(ascii: "}"))
    bytes.append(UInt8(ascii: "\n"))
  }

  private mutating func append(_ member: Member, _ number: Int) {
    bytes += Self.heads[member.rawValue]
    bytes.append(contentsOf: "\(number)".utf8)
  }

  private mutating func append(_ member: Member, _ text: String) {
    bytes += Self.heads[member.rawValue]
    JSONText.appendQuoted(text, to: &bytes)
  }
}
