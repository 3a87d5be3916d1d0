import CSV
import Foundation
import OpenCoreData

/// One import or dry run, from its inputs to its summary.
struct ImportRun {
  private let environment: ImportEnvironment
  /// The named inputs; those of an inbox are listed when the run begins.
  private let inputs: [InputFile]
  private let inbox: Inbox?
  private var definition: PipelineDefinition { environment.definition }
  private var options: RunOptions { environment.options }
  private var isDryRun: Bool { environment.isDryRun }
  private var store: ImportStore { environment.store }

  init(
    _ definition: PipelineDefinition, options: RunOptions, model: RunModel, isDryRun: Bool, monitor: RunMonitor,
    observer: (any ChunkObserver)? = nil
  ) throws(PipelineError) {
    let startedAt = options.now()
    let definition = try RunModel.completed(definition, options: options, model: model.model)
    let checked = try ImportSchemaCheck(definition, model: model.model, now: startedAt)
    let store = ImportStore(
      container: NSPersistentContainer(name: definition.modelName, managedObjectModel: model.model),
      entity: checked.entity, path: definition.storePath(options), isDryRun: isDryRun,
      isAtomic: definition.atomic || options.changedInputs(definition) != .refuse,
      lockTimeoutSeconds: options.lockTimeoutSeconds, allowsIncompleteSchema: options.allowsIncompleteSchema,
      keepsLargeValues: options.keepsLargeValues)
    inputs = options.inputs?.map { InputFile(name: $0, path: $0) } ?? InputFiles.expand(definition)
    inbox = options.inputs == nil ? definition.inbox.map { Inbox($0, in: definition) } : nil
    environment = ImportEnvironment(
      definition: definition, options: options, isDryRun: isDryRun, columns: checked.columns,
      links: checked.links, store: store,
      keys: KeyRules(
        definition: definition, entity: checked.entity, columns: checked.columns, links: checked.links,
        comparesWholeRecords: options.changedInputs(definition) == .onlyNew), monitor: monitor,
      runID: UUID().uuidString.lowercased(), startedAt: startedAt, digest: definition.digest,
      profiler: try EntryProfiler.requested(definition, options: options, entity: checked.entity),
      statistics: try EntryStatistics(definition, entity: checked.entity),
      tables: LedgerTables(definition.vocabulary), hasSeveralInputs: inputs.count > 1 || inbox != nil,
      observer: observer)
    try checkDefinition()
    try ImportSchemaCheck.checkPaths(
      definition, options, inputs: inputs, store: store.path, rejects: rejectsPaths(inputs))
  }

  private func checkDefinition() throws(PipelineError) {
    // If all sources are optional, there may be no input.
    if inputs.isEmpty, inbox == nil, options.inputs != nil || definition.source.isEmpty {
      throw PipelineError(path: "source", "there is no input; name a file, or - for standard input")
    }
    if definition.columns.isEmpty {
      throw PipelineError(path: "columns", "the pipeline declares no columns, so it can't import; add some")
    }
    if options.changedInputs != nil { try ImportSchemaCheck.checkComparable(definition) }
    if !isDryRun, store.path == nil {
      throw PipelineError(path: "store", "there is no store to import into; name one with --store or in the pipeline")
    }
  }

  /// The result of the work, and what is held until the report is written.
  struct Outcome {
    var summary: RunSummary
    /// Whether an earlier run has reported all of it, and was killed before it replaced the input of a replay.
    var isReported = false
    /// Whether a report could not be written, so that the next run has to report what this one has done.
    var isReportOwed = false
    /// Whether what was imported is on the disk, and the rejects have their names. Otherwise the next run settles it.
    fileprivate var isSettled = false
    fileprivate var lock: RunLock?
    /// The replayed inputs that were imported to their end.
    fileprivate var replayed: [LedgerEntry] = []
    fileprivate var files: [(file: Inbox.File, outcome: Inbox.Outcome)] = []
  }

