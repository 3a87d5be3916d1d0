import CSV
import Foundation
import OpenCoreData

/// One import or dry run, from its inputs to its summary.
struct ImportRun {
  private let setup: ImportSetup
  private let inputs: [InputFile]
  private var definition: PipelineDefinition { setup.definition }
  private var options: RunOptions { setup.options }
  private var isDryRun: Bool { setup.isDryRun }
  private var storePath: String? { setup.storePath }

  init(
    _ definition: PipelineDefinition, _ options: RunOptions, model: NSManagedObjectModel, isDryRun: Bool,
    _ monitor: RunMonitor
  ) throws(PipelineError) {
    let startedAt = options.now()
    let fit = try ImportFit(definition, model: model, now: startedAt)
    setup = ImportSetup(
      definition: definition, options: options, isDryRun: isDryRun, entity: fit.entity, columns: fit.columns,
      container: NSPersistentContainer(name: definition.model, managedObjectModel: model),
      storePath: options.store.map { URL(fileURLWithPath: $0).path } ?? definition.store.map(definition.path),
      monitor: monitor, runID: UUID().uuidString.lowercased(), startedAt: startedAt, digest: definition.digest,
      profiler: try EntryProfiler.wanted(definition, options, fit.entity))
    inputs = options.inputs?.map { InputFile(name: $0, path: $0) } ?? InputFiles.expand(definition)
    try checkDefinition()
    let filesRead = inputs.map(\.path) + (storePath.map { [$0] } ?? [])
    for path in ReportFiles.paths(definition, options) {
      try OutputPlace.check(path, key: "report", isNoneOf: filesRead)
    }
    for path in rejectsPaths.compactMap({ $0 }) {
      try OutputPlace.check(path, key: "rejects", isNoneOf: filesRead)
    }
  }

  private func checkDefinition() throws(PipelineError) {
    // Of optional sources there may be none today.
    if inputs.isEmpty, options.inputs != nil || definition.source.isEmpty {
      throw PipelineError(path: "source", "there is no input; name a file, or - for standard input")
    }
    if definition.columns.isEmpty {
      throw PipelineError(path: "columns", "the pipeline declares no columns, so it can't import; add some")
    }
    if !isDryRun, storePath == nil {
      throw PipelineError(path: "store", "there is no store to import into; name one with --store or in the pipeline")
    }
    if inputs.count > 1, let wish = RejectsPlace.wish(definition, options), !RejectsPlace.isFolder(wish) {
      throw PipelineError(
        path: "rejects", "several inputs need several files for their rejects; name a folder, ending in '/'")
    }
  }

  /// Does the work, up to the point where all that was imported is on the disk. The report is still to be written, and
  /// then `finish`.
  func run() -> RunSummary {
    let clock = ContinuousClock()
    let begin = clock.now
    var state = ImportState(definition, lastStoredKey: 0)
    var failure: RunFailure?
    do throws(RunFailure) {
      try ReportFiles.check(ReportFiles.paths(definition, options))
      try checkRejects()
      try setup.openExistingStore()
      state = ImportState(definition, lastStoredKey: try lastStoredKey())
      failure = try importAll(&state)
      try checkpoint()
      if options.isReplay { try replaceInputs(&state) }
    } catch {
      failure = failure ?? error
    }
    return summary(state, failure, seconds: begin.duration(to: clock.now) / .seconds(1))
  }

  /// The report is written: notes it, and lets go of the store.
  func finish(_ summary: RunSummary) -> RunSummary {
    defer { setup.closeStore() }
    guard hasStoreToWrite else { return summary }
    do {
      try noteEnd(summary)
      return summary
    } catch {
      var summary = summary
      summary.failure = summary.failure ?? RunFailure(store: error as NSError, path: storePath).summary
      summary.outcome = .failed
      return summary
    }
  }

  /// A run that had nothing to do leaves the store as it was.
  private func noteEnd(_ summary: RunSummary) throws {
    let coordinator = setup.coordinator
    let isKnown =
      try LedgerTables.exist(in: coordinator)
      && !coordinator.participantRows("SELECT 1 FROM SJ_RUN WHERE runID = ?", [setup.runID]).isEmpty
    guard isKnown else { return }
    let run = LedgerRun(
      id: setup.runID, pipeline: definition.name, startedAt: setup.startedAt, endedAt: options.now(),
      outcome: summary.outcome.rawValue, exitCode: summary.exitCode.rawValue, counts: summary.counts)
    let ledger = try Ledger(nil)
    coordinator.addSaveParticipant(ledger)
    defer { coordinator.removeSaveParticipant(ledger) }
    ledger.prepare([Ledger.record(run)] + Ledger.finish(run: setup.runID))
    try coordinator.saveParticipants()
    try coordinator.checkpoint()
  }

  // MARK: Inputs

  /// What of a replayed input was rejected again takes its place.
  private func replaceInputs(_ state: inout ImportState) throws(RunFailure) {
    for entry in state.completed {
      try Replay.replace(entry.path, by: entry.rejects.path)
      state.renameRejects(entry.rejects.path, to: entry.path)
    }
  }

  private func importAll(_ state: inout ImportState) throws(RunFailure) -> RunFailure? {
    let chain = ImportChain(setup.container, chain: options.contextChain, isDryRun: isDryRun)
    let ledger = try readLedger()
    if !isDryRun { setup.coordinator.addSaveParticipant(ledger) }
    defer { setup.coordinator.removeSaveParticipant(ledger) }
    return try transaction(chain, &state) { state throws(RunFailure) in importEach(chain, ledger, &state) }
  }

  /// An input that can't be read does not keep the others from being imported, unless the policy is to stop.
  private func importEach(
    _ chain: ImportChain, _ ledger: Ledger, _ state: inout ImportState
  ) -> RunFailure? {
    var first: RunFailure?
    var known = ledger.entries
    for (input, rejectsPath) in zip(inputs, rejectsPaths) {
      var part = InputImport(input, setup, chain, ledger, rejectsPath: rejectsPath)
      do throws(RunFailure) {
        let entry = try part.run(known, &state)
        // What was read twice by one run is there once.
        if entry.isComplete {
          known.insert(entry, at: 0)
          state.completed.append(entry)
        }
      } catch {
        ledger.clear()
        first = first ?? error
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
      return try Ledger(coordinator.persistentStores.isEmpty ? nil : coordinator)
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
  private var rejectsPaths: [String?] {
    if isDryRun, options.rejects == nil { return inputs.map { _ in nil } }
    if options.isReplay { return inputs.map { Replay.nextPath(of: $0.path) } }
    return RejectsPlace.paths(for: inputs.map(\.name), definition, options, store: storePath)
  }

  /// Better to learn before the import than at the first reject that it has no place to go.
  private func checkRejects() throws(RunFailure) {
    let isWished = RejectsPlace.wish(definition, options) != nil
    for path in rejectsPaths.compactMap({ $0 }) {
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
      rejects: state.rejectsPaths.isEmpty ? nil : state.rejectsPaths.joined(separator: ", "))
    summary.profile = state.profile
    return summary
  }
}
