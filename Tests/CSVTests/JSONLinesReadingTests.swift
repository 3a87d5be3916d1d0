@testable import CSV
import Foundation
import TestSupport
import Testing

/// Lines of JSON become records as the grammar says, whatever the size of a read, and nothing else does.
@Suite(.seeded) struct JSONLinesReadingTests {
  /// The fields `a`, `b.c` and `b.d.e`, and a container `b` without a field of its own.
  static func selection(_ extra: MemberSelection.Extra = .ignored) -> MemberSelection {
    let fields = ["a": 0, "b.c": 1, "b.d.e": 2]
    return MemberSelection(fieldCount: 3, extra: extra) { label in
      MemberUse(field: fields[label], isContainer: label == "b" || label == "b.d")
    }
  }

  /// The fields of the records, nil for no value, and the kinds of their faults.
  static func read(
    _ text: [UInt8], readBytes: Int = 256 << 10, limits: CSVLimits = CSVLimits(), recordsMax: Int = 3,
    surveys: Bool = true
  ) throws -> [String] {
    let window = InputWindow(try ByteSource(bytes: text), readBytes: readBytes)
    let reader = try JSONLinesReader(window, selection(), limits: limits)
    reader.contentHash = ContentHash()
    if surveys { _ = try reader.readSurvey() }
    var block = RecordBlock()
    var lines: [String] = []
    while try reader.next(into: &block, recordsMax: recordsMax) {
      for (index, record) in block.records.enumerated() {
        let values = block.fields(of: record).map {
          $0.count == 0 && !$0.isQuoted ? "-" : block.string(of: $0).debugDescription
        }
        let faults = block.memberFaults(ofRecordAt: index).map { "\($0.kind)@\($0.byte)" }
        lines.append("\(record.line)/\(record.byteOffset) \(values) \(faults) \(record.problems.rawValue)")
      }
    }
    let whole = ContentHash()
    whole.update(text)
    #expect(reader.contentHash?.digest == whole.digest)
    #expect(reader.position.byteOffset == text.count)
    return lines
  }

