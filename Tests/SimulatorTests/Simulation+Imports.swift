import Foundation
import SurfJournal
import TestSupport

@testable import PipelineDefinition
@testable import PipelineEngine

extension Simulation {
  /// How a run is disturbed.
  enum Fault {
    case none
    /// Cancelled when it has reported progress so many times.
    case cancelled(after: Int)
    /// Killed at the call with this number on a file of its folder.
    case killed(at: Int)
    /// The system refuses the call with this number, and all later ones if it lasts.
    case refused(at: Int, code: Int32, lasts: Bool)
  }

  func drawFault() -> Fault {
    if killsOneIn > 0, random.isOne(in: killsOneIn) { return .killed(at: random.number(1...400)) }
    return random.isOne(in: 4) ? .cancelled(after: random.number(0...6)) : .none
  }

  // MARK: Files

  /// A new file, or one that was there and has changed, is renamed, or comes again as it is.
  func drawFile(repeatsOld: Bool) throws -> String {
    let old = files.keys.filter { !$0.contains("/in/") }.sorted()
    guard let path = old.randomElement(using: &random), repeatsOld || !random.isOne(in: 3) else {
      return try put(random.text(pipeline), at: newPath())
    }
    let text = random.changed(files[path] ?? random.text(pipeline), pipeline)
    return try put(text, at: random.isOne(in: 4) ? newPath() : path)
  }

  private func newPath() -> String {
    fileNumber += 1
    return folder.path("f\(fileNumber).csv" + (random.isOne(in: 6) ? ".gz" : ""))
  }

  func put(_ text: InputText, at path: String) throws -> String {
    try text.write(path)
    files[path] = text
    return path
  }

  func given(_ path: String) -> StoreModel.Given {
    let text = files[path] ?? InputText(lines: [], delimiter: pipeline.delimiter, lineEnd: pipeline.lineEnd)
    return StoreModel.Given(path: path, location: URL(fileURLWithPath: path).resolvingSymlinksInPath().path, text: text)
  }

  // MARK: Runs

  func importFiles(repeatsOld: Bool = false) async throws {
    var paths = [try drawFile(repeatsOld: repeatsOld)]
    var options = StoreModel.Options(changedInputs: pipeline.changedInputs)
    if pipeline.key.isEmpty, random.isOne(in: 3) {
      options.changedInputs = random.pick([.replace, .onlyNew], else: .onlyNew)
    } else {
      options.again = random.isOne(in: 9)
    }
    let isSeveral = options.changedInputs != .replace && random.isOne(in: 3)
    for _ in 0..<(isSeveral ? random.number(1...2) : 0) {
      let path = try drawFile(repeatsOld: false)
      if !paths.contains(path) { paths.append(path) }
    }
    _ = try await run(paths.map(given), options, fault: drawFault(), inputs: paths)
  }

  func importInbox() async throws {
    let given = try drawInbox()
    let options = StoreModel.Options(changedInputs: pipeline.changedInputs)
    _ = try await run(
      given, options, fault: random.isOne(in: 4) ? .cancelled(after: random.number(0...4)) : .none, inputs: nil)
    clearInbox()
  }

  /// Puts files into the inbox, the oldest first.
  func drawInbox() throws -> [StoreModel.Given] {
    var given: [StoreModel.Given] = []
    for index in 0...random.number(0...2) {
      fileNumber += 1
      let name = "i\(fileNumber).csv"
      let path = folder.path("in/\(name)")
      // Sorted, because the order of a dictionary is another in each process.
      let old = files.keys.sorted().randomElement(using: &random).flatMap { files[$0] }
      let text = random.isOne(in: 3) ? old.map { random.changed($0, pipeline) } : nil
      _ = try put(text ?? random.text(pipeline), at: path)
      let date = Date(timeIntervalSince1970: 1_700_000_000 + Double(index))
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
      given.append(StoreModel.Given(path: name, location: nil, text: try InputText.of(files[path])))
    }
    return given
  }

  /// What stayed is taken out: the order in which files of one inbox arrive is not what is tested.
  func clearInbox() {
    for path in files.keys where path.contains("/in/") {
      try? FileManager.default.removeItem(atPath: path)
      files[path] = nil
    }
  }

  /// Imports, and compares what it did with the model.
  func run(
    _ given: [StoreModel.Given], _ options: StoreModel.Options, fault: Fault, inputs: [String]?
  ) async throws -> StoreModel.Result {
    let begun = try begin(given, options, fault: fault)
    return try end(begun, summary: try await perform(options, fault, inputs: inputs))
  }

