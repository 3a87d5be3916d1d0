import CSV

@testable import CSV

/// Records of JSON Lines are those of a slow parser, in pieces of any size.
enum JSONLinesTarget: FuzzTarget {
  static let name = "json-lines"
  static let words = [
    "\"a\":", "\"b\":", "\"c\":{", "\"d\":", "null", "true", "\\u00e9", "\\ud83c\\udf0a", "[", "]", "{}", "\\\"", "1e5",
    "-0.5",
  ]
  private static let texts: [String] = [
    #"{"a":1,"b":"x","c":{"d":null}}"#, #"{"b":"\u00e9\n","x":[1,{"y":2}]}"#, #"{"a":"\ud83c\udf0a","a":2}"#,
    #"{"c":{"d":-1.5e3,"e":""}}"#, "[1]", "{", "{\"a\":true}\r\n\n {\"a\":false}",
  ]
  static let seeds: [[UInt8]] = (0..<3).map { extra in [UInt8(extra)] + Array(texts.joined(separator: "\n").utf8) }

  private struct Record: Equatable {
    /// Nil for a record that is refused.
    var values: [[UInt8]]?
    var areQuoted: [Bool] = []
  }

  /// `a`, `b` and `d` in `c`.
  private static func use(_ label: String) -> MemberUse {
    switch label {
    case "a": MemberUse(field: 0)
    case "b": MemberUse(field: 1)
    case "c": MemberUse(isContainer: true)
    case "c.d": MemberUse(field: 2)
    default: MemberUse()
    }
  }

  static func run(_ input: inout FuzzInput) {
    let extra: MemberSelection.Extra = input.choice(of: [.ignored, .noted, .refused])
    let bytes = input.rest
    guard let whole = read(bytes, extra, readBytes: 16 << 10) else { return }
    for size in [1, 5] {
      requireEqual(read(bytes, extra, readBytes: size), whole, rule: "pieces of \(size) give the same")
    }
    let text = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
    var lines = text.split(separator: 10, omittingEmptySubsequences: false).map { Array($0) }
    for index in lines.indices.dropLast() where lines[index].last == 13 { lines[index].removeLast() }
    let expected = lines.filter { !$0.allSatisfy { [32, 9, 13].contains($0) } }.map { line in
      record(line, refusesExtra: extra == .refused)
    }
    requireEqual(whole, expected, rule: "records are those of the slow parser")
  }

  private static func read(_ bytes: [UInt8], _ extra: MemberSelection.Extra, readBytes: Int) -> [Record]? {
    var records: [Record] = []
    do throws(CSVError) {
      let window = InputWindow(try ByteSource(bytes: bytes), readBytes: readBytes)
      let selection = MemberSelection(fieldCount: 3, extra: extra, use: use)
      let reader = try JSONLinesReader(window, selection, limits: .quick)
      var block = RecordBlock()
      while try reader.next(into: &block, recordsMax: 3) {
        for (index, record) in block.records.enumerated() {
          let isRefused = !record.problems.subtracting(.repairs).isEmpty
          if isRefused, record.problems.contains(.refusedMember), block.memberFaults(ofRecordAt: index).isEmpty {
            broken("a refused record has a fault")
          }
          records.append(isRefused ? Record() : values(block, record))
        }
      }
    } catch {
      return nil
    }
    return records
  }

  private static func values(_ block: RecordBlock, _ record: RecordSlice) -> Record {
    let fields = block.fields(of: record)
    let values = fields.map { field in
      var value: [UInt8] = []
      block.appendValue(of: field, to: &value)
      return value
    }
    return Record(values: values, areQuoted: fields.map(\.isQuoted))
  }

  // MARK: The slow parser's records

  private static func record(_ line: [UInt8], refusesExtra: Bool) -> Record {
    guard String(validating: line, as: UTF8.self) != nil, case .object(let members)? = PlainJSON(line),
      isUsable(members, names: ["a", "b", "c"], refusesExtra: refusesExtra)
    else { return Record() }
    var record = Record(values: [[], [], []], areQuoted: [false, false, false])
    for member in members {
      switch (member.name, member.value) {
      case ("a", let value): fill(0, with: value, of: &record)
      case ("b", let value): fill(1, with: value, of: &record)
      case ("c", .object(let inner)):
        guard isUsable(inner, names: ["d"], refusesExtra: refusesExtra) else { return Record() }
        for member in inner where member.name == "d" { fill(2, with: member.value, of: &record) }
      case ("c", .null): continue
      case ("c", _): return Record()
      default: continue
      }
      if record.values == nil { return record }
    }
    return record
  }

  private static func isUsable(_ members: [PlainJSON.Member], names: [String], refusesExtra: Bool) -> Bool {
    if Set(members.map { Array($0.name.utf8) }).count < members.count || members.contains(where: \.isHalf) {
      return false
    }
    return !refusesExtra || members.allSatisfy { member in names.contains { $0.utf8.elementsEqual(member.name.utf8) } }
  }

  private static func fill(_ field: Int, with value: PlainJSON, of record: inout Record) {
    switch value {
    case .null: return
    case .literal(let text), .number(let text): record.values?[field] = Array(text.utf8)
    case .text(let text, let isHalf):
      record.values?[field] = Array(text.utf8)
      record.areQuoted[field] = true
      if isHalf { record = Record() }
    case .array, .object: record = Record()
    }
  }
}
