import CSV
import Foundation
import OpenCoreData

/// One import or dry run, from its inputs to its summary.
struct ImportRun {
  private let setup: ImportSetup
  /// The inputs that are named; those of an inbox are looked for when the run begins.
  private let inputs: [InputFile]
  private let inbox: Inbox?
  private var definition: PipelineDefinition { setup.definition }
  private var options: RunOptions { setup.options }
  private var isDryRun: Bool { setup.isDryRun }
  private var storePath: String? { setup.storePath }

  init(
    _ definition: PipelineDefinition, _ options: RunOptions, model: RunModel, isDryRun: Bool, _ monitor: RunMonitor
  ) throws(PipelineError) {
    let startedAt = options.now()
    let definition = try RunModel.completed(definition, options, model.model)
    let fit = try ImportFit(definition, model: model.model, now: startedAt)
    setup = ImportSetup(
      definition: definition, options: options, isDryRun: isDryRun, entity: fit.entity, columns: fit.columns,
      container: NSPersistentContainer(name: definition.modelName, managedObjectModel: model.model),
      storePath: definition.storePath(options),
      monitor: monitor, runID: UUID().uuidString.lowercased(), startedAt: startedAt, digest: definition.digest,
      profiler: try EntryProfiler.wanted(definition, options, fit.entity),
      tables: LedgerTables(definition.vocabulary))
    inputs = options.inputs?.map { InputFile(name: $0, path: $0) } ?? InputFiles.expand(definition)
    inbox = options.inputs == nil ? definition.inbox.map { Inbox($0, in: definition) } : nil
    try checkDefinition()
    try ImportFit.checkPlaces(definition, options, inputs: inputs, store: storePath, rejects: rejectsPaths(inputs))
  }

  private func checkDefinition() throws(PipelineError) {
    // Of optional sources there may be none today.
    if inputs.isEmpty, inbox == nil, options.inputs != nil || definition.source.isEmpty {
      throw PipelineError(path: "source", "there is no input; name a file, or - for standard input")
    }
    if definition.columns.isEmpty {
      throw PipelineError(path: "columns", "the pipeline declares no columns, so it can't import; add some")
    }
    if !isDryRun, storePath == nil {
      throw PipelineError(path: "store", "there is no store to import into; name one with --store or in the pipeline")
    }
  }

  /// What came of the work, and what is held until the report is written.
  struct Outcome {
    var summary: RunSummary
    fileprivate var lock: RunLock?
    fileprivate var files: [(file: Inbox.File, outcome: Inbox.Outcome)] = []
  }

  /// Does the work, up to the point where all that was imported is on the disk. The report is still to be written, and
  /// then `finish`.
  func run() -> Outcome {
    let clock = ContinuousClock()
    let begin = clock.now
    var state = ImportState(definition, lastStoredKey: 0)
    var outcome = Outcome(summary: summary(state, nil, seconds: 0))
    var failure: RunFailure?
    do throws(RunFailure) {
      try ReportFiles.check(ReportFiles.paths(definition, options))
      outcome.lock = try takeLock()
      let inputs = try inputs + filesOfInbox()
      setup.monitor.log.log(
        .runStarted(
          kind: isDryRun ? .validate : .import, pipeline: definition.name, store: storePath, inputs: inputs.count))
      try checkRejects(inputs)
      try setup.openExistingStore()
      state = ImportState(definition, lastStoredKey: try lastStoredKey())
      failure = try importAll(inputs, &state)
      try checkpoint()
      if options.isReplay { try replaceInputs(&state) }
    } catch {
      failure = failure ?? error
    }
    for (stage, times) in setup.clock.stages { setup.monitor.log.log(.stageTimed(stage, times)) }
    outcome.files = state.filesDone
    outcome.summary = summary(state, failure, seconds: begin.duration(to: clock.now) / .seconds(1))
    return outcome
  }

  /// The report is written: notes it, moves what came from an inbox, and lets go of the store.
  func finish(_ outcome: Outcome) -> RunSummary {
    var summary = outcome.summary
    defer {
      setup.closeStore()
      outcome.lock?.release()
    }
    do throws(RunFailure) {
      if hasStoreToWrite { try noteEnd(summary) }
      try moveFiles(outcome.files)
    } catch {
      guard summary.failure == nil else { return summary }
      summary.failure = error.summary
      summary.outcome = .failed
    }
    return summary
  }

