import Foundation
import Glibc
import PersistentStores
import TestSupport

@testable import PipelineEngine

/// Commands other than imports of files that are processes, killed or refused a call, and repeated at once: the store,
/// the files and the model then agree as if nothing had happened.
extension Simulation {
  enum Disturbed: String, CaseIterable {
    case undo, replay, export, edit, delete, inbox, validate

    /// The worlds of older seeds draw from these.
    static let first: [Disturbed] = [.undo, .replay, .export, .edit, .delete]

    var name: String { self == .inbox ? "run" : rawValue }
  }

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
    // A third of the worlds, and with them the seeds that were kept before, stay as they were.
    switch random.pick(seed % 3 == 1 ? Disturbed.first : Disturbed.allCases, else: .undo) {
    case .undo: try undo(fault)
    case .replay: try await replay(fault)
    case .export: try await export(fault)
    case .edit: try edit(fault)
    case .delete: try delete(fault)
    case .inbox: try await importInbox(fault)
    case .validate: try await validate(fault)
    }
  }

  /// Runs a command with a fault.
  private func disturb(_ command: Disturbed, _ arguments: [String], by fault: Fault) throws {
    guard let shimFault = fault.ofShim else { return }
    let output = try Programs.run(
      Simulation.program.path, [command.name] + arguments + ["-q"], in: folder, environment: try shim(shimFault))
    let report = try Shim.report(shimFolder.path("page"))
    let isKilled = output.status == 128 + SIGKILL
    tell("\(command) \(fault), \(report.call): \(output.status) \(output.messages.prefix(200))")
    // A dry run leaves nothing.
    if command != .validate { owedFiles.addLog() }
    if report.fired > 0 {
      let figure = isKilled ? "kills of \(command)" : "calls refused to \(command)"
      disturbances[figure, default: 0] += 1
    }
    guard isKilled || [0, 65, 66, 73, 74, 75, 78].contains(output.status) else {
      throw Mismatch(description: "the \(command) ended with \(output.status): \(output.messages)")
    }
    if let harm, harm.command == command, try isExportable(), try !rows("SELECT 1 FROM ZJOURNALENTRY").isEmpty {
      try sqlite(store, harm.sql)
    }
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

  // MARK: Inbox

  private func importInbox(_ fault: Fault) async throws {
    let given = try drawInbox()
    let options = StoreModel.Options(changedInputs: pipeline.changedInputs)
    try pipeline.json(&random).write(toFile: definitionPath, atomically: false, encoding: .utf8)
    let begun = try begin(given, options, fault: fault)
    try disturb(.inbox, [definitionPath, "--store", store], by: fault)
    var done = Set(try end(begun, summary: nil).done.map { given[$0].path })
    let left = try given.filter { try isInInbox($0, done) }
    let result = try await run(left, options, fault: .none, inputs: nil)
    done.formUnion(result.done.map { left[$0].path })
    for input in try left.filter({ try isInInbox($0, done) }) {
      if result.isWhole, result.refused.isEmpty {
        throw Mismatch(description: "\(input.path) was imported and is still in the inbox")
      }
      // A person imports it later.
      owedFiles.add([try put(input.text, at: folder.path(input.path))], options)
    }
    clearInbox()
  }

  /// Whether a file is still in the inbox. Otherwise it was moved as it is, to one place, and its records are known if
  /// that is the folder of those that are done.
  private func isInInbox(_ input: StoreModel.Given, _ done: Set<String>) throws -> Bool {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path("in"))
    let found = paths.filter { ($0 as NSString).lastPathComponent == input.path }
    guard found.count == 1, try folder.data("in/\(found[0])") == Data(input.text.bytes) else {
      throw Mismatch(description: "\(input.path) was in the inbox, and is \(found)")
    }
    if found[0].hasPrefix("processed/"), !done.contains(input.path) {
      throw Mismatch(description: "\(found[0]) was moved, but not imported")
    }
    return found[0] == input.path
  }

  // MARK: Dry run

  private func validate(_ fault: Fault) async throws {
    let path = try drawFile(repeatsOld: true)
    try pipeline.json(&random).write(toFile: definitionPath, atomically: false, encoding: .utf8)
    let (names, bytes) = (Set(try folder.names), try? folder.data("journal.sqlite"))
    try disturb(.validate, [path, "--pipeline", definitionPath, "--store", store], by: fault)
    let more = Set(try folder.names).subtracting(names)
    guard more.isEmpty, bytes == (try? folder.data("journal.sqlite")) else {
      throw Mismatch(description: "a disturbed dry run has changed the store, or left \(more)")
    }
    try await validate(path)
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
