import Foundation
import TestSupport

@testable import PipelineEngine

/// Every file of a world is one that a user knows of: an input, rejects, an output, or the store. What a run that was
/// killed or refused calls has left is there until the next undisturbed one like it.
extension Simulation {
  /// What disturbed runs may have left.
  struct OwedFiles {
    /// Disturbed runs whose inputs were not read again since.
    private(set) var runs: [(inputs: [String], options: StoreModel.Options)] = []
    /// Whether the store's journals and its lock may be there: no undisturbed run has written to the store since.
    private(set) var mayHaveLog = false

    /// Notes a run that is disturbed.
    mutating func add(_ inputs: [String], _ options: StoreModel.Options) {
      runs.append((inputs, options))
      mayHaveLog = true
    }

    /// Notes a command that is disturbed and repeated at once. One that finds its work done only reads.
    mutating func addLog() { mayHaveLog = true }

    /// Notes the inputs that an undisturbed run has read to their end. Without any it may not have written to the store.
    mutating func remove(_ inputs: [String]) {
      guard !inputs.isEmpty else { return }
      mayHaveLog = false
      runs = runs.map { ($0.inputs.filter { !inputs.contains($0) }, $0.options) }.filter { !$0.inputs.isEmpty }
    }

    /// Notes that all of them were repeated.
    mutating func removeRuns() { runs = [] }
  }

  /// Repeats what was disturbed and not read again since; nothing may be left over then.
  func repeatDisturbedRuns() async throws {
    stepCount += 1
    for owed in owedFiles.runs {
      tell("again, undisturbed")
      _ = try await run(owed.inputs.map(given), owed.options, fault: .none, inputs: owed.inputs)
    }
    owedFiles.removeRuns()
    // Of inputs that are known, or refused, nothing is written to the store.
    for number in 0..<5 where owedFiles.mayHaveLog {
      let path = try put(random.text(pipeline), at: folder.path("last\(number).csv"))
      let options = StoreModel.Options(changedInputs: pipeline.changedInputs)
      _ = try await run([given(path)], options, fault: .none, inputs: [path])
    }
    try checkStore()
  }

  /// Nothing is left over.
  func checkFolder() throws {
    let records = try records()
    var known = Set(files.keys).union([store, definitionPath, folder.path("in"), folder.path("export.csv")])
    known.formUnion(rejects.keys.flatMap(Self.withDetails))
    for record in records {
      guard let path = record.rejectsPath else { continue }
      // An undo has given those that were owed their names.
      if owedRejects[record.id] != nil { known.formUnion(Self.withDetails(path)) }
      if record.isOwed { known.formUnion(Self.withDetails(path)) }
      if record.isOwed || !record.isComplete { known.formUnion(Self.withDetails(path).map { $0 + ".part" }) }
    }
    // A URL made of each name would ask for the kind of its file.
    let root = folder.url.path
    let left = try folder.names.map { "\(root)/\($0)" }.filter {
      !known.contains($0) && !isReplayed($0) && !isOwed($0)
    }
    guard left.isEmpty else {
      throw Mismatch(
        description: "left over: \(left.map { ($0 as NSString).lastPathComponent }); the ledger has "
          + "\(records.map { "\($0.path) \($0.state) \($0.read) \($0.rejectsPath ?? "-")" })")
    }
    try checkInboxFolders()
  }

  /// Each file of an inbox is in one place, under the name with which it arrived.
  private func checkInboxFolders() throws {
    var seen: Set<String> = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path("in")) {
      let name = (path as NSString).lastPathComponent
      if ["processed", "failed"].contains(path) || name.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil { continue }
      guard name.wholeMatch(of: /i[0-9]+\.csv/) != nil, seen.insert(name).inserted else {
        throw Mismatch(description: "left over: in/\(path)")
      }
    }
  }

  private static func withDetails(_ rejects: String) -> [String] { [rejects, rejects + ".jsonl"] }

  /// Whether it is a file of rejects, or its details, that was moved away.
  private func isReplayed(_ path: String) -> Bool {
    guard let match = path.wholeMatch(of: /(.+)\.replayed(?:\.[0-9]+)?/) else { return false }
    return replayed.contains(String(match.output.1))
  }

  /// Whether the next run of the same kind removes it.
  private func isOwed(_ path: String) -> Bool {
    let ends = ["-journal", "-wal", "-shm", ".lock"]
    if owedFiles.mayHaveLog, ends.contains(where: { path == store + $0 }) { return true }
    return owedFiles.runs.flatMap(\.inputs).contains { input in
      let name = folder.path(RunSummary.rejectsName(for: input)).dropLast(".csv".count)
      let end = path.dropFirst(name.count)
      return path.hasPrefix(name) && end.wholeMatch(of: /(\.[0-9]+)?\.csv(\.jsonl)?\.part/) != nil
    }
  }
}
