/// Issues of many records in little memory: what issues have in common is kept once, as a kind, and each issue consists
/// of a few numbers and the text that it shows. As a collection it makes the ``RecordIssue`` of each index that is read.
package struct PackedIssues: Sendable {
  /// What the issues of a kind have in common.
  package struct Kind: Sendable, Hashable {
    package var code: IssueCode
    package var severity: Severity
    package var field: Int?
    package var column: String?
    package var message: String
    /// Follows the issue's number, which follows `message`; nil where issues have no number.
    package var messageEnd: String?
    /// Index of the rule that is broken: in its column, or among the rules for records; nil for other issues.
    package var rule: Int?

    package init(
      _ code: IssueCode, severity: Severity = .error, field: Int? = nil, column: String? = nil, message: String,
      messageEnd: String? = nil, rule: Int? = nil
    ) {
      (self.code, self.severity, self.field, self.column) = (code, severity, field, column)
      (self.message, self.messageEnd, self.rule) = (message, messageEnd, rule)
    }
  }

  /// The record of an issue; see ``RecordPosition``.
  package struct Position: Sendable {
    package var record: UInt64
    package var line: UInt64
    package var byte: UInt64

    package init(record: UInt64, line: UInt64, byte: UInt64) {
      (self.record, self.line, self.byte) = (record, line, byte)
    }
  }

  private struct Item: Sendable {
    let position: Position
    let kind: Int32
    let textStart: Int
    /// Negative for an issue without a value.
    let textCount: Int32
    let number: Int64
  }

  /// What decides the kind of an issue, in addition to the text that it shows.
  private struct TextKey: Hashable {
    let key: Int
    let text: [UInt8]
  }

  package let input: String
  package private(set) var kinds: [Kind] = []
  private var items: [Item] = []
  private var texts: [UInt8] = []
  private var numbers: [Kind: Int] = [:]
  private var numbersOfKeys: [Int: Int] = [:]
  private var numbersOfTexts: [TextKey: Int] = [:]

  /// - Parameter input: The input of all its records.
  package init(input: String) { self.input = input }

  // MARK: Kinds

  /// The number of the kind that `key` stands for; `make` is called for the first of its issues.
  package mutating func kind(forKey key: Int, make: () -> Kind) -> Int {
    if let number = numbersOfKeys[key] { return number }
    let number = number(of: make())
    numbersOfKeys[key] = number
    return number
  }

  /// The number of the kind that `key` and the text of a field stand for.
  package mutating func kind(forKey key: Int, text: Span<UInt8>, make: () -> Kind) -> Int {
    let key = TextKey(key: key, text: text.array)
    if let number = numbersOfTexts[key] { return number }
    let number = number(of: make())
    numbersOfTexts[key] = number
    return number
  }

  /// The number of the kind of an issue.
  ///
  /// - Parameter rule: Index of the rule that is broken.
  package mutating func kind(of issue: RecordIssue, rule: Int? = nil) -> Int {
    number(
      of: Kind(
        issue.code, severity: issue.severity, field: issue.field, column: issue.column, message: issue.message,
        rule: rule))
  }

  private mutating func number(of kind: Kind) -> Int {
    if let number = numbers[kind] { return number }
    kinds.append(kind)
    numbers[kind] = kinds.count - 1
    return kinds.count - 1
  }

  // MARK: Issues

  /// Appends an issue that shows `value`, escaped and shortened.
  package mutating func append(kind: Int, at position: Position, value: Span<UInt8>, number: Int64 = 0) {
    let start = texts.count
    RawText.appendShortened(value, to: &texts)
    append(kind, at: position, textStart: start, textCount: texts.count - start, number: number)
  }

  /// Appends an issue that shows no value.
  package mutating func append(kind: Int, at position: Position) {
    append(kind, at: position, textStart: 0, textCount: -1, number: 0)
  }

  package mutating func append(_ issue: RecordIssue, rule: Int? = nil) {
    let kind = kind(of: issue, rule: rule)
    let position = Position(record: issue.record, line: issue.line, byte: issue.byte)
    guard let value = issue.value else { return append(kind: kind, at: position) }
    let start = texts.count
    texts += value.utf8
    append(kind, at: position, textStart: start, textCount: texts.count - start, number: 0)
  }

  private mutating func append(
    _ kind: Int, at position: Position, textStart: Int, textCount: Int, number: Int64
  ) {
    items.append(
      Item(
        position: position, kind: Int32(kind), textStart: textStart, textCount: Int32(textCount),
        number: number))
  }

  /// Sorts the issues by record and field, if they are not in that order.
  package mutating func sort() {
    let fields = kinds.map { $0.field ?? 0 }
    func precedes(_ left: Item, _ right: Item) -> Bool {
      if left.position.record != right.position.record { return left.position.record < right.position.record }
      return fields[Int(left.kind)] < fields[Int(right.kind)]
    }
    let isSorted = items.indices.dropFirst().allSatisfy { !precedes(items[$0], items[$0 - 1]) }
    if !isSorted { items.sort(by: precedes) }
  }

  // MARK: Parts of an issue

  package func kind(at index: Int) -> Int { Int(items[index].kind) }
  package func severity(at index: Int) -> Severity { kinds[Int(items[index].kind)].severity }
  package func position(at index: Int) -> Position { items[index].position }
  package func number(at index: Int) -> Int64 { items[index].number }

  /// The bytes of the value that an issue shows; nil if it shows none.
  package func value(at index: Int) -> ArraySlice<UInt8>? {
    let item = items[index]
    return item.textCount < 0 ? nil : texts[item.textStart..<item.textStart + Int(item.textCount)]
  }
}

extension PackedIssues: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { items.count }

  package subscript(index: Int) -> RecordIssue {
    let (kind, position) = (kinds[self.kind(at: index)], self.position(at: index))
    return RecordIssue(
      kind.code, severity: kind.severity,
      at: RecordPosition(input: input, record: position.record, line: position.line, byte: position.byte),
      field: kind.field, column: kind.column, value: value(at: index).map { String(decoding: $0, as: UTF8.self) },
      message: kind.messageEnd.map { "\(kind.message)\(number(at: index))\($0)" } ?? kind.message)
  }
}

extension PackedIssues {
  package mutating func append(contentsOf issues: some Sequence<RecordIssue>) {
    for issue in issues { append(issue) }
  }
}