  private func takeLock() throws(RunFailure) -> RunLock? {
    guard !isDryRun, let storePath else { return nil }
    do throws(RunFailure) {
      return try RunLock(storePath: storePath, pipeline: definition.name, now: setup.startedAt)
    } catch {
      setup.monitor.log.log(.lockHeld(message: error.message))
      throw error
    }
  }

  /// A run that had nothing to do leaves the store as it was.
  private func noteEnd(_ summary: RunSummary) throws(RunFailure) {
    try store { try noteEnd(summary, $0) }
  }

  private func noteEnd(_ summary: RunSummary, _ coordinator: NSPersistentStoreCoordinator) throws {
    let isKnown =
      try setup.tables.exist(in: coordinator)
      && !coordinator.participantRows("SELECT 1 FROM \(setup.tables.run) WHERE runID = ?", [setup.runID]).isEmpty
    guard isKnown else { return }
    let run = LedgerRun(
      id: setup.runID, pipeline: definition.name, startedAt: setup.startedAt, endedAt: options.now(),
      outcome: summary.outcome.rawValue, exitCode: summary.exitCode.rawValue, counts: summary.counts)
    let ledger = try Ledger(setup.tables, nil)
    coordinator.addSaveParticipant(ledger)
    defer { coordinator.removeSaveParticipant(ledger) }
    ledger.prepare([setup.tables.record(run)] + setup.tables.finish(run: setup.runID))
    try coordinator.saveParticipants()
    try coordinator.checkpoint()
  }

  // MARK: The inbox

  private func filesOfInbox() throws(RunFailure) -> [InputFile] {
    guard let inbox else { return [] }
    let listing = try inbox.list()
    for item in listing.leftAlone where item.reason.isWorthTelling {
      setup.monitor.log.log(.inputLeftAlone(item.name, reason: item.reason.rawValue))
    }
    return listing.ready.map { InputFile(name: $0.name, path: $0.path, inboxFile: $0) }
  }

  /// A file that was read to its end, whatever was rejected of it, is processed; one that can't be read or was too bad
  /// has failed. What stopped for another cause stays for the next run.
  private func moveFiles(_ files: [(file: Inbox.File, outcome: Inbox.Outcome)]) throws(RunFailure) {
    guard let inbox, !isDryRun else { return }
    let log = setup.monitor.log
    var first: RunFailure?
    for (file, outcome) in files {
      do throws(RunFailure) {
        switch try inbox.move(file, to: outcome, on: setup.startedAt) {
        case .moved(let path): log.log(.inputMoved(file.name, to: path))
        case .gone: log.log(.inputNotMoved(file.name, reason: "it is gone"))
        case .changed: log.log(.inputNotMoved(file.name, reason: "it was changed meanwhile"))
        }
      } catch {
        log.log(.inputNotMoved(file.name, reason: error.message))
        first = first ?? error
      }
    }
    if let first { throw first }
  }

  // MARK: Inputs

  /// What of a replayed input was rejected again takes its place.
  private func replaceInputs(_ state: inout ImportState) throws(RunFailure) {
    for entry in state.completed {
      try Replay.replace(entry.path, by: entry.rejects.path)
      state.renameRejects(entry.rejects.path, to: URL(fileURLWithPath: entry.path).path)
    }
  }

  private func importAll(
    _ inputs: [InputFile], _ state: inout ImportState
  ) throws(RunFailure) -> RunFailure? {
    let chain = ImportChain(
      setup.container, chain: options.contextChain, notificationContents: options.notificationContents,
      relationships: definition.relationships, isDryRun: isDryRun)
    let ledger = try readLedger()
    if !isDryRun { setup.coordinator.addSaveParticipant(ledger) }
    defer { setup.coordinator.removeSaveParticipant(ledger) }
    return try transaction(chain, &state) { state throws(RunFailure) in importEach(inputs, chain, ledger, &state) }
  }