  /// A run that has begun, and what the store and the model were then.
  struct Begun {
    let given: [StoreModel.Given]
    let options: StoreModel.Options
    let fault: Fault
    let number: Int
    let prediction: StoreModel.Result
    let model: StoreModel
    let records: [StoreModel.Record]
  }

  func begin(_ given: [StoreModel.Given], _ options: StoreModel.Options, fault: Fault = .none) throws -> Begun {
    runNumber += 1
    tell(
      "import \(given.map { "\(($0.path as NSString).lastPathComponent) \($0.text.lines.count)" }), \(options), \(fault)"
    )
    var predicted = model
    let prediction = predicted.run(given, options, number: runNumber, records: nil)
    return Begun(
      given: given, options: options, fault: fault, number: runNumber, prediction: prediction, model: model,
      records: try records())
  }

  /// Lets the model follow a run that has ended, and compares what it did with the model.
  ///
  /// - Parameter summary: What it says of itself; nil for a process that could not.
  @discardableResult
  func end(_ run: Begun, summary: RunSummary?) throws -> StoreModel.Result {
    let (options, fault, prediction) = (run.options, run.fault, run.prediction)
    let records = try records()
    let result = model.run(run.given, options, number: run.number, records: records)
    try noteStates(records)
    let isDisturbed = if case .none = fault { summary?.outcome == .stopped } else { true }
    if isDisturbed { noteUntouched(records, since: run.records, run.model, number: run.number) }
    try checkOwedRejects(records)
    if !isDisturbed { owedFiles.remove(result.completed.map(\.path)) }
    if let summary {
      if case .none = fault, summary.outcome != .stopped { try check(summary, expected: prediction, found: result) }
      try check(summary, after: fault)
    }
    if pipeline.stopsAtErrors, model.inputs.contains(where: { !$0.rejected.isEmpty }) {
      throw Mismatch(description: "a run that stops at errors has rejected some")
    }
    try checkRejects(result, records, isReplay: options.isReplay)
    return result
  }

  private func perform(
    _ options: StoreModel.Options, _ fault: Fault, inputs: [String]?
  ) async throws -> RunSummary? {
    try pipeline.json(&random).write(toFile: definitionPath, atomically: false, encoding: .utf8)
    if let inputs {
      switch fault {
      case .killed(let number):
        try kill(options, inputs, at: number)
        return nil
      case .refused:
        try refuseCall(fault, to: inputs, options: options)
        return nil
      case .none, .cancelled: break
      }
    }
    let runner = try runner(.import, options, inputs: inputs)
    if case .cancelled(let count) = fault {
      if count == 0 { runner.cancel() }
      let watching = Task {
        var seen = 0
        for await _ in runner.progress {
          seen += 1
          if seen >= count { runner.cancel() }
        }
      }
      defer { watching.cancel() }
      return try await runner.run()
    }
    return try await runner.run()
  }

  func runner(_ kind: RunSummary.Kind, _ options: StoreModel.Options, inputs: [String]?) throws -> PipelineRunner {
    let definition = try PipelineDefinition(
      contentsOf: URL(fileURLWithPath: definitionPath), environment: DefinitionEnvironment(vocabulary: .journal))
    var run = RunOptions()
    run.inputs = inputs
    run.store = store
    run.again = options.again
    run.isReplay = options.isReplay
    if options.changedInputs != pipeline.changedInputs, !options.isReplay {
      run.changedInputs = options.changedInputs == .replace ? .replace : .onlyNew
    }
    run.contextChain = random.isOne(in: 8) ? .three : .one
    run.isQuiet = true
    // The clock may go forward and back.
    let date = Date(timeIntervalSinceReferenceDate: Double(random.number(0...900_000_000)))
    run.now = { date }
    return PipelineRunner(definition, kind, options: run)
  }

  private func kill(_ options: StoreModel.Options, _ inputs: [String], at number: Int) throws {
    owedFiles.add(inputs, options)
    let output = try Programs.run(
      Simulation.program.path, arguments(options, inputs) + ["-q"], in: folder,
      environment: try shim(TestSupport.Fault(.kill, at: number)))
    if output.status == 128 + SIGKILL { killCount += 1 }
  }

