import Foundation
import TestSupport
import Testing

/// A seed that was published by a run that ended before its report: the next run for the path reports it, with its
/// numbers, whatever has become of the inputs.
@Suite struct OwedSeedTests {
  private let folder: TemporaryFolder
  private let calls: FileCalls
  private let uuid: String

  /// The folder after a run that was killed when its report was about to get its name.
  init() throws {
    folder = try TemporaryFolder()
    calls = try FileCalls()
    for (name, text) in RunKind.definitions { try folder.write(text, to: name) }
    try folder.write(RunKind.records(0..<60), to: "log.csv")
    // A report has whole seconds, and an input of the same one may be newer than the run.
    let attributes = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -60)]
    try FileManager.default.setAttributes(attributes, ofItemAtPath: folder.path("log.csv"))
    let killed = try calls.run(Self.command, in: folder, killedBefore: "/r.json")
    try #require(killed.status == 128 + SIGKILL && folder.exists("seed") && folder.exists("seed.seeding"))
    uuid = try Self.uuid(in: folder)
    try #require(try folder.names.contains("log.csv.rejects.csv"))
  }

  private static let command =
    ["seed", "--from", "log.csv", "-o", "seed", "--pipeline", "p.json", "--single-file", "-q", "--report", "r.json"]
  private static let owed = Summary.Counts(read: 60, inserted: 57, rejected: 3)

  private static func uuid(in folder: TemporaryFolder) throws -> String {
    try Programs.sqlite("seed", "SELECT Z_UUID FROM Z_METADATA", in: folder).trimmingCharacters(in: .newlines)
  }

  private struct Report: Decodable {
    struct Seed: Decodable { let uuid: String }
    struct Failure: Decodable { let message: String }
    let outcome: String
    let counts: Summary.Counts
    let seed: Seed?
    let failure: Failure?
    let note: String?
  }

  private func report() throws -> Report { try JSONDecoder().decode(Report.self, from: folder.data("r.json")) }

  private func run(_ more: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, Self.command + more, in: folder)
  }

  /// As the next night finds the inputs.
  private func changeInputs() throws { try folder.write(RunKind.records(0..<30, badEvery: nil), to: "log.csv") }

  @Test func `With the same inputs it is reported as it was made`() throws {
    let output = try run()
    #expect(output.status == 65, "\(output.messages)")
    let report = try report()
    #expect(report.counts == Self.owed && report.seed?.uuid == uuid)
    #expect(report.outcome == "completed" && report.note?.contains("which was not reported") == true)
    #expect(!folder.exists("seed.seeding"))
  }

  @Test func `With other inputs it is reported too, by a run that says why it makes none of them`() throws {
    try changeInputs()
    let output = try run()
    #expect(output.status == 73 && output.messages.contains("seed exists already"), "\(output.messages)")
    let report = try report()
    #expect(report.counts == Self.owed && report.seed?.uuid == uuid)
    #expect(report.outcome == "failed" && report.failure?.message.contains("exists already") == true)
    #expect(report.note?.contains("which was not reported") == true)
    #expect(try Self.uuid(in: folder) == uuid)
    #expect(try folder.names.filter { $0.hasPrefix("seed") } == ["seed"])
    #expect(try run().status == 73)
    #expect(try self.report().counts == Summary.Counts())
  }

  @Test func `A seed that replaces it is made after the report, and has the numbers in its own`() throws {
    try changeInputs()
    let killed = try calls.run(Self.command + ["--force"], in: folder, killedBefore: "seed.seeding/import")
    #expect(killed.status == 128 + SIGKILL)
    #expect(try report().counts == Self.owed)
    #expect(try run("--force").status == 0)
    let report = try report()
    #expect(report.counts == Summary.Counts(read: 30, inserted: 30))
    #expect(try report.seed?.uuid == Self.uuid(in: folder) && report.seed?.uuid != uuid)
    #expect(try folder.names.filter { $0.hasPrefix("seed") } == ["seed"])
  }

  @Test func `The report of a seed that replaces it says what it was`() throws {
    try changeInputs()
    #expect(try run("--force").status == 0)
    let note = try report().note ?? ""
    #expect(note.contains("which was not reported: 60 records read, 57 inserted, 3 rejected"), "\(note)")
  }

  @Test(arguments: [[], ["--force"]])
  func `Its report stays owed while it can't be written`(_ more: [String]) throws {
    try changeInputs()
    let output = try calls.run(Self.command + more, in: folder, failing: "write:r.json:\(ENOSPC)")
    #expect(output.status == (more.isEmpty ? 73 : 74), "\(output.messages)")
    #expect(try Self.uuid(in: folder) == uuid && folder.exists("seed.seeding/summary.json"))
    #expect(try run().status == 73)
    #expect(try report().counts == Self.owed)
  }

  @Test func `A run of another pipeline leaves it to those of its own`() throws {
    let other = Self.command.map { ["p.json": "k.json", "r.json": "other.json"][$0] ?? $0 }
    let output = try Programs.run(Tool.url.path, other, in: folder)
    #expect(output.status == 73 && output.messages.contains("exists already"), "\(output.messages)")
    #expect(try JSONDecoder().decode(Report.self, from: folder.data("other.json")).counts == Summary.Counts())
    #expect(try run().status == 65)
    #expect(try report().counts == Self.owed)
  }
}