  /// Does the work, up to the point where everything that was imported is on the disk. The caller then writes the
  /// report and calls `finish`.
  func run() -> Outcome {
    let clock = ContinuousClock()
    let begin = clock.now
    var totals = ImportTotals(definition, lastStoredKey: 0)
    var outcome = Outcome(summary: summary(totals, nil, seconds: 0))
    var failure: RunFailure?
    do throws(RunFailure) {
      try ReportFiles.check(ReportFiles.paths(definition, options))
      outcome.lock = try takeLock()
      let inputs = try inputs + filesOfInbox()
      environment.monitor.log.log(
        .runStarted(
          kind: isDryRun ? .validate : .import, pipeline: definition.name, store: store.path, inputs: inputs.count))
      try checkRejects(inputs)
      try store.openExisting()
      totals = ImportTotals(definition, lastStoredKey: try store.lastKey())
      failure = try importAll(inputs, &totals)
      try store.restoreIndexes()
      try store.checkpoint()
      try settleRejects(&totals)
      outcome.isSettled = true
    } catch {
      failure = failure ?? error
      // Otherwise the next run makes them.
      try? store.restoreIndexes()
    }
    for (stage, times) in environment.clock.stages { environment.monitor.log.log(.stageTimed(stage, times)) }
    outcome.isReported = options.isReplay && failure == nil && totals.isKnown
    (outcome.files, outcome.replayed) = (totals.filesDone, options.isReplay ? totals.completed : [])
    outcome.summary = summary(totals, failure, seconds: begin.duration(to: clock.now) / .seconds(1))
    return outcome
  }

  /// Called after the report was written: records the end of the run, moves the files of an inbox, replaces the inputs
  /// of a replay, and releases the store. Files whose report is owed stay where the next run finds them.
  func finish(_ outcome: Outcome) -> RunSummary {
    var summary = outcome.summary
    defer {
      store.close()
      outcome.lock?.release()
    }
    do throws(RunFailure) {
      if store.isWritten { try store.perform { try noteEnd(outcome, $0) } }
      if outcome.isReportOwed || !outcome.isSettled { return summary }
      // A replay whose file is gone is not repeated: it must not leave the store's files behind if it is killed.
      store.close()
      try moveFiles(outcome.files)
      for entry in outcome.replayed { try Replay.replace(entry.path, by: entry.rejects.path) }
    } catch {
      guard summary.failure == nil else { return summary }
      summary.failure = error.summary
      summary.outcome = .failed
    }
    return summary
  }

  private func takeLock() throws(RunFailure) -> RunLock? {
    guard !isDryRun, let storePath = store.path else { return nil }
    do throws(RunFailure) {
      return try RunLock(storePath: storePath, pipeline: definition.name, now: environment.startedAt)
    } catch {
      environment.monitor.log.log(.lockHeld(message: error.message))
      throw error
    }
  }

  /// A run that had nothing to do leaves the store unchanged.
  private func noteEnd(_ outcome: Outcome, _ coordinator: NSPersistentStoreCoordinator) throws {
    let summary = outcome.summary
    let isKnown =
      try environment.tables.layout(in: coordinator) != nil
      && !coordinator.participantRows("SELECT 1 FROM \(environment.tables.run) WHERE runID = ?", [environment.runID])
        .isEmpty
    guard isKnown else { return }
    let run = LedgerRun(
      id: environment.runID, pipeline: definition.name, kind: environment.ledgerKind,
      startedAt: environment.startedAt, endedAt: options.now(),
      outcome: summary.outcome.rawValue, exitCode: summary.exitCode.rawValue, counts: summary.counts)
    let ledger = try Ledger(environment.tables, nil)
    coordinator.addSaveParticipant(ledger)
    defer { coordinator.removeSaveParticipant(ledger) }
    let reported = outcome.isReportOwed || !outcome.isSettled ? [] : environment.tables.finish(run: environment.runID)
    let outdated = LedgerRetention(definition.limits).map { environment.tables.compact($0, at: options.now()) }
    ledger.prepare(Ledger.Page(statements: [environment.tables.record(run)] + reported + (outdated ?? [])))
    try coordinator.saveParticipants()
    try coordinator.checkpoint()
  }

  // MARK: The inbox

  private func filesOfInbox() throws(RunFailure) -> [InputFile] {
    guard let inbox else { return [] }
    let listing = try inbox.list()
    for item in listing.leftAlone where item.reason.isWorthTelling {
      environment.monitor.log.log(.inputLeftAlone(item.name, reason: item.reason.rawValue))
    }
    return listing.ready.map { InputFile(name: $0.name, path: $0.path, inboxFile: $0) }
  }

