import Foundation
import PersistentStores
import SurfJournal
import TestSupport

@testable import PipelineDefinition
@testable import PipelineEngine

extension Simulation {
  // MARK: Rejects

  /// A file of rejects that is replayed.
  struct DrawnReplay {
    let path: String
    let options: StoreModel.Options
    let given: StoreModel.Given
  }

  /// Corrects some records of a file of rejects, in some worlds at times none.
  func drawReplay() throws -> DrawnReplay? {
    guard let path = rejects.keys.sorted().randomElement(using: &random), var text = rejects[path] else { return nil }
    // The other worlds draw nothing here, so that the seeds that are kept stay the same worlds.
    if seed % 6 != 5 || random.isOne(in: 2) {
      for index in text.lines.indices where index == 0 || random.isOne(in: 2) {
        text.lines[index] = random.line(pipeline)
      }
      try text.write(path)
    } else {
      // The last record may have had no line end in the input.
      text.endsWithLineEnd = try Data(contentsOf: URL(fileURLWithPath: path)).last == text.lineEnd.utf8.last
    }
    var options = StoreModel.Options(changedInputs: pipeline.changedInputs, isReplay: true)
    if options.changedInputs == .replace { options.changedInputs = .refuse }
    let location = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    return DrawnReplay(
      path: path, options: options, given: StoreModel.Given(path: path, location: location, text: text))
  }

  func replay() async throws {
    guard let replay = try drawReplay() else { return }
    let result = try await run([replay.given], replay.options, fault: .none, inputs: [replay.path])
    try finish(replay, result.completed.first)
  }

  /// Notes what a replay has left, and compares it with the model.
  func finish(_ replay: DrawnReplay, _ input: StoreModel.Input?) throws {
    let path = replay.path
    var text = replay.given.text
    rejects[path] = text
    replayed.formUnion([path, path + ".jsonl"])
    // A file of which the store has all records already is left alone.
    guard let input else { return }
    (text.lines, text.endsWithLineEnd) = (input.rejected, true)
    rejects[path] = input.rejected.isEmpty ? nil : text
    if input.rejected.isEmpty {
      if FileManager.default.fileExists(atPath: path) { throw Mismatch(description: "\(path) is still there") }
    } else {
      try check(path, text)
    }
  }

  // MARK: Undo

  /// What is taken back, and how it is named; without a name it is the last run.
  struct DrawnUndo {
    let ids: Set<Int>
    let name: String?
  }

  func undo() throws {
    if let choice = drawUndo() { try undo(choice) }
  }

  func drawUndo() -> DrawnUndo? {
    guard let newest = model.inputs.last else { return nil }
    var chosen = model.inputs.filter { $0.run == newest.run }
    var name: String?
    if random.isOne(in: 2), let input = model.inputs.randomElement(using: &random) {
      chosen = model.inputs.last { $0.path == input.path }.map { [$0] } ?? []
      name = input.path
    }
    return DrawnUndo(ids: Set(chosen.map(\.id)), name: name)
  }

  func undo(_ choice: DrawnUndo) throws {
    let (ids, name) = (choice.ids, choice.name)
    let refusal = model.refusal(ofUndo: ids)
    tell("undo \(name ?? "the last run"), inputs \(ids.sorted())")
    do {
      try StoreUndo(store: store, name.map { [$0] } ?? [], vocabulary: .journal).apply()
    } catch {
      guard refusal == .none else { return }
      throw Mismatch(description: "the undo was refused: \(error)")
    }
    if refusal != .none, refusal != .perhapsChangedSince {
      throw Mismatch(description: "the undo was not refused: \(refusal)")
    }
    model.undo(ids)
  }

  // MARK: By hand

  /// Another program changes an entry.
  func editByHand() throws {
    guard let key = model.rows.keys.sorted().randomElement(using: &random) else { return }
    let rating = random.number(6...9)
    tell("edit entry \(key)")
    try change(key, "UPDATE ZJOURNALENTRY SET ZRATING = \(rating), Z_OPT = Z_OPT + 1")
    model.edit(key) { $0.rating = rating }
  }