  @Test func `Members are found by their names at any depth, and null, missing and empty differ`() throws {
    let text =
      #"{"a":"x","b":{"c":1.50,"d":{"e":true}}}"# + "\r\n  \n"
      + #" { "b" : { "d" : null , "c" : null } , "z" : [ 1 , { "a" : 2 } ] , "a" : "" } "# + "\n{}\n"
      + #"{"\u0061":"\u00e9\ud83c\udfc4\n\u0000\/","b":null}"#
    let found = try Self.read(Array(text.utf8)).map { $0.split(separator: " ", maxSplits: 1) }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(found.map { $0[0].split(separator: "/")[0] } == ["1", "3", "4", "5"])
    #expect(found[3][0].hasSuffix("/\(text.utf8.count - (lines.last?.utf8.count ?? 0))"))
    let decoded = "é🏄\n\0/".debugDescription
    #expect(
      found.map { $0[1] } == [
        #"["\"x\"", "\"1.50\"", "\"true\""] [] 0"#, #"["\"\"", "-", "-"] [] 0"#, #"["-", "-", "-"] [] 0"#,
        "\([decoded, "-", "-"]) [] 0",
      ])
  }

  static let faulty: [(line: String, fault: String)] = [
    (#"{"a":1,"a":2}"#, "duplicateName@7"), (#"{"z":1,"z":2}"#, "duplicateName@7"), (#"{"a":[1]}"#, "array@1"),
    (#"{"a":{"x":1}}"#, "object@1"), (#"{"b":7}"#, "notObject@1"), (#"{"b":[{"c":1}]}"#, "array@1"),
    (#"{"b":{"c":{}}}"#, "object@6"), (#"{"a":"\ud800"}"#, "halfCharacter@1"),
    (#"{"a":"\udc00\ud800"}"#, "halfCharacter@1"),
  ]

  @Test(arguments: faulty)
  func `A member that can't be a field makes its record a reject`(_ example: (line: String, fault: String)) throws {
    let found = try Self.read(Array("{\"a\":1}\n\(example.line)\n".utf8))
    #expect(found == [#"1/0 ["\"1\"", "-", "-"] [] 0"#, "2/8 [] [\"\(example.fault)\"] \(1 << 11)"])
  }

  @Test func `What a column does not need may be anything that is JSON`() throws {
    let found = try Self.read(Array(#"{"z":{"q":1,"q":[{},[]],"\ud800":"\udfff"},"a":"v"}"#.utf8))
    #expect(found == [#"1/0 ["\"v\"", "-", "-"] [] 0"#])
  }

  @Test func `A line that is too long is cut, and one that is not UTF-8 is marked`() throws {
    let long = Array("{\"a\":\"\(String(repeating: "x", count: 300))\"}\n".utf8)
    let text = Array("{\"a\":1}\n".utf8) + long + [0x7B, 0xFF, 0x7D, 0x0A] + Array("{\"a\":2}".utf8)
    for readBytes in [1, 7, 64, 5000] {
      let found = try Self.read(text, readBytes: readBytes, limits: CSVLimits(fieldBytesMax: 50, recordBytesMax: 200))
      #expect(
        found == [
          #"1/0 ["\"1\"", "-", "-"] [] 0"#, "2/8 [] [] \(1 << 5 | 1 << 8)", "3/317 [] [] 1",
          #"4/321 ["\"2\"", "-", "-"] [] 0"#,
        ])
    }
  }

  /// Lines that a generator made of pieces of JSON, most of them broken somewhere.
  static func lines(_ count: Int) throws -> [UInt8] {
    try python(
      #"""
      import json, random, sys
      random.seed(\#(Randomness.seed))
      names = ["a", "b", "c", "d", "e", "z", "é", "\u2028", ""]
      def value(depth):
          kind = random.randrange(9 if depth else 6)
          if kind == 0: return random.choice([True, False, None])
          if kind == 1: return random.randrange(-10**20, 10**20)
          if kind == 2: return random.uniform(-1e3, 1e3) * 10 ** random.randrange(-300, 300)
          if kind < 6: return "".join(random.choices(["x", '"', "\\", "\n", "\0", "🏄", "é", "\u2028", "/"], k=random.randrange(6)))
          if kind == 6: return [value(depth - 1) for _ in range(random.randrange(3))]
          return {random.choice(names): value(depth - 1) for _ in range(random.randrange(5))}
      for _ in range(\#(count)):
          text = json.dumps({random.choice(names): value(3) for _ in range(random.randrange(6))}, ensure_ascii=random.random() < 0.5)
          line = bytearray(text.encode())
          for _ in range(random.choice([0, 0, 0, 1, 1, 2])):
              at = random.randrange(len(line))
              if random.random() < 0.5: del line[at]
              else: line[at:at + random.randrange(2)] = random.choice([b'"', b"\\", b"0", b"-", b".", b"e", b"{", b"]", b",", b"\t", b"\x01", b"u12", b"NaN", b" ", b"+"])
          sys.stdout.buffer.write(bytes(line).replace(b"\n", b" ") + random.choice([b"\n", b"\r\n", b"\n\n"]))
      """#, input: [])
  }

  @Test func `The size of a read, of a block and a continuation at any record change nothing`() throws {
    let text = try Self.lines(200)
    let expected = try Self.read(text)
    for readBytes in [1, 3, 17, 300] {
      #expect(try Self.read(text, readBytes: readBytes, recordsMax: readBytes) == expected)
    }
    #expect(try Self.read(text, surveys: false) == expected)
    let source = try ByteSource(bytes: text)
    let first = try JSONLinesReader(InputWindow(source, readBytes: 64), Self.selection(), limits: CSVLimits())
    var block = RecordBlock()
    var count = 0
    while try first.next(into: &block, recordsMax: 7) {
      count += block.records.count
      let rest = try JSONLinesReader(
        InputWindow(try ByteSource(bytes: text), readBytes: 64), Self.selection(), limits: CSVLimits())
      _ = try rest.readSurvey()
      try rest.skip(to: block.end)
      var next = RecordBlock()
      if try rest.next(into: &next, recordsMax: 1) {
        let parts = expected[count].split(separator: " ")
        #expect("\(next.records[0].line)/\(next.records[0].byteOffset)" == parts[0])
        #expect(next.start.record == count + 1)
      }
    }
    #expect(count == expected.count)
  }

  @Test func `Python agrees on which lines are one JSON object`() throws {
    let text = try Self.lines(TestLength.rounds(3000, long: 100_000))
    let verdicts = try python(
      #"""
      import json, sys
      def refuse(text): raise ValueError(text)
      for line in sys.stdin.buffer.read().split(b"\n"):
          if not line.strip(b" \t\r"): continue
          try: good = isinstance(json.loads(line.decode(), parse_constant=refuse), dict)
          except ValueError: good = False
          sys.stdout.buffer.write(b"1" if good else b"0")
      """#, input: text)
    let source = try ByteSource(bytes: text)
    let selection = MemberSelection(fieldCount: 0, extra: .ignored) { _ in MemberUse() }
    let reader = try JSONLinesReader(InputWindow(source, readBytes: 1 << 16), selection, limits: CSVLimits())
    var block = RecordBlock()
    var found: [UInt8] = []
    while try reader.next(into: &block, recordsMax: 1000) {
      for (index, record) in block.records.enumerated() {
        let isBroken =
          record.problems.contains(.invalidUTF8)
          || block.memberFaults(ofRecordAt: index).contains { if case .syntax = $0.kind { true } else { false } }
        found.append(UInt8(ascii: isBroken ? "0" : "1"))
      }
    }
    #expect(found == verdicts)
    #expect(found.contains(UInt8(ascii: "0")) && found.contains(UInt8(ascii: "1")))
  }

  @Test func `Other encodings are refused by name, and a byte order mark is skipped`() throws {
    #expect(try Self.read([0xEF, 0xBB, 0xBF] + Array("{\"a\":1}\n".utf8)) == [#"1/3 ["\"1\"", "-", "-"] [] 0"#])
    let wide = Array("{\"a\":1}\n".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    for (text, name) in [(wide, "UTF-16"), ([0xFF, 0xFE] + wide, "UTF-16LE")] {
      let error = #expect(throws: CSVError.self) { try Self.read(text) }
      #expect(error?.code == .encoding && error?.message.contains(name) == true)
    }
  }
}
