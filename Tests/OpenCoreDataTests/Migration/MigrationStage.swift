import Foundation
import TestSupport
import Testing

@testable import OpenCoreData

/// A store of an older model in a folder of its own, which another process migrates under the shim, again and again
/// from the same beginning.
struct MigrationStage {
  /// Names the store, the model and, for a custom migration, the mapping model for the other process.
  static let (storeKey, modelKey) = ("SURFJOURNAL_MIGRATED_STORE", "SURFJOURNAL_MIGRATED_MODEL")
  static let mappingKey = "SURFJOURNAL_MIGRATED_MAPPING"

  let work: TemporaryFolder
  let undisturbed: ShimReport
  /// What the store holds before and after, and the names in the folder afterwards.
  let before: String
  let after: String
  private let names: [String]
  private let base: TemporaryFolder
  private let law: [KeptRows]
  private let own: TemporaryFolder
  private let target: Target

  /// What the store is migrated to, and by what.
  private struct Target {
    let model: URL
    let mapping: URL?
  }

  /// - Parameters:
  ///   - model: The new model; the version of the store is next to it.
  ///   - mapping: A mapping model file; nil to have one inferred.
  ///   - law: What it must keep of every row.
  ///   - prepare: Makes `store.sqlite` and what belongs to it.
  init(
    to model: URL, by mapping: URL? = nil, keeping law: [KeptRows], _ prepare: (TemporaryFolder) throws -> Void
  ) throws {
    (work, base, own, self.law) = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder(), law)
    target = Target(model: model, mapping: mapping)
    try prepare(base)
    try Self.copy(base, to: work)
    before = try Self.contents(of: work)
    let (output, report) = try Self.run(.none, to: target, in: work, own)
    try #require(output.status == 0, "\(output.messages)")
    undisturbed = report
    after = try Self.contents(of: work)
    names = try work.names.sorted()
    try #require(before != after)
    try #require(KeptRows.problems(law, from: base, to: work) == [])
  }

  // MARK: The other process

  /// This program again, in which `MigrationFaultTests` only migrates the store that the environment names.
  private static func run(
    _ fault: Fault, to target: Target, in work: TemporaryFolder, _ own: TemporaryFolder, record: String? = nil,
    more: [String: String] = [:]
  ) throws -> (ProgramOutput, ShimReport) {
    let page = own.path("page")
    var environment = try Shim.environment(fault, in: work, page: page, recording: record)
    environment[storeKey] = work.path("store.sqlite")
    environment[modelKey] = target.model.path
    environment[mappingKey] = target.mapping?.path
    environment["TMPDIR"] = own.url.path
    environment.merge(more) { $1 }
    let program = Bundle.main.executableURL?.path ?? CommandLine.arguments[0]
    let output = try Programs.run(
      program, ["--testing-library", "swift-testing", "--filter", "OpenCoreDataTests.MigrationFaultTests"], in: own,
      environment: environment)
    return (output, try Shim.report(page))
  }

  /// Called in the other process: opens the store with the model and ends the process.
  static func migrate() throws -> Never? {
    let environment = ProcessInfo.processInfo.environment
    guard let path = environment[storeKey], let model = environment[modelKey] else { return nil }
    do {
      let model = try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: model))
      var options = MigrationBench.options([])
      if let mapping = environment[mappingKey] {
        options[OCDMappingModelsOption] = [try NSMappingModel.load(contentsOf: URL(fileURLWithPath: mapping))]
      }
      try MigrationBench.add(URL(fileURLWithPath: path), model: model, options: options)
      exit(0)
    } catch {
      FileHandle.standardError.write(Data("failed: \((error as NSError).localizedDescription)\n".utf8))
      exit(3)
    }
  }

  // MARK: Trials

  private static func copy(_ from: TemporaryFolder, to: TemporaryFolder) throws {
    for name in try from.names { try FileManager.default.copyItem(at: from.file(name), to: to.file(name)) }
  }

  private func clear() throws {
    for name in try work.names { try FileManager.default.removeItem(at: work.file(name)) }
  }

  /// Migrates it from the beginning with a fault, then again without. `harm` is for canaries: it does what must be found.
  ///
  /// - Returns: What is wrong, and whether the fault happened at all.
  func problems(
    with fault: Fault, more: [String: String] = [:], harm: (TemporaryFolder) throws -> Void = { _ in }
  ) throws -> (found: [String], happened: Bool) {
    try clear()
    try Self.copy(base, to: work)
    let (output, report) = try Self.run(fault, to: target, in: work, own, more: more)
    guard report.fired > 0 else { return ([], false) }
    try harm(work)
    let ends: Set<Int32> =
      switch fault.action {
      case .kill: [128 + SIGKILL]
      case .terminate: [128 + SIGTERM]
      case .nothing, .fail: [0, 3]
      default: [0]
      }
    let reported = output.messages.split(separator: "\n").first { $0.hasPrefix("failed: ") } ?? ""
    var found = ends.contains(output.status) ? [] : ["status \(output.status): \(output.messages)"]
    if output.status == 3, reported.isEmpty || reported.contains("damaged") { found.append("the message: \(reported)") }
    found += try repetitionProblems(mustBeMigrated: output.status == 0)
    return (found.map { "\(fault) (\(report.call)): \($0)" }, true)
  }

  /// - Parameter isMigrated: Whether the store must be migrated already.
  private func repetitionProblems(mustBeMigrated isMigrated: Bool) throws -> [String] {
    let left = try Self.contents(of: work)
    var found = try KeptRows.problems(law, from: base, to: work)
    guard isMigrated ? left == after : [before, after].contains(left) else {
      return found + ["neither old nor new: \(left)"]
    }
    let (output, _) = try Self.run(.none, to: target, in: work, own)
    guard output.status == 0 else { return found + ["again: status \(output.status): \(output.messages)"] }
    if try Self.contents(of: work) != after { found.append("again: other contents") }
    found += try KeptRows.problems(law, from: base, to: work).map { "again: \($0)" }
    let more = Set(try work.names).subtracting(names)
    if !more.isEmpty { found.append("left over: \(more)") }
    return found
  }

  /// How often SQLite asks for memory.
  func allocations() throws -> Int {
    try clear()
    try Self.copy(base, to: work)
    return try Self.run(.none, to: target, in: work, own, more: ["SHIM_MEMORY_AT": "1000000000"]).1.allocations
  }

  /// Records an undisturbed migration; its images are those of power cuts.
  func recording() throws -> (begin: PowerCut, changes: [RecordedChange]) {
    try clear()
    try Self.copy(base, to: work)
    let begin = try PowerCut(of: work)
    let (output, _) = try Self.run(.none, to: target, in: work, own, record: own.path("record"))
    try #require(output.status == 0, "\(output.messages)")
    return (begin, try RecordedChange.changes(in: own.data("record"), below: work.url.path))
  }

  /// What is wrong with what the disk may hold after some of the changes.
  func problems(
    in recording: (begin: PowerCut, changes: [RecordedChange]), after cut: Int, using random: inout SeededGenerator
  ) throws -> [String] {
    var disk = recording.begin
    for change in recording.changes.prefix(cut) { disk.add(change) }
    try clear()
    let rest = PowerCut.Rest.allCases.randomElement(using: &random) ?? .some
    try disk.write(to: work, rest, using: &random)
    return try repetitionProblems(mustBeMigrated: false).map { "power cut after change \(cut), \(rest): \($0)" }
  }

  // MARK: Contents

  /// Every row and statement of the schema, read from a copy, but for property lists, whose order is arbitrary, and the
  /// store's UUID, which a custom migration draws.
  static func contents(of folder: TemporaryFolder) throws -> String {
    let copy = try TemporaryFolder()
    try copyStore(of: folder, to: copy, as: "store.sqlite")
    return try Programs.python(
      """
      import sqlite3
      store = sqlite3.connect("store.sqlite")
      print(store.execute("PRAGMA integrity_check").fetchall())
      for row in store.execute("SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2"): print(row)
      for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1").fetchall():
          rows = store.execute(f'SELECT * FROM "{name}"')
          kept = [i for i, column in enumerate(rows.description) if column[0] not in ("Z_PLIST", "Z_CONTENT", "Z_UUID")]
          for row in sorted(repr([row[i] for i in kept]) for row in rows): print(name, row)
      """, in: copy)
  }

  /// Copies the store without its shared memory: SQLite must not open the one that is migrated again.
  static func copyStore(of folder: TemporaryFolder, to copy: TemporaryFolder, as name: String) throws {
    for end in ["", "-wal", "-journal"] where folder.exists("store.sqlite" + end) {
      try FileManager.default.copyItem(at: folder.file("store.sqlite" + end), to: copy.file(name + end))
    }
  }
}