  /// The program, which the build leaves next to this test bundle.
  static let program = (Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]))
    .deletingLastPathComponent().appendingPathComponent("surfjournal")

  // MARK: Checks

  private func noteStates(_ records: [StoreModel.Record]) throws {
    let states = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0.state) })
    for index in model.inputs.indices {
      let input = model.inputs[index]
      guard let state = states[input.id] else {
        throw Mismatch(description: "the ledger has lost the input \(input.id), \(input.path)")
      }
      model.inputs[index].isReported = !state.hasPrefix("unreported")
      let isOutdated = ["outdated", "unreportedOutdated"].contains(state)
      if isOutdated != input.isOutdated || (state == "partial") == input.isComplete {
        throw Mismatch(description: "the input \(input.id), \(input.path), is \(state), expected \(input)")
      }
    }
  }

  /// A disturbed run reports only some of the inputs that earlier runs were killed before reporting; a cancelled one
  /// reports all of them although it has not read its own. Those that it has not reported stay with the run before.
  private func noteUntouched(
    _ records: [StoreModel.Record], since before: [StoreModel.Record], _ model: StoreModel, number: Int
  ) {
    let runIDs = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0.runID) })
    let runs = Dictionary(uniqueKeysWithValues: model.inputs.map { ($0.id, $0.run) })
    let untouched = Set(records.filter { runIDs[$0.id] == $0.runID }.map(\.id))
    for index in self.model.inputs.indices {
      let id = self.model.inputs[index].id
      self.model.inputs[index].run = untouched.contains(id) ? runs[id] ?? number : number
    }
  }

  /// What an undisturbed run says of itself.
  private func check(
    _ summary: RunSummary, expected prediction: StoreModel.Result, found result: StoreModel.Result
  ) throws {
    let isRefused = !prediction.refused.isEmpty
    guard (summary.outcome == .failed) == isRefused, isRefused || summary.outcome == .completed else {
      throw Mismatch(
        description: "the run \(summary.outcome.rawValue): \(summary.failure?.message ?? "-"), expected "
          + "\(prediction.refused)")
    }
    if isRefused, pipeline.isAtomic || pipeline.stopsAtErrors { return }
    guard summary.simulatedCounts == prediction.counts, result.counts == prediction.counts else {
      throw Mismatch(
        description: "the run counts \(summary.simulatedCounts), the ledger \(result.counts), expected "
          + "\(prediction.counts)")
    }
    guard result.refused.keys.sorted() == prediction.refused.keys.sorted(), result.isWhole else {
      throw Mismatch(description: "the run did not come to its end: \(result), expected \(prediction)")
    }
  }

  private func check(_ summary: RunSummary, after fault: Fault) throws {
    let outcome = summary.outcome
    guard summary.counts.isConserved else { throw Mismatch(description: "records are unaccounted for") }
    if outcome == .stopped, !pipeline.stopsAtErrors { throw Mismatch(description: "the run stopped") }
    if outcome == .failed, summary.exitCode != .dataError {
      throw Mismatch(description: "the run failed with \(summary.exitCode): \(summary.failure?.message ?? "")")
    }
    if outcome == .cancelled, case .none = fault { throw Mismatch(description: "the run was cancelled") }
  }

  /// The files of rejects of the inputs that a run has completed have exactly the rejected records.
  private func checkRejects(
    _ result: StoreModel.Result, _ records: [StoreModel.Record], isReplay: Bool
  ) throws {
    for input in result.completed {
      guard let record = records.first(where: { $0.id == input.id }), !isReplay else { continue }
      guard let path = record.rejectsPath, !input.rejected.isEmpty else {
        if input.rejected.isEmpty { continue }
        throw Mismatch(description: "no rejects of \(input.path), expected \(input.rejected)")
      }
      var text = input.text
      (text.lines, text.endsWithLineEnd) = (input.rejected, true)
      guard FileManager.default.fileExists(atPath: path) || !record.isOwed else {
        try check(path + ".part", text)
        owedRejects[input.id] = text
        continue
      }
      try check(path, text)
      rejects[path] = text
    }
  }

  /// What is reported, or was taken back, has its rejects under their name.
  private func checkOwedRejects(_ records: [StoreModel.Record]) throws {
    for record in records where !record.isOwed {
      guard let text = owedRejects.removeValue(forKey: record.id), let path = record.rejectsPath else { continue }
      try check(path, text)
      rejects[path] = text
    }
  }

  func check(_ path: String, _ expected: InputText) throws {
    let found = (try? String(contentsOfFile: path, encoding: .utf8)) ?? "no file"
    let lines = { (text: String) in text.split { $0.isNewline } }
    guard lines(found) == lines(String(decoding: expected.bytes, as: UTF8.self)) else {
      throw Mismatch(description: "the rejects in \(path) are \(found), expected \(expected.lines)")
    }
  }
}

extension InputText {
  static func of(_ text: InputText?) throws -> InputText {
    guard let text else { throw Mismatch(description: "no file") }
    return text
  }
}

extension RunSummary {
  var simulatedCounts: StoreModel.Counts {
    StoreModel.Counts(
      read: counts.read, inserted: counts.inserted, updated: counts.updated, unchanged: counts.unchanged,
      duplicate: counts.duplicate, repeated: counts.repeated, rejected: counts.rejected)
  }
}
