/// Scans lines as JSON objects and finds in each the members that are fields.
struct JSONRecordScanner {
  private enum Sign {
    static let openBrace = UInt8(ascii: "{")
    static let openBracket = UInt8(ascii: "[")
    static let minus = UInt8(ascii: "-")
  }

  /// The fields of the last record. A member that is null or missing is an empty field without quotes: one that is null
  /// where `null` is, one that is missing at the start of the record.
  private(set) var fields: [FieldSlice]
  /// What is wrong with the last record. If it has no syntax, nothing else is listed.
  private(set) var faults: [MemberFault] = []
  /// The members of the records so far; nil unless these are the first ones, which name the columns.
  var survey: MemberSurvey?
  /// The fields that were found to be missing, by field.
  var isMissing: [Bool]

  private var tree: MemberTree
  private let fieldBytesMax: Int
  private var cursor = JSONCursor(at: 0, end: 0)
  /// Number of the record, for marks.
  private var number = 0
  /// For each field the number of the last record that has a value.
  private var filledIn: [Int]
  private var start = 0
  private var hasLongField = false

  init(_ selection: MemberSelection, fieldBytesMax: Int) {
    tree = MemberTree(selection)
    let none = FieldSlice(first: 0, length: 0, flags: 0)
    fields = Array(repeating: none, count: selection.fieldCount)
    filledIn = Array(repeating: 0, count: selection.fieldCount)
    isMissing = Array(repeating: false, count: selection.fieldCount)
    self.fieldBytesMax = fieldBytesMax
  }

  /// Scans the record in `range` of the bytes, which are valid UTF-8.
  /// - Returns: the problems; `fields` are valid if there are none but `RecordProblems.extraMember`.
  mutating func scan(_ bytes: Span<UInt8>, _ range: Range<Int>) -> RecordProblems {
    number += 1
    start = range.lowerBound
    hasLongField = false
    faults.removeAll(keepingCapacity: true)
    cursor = JSONCursor(at: range.lowerBound, end: range.upperBound)
    let none = FieldSlice(first: UInt32(truncatingIfNeeded: range.lowerBound), length: 0, flags: 0)
    for index in fields.indices { fields[index] = none }
    do throws(JSONCursor.SyntaxError) {
      try scanRecord(bytes)
      survey?.records += 1
    } catch {
      faults = [MemberFault(kind: .syntax(error.message), record: 0, byte: error.offset - start, label: "")]
    }
    if faults.isEmpty { return hasLongField ? .fieldTooLong : [] }
    if faults.contains(where: { !$0.isNoted }) { return .refusedMember }
    return hasLongField ? [.extraMember, .fieldTooLong] : .extraMember
  }

  private mutating func scanRecord(_ bytes: Span<UInt8>) throws(JSONCursor.SyntaxError) {
    cursor.skipSpace(bytes)
    guard cursor.next(bytes) == Sign.openBrace else {
      throw cursor.error("the line is not an object; each line is one, such as {\"rating\": 4}")
    }
    try scanMembers(bytes, of: MemberTree.root, depth: 0)
    cursor.skipSpace(bytes)
    if cursor.at < cursor.end { throw cursor.error("text follows the object; each line is one object") }
  }

  private mutating func scanMembers(
    _ bytes: Span<UInt8>, of parent: Int, depth: Int
  ) throws(JSONCursor.SyntaxError) {
    tree.begin(parent)
    guard try cursor.openObject(bytes, depth: depth) else { return }
    repeat {
      let nameStart = cursor.at
      let name = try cursor.readName(bytes)
      let node = child(of: parent, bytes, name.content, isEscaped: name.traits.hasEscapes)
      guard tree.mark(node, seenIn: number) else {
        note(.duplicateName, node, at: nameStart)
        try cursor.skipValue(bytes, depth: depth + 1)
        continue
      }
      if name.traits.hasHalfCharacter { note(.halfCharacter, node, at: nameStart) }
      try scanValue(bytes, of: node, at: nameStart, depth: depth)
    } while try cursor.passesToNextMember(bytes)
  }

