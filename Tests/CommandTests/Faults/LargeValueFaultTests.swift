import Foundation
import Glibc
import TestSupport
import Testing

/// An import that writes, replaces and clears large values is killed at any call on files, meets an error there, or the
/// power fails: no row is without its file, and a repetition leaves exactly the files that rows have.
@Suite(.seeded) struct LargeValueFaultTests {
  private let work: TemporaryFolder
  private let base: TemporaryFolder
  private let own: TemporaryFolder
  private static let model = """
    <model>
      <entity name="Surfer">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
      </entity>
    </model>
    """
  private static let pipeline = """
    {"name": "k", "entity": "Surfer", "model": "Club.xcdatamodel", "chunkRows": 2, "columns": ["name", "photo"],
      "key": ["name"], "duplicates": "update"}
    """

  /// By name: the byte that the photo consists of; nil for none.
  private static let old: [String: UInt8?] = ["Ann": 1, "Bob": 2, "Cid": 3, "Dan": nil]
  private static let new: [String: UInt8?] = ["Ann": 11, "Bob": nil, "Cid": 3, "Dan": 14, "Eve": 15]

  private static func photo(_ byte: UInt8) -> Data { Data(repeating: byte, count: 131_073 + Int(byte)) }

  private static func records(_ photos: [String: UInt8?]) -> String {
    let lines = photos.sorted { $0.key < $1.key }.map { name, byte in
      "\(name),\(byte.map { photo($0).base64EncodedString() } ?? "")"
    }
    return "name,photo\n" + lines.joined(separator: "\n") + "\n"
  }

  init() throws {
    (work, base, own) = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder())
    try work.makeFolder("Club.xcdatamodel")
    try work.makeFolder("tmp")
    try work.write(Self.model, to: "Club.xcdatamodel/contents")
    try work.write(Self.pipeline, to: "k.json")
    try work.write(Self.records(Self.old), to: "a.csv")
    try work.write(Self.records(Self.new), to: "b.csv")
    try #require(try Programs.run(Tool.url.path, Self.load("a.csv"), in: work).status == 0)
    try #require(try photos() == Self.old)
    for name in try work.names { try FileManager.default.copyItem(at: work.file(name), to: base.file(name)) }
  }

  private static func load(_ name: String) -> [String] {
    ["import", name, "--store", "s.sqlite", "--pipeline", "k.json", "-q"]
  }

  private func clear() throws {
    for name in try work.names { try FileManager.default.removeItem(at: work.file(name)) }
  }

  private func reset() throws {
    try clear()
    for name in try base.names { try FileManager.default.copyItem(at: base.file(name), to: work.file(name)) }
  }

  private func run(_ fault: Fault, recording record: String? = nil) throws -> (ProgramOutput, ShimReport) {
    let page = own.path("page")
    var environment = try Shim.environment(fault, in: work, page: page, recording: record)
    environment["TMPDIR"] = work.path("tmp")
    let output = try Programs.run(Tool.url.path, Self.load("b.csv"), in: work, environment: environment)
    return (output, try Shim.report(page))
  }

  // MARK: What is there

  private static let values = ".s_SUPPORT/_EXTERNAL_DATA"

  /// The photos by name, as the sqlite3 shell and the files have them.
  private func photos() throws -> [String: UInt8?] {
    let query = "SELECT ZNAME || ' ' || coalesce(CAST(substr(ZPHOTO, 2, 36) AS TEXT), '') FROM ZSURFER"
    var found: [String: UInt8?] = [:]
    for line in try Programs.sqlite("s.sqlite", query, in: work).split(separator: "\n") {
      let parts = line.split(separator: " ", omittingEmptySubsequences: false)
      guard !parts[1].isEmpty else {
        found[String(parts[0])] = .some(nil)
        continue
      }
      let data = try work.data("\(Self.values)/\(parts[1])")
      try #require(data.first.map(Self.photo) == data, "the file of \(parts[0])")
      found[String(parts[0])] = data[0]
    }
    return found
  }

  private var files: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: work.path(Self.values)).count) ?? 0
  }

  /// Each photo is one of the two, and a repetition leaves the new ones and no other file.
  private func check(_ place: String, permitsOrphans: Bool = false) throws {
    for (name, byte) in try photos() {
      try #require(Self.old[name] == byte || Self.new[name] == byte, "\(place): \(name)")
    }
    expectNone(try Conservation.problems(in: work).map { "\(place): \($0)" })
    let again = try Programs.run(Tool.url.path, Self.load("b.csv"), in: work)
    #expect(again.status == 0, "\(place): \(again.messages)")
    expectNone(try Conservation.problems(in: work).map { "\(place), run again: \($0)" })
    #expect(try photos() == Self.new, "\(place)")
    #expect(permitsOrphans || files == 4, "\(place): \(files) files")
    #expect(!work.exists(".s_SUPPORT/_OPENCOREDATA_PENDING"), "\(place)")
  }

  // MARK: Faults

  @Test func `Killed at any call, or refused by the system there, no row is without its file`() throws {
    var random = Randomness.generator()
    try reset()
    let (undisturbed, report) = try run(.none)
    try #require(undisturbed.status == 0 && photos() == Self.new && files == 4)
    let rounds = TestLength.rounds(12, long: 3 * report.counted)
    var happened = 0
    for round in 0..<rounds {
      let actions: [Fault.Action] = [.kill, .fail(EIO), .fail(ENOSPC)]
      let point = rounds > report.counted ? round / 3 + 1 : Int.random(in: 1...report.counted, using: &random)
      try reset()
      let (_, met) = try run(Fault(actions[round % 3], at: point))
      if met.fired == 0 { continue }
      happened += 1
      try check("\(actions[round % 3]) at call \(point): \(met.call)")
    }
    #expect(happened * 2 > rounds)
    Figures.add("faults", happened, suite: Self.self)
    if FaultPoint.areAll { Figures.add("series of a fault at every call", 1, suite: Self.self) }
    print("large values: \(happened) faults of \(report.counted) calls, seed \(Randomness.seed)")
  }

  @Test func `After a power cut at any moment no row is without its file`() throws {
    var random = Randomness.generator()
    try reset()
    let begin = try PowerCut(of: work)
    let record = own.path("record")
    try #require(try run(.none, recording: record).0.status == 0)
    let changes = try RecordedChange.changes(in: try own.data("record"), below: work.url.path)
    let images = TestLength.rounds(6, long: 300)
    for _ in 0..<images {
      let cut = Int.random(in: 0...changes.count, using: &random)
      let rest = PowerCut.Rest.allCases.randomElement(using: &random) ?? .some
      var disk = begin
      for change in changes.prefix(cut) { disk.add(change) }
      try clear()
      try disk.write(to: work, rest, using: &random)
      try check("power cut after change \(cut) of \(changes.count), \(rest) of the rest", permitsOrphans: true)
    }
    Figures.add("images after a power cut", images, suite: Self.self)
  }
}
