import Foundation
import PersistentStores
import SurfJournal
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Years of nights on one store, with what goes wrong on some of them.
@Suite("After thousands of nights a store, its ledger and its folder are as after the first ones", .serialized)
struct YearsTests {
  private static let nights = TestLength.rounds(90, long: 3000)
  private static let window = 30
  private static let start = Date(timeIntervalSinceReferenceDate: 400_000_000)

  private let folder: TemporaryFolder
  private let shimFolder: TemporaryFolder
  private var store: String { folder.path("journal.sqlite") }

  init() throws {
    (folder, shimFolder) = (try TemporaryFolder(), try TemporaryFolder())
    try folder.makeFolder("in")
    try folder.write(
      #"""
      {"name": "nightly", "columns": [{"name": "date", "required": true, "rules": ["required"]}, "location", "rating"],
       "key": ["date", "location"], "duplicates": "update", "chunkRows": 4, "report": "report.json",
       "inbox": {"folder": "in", "settleSeconds": 0}, "limits": {"historyDays": 15, "inputsDays": 25},
       "store": "journal.sqlite"}
      """#, to: "nightly.json")
  }

  /// The entries of the last nights, a few of them again with another rating, and now and then something bad.
  private func text(_ night: Int) -> String {
    let lines = (0..<8).map { offset in
      let entry = (night * 6 + offset) % (6 * Self.window)
      return Line.good(Session(day: entry, place: "Spot \(entry)", rating: night % 5 + 1))
    }
    let bad = night % 5 == 4 ? [Line.bad("soon,A,1")] : []
    return String(decoding: InputText(lines: lines + bad, delimiter: ",", lineEnd: "\n").bytes, as: UTF8.self)
  }

  private func run(_ night: Int, cancelled: Bool = false) async throws -> RunSummary {
    let definition = try PipelineDefinition(
      contentsOf: folder.file("nightly.json"), environment: DefinitionEnvironment(vocabulary: .journal))
    var options = RunOptions()
    options.store = store
    options.now = { Self.start.addingTimeInterval(86_400 * Double(night)) }
    let runner = PipelineRunner(definition, .import, options: options)
    if cancelled {
      let watching = Task { for await _ in runner.progress { runner.cancel() } }
      defer { watching.cancel() }
      return try await runner.run()
    }
    return try await runner.run()
  }

  /// Whether a night has only new entries, and nothing goes wrong.
  private static func isOrdinary(_ night: Int) -> Bool {
    night % 5 == 0 && night % 20 != 5
      && [(6, 1), (7, 2), (8, 3), (9, 4)].allSatisfy { night % $0.0 != $0.1 }
  }

  /// Runs a night as a process of its own, and returns its work, which is counted: allocations, their bytes, steps of SQLite
  /// and calls on files. They take the place of its time, which other programs change.
  private func work(of night: Int) throws -> [Int] {
    let page = shimFolder.path("page")
    let date = Self.start.addingTimeInterval(86_400 * Double(night))
    var environment = try Shim.environment(.none, in: folder, page: page).merging(Shim.countingMemory) { $1 }
    environment["SHIM_CLOCK"] = "\(Int(date.timeIntervalSince(Date())))"
    let output = try Programs.run(
      Simulation.program.path, ["run", "./nightly.json", "-q"], in: folder, environment: environment)
    #expect(output.status == 0, "night \(night): \(output.messages)")
    let report = try Shim.report(page)
    return [report.allocations, report.allocatedBytes, report.steps, report.counts.values.reduce(0, +)]
  }

  /// Begins a night as a process that is killed at one of its calls, or whose disk is full from there on.
  private func disturb(_ night: Int) throws {
    let number = night * 7919 % 250 + 1
    var fault = Fault(.kill, at: number)
    if night.isMultiple(of: 4) {
      fault = FaultMode.lastingDiskFull.fault(at: number / 4 + 1)
    }
    var environment = try Shim.environment(fault, in: folder, page: shimFolder.path("page"))
    let date = Self.start.addingTimeInterval(86_400 * Double(night))
    environment["SHIM_CLOCK"] = "\(Int(date.timeIntervalSince(Date())))"
    let output = try Programs.run(
      Simulation.program.path, ["run", "./nightly.json", "-q"], in: folder, environment: environment)
    #expect(
      [0, 65, 73, 74, 75, 128 + SIGKILL].contains(output.status), "night \(night), \(fault): \(output.messages)")
  }

  @Test func `Nights on which files are strange, come again, or are cut short, and processes are killed`() async throws
  {
    var sizes: [[Int]] = []
    var works: [[Int]] = []
    for night in 0..<Self.nights {
      try folder.write(text(night), to: "in/\(night).csv")
      if night % 6 == 1 { try folder.write("day,spot\n1,A\n", to: "in/strange \(night).csv") }
      if night % 7 == 2 { try folder.write(text(night - 1), to: "in/again \(night).csv") }
      if night % 8 == 3 { #expect(try await run(night, cancelled: true).counts.isConserved) }
      if night % 10 == 2 || night % 10 == 7 { try disturb(night) }
      if night % 9 == 4 {
        let lock = try RunLock(storePath: store, pipeline: "other", now: Date())
        #expect(try await run(night).exitCode == .temporaryFailure)
        lock.release()
      }
      if Shim.seesAllocations, Self.isOrdinary(night), night >= 2 * Self.window {
        works.append(try work(of: night))
      } else {
        let summary = try await run(night)
        #expect(summary.counts.isConserved)
        #expect([.ok, .dataError].contains(summary.exitCode), "\(summary.failure?.message ?? "")")
      }
      if night % 20 == 5 { try StoreUndo(store: store, vocabulary: .journal).apply() }
      #expect(try folder.names.filter { $0.hasSuffix(".part") || $0.hasPrefix(".") || $0.hasSuffix("-wal") }.isEmpty)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path("in")).sorted().allSatisfy { $0.count <= 9 })
      for name in try folder.names where name.contains(".rejects.") {
        try FileManager.default.removeItem(at: folder.file(name))
      }
      #expect(handles() == [])
      if night >= 2 * Self.window { sizes.append(try size()) }
    }
    Figures.add("nights", Self.nights, suite: Self.self)
    // After two windows everything that is kept for a time has been kept for that time.
    Self.expectFlat(sizes, "size")
    #expect(!Shim.seesAllocations || works.count > 2)
    Self.expectFlat(works, "work")
    #expect(try sqlite(store, "PRAGMA integrity_check") == "ok")
    // Each entry is there once.
    #expect(try sqlite(store, "SELECT count(*) - count(DISTINCT ZLOCATION) FROM ZJOURNALENTRY") == "0")
  }

  /// No part of what was counted on some nights is more on the later ones than on the earlier ones.
  private static func expectFlat(_ nights: [[Int]], _ name: String) {
    let half = nights.count / 2
    for part in 0..<(nights.first?.count ?? 0) {
      let (early, late) = (nights[..<half].map { $0[part] }.max() ?? 0, nights[half...].map { $0[part] }.max() ?? 0)
      #expect(late <= early + early / 4 + 2, "part \(part) of the \(name) has grown from \(early) to \(late)")
    }
  }

  /// The files of the test's folder that this process has open.
  private func handles() -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
      .filter { $0.hasPrefix(folder.url.path) }
  }

  /// Pages of the store, entries, and rows of the ledger's tables.
  private func size() throws -> [Int] {
    let tables = ["ZJOURNALENTRY", "SJ_INPUT", "SJ_INSERTED", "SJ_OVERWRITTEN", "SJ_ISSUE"]
    let counts = tables.map { "SELECT count(*) FROM \($0)" }.joined(separator: "; ")
    return try sqlite(store, "PRAGMA page_count; \(counts)").split(separator: "\n").compactMap { Int($0) }
  }

  @Test func `An inbox of many small files is imported, and the next one is too`() async throws {
    let (count, next) = (TestLength.isLong ? 100_000 : 400, 100)
    for (part, files) in [count, next].enumerated() {
      for number in 0..<files {
        try folder.write("date,location,rating\n2020-01-01,Spot \(part) \(number),1\n", to: "in/\(part)-\(number).csv")
      }
      let summary = try await run(part)
      #expect(summary.counts.inserted == files)
      #expect(summary.exitCode == .ok)
      #expect(handles() == [])
    }
    #expect(try sqlite(store, "SELECT count(*) FROM ZJOURNALENTRY") == "\(count + next)")
    Figures.add("files of an inbox", count, suite: Self.self)
  }
}