  private mutating func child(of parent: Int, _ bytes: Span<UInt8>, _ name: Range<Int>, isEscaped: Bool) -> Int {
    if !isEscaped { return tree.child(of: parent, bytes.extracting(name)) }
    var text: [UInt8] = []
    JSONText.appendUnescaped(bytes.extracting(name), to: &text)
    return tree.child(of: parent, text.span)
  }

  private mutating func scanValue(
    _ bytes: Span<UInt8>, of node: Int, at nameStart: Int, depth: Int
  ) throws(JSONCursor.SyntaxError) {
    let use = tree.nodes[node].use
    if let field = use.field {
      survey?.fields.insert(field)
    } else if !use.isContainer {
      noteExtra(node, at: nameStart)
      return try cursor.skipValue(bytes, depth: depth + 1)
    }
    switch cursor.next(bytes) {
    case Sign.openBrace:
      if use.field != nil, !use.containsField { note(.object, node, at: nameStart) }
      if use.isContainer { return try scanMembers(bytes, of: node, depth: depth + 1) }
      try cursor.skipValue(bytes, depth: depth + 1)
    case Sign.openBracket:
      note(.array, node, at: nameStart)
      try cursor.skipValue(bytes, depth: depth + 1)
    case JSONText.quote:
      let content = cursor.at + 1
      let traits = try cursor.readString(bytes)
      if traits.hasHalfCharacter { note(.halfCharacter, node, at: nameStart) }
      let flags = FieldSlice.quotedFlag | FieldSlice.closedFlag | (traits.hasEscapes ? FieldSlice.unescapingFlag : 0)
      fill(node, with: content..<cursor.at - 1, flags: flags, at: nameStart)
    case Sign.minus, 0x30...0x39:
      let content = cursor.at
      try cursor.readNumber(bytes)
      fill(node, with: content..<cursor.at, flags: 0, at: nameStart)
    default:
      let content = cursor.at
      let isNull = cursor.next(bytes) == UInt8(ascii: "n")
      try cursor.readLiteral(bytes)
      if isNull { clear(node, at: content) } else { fill(node, with: content..<cursor.at, flags: 0, at: nameStart) }
    }
  }

  /// Makes the value the content of the member's field.
  private mutating func fill(_ node: Int, with content: Range<Int>, flags: UInt32, at nameStart: Int) {
    guard let field = tree.nodes[node].use.field else { return note(.notObject, node, at: nameStart) }
    if filledIn[field] == number { return note(.secondValue, node, at: nameStart) }
    filledIn[field] = number
    if isMissing[field] { note(.lateColumn, node, at: nameStart) }
    if content.count > fieldBytesMax { hasLongField = true }
    fields[field] = FieldSlice(
      first: UInt32(truncatingIfNeeded: content.lowerBound), length: UInt32(truncatingIfNeeded: content.count),
      flags: flags)
  }

  /// The member is null: its field, and those of the members that it would have, are stated to have no value.
  private mutating func clear(_ node: Int, at start: Int) {
    let use = tree.nodes[node].use
    let empty = FieldSlice(first: UInt32(truncatingIfNeeded: start), length: 0, flags: 0)
    if let field = use.field, filledIn[field] != number { fields[field] = empty }
    for field in use.fieldsWithin where filledIn[field] != number { fields[field] = empty }
  }

  private mutating func noteExtra(_ node: Int, at offset: Int) {
    if tree.nodes[node].isKnownExtra || tree.selection.extra == .ignored && survey == nil { return }
    if survey != nil {
      survey?.extraLabels.append(tree.labels[node])
      _ = tree.noteExtra(node)
      return
    }
    let isLast = tree.selection.extra == .noted && tree.noteExtra(node)
    note(isLast ? .lastExtra : .extra, node, at: offset)
  }

  private mutating func note(_ kind: MemberFault.Kind, _ node: Int, at offset: Int) {
    faults.append(
      MemberFault(
        kind: kind, record: 0, byte: offset - start, label: tree.labels[node], field: tree.nodes[node].use.field,
        isNoted: (kind == .extra || kind == .lastExtra) && tree.selection.extra == .noted))
  }
}
