import Foundation
import Glibc
import PersistentStores
import TestSupport

@testable import PipelineEngine

/// Commands other than imports that are processes, killed or refused a call, and repeated at once: the store, the files
/// and the model then agree as if nothing had happened.
extension Simulation {
  enum Disturbed: String, CaseIterable { case undo, replay, export, edit, delete }

  /// What a canary breaks behind the program's back.
  struct Harm {
    let command: Disturbed
    let sql: String
  }

  func disturbedStep() async throws {
    let fault: Fault =
      killsOneIn > 0
      ? .killed(at: random.number(1...180))
      : .refused(
        at: random.number(1...120), code: random.pick([EIO, ENOSPC], else: EIO), lasts: random.isOne(in: 3))
    switch random.pick(Disturbed.allCases, else: .undo) {
    case .undo: try undo(fault)
    case .replay: try await replay(fault)
    case .export: try await export(fault)
    case .edit: try edit(fault)
    case .delete: try delete(fault)
    }
  }

  /// Runs a command with a fault.
  private func disturb(_ command: Disturbed, _ arguments: [String], by fault: Fault) throws {
    guard let shimFault = fault.ofShim else { return }
    let output = try Programs.run(
      Simulation.program.path, [command.rawValue] + arguments + ["-q"], in: folder, environment: try shim(shimFault))
    let report = try Shim.report(shimFolder.path("page"))
    let isKilled = output.status == 128 + SIGKILL
    tell("\(command) \(fault), \(report.call): \(output.status) \(output.messages.prefix(200))")
    owedFiles.addLog()
    if report.fired > 0 {
      let figure = isKilled ? "kills of \(command)" : "calls refused to \(command)"
      disturbances[figure, default: 0] += 1
    }
    guard isKilled || [0, 65, 66, 73, 74, 75, 78].contains(output.status) else {
      throw Mismatch(description: "the \(command) ended with \(output.status): \(output.messages)")
    }
    if let harm, harm.command == command { try sqlite(store, harm.sql) }
  }

  // MARK: Undo

  private func undo(_ fault: Fault) throws {
    guard let choice = drawUndo() else { return }
    let refusal = model.refusal(ofUndo: choice.ids)
    try disturb(.undo, [store] + (choice.name.map { [$0] } ?? []) + ["-y"], by: fault)
    let undone = Set(try records().filter { $0.state == "undone" }.map(\.id)).intersection(choice.ids)
    if undone.isEmpty { return try undo(choice) }
    guard undone == choice.ids else {
      throw Mismatch(description: "of the inputs \(choice.ids.sorted()), only \(undone.sorted()) were taken back")
    }
    guard refusal == .none || refusal == .perhapsChangedSince else {
      throw Mismatch(description: "the undo was not refused: \(refusal)")
    }
    model.undo(choice.ids)
  }

  // MARK: Replay

  private func replay(_ fault: Fault) async throws {
    guard let replay = try drawReplay() else { return }
    let arguments = [replay.path, "--pipeline", definitionPath, "--store", store]
    try pipeline.json(&random).write(toFile: definitionPath, atomically: false, encoding: .utf8)
    var begun = try begin([replay.given], replay.options, fault: fault)
    try disturb(.replay, arguments, by: fault)
    var completed = try end(begun, summary: nil).completed.first
    let found = FileManager.default.contents(atPath: replay.path)
    if found == nil || found == Data(replay.given.text.bytes) {
      // Without the file, only names are given.
      if found != nil {
        var options = replay.options
        options.hasRest = FileManager.default.fileExists(atPath: RejectsMark.pathOfRest(of: replay.path))
        begun = try begin([replay.given], options)
      }
      let output = try Programs.run(
        Simulation.program.path, ["replay"] + arguments + ["--json", "--no-progress"], in: folder)
      if found != nil {
        completed = try end(begun, summary: try RunSummary(json: output.bytes)).completed.first ?? completed
      }
      // A file of which every record was imported is moved away first.
      guard [0, 65].contains(output.status) || found == nil && output.status == 66 && completed?.rejected == [] else {
        throw Mismatch(description: "the replay, repeated, ended with \(output.status): \(output.messages)")
      }
    }
    try finish(replay, completed)
  }

  // MARK: Export

  private func export(_ fault: Fault) async throws {
    guard try isExportable() else { return }
    let path = folder.path("export.csv")
    let before = try? String(contentsOfFile: path, encoding: .utf8)
    try disturb(.export, ["--store", store, "--pipeline", definitionPath, "-o", path], by: fault)
    let after = try? String(contentsOfFile: path, encoding: .utf8)
    guard after == before || Self.exportedLines(after) == exportedLines else {
      throw Mismatch(description: "a disturbed export has left \(after ?? "no file")")
    }
    try await export()
  }

  // MARK: By hand

  private func edit(_ fault: Fault) throws {
    guard let key = model.rows.keys.sorted().randomElement(using: &random), let session = model.rows[key]?.session
    else { return }
    var rating = random.number(1...5)
    if rating == session.rating { rating = rating % 5 + 1 }
    let number = try storeKey(of: key)
    let arguments = ["\(number)", "--store", store, "--rating", "\(rating)", "-y"]
    try disturb(.edit, arguments, by: fault)
    let found = try rows("SELECT ZRATING FROM ZJOURNALENTRY WHERE Z_PK = \(number)").first?.first
    if found?.number != rating { try expectDone(["edit"] + arguments) }
    model.edit(key) { $0.rating = rating }
  }

  private func delete(_ fault: Fault) throws {
    guard let key = model.rows.keys.sorted().randomElement(using: &random) else { return }
    let number = try storeKey(of: key)
    try disturb(.delete, [store, "\(number)", "-y"], by: fault)
    let isThere = try !rows("SELECT 1 FROM ZJOURNALENTRY WHERE Z_PK = \(number)").isEmpty
    if isThere { try expectDone(["delete", store, "\(number)", "-y"]) }
    model.rows[key] = nil
  }

  private func expectDone(_ arguments: [String]) throws {
    let output = try Programs.run(Simulation.program.path, arguments + ["-q"], in: folder)
    guard output.status == 0 else {
      throw Mismatch(description: "\(arguments[0]), repeated, ended with \(output.status): \(output.messages)")
    }
  }

  /// The number that the store has for an entry of the model.
  private func storeKey(of key: Int) throws -> Int {
    let index = model.rows.keys.count { $0 < key }
    let found = try rows("SELECT Z_PK FROM ZJOURNALENTRY ORDER BY Z_PK LIMIT 1 OFFSET \(index)").first?.first
    guard let found else { throw Mismatch(description: "the store has no entry \(index)") }
    return found.number
  }
}

extension Simulation.Fault {
  /// What the shim does; nil where the fault is none of a process.
  var ofShim: TestSupport.Fault? {
    switch self {
    case .killed(let number): return TestSupport.Fault(.kill, at: number)
    case .refused(let number, let code, let lasts):
      let growing: [TestSupport.Fault.Call] = [.open, .write, .resize, .rename, .folders]
      var refused = TestSupport.Fault(
        .fail(code), calls: code == ENOSPC ? growing : growing + [.read, .sync, .unlink, .lock, .map], at: number)
      refused.isLasting = lasts
      return refused
    case .none, .cancelled: return nil
    }
  }
}