  /// A file that was read to its end is processed, even if records of it were rejected; one that can't be read or
  /// exceeded the error policy has failed. A file that stopped for another reason stays for the next run.
  private func moveFiles(_ files: [(file: Inbox.File, outcome: Inbox.Outcome)]) throws(RunFailure) {
    guard let inbox, !isDryRun else { return }
    let log = environment.monitor.log
    var first: RunFailure?
    for (file, outcome) in files {
      do throws(RunFailure) {
        switch try inbox.move(file, to: outcome, on: environment.startedAt) {
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

  /// Gives the rejects their final names and removes those that are of no use. Only now, because a commit that is not on
  /// the disk yet may be lost with the power.
  private func settleRejects(_ totals: inout ImportTotals) throws(RunFailure) {
    if isDryRun { return }
    // What a partial import rejected belongs to the content that was replaced.
    for entry in totals.completed + totals.replaced.filter(\.isComplete) where !entry.isReported {
      if let path = entry.rejects.path { try RejectsFile.publish(path) }
    }
    for path in totals.obsoleteRejects { RejectsFile.removeParts(of: path) }
    // As the report states it: they replace the input once the report is written.
    guard options.isReplay else { return }
    for entry in totals.completed {
      totals.renameRejects(entry.rejects.path, to: URL(fileURLWithPath: entry.path).path)
    }
  }

  private func importAll(
    _ inputs: [InputFile], _ totals: inout ImportTotals
  ) throws(RunFailure) -> RunFailure? {
    let contexts = ImportContexts(
      store.container, chain: options.contextChain, notificationContents: options.notificationContents,
      relationships: definition.relationships, isDryRun: isDryRun)
    let ledger = try store.ledger(environment.tables, overwrittenMax: definition.limits.overwrittenMax)
    if !isDryRun { store.coordinator.addSaveParticipant(ledger) }
    defer { store.coordinator.removeSaveParticipant(ledger) }
    let expectations = try environment.expectations()
    let known = KnownInputs(ledger.entries)
    return try transaction(contexts, totals: &totals) { totals throws(RunFailure) in
      importEach(inputs, known: known, contexts: contexts, ledger: ledger, totals: &totals)
        ?? environment.compare(&totals, with: expectations)
        ?? addOwed(known, contexts: contexts, ledger: ledger, totals: &totals)
    }
  }

  /// An input that can't be read does not prevent the import of the others, unless the policy is to stop.
  private func importEach(
    _ inputs: [InputFile], known: KnownInputs, contexts: ImportContexts, ledger: Ledger, totals: inout ImportTotals
  ) -> RunFailure? {
    var first: RunFailure?
    for (input, rejectsPath) in zip(inputs, rejectsPaths(inputs)) {
      var part = FileImporter(
        input, environment: environment, contexts: contexts, ledger: ledger, rejectsPath: rejectsPath)
      do throws(RunFailure) {
        let entry = try wholly(contexts, ledger: ledger, totals: &totals) { totals throws(RunFailure) in
          try part.run(known, &totals)
        }
        // An input that is named twice in one run is imported once.
        if entry.isComplete {
          known.add(entry, replacing: Set(part.replaced.map(\.id)))
          totals.completed.append(entry)
          totals.replaced += part.replaced
        }
        if let file = input.inboxFile {
          if entry.isComplete { totals.filesDone.append((file, .processed)) }
          if totals.outcome == .stopped { totals.filesDone.append((file, .failed)) }
        }
      } catch {
        ledger.clear()
        totals.forgetStoredRecords()
        environment.monitor.log.log(.inputFailed(input.name, code: error.code, message: error.message))
        first = first ?? error
        if let file = input.inboxFile, error.exitCode == .dataError, !error.concernsStore {
          totals.filesDone.append((file, .failed))
        }
        if definition.errorPolicy == .stop || definition.atomic || error.concernsStore { return first }
      }
      if totals.outcome != .completed { break }
    }
    return first
  }

  /// Adds what earlier runs of the pipeline have imported to its end and not reported: they were killed, or could not
  /// write their report. What this run has replaced is not among them.
  private func addOwed(
    _ known: KnownInputs, contexts: ImportContexts, ledger: Ledger, totals: inout ImportTotals
  ) -> RunFailure? {
    if isDryRun || options.isReplay { return nil }
    let done = Set(totals.completed.map(\.id))
    let owed = known.all.filter {
      $0.isComplete && !$0.isReported && $0.pipeline == definition.name && !done.contains($0.id)
    }
    do throws(RunFailure) {
      // What this run has taken back to replace it may have made some of them outdated.
      let stored = owed.isEmpty ? [] : try store.ledger(environment.tables, overwrittenMax: 0).entries
      let outdated = Set(stored.filter(\.isOutdated).map(\.id))
      for var entry in owed.reversed() {
        entry.isOutdated = outdated.contains(entry.id)
        let file = InputFile(name: entry.path, path: entry.location ?? entry.path)
        var part = FileImporter(file, environment: environment, contexts: contexts, ledger: ledger, rejectsPath: nil)
        totals.completed.append(try part.runOwed(entry, &totals))
      }
    } catch {
      return error
    }
    if let last = owed.first {
      totals.notes.append(
        "the report of the run of \(LedgerDate.text(last.savedAt)) was not written; its inputs are among these")
    }
    return nil
  }

  /// Imports one input in a transaction of its own, where the pipeline requires it.
  private func wholly(
    _ contexts: ImportContexts, ledger: Ledger, totals: inout ImportTotals,
    body: (inout ImportTotals) throws(RunFailure) -> LedgerEntry
  ) throws(RunFailure) -> LedgerEntry {
    guard environment.savesInputsWhole else { return try body(&totals) }
    let before = totals
    try store.beginTransaction()
    func rollBack() throws(RunFailure) {
      try store.rollBackTransaction()
      if store.isWritten { contexts.reset() }
      ledger.didRollBack()
      totals.rollBack(to: before)
    }
    do throws(RunFailure) {
      let entry = try body(&totals)
      if totals.outcome == .completed { try store.commitTransaction() } else { try rollBack() }
      return entry
    } catch {
      try rollBack()
      throw error
    }
  }

  /// An atomic run is one transaction: it is committed if everything succeeded, and otherwise rolled back.
  private func transaction(
    _ contexts: ImportContexts, totals: inout ImportTotals,
    body: (inout ImportTotals) throws(RunFailure) -> RunFailure?
  ) throws(RunFailure) -> RunFailure? {
    guard definition.atomic else { return try body(&totals) }
    let before = totals
    try store.beginTransaction()
    let failure = try body(&totals)
    if failure == nil, totals.outcome == .completed {
      try store.commitTransaction()
      return nil
    }
    try store.rollBackTransaction()
    if store.isWritten { contexts.reset() }
    totals.rollBack(to: before)
    return failure
  }

  // MARK: Rejects

  /// The path of each input's rejects. A dry run leaves no files behind unless the options request them.
  private func rejectsPaths(_ inputs: [InputFile]) -> [String?] {
    if isDryRun, options.rejects == nil { return inputs.map { _ in nil } }
    if options.isReplay { return inputs.map { Replay.nextPath(of: $0.path) } }
    return RejectsDestination.paths(for: inputs.map(\.name), definition, options, store: store.path)
  }

  /// An unwritable path is reported before the import rather than at the first reject.
  private func checkRejects(_ inputs: [InputFile]) throws(RunFailure) {
    let isRequested = RejectsDestination.requested(definition, options) != nil
    for path in rejectsPaths(inputs).compactMap({ $0 }) {
      // The folder of a store that does not exist yet is created with it.
      let isNextToStore = store.path.map(OutputPath.folder) == OutputPath.folder(of: path)
      if isRequested || !isNextToStore { try OutputPath.check(path) }
    }
  }

  /// What no number says: formats that were chosen, and the zone of times that name none.
  private func note(_ totals: ImportTotals) -> String? {
    var notes = totals.notes
    if environment.columns.parsers.contains(where: \.hasReadLocalTime) {
      notes.append(
        definition.timeZone.map { "times without a zone were read as \($0)" }
          ?? "times without a zone were read as UTC; if they are not, declare \"timeZone\", such as \"Europe/Berlin\"")
    }
    if let discarded = totals.discarded { notes.append(discarded) }
    return notes.isEmpty ? nil : notes.joined(separator: ". ")
  }

  /// How a run goes on that was stopped by rejects.
  private static func advice(for definition: PipelineDefinition) -> String {
    definition.errorPolicy == .stop
      ? "let it go on with \"errorPolicy\": \"skip\" and without --stop-on-error"
      : "raise the errorBudget of the pipeline, or --max-errors and --max-error-percent"
  }

  private func summary(_ totals: ImportTotals, _ failure: RunFailure?, seconds: Double) -> RunSummary {
    var summary = RunSummary(
      kind: isDryRun ? .validate : .import, pipeline: definition.name,
      outcome: failure == nil ? totals.outcome : .failed, failure: failure?.summary,
      stopReason: totals.stopReason.map { definition.atomic ? $0 + "; nothing of this run is in the store" : $0 },
      run: environment.runID, startedAt: environment.startedAt, seconds: seconds, inputs: totals.files,
      store: store.path,
      counts: totals.counts, issues: totals.log,
      rejects: totals.rejectsPaths.isEmpty ? nil : totals.rejectsPaths.joined(separator: ", "),
      program: definition.vocabulary.program)
    summary.stopAdvice = Self.advice(for: definition)
    summary.profile = totals.profile
    summary.links = totals.links.isEmpty ? nil : totals.links
    summary.note = note(totals)
    return summary
  }
}