  func deleteByHand() throws {
    guard let key = model.rows.keys.sorted().randomElement(using: &random) else { return }
    tell("delete entry \(key)")
    try change(key, "DELETE FROM ZJOURNALENTRY")
    model.rows[key] = nil
  }

  private func change(_ key: Int, _ sql: String) throws {
    let index = model.rows.keys.filter { $0 < key }.count
    let connection = try SQLiteConnection(path: store, mode: .readWrite)
    defer { connection.close() }
    try connection.execute(
      "\(sql) WHERE Z_PK = (SELECT Z_PK FROM ZJOURNALENTRY ORDER BY Z_PK LIMIT 1 OFFSET \(index))")
  }

  // MARK: Runs that change nothing

  /// A run that was killed while it made the store has left it without tables, which an export refuses.
  func isExportable() throws -> Bool {
    guard FileManager.default.fileExists(atPath: store), FileManager.default.fileExists(atPath: definitionPath) else {
      return false
    }
    return try !rows("SELECT 1", of: "ZJOURNALENTRY").isEmpty
  }

  var exportedLines: [String] { ["date,location,rating"] + model.sessions.map { Line.good($0).text(",") } }

  static func exportedLines(_ text: String?) -> [String] { (text ?? "").split { $0.isNewline }.map(String.init) }

  func export() async throws {
    guard try isExportable() else { return }
    tell("export")
    let definition = try PipelineDefinition(
      contentsOf: URL(fileURLWithPath: definitionPath), environment: DefinitionEnvironment(vocabulary: .journal))
    var options = RunOptions()
    (options.store, options.output, options.isQuiet) = (store, folder.path("export.csv"), true)
    let summary = try await PipelineRunner(definition, .export, options: options).run()
    let lines = Self.exportedLines(try folder.text("export.csv"))
    guard summary.outcome == .completed, lines == exportedLines else {
      throw Mismatch(description: "the export has \(lines), expected \(exportedLines)")
    }
  }

  /// A dry run says what the import would do, and changes nothing.
  func validate() async throws { try await validate(drawFile(repeatsOld: true)) }

  func validate(_ path: String) async throws {
    let options = StoreModel.Options(changedInputs: pipeline.changedInputs, isDryRun: true)
    tell("validate \(path)")
    let location = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let given = StoreModel.Given(path: path, location: location, text: try InputText.of(files[path]))
    var predicted = model
    let prediction = predicted.run([given], options, number: runNumber + 1, records: nil)
    try pipeline.json(&random).write(toFile: definitionPath, atomically: false, encoding: .utf8)
    let before = try? folder.data("journal.sqlite")
    let summary = try await runner(.validate, options, inputs: [path]).run()
    guard before == (try? folder.data("journal.sqlite")) else {
      throw Mismatch(description: "a dry run has changed the store")
    }
    if summary.outcome == .stopped, pipeline.stopsAtErrors { return }
    guard (summary.outcome == .failed) == !prediction.refused.isEmpty else {
      throw Mismatch(description: "the dry run \(summary.outcome): \(summary.failure?.message ?? ""), \(prediction)")
    }
    guard prediction.refused.isEmpty, summary.simulatedCounts != prediction.counts else { return }
    throw Mismatch(description: "the dry run counts \(summary.simulatedCounts), expected \(prediction.counts)")
  }

  /// A run that finds the store in use does nothing.
  func importWhileLocked() async throws {
    guard FileManager.default.fileExists(atPath: store) else { return }
    tell("import while another run has the store")
    let lock = try RunLock(storePath: store, pipeline: "other", now: Date())
    defer { lock.release() }
    let path = try drawFile(repeatsOld: false)
    try pipeline.json(&random).write(toFile: definitionPath, atomically: false, encoding: .utf8)
    let options = StoreModel.Options(changedInputs: pipeline.changedInputs)
    let summary = try await runner(.import, options, inputs: [path]).run()
    guard summary.exitCode == .temporaryFailure else {
      throw Mismatch(description: "a run with a store in use ended with \(summary.exitCode)")
    }
  }
}