  /// An input that can't be read does not keep the others from being imported, unless the policy is to stop.
  private func importEach(
    _ inputs: [InputFile], _ chain: ImportChain, _ ledger: Ledger, _ state: inout ImportState
  ) -> RunFailure? {
    var first: RunFailure?
    var known = ledger.entries
    for (input, rejectsPath) in zip(inputs, rejectsPaths(inputs)) {
      var part = InputImport(input, setup, chain, ledger, rejectsPath: rejectsPath)
      do throws(RunFailure) {
        let entry = try part.run(known, &state)
        // What was read twice by one run is there once.
        if entry.isComplete {
          known.insert(entry, at: 0)
          state.completed.append(entry)
        }
        if let file = input.inboxFile {
          if entry.isComplete { state.filesDone.append((file, .processed)) }
          if state.outcome == .stopped { state.filesDone.append((file, .failed)) }
        }
      } catch {
        ledger.clear()
        setup.monitor.log.log(.inputFailed(input.name, code: error.code, message: error.message))
        first = first ?? error
        if let file = input.inboxFile, error.exitCode == .dataError, !error.concernsStore {
          state.filesDone.append((file, .failed))
        }
        if definition.errorPolicy == .stop || definition.atomic || error.concernsStore { return first }
      }
      if state.outcome != .completed { break }
    }
    return first
  }

  /// An atomic run is one transaction: it is committed if all went well, and else nothing of it is left.
  private func transaction(
    _ chain: ImportChain, _ state: inout ImportState,
    _ body: (inout ImportState) throws(RunFailure) -> RunFailure?
  ) throws(RunFailure) -> RunFailure? {
    guard definition.atomic else { return try body(&state) }
    try setup.beginTransaction()
    let failure = try body(&state)
    if failure == nil, state.outcome == .completed {
      if hasStoreToWrite { try store { try $0.commitTransaction() } }
      return nil
    }
    if hasStoreToWrite {
      try store { try $0.rollBackTransaction() }
      chain.reset()
    }
    state.rollBack()
    return failure
  }

  private func store(_ body: (NSPersistentStoreCoordinator) throws -> Void) throws(RunFailure) {
    do {
      try body(setup.coordinator)
    } catch {
      throw RunFailure(store: error as NSError, path: storePath)
    }
  }

  // MARK: The store

  private var hasStoreToWrite: Bool { !isDryRun && !setup.coordinator.persistentStores.isEmpty }

  private func readLedger() throws(RunFailure) -> Ledger {
    do {
      let coordinator = setup.coordinator
      return try Ledger(setup.tables, coordinator.persistentStores.isEmpty ? nil : coordinator)
    } catch {
      if let version = error as? LedgerVersionError {
        throw RunFailure(code: nil, exitCode: .dataError, message: version.description)
      }
      throw RunFailure(store: error as NSError, path: storePath)
    }
  }

  private func lastStoredKey() throws(RunFailure) -> Int64 {
    guard !setup.coordinator.persistentStores.isEmpty else { return 0 }
    var key: Int64 = 0
    try store { key = try $0.lastKey(of: setup.entity) }
    return key
  }

  /// What was imported is in the file itself, and on the disk, before anyone is told that it is.
  private func checkpoint() throws(RunFailure) {
    if hasStoreToWrite { try store { try $0.checkpoint() } }
  }

  // MARK: Rejects

  /// For each input the place of its rejects. A dry run leaves no files behind unless it was told to.
  private func rejectsPaths(_ inputs: [InputFile]) -> [String?] {
    if isDryRun, options.rejects == nil { return inputs.map { _ in nil } }
    if options.isReplay { return inputs.map { Replay.nextPath(of: $0.path) } }
    return RejectsPlace.paths(for: inputs.map(\.name), definition, options, store: storePath)
  }

  /// Better to learn before the import than at the first reject that it has no place to go.
  private func checkRejects(_ inputs: [InputFile]) throws(RunFailure) {
    let isWished = RejectsPlace.wish(definition, options) != nil
    for path in rejectsPaths(inputs).compactMap({ $0 }) {
      // The folder of a store that is not there yet is made with it.
      let isBesideStore = storePath.map(OutputPlace.folder) == OutputPlace.folder(of: path)
      if isWished || !isBesideStore { try OutputPlace.check(path) }
    }
  }

  private func summary(_ state: ImportState, _ failure: RunFailure?, seconds: Double) -> RunSummary {
    var summary = RunSummary(
      kind: isDryRun ? .validate : .import, pipeline: definition.name,
      outcome: failure == nil ? state.outcome : .failed, failure: failure?.summary,
      stopReason: state.stopReason.map { definition.atomic ? $0 + "; nothing of this run is in the store" : $0 },
      run: setup.runID, startedAt: setup.startedAt, seconds: seconds, inputs: state.files, store: storePath,
      counts: state.counts, issues: state.log,
      rejects: state.rejectsPaths.isEmpty ? nil : state.rejectsPaths.joined(separator: ", "),
      program: definition.vocabulary.program)
    summary.profile = state.profile
    return summary
  }
}
