import Glibc
import TestSupport
import Testing

/// What a fault ends a run with, where the suites that try all calls once found another status or reason.
@Suite struct FaultMessageTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let kind: RunKind
    var fault: Fault
    let status: Int32
    let message: String

    init(_ description: String, _ kind: RunKind, fault: Fault, on name: String, gives status: Int32, message: String) {
      testDescription = description
      self.kind = kind
      self.fault = fault
      self.fault.nameEnd = name
      self.fault.isLasting = fault.action != .short
      (self.status, self.message) = (status, message)
    }
  }

  static let cases = [
    Case(
      "a disk without room for the -wal", .keyed, fault: Fault(.fail(ENOSPC), calls: [.open], at: 1), on: "/s-wal",
      gives: 74, message: "No space left on device"),
    Case(
      "a store that can't be opened on a disk that fails", .keyed, fault: Fault(.fail(EIO), calls: [.open], at: 1),
      on: "/s", gives: 74, message: "Input/output error"),
    Case(
      "a seed without room for its journal", .seed, fault: Fault(.fail(ENOSPC), calls: [.open], at: 1),
      on: "seeding/seed-journal", gives: 74, message: "No space left on device"),
    Case(
      "details of rejects that can't be read", .replay, fault: Fault(.fail(EIO), calls: [.read], at: 1),
      on: ".rejects.csv.jsonl", gives: 74, message: "can't be read"),
    Case(
      "details of rejects that can't be opened", .replay, fault: Fault(.fail(EIO), calls: [.open], at: 1),
      on: ".rejects.csv.jsonl", gives: 74, message: "can't be read"),
    Case(
      "a pipeline that can't be read", .plain, fault: Fault(.fail(EIO), calls: [.read], at: 1), on: "/p.json",
      gives: 74, message: "cannot read the pipeline: Input/output error; check the disk"),
    Case(
      "a pipeline that can't be opened", .replay, fault: Fault(.fail(EIO), calls: [.open], at: 1), on: "/p.json",
      gives: 74, message: "Input/output error; check the disk"),
    Case(
      "a model that can't be read", .modelled, fault: Fault(.fail(EIO), calls: [.read], at: 1),
      on: ".xcdatamodel/contents", gives: 74, message: "Input/output error. Check the file and its disk."),
    Case(
      "the version of a model that can't be read", .modelled, fault: Fault(.fail(EIO), calls: [.read], at: 1),
      on: "/.xccurrentversion", gives: 74, message: "Input/output error. Check the file and its disk."),
    Case(
      "a model that can't be read by a check", .check, fault: Fault(.fail(EIO), calls: [.read], at: 1),
      on: ".xcdatamodel/contents", gives: 74, message: "Input/output error. Check the file and its disk."),
    Case(
      "a model that can't be opened by a check", .check, fault: Fault(.fail(EIO), calls: [.open], at: 1),
      on: "/.xccurrentversion", gives: 74, message: "Input/output error. Check the file and its disk."),
    Case(
      "a model whose columns can't be listed", .schema, fault: Fault(.fail(EIO), calls: [.read], at: 1),
      on: ".xcdatamodel/contents", gives: 74, message: "Input/output error. Check the file and its disk."),
    Case(
      "a pipeline that can't be checked", .check, fault: Fault(.fail(EIO), calls: [.read], at: 1), on: "/spots.json",
      gives: 74, message: "cannot read the pipeline: Input/output error; check the disk"),
    Case(
      "a lock whose line is written in two pieces", .plain, fault: Fault(.short, calls: [.write], at: 1),
      on: "/s.lock", gives: 65, message: ""),
  ]

  @Test(arguments: cases)
  func `The status and the message name the cause`(_ example: Case) throws {
    let stage = try FaultStage(example.kind)
    try stage.reset()
    let (output, report) = try stage.run(example.fault)
    #expect(report.fired > 0)
    #expect(output.status == example.status, "\(output.messages)\(output.text)")
    // `check` prints mistakes as its result.
    let said = example.kind.name == RunKind.check.name ? output.text : output.messages
    #expect(said.contains(example.message) || example.message.isEmpty, "\(said)")
    expectNone(try stage.repetitionProblems())
  }

  /// SQLite then only reads, and says that the store may not be written to.
  @Test func `Shared memory that can't be opened once is a fault of the disk, not of permissions`() throws {
    let stage = try FaultStage(.afterKill)
    var fault = Fault(.fail(EIO), calls: [.open])
    fault.nameEnd = "/s-shm"
    #expect(try stage.expectNone(atEach: fault) > 1)
  }

  /// What a holder wrote, of which a power cut may leave the beginning, or the length with zeros.
  static let line = #"{"host":"h","pid":1,"pipeline":"p","since":"2026-01-01T00:00:00Z"}"# + "\n"

  @Test func `A lock file is taken over as a power cut leaves it, and never where it is another's`() throws {
    let zeros = String(repeating: "\0", count: Self.line.utf8.count)
    let left =
      ["", Self.line, String(Self.line.prefix(1)), String(Self.line.prefix(30)), zeros]
      + [String(Self.line.prefix(12)) + zeros]
    let stage = try FaultStage(.plain)
    for text in left {
      try stage.reset()
      try stage.work.write(text, to: "s.lock")
      #expect(try stage.repetitionProblems() == [], "\(text.debugDescription)")
    }
    for text in ["my notes", "{}", zeros + Self.line, #"{"hosts":1}"#] {
      try stage.reset()
      try stage.work.write(text, to: "s.lock")
      let (output, _) = try stage.run()
      #expect(output.status == 73, "\(text.debugDescription)")
      #expect(try stage.work.text("s.lock") == text)
    }
  }
}
