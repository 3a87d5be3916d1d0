import CSV

/// Lines of the file next to the rejects: one for each reject, and before its first issue one for each kind of issue.
///
/// The kinds are those of one chunk, whose numbers replace earlier ones, so that no state is needed to continue a file.
/// An encoder of Foundation builds a tree of objects for each line, which costs more than all else of a reject.
struct RejectDetails {
  private(set) var bytes: [UInt8] = []
  private let issues: PackedIssues
  /// By the number of the kind in `issues` its number in the file; 0 for one that has no line yet.
  private var numbers: [Int]
  private var last = 0

  /// - Parameter issues: Those of a chunk.
  init(_ issues: PackedIssues) {
    self.issues = issues
    numbers = Array(repeating: 0, count: issues.kinds.count)
  }

  /// Adds the line of a reject with its issues that are errors; `range` has all issues of its record.
  mutating func append(_ range: Range<Int>) {
    for index in range where issues.severity(at: index) == .error { appendKind(issues.kind(at: index)) }
    let position = issues.position(at: range.lowerBound)
    bytes += "{\"record\":[".utf8
    append(position.record)
    append(position.line, after: UInt8(ascii: ","))
    append(position.byte, after: UInt8(ascii: ","))
    bytes += "],\"issues\":[".utf8
    var isFirst = true
    for index in range where issues.severity(at: index) == .error {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      appendIssue(index)
    }
    bytes += "]}\n".utf8
  }

  /// The kind, the value, and the number of the message, as far as it has them.
  private mutating func appendIssue(_ index: Int) {
    let kind = issues.kind(at: index)
    bytes.append(UInt8(ascii: "["))
    JSONText.append(Int64(numbers[kind]), to: &bytes)
    let hasNumber = issues.kinds[kind].messageEnd != nil
    if let value = issues.value(at: index) {
      bytes.append(UInt8(ascii: ","))
      JSONText.appendQuoted(value, to: &bytes)
    } else if hasNumber {
      bytes.append(UInt8(ascii: ","))
      bytes += "null".utf8
    }
    if hasNumber {
      bytes.append(UInt8(ascii: ","))
      JSONText.append(issues.number(at: index), to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  /// Adds the line of a kind that has none.
  private mutating func appendKind(_ number: Int) {
    guard numbers[number] == 0 else { return }
    last += 1
    numbers[number] = last
    let kind = issues.kinds[number]
    bytes += "{\"kind\":\(last),\"code\":".utf8
    JSONText.appendQuoted(kind.code.rawValue, to: &bytes)
    append("column", kind.column)
    if let field = kind.field { bytes += ",\"field\":\(field)".utf8 }
    append("message", kind.message)
    append("messageEnd", kind.messageEnd)
    bytes += "}\n".utf8
  }

  private mutating func append(_ member: String, _ text: String?) {
    guard let text else { return }
    bytes += ",\"\(member)\":".utf8
    JSONText.appendQuoted(text, to: &bytes)
  }

  private mutating func append(_ number: UInt64, after separator: UInt8? = nil) {
    if let separator { bytes.append(separator) }
    JSONText.append(Int64(clamping: number), to: &bytes)
  }
}
