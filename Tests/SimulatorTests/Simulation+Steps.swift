import Foundation
import PersistentStores
import SurfJournal
import TestSupport

@testable import PipelineDefinition
@testable import PipelineEngine

extension Simulation {
  // MARK: Rejects

  /// Corrects some records of a file of rejects, and replays it; in some worlds at times as it is.
  func replay() async throws {
    guard let path = rejects.keys.sorted().randomElement(using: &random), var text = rejects[path] else { return }
    // The other worlds draw nothing here, so that the seeds that are kept stay the same worlds.
    if seed % 6 != 5 || random.isOne(in: 2) {
      for index in text.lines.indices where index == 0 || random.isOne(in: 2) {
        text.lines[index] = random.line(pipeline)
      }
      try text.write(path)
    }
    var options = StoreModel.Options(changedInputs: pipeline.changedInputs, isReplay: true)
    if options.changedInputs == .replace { options.changedInputs = .refuse }
    let location = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let given = StoreModel.Given(path: path, location: location, text: text)
    let result = try await run([given], options, fault: .none, inputs: [path])
    rejects[path] = text
    replayed.formUnion([path, path + ".jsonl"])
    // A file of which the store has all records already is left alone.
    guard let input = result.completed.first else { return }
    (text.lines, text.endsWithLineEnd) = (input.rejected, true)
    rejects[path] = input.rejected.isEmpty ? nil : text
    if input.rejected.isEmpty {
      if FileManager.default.fileExists(atPath: path) { throw Mismatch(description: "\(path) is still there") }
    } else {
      try check(path, text)
    }
  }

  // MARK: Undo

  func undo() throws {
    guard let newest = model.inputs.last else { return }
    var chosen = model.inputs.filter { $0.run == newest.run }
    var name: String?
    if random.isOne(in: 2), let input = model.inputs.randomElement(using: &random) {
      chosen = model.inputs.last { $0.path == input.path }.map { [$0] } ?? []
      name = input.path
    }
    let ids = Set(chosen.map(\.id))
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

  func export() async throws {
    guard FileManager.default.fileExists(atPath: store), FileManager.default.fileExists(atPath: definitionPath) else {
      return
    }
    // A run that was killed while it made the store has left it without tables, which an export refuses.
    if try rows("SELECT 1", of: "ZJOURNALENTRY").isEmpty { return }
    tell("export")
    let definition = try PipelineDefinition(
      contentsOf: URL(fileURLWithPath: definitionPath), environment: DefinitionEnvironment(vocabulary: .journal))
    var options = RunOptions()
    (options.store, options.output, options.isQuiet) = (store, folder.path("export.csv"), true)
    let summary = try await PipelineRunner(definition, .export, options: options).run()
    let lines = try folder.text("export.csv").split { $0.isNewline }.map(String.init)
    let expected = model.sessions.map { Line.good($0).text(",") }
    guard summary.outcome == .completed, lines.first == "date,location,rating", Array(lines.dropFirst()) == expected
    else { throw Mismatch(description: "the export has \(lines), expected \(expected)") }
  }

  /// A dry run says what the import would do, and changes nothing.
  func validate() async throws {
    let path = try drawFile(repeatsOld: true)
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
