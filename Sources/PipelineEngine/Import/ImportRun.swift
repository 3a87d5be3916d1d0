import CSV
import Foundation
import OpenCoreData

/// The store whose copy a dry run of several parts imports into.
struct CopiedStore {
  /// Nil where none is named.
  let location: StoreLocation?
  /// What its WAL lacks, as a sentence.
  var loss: String?
}

/// One import or dry run, from its inputs to its summary: of one entity, or of several, one after the other.
struct ImportRun {
  let definition: PipelineDefinition
  let parts: [ImportPart]
  /// The environment of what is the same for all parts.
  let environment: ImportEnvironment
  /// The store whose copy a dry run imports into.
  let copied: CopiedStore?
  var options: RunOptions { environment.options }
  var isDryRun: Bool { environment.isDryRun }
  var store: ImportStore { environment.store }
  /// Whether only an import can determine what it would do: what records lead to, and what an input replaces, depends
  /// on what was saved before.
  var needsDryRunOnCopy: Bool {
    isDryRun
      && parts.contains { part in
        let replacesSeveral = part.environment.changedInputs == .replace && part.environment.hasSeveralInputs
        return parts.count > 1 || !part.environment.links.isEmpty || replacesSeveral
      }
  }
  var kind: RunSummary.Kind { isDryRun || copied != nil ? .validate : .import }

  init(
    _ definition: PipelineDefinition, options: RunOptions, model: RunModel, isDryRun: Bool, monitor: RunMonitor,
    observer: (any ChunkObserver)? = nil, copied: CopiedStore? = nil
  ) throws(PipelineError) {
    let run = ImportPart.Run(
      options: options, model: model.model,
      container: NSPersistentContainer(name: definition.modelName, managedObjectModel: model.model),
      isDryRun: isDryRun,
      isOnServer: (copied.map(\.location) ?? definition.storeLocation(options))?.isServer ?? false, monitor: monitor,
      observer: observer, id: options.runID ?? UUID().uuidString.lowercased(),
      startedAt: options.now(),
      roots: definition.imports.map { model.model.entitiesByName[$0.entity]?.rootEntity.name ?? "" },
      relationships: definition.imports.flatMap { part in
        let known = model.model.entitiesByName[part.entity]?.relationshipsByName ?? [:]
        return part.linkedColumns.compactMap { known[$0.relationship] }
      }, late: observer == nil ? LateLinks() : nil)
    try Self.checkParts(definition, options)
    var definition = definition
    var parts = try Self.parts(of: definition, run)
    if observer == nil, parts.contains(where: \.hasLateLinks), !definition.atomic {
      // Records may turn out to lead to nothing when the others are in the store.
      definition.atomic = true
      parts = try Self.parts(of: definition, run)
    }
    self.parts = parts
    self.definition = definition.parts.isEmpty ? parts[0].environment.definition : definition
    self.copied = copied
    environment = parts[0].environment
    if !isDryRun, store.location == nil {
      throw PipelineError(path: "store", "no store to import into is named; name one with --store or in the pipeline")
    }
    let inputs = parts.flatMap(\.inputs)
    try ImportSchemaCheck.checkPaths(
      definition, options, inputs: inputs, hasInbox: parts.contains { $0.inbox != nil }, store: store.path,
      rejects: rejectsPaths(inputs))
  }

  private static func parts(
    of definition: PipelineDefinition, _ run: ImportPart.Run
  ) throws(PipelineError) -> [ImportPart] {
    var (parts, mistakes) = ([ImportPart](), [PipelineError.Mistake]())
    for (index, part) in definition.imports.enumerated() {
      do throws(PipelineError) {
        parts.append(
          try definition.inImport(index) { () throws(PipelineError) in try ImportPart(part, number: index, run) })
      } catch {
        mistakes += error.mistakes
      }
    }
    if !mistakes.isEmpty { throw PipelineError(mistakes: mistakes) }
    return parts
  }

  /// What a run of several entities can't do.
  private static func checkParts(_ definition: PipelineDefinition, _ options: RunOptions) throws(PipelineError) {
    if definition.parts.isEmpty { return }
    if options.inputs != nil {
      throw PipelineError(
        path: "parts",
        "the pipeline fills several entities, each from inputs of its own; name the entity of each input")
    }
    if options.changedInputs != nil, definition.parts.allSatisfy({ !$0.key.isEmpty }) {
      throw PipelineError(
        path: "parts",
        "each part has a key, so 'duplicates' decides about records that the store has; leave --replace and "
          + "--only-new out"
      )
    }
  }

  /// The result of the work, and what is held until the report is written.
  struct Outcome {
    var summary: RunSummary
    /// Whether an earlier run has reported all of it, and was killed before it replaced the input of a replay.
    var isReported = false
    /// Whether a report could not be written, so that the next run has to report what this one has done.
    var isReportOwed = false
    /// Whether what was imported is on the disk, and the rejects have their names. Otherwise the next run does that.
    fileprivate(set) var isDurable = false
    fileprivate(set) var lock: StoreLock?
    /// The replayed inputs that were imported to their end.
    fileprivate var replayed: [LedgerEntry] = []
    fileprivate(set) var files: [ImportTotals.FinishedFile] = []
    /// The paths of the inputs of each part.
    fileprivate(set) var listed: [[InputFile]] = []
    fileprivate(set) var gauges = RunGauges()
  }

  /// Does the work, up to the point where everything that was imported is on the disk. The caller then writes the
  /// report and calls `finish`.
  func run() -> Outcome {
    let clock = ContinuousClock()
    let begin = clock.now
    var totals = ImportTotals(definition)
    var outcome = Outcome(summary: summary(totals, nil, seconds: 0))
    var failure: RunFailure?
    do throws(RunFailure) {
      try ReportFiles.check(ReportFiles.paths(definition, options))
      outcome.lock = try takeLock()
      store.held.hold(outcome.lock)
      if let fence = outcome.lock?.fence { store.coordinator.addSaveParticipant(fence) }
      for part in parts {
        let (files, waiting) = try part.listed()
        outcome.listed.append(files)
        outcome.gauges.inputsWaiting += waiting
        if waiting > 0, let inbox = part.inbox { totals.notes.append(inbox.note(ofWaiting: waiting)) }
      }
      let inputs = outcome.listed.flatMap(\.self)
      environment.monitor.log.log(
        .runStarted(kind: kind, pipeline: definition.name, store: shownStore, inputs: inputs.count))
      try checkRejects(inputs)
      try store.openExisting()
      noteLosses(&totals)
      failure = try importAll(outcome.listed, &totals)
      try store.checkpoint()
      try publishRejects(&totals)
      outcome.isDurable = true
      try store.restoreIndexes()
    } catch {
      // Without the request to cancel, what can't reach its server would have been tried again.
      let isCancelled = failure == nil && error.isPassing && environment.monitor.isCancelled()
      if isCancelled { totals.outcome = .cancelled } else { failure = failure ?? error }
      // Otherwise the next run makes them.
      try? store.restoreIndexes()
    }
    for (stage, times) in environment.clock.stages { environment.monitor.log.log(.stageTimed(stage, times)) }
    outcome.isReported = options.isReplay && failure == nil && totals.isKnown
    (outcome.files, outcome.replayed) = (totals.filesDone, totals.replayed)
    outcome.summary = summary(totals, failure, seconds: begin.duration(to: clock.now) / .seconds(1))
    outcome.summary.failedPaths = failedPaths(outcome)
    outcome.summary.gauges = gauges(of: outcome, totals)
    setPlaces(&outcome, totals)
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
      try noteEnd(outcome)
      if outcome.isReportOwed || !outcome.isDurable {
        summary.keepPlaces { _ in false }
        return summary
      }
      // A replay whose file is gone is not repeated: it must not leave the store's files behind if it is killed.
      store.close()
      try moveFiles(outcome)
      for entry in outcome.replayed { try Replay.replace(entry.path, by: entry.rejects.path) }
    } catch {
      summary.keepPlaces(where: stat.exists)
      // A run that is cancelled because its server is away can't record that it was.
      guard summary.failure == nil, summary.outcome != .cancelled || !error.concernsStore else { return summary }
      summary.failure = error.summary
      summary.outcome = .failed
    }
    return summary
  }

  /// What the store has lost is reported by the first run that finds it: SQLite then makes the WAL anew.
  private func noteLosses(_ totals: inout ImportTotals) {
    for loss in (copied?.loss).map({ [$0] }) ?? store.coordinator.losses {
      let issue = RecordIssue(
        .incompleteWAL, severity: .warning,
        at: RecordPosition(input: shownStore ?? "", record: 0, line: 0, byte: 0), message: DamagedWAL.note(loss))
      totals.note(issue)
      environment.monitor.log.log(.issue(issue))
    }
  }

  private func takeLock() throws(RunFailure) -> StoreLock? {
    guard !isDryRun, let location = store.location else { return nil }
    do throws(RunFailure) {
      return try StoreLock(
        location, definition.vocabulary, pipeline: definition.name, now: environment.startedAt,
        timeoutSeconds: options.lockTimeoutSeconds)
    } catch {
      environment.monitor.log.log(.lockHeld(message: error.message))
      throw error
    }
  }

  /// The store's path or address for messages.
  var shownStore: String? { (copied.map(\.location) ?? store.location)?.shown }

  private func moveFiles(_ outcome: Outcome) throws(RunFailure) {
    if copied != nil { return }
    for (number, part) in parts.enumerated() { try part.moveFiles(filesToMove(outcome, part: number)) }
  }

  /// A file that several parts read is moved when all of them have finished it.
  func filesToMove(_ outcome: Outcome, part: Int) -> [(file: Inbox.File, outcome: Inbox.Outcome)] {
    // By path, so that the work does not grow with the square of the files.
    var readers: [String: [Int]] = [:]
    for (index, files) in outcome.listed.enumerated() {
      for path in Set(files.compactMap { $0.inboxFile?.path }) { readers[path, default: []].append(index) }
    }
    let ends = Dictionary(grouping: outcome.files) { $0.file.path }
    return outcome.files.filter { $0.part == part }.compactMap { done in
      let (readers, all) = (readers[done.file.path] ?? [], ends[done.file.path] ?? [])
      guard readers.last == part, all.count == readers.count else { return nil }
      return (done.file, all.contains { $0.outcome == .failed } ? .failed : .processed)
    }
  }

  // MARK: Inputs

  /// Gives the rejects their final names and removes those that are of no use. Only now, because a commit that is not on
  /// the disk yet may be lost with the power.
  private func publishRejects(_ totals: inout ImportTotals) throws(RunFailure) {
    if isDryRun { return }
    // What a partial import rejected belongs to the content that was replaced.
    for entry in totals.completed + totals.replaced.filter(\.isComplete) where !entry.isReported {
      if let path = entry.rejects.path { try RejectsFile.publish(path) }
    }
    for path in totals.obsoleteRejects { RejectsFile.removeParts(of: path) }
    let own = Set(totals.completed.compactMap(\.rejects.path))
    for entry in totals.replaced where !entry.isComplete {
      if let path = entry.rejects.path, !own.contains(path) { RejectsFile.removeAllNames(of: path) }
    }
    // As the report states it: they replace the input once the report is written.
    for entry in totals.replayed {
      totals.renameRejects(entry.rejects.path, to: URL(fileURLWithPath: entry.path).path)
    }
  }

  /// - Parameter inputs: Those of each part.
  private func importAll(_ inputs: [[InputFile]], _ totals: inout ImportTotals) throws(RunFailure) -> RunFailure? {
    let ledger = try store.ledger(environment.tables, overwrittenMax: definition.limits.overwrittenMax)
    if !isDryRun { store.coordinator.addSaveParticipant(ledger) }
    defer { store.coordinator.removeSaveParticipant(ledger) }
    for part in parts { try part.environment.checkOpenPlans(ledger.entries) }
    let expectations = try environment.expectations()
    let failure = try transaction(&totals, ledger) { totals throws(RunFailure) in
      let known = KnownInputs(ledger.entries)
      let paths = rejectsPaths(inputs.flatMap(\.self))
      var first = 0
      for (number, part) in parts.enumerated() {
        totals.begin(part: number, of: part.environment, lastStoredKey: try part.environment.lastStoredKey())
        let own = paths[first..<(first + inputs[number].count)]
        let failure = importEach(
          Array(zip(inputs[number], own)), of: part, known: known, ledger: ledger, totals: &totals)
        // What comes later may lead to what is missing now.
        if let failure {
          let left = inputs[(number + 1)...].joined().map(\.name)
          if !left.isEmpty {
            let verb = kind == .validate ? "checked" : "imported"
            totals.notes.append("because of this failure not \(verb): \(left.joined(separator: ", "))")
          }
          return failure
        }
        if totals.outcome != .completed { break }
        first += inputs[number].count
      }
      if totals.outcome == .completed, let failure = setLateLinks(ledger, &totals) { return failure }
      return environment.compare(&totals, with: expectations) ?? addOwed(known, ledger: ledger, totals: &totals)
    }
    // After a failure of the store another run may have continued where this one has stopped.
    if store.isWritten, failure?.concernsStore != true {
      try store.performAgain(unless: environment.monitor.isCancelled) { try ledger.checkLastSave($0) }
    }
    return failure
  }

  /// An input that can't be read does not prevent the import of the others of its part, unless the policy is to stop.
  private func importEach(
    _ inputs: [(file: InputFile, rejects: String?)], of part: ImportPart, known: KnownInputs, ledger: Ledger,
    totals: inout ImportTotals
  ) -> RunFailure? {
    let (environment, contexts) = (part.environment, part.contexts())
    var first: RunFailure?
    for (input, rejectsPath) in inputs {
      do throws(RunFailure) {
        let input = try environment.readable(input)
        var importer = FileImporter(
          input, environment: environment, contexts: contexts, ledger: ledger, rejectsPath: rejectsPath)
        let entry = try wholly(part, contexts, ledger: ledger, totals: &totals) { totals throws(RunFailure) in
          try importer.run(known, &totals)
        }
        // An input that is named twice in one run is imported once.
        if entry.isComplete {
          totals.processedCount += 1
          environment.late?.finish(entry.path, part: environment.part, importer.checkpoint)
          known.add(entry, replacing: Set(importer.replaced.map(\.id)))
          totals.completed.append(entry)
          if options.isReplay, entry.location == input.location { totals.replayed.append(entry) }
          totals.replaced += importer.replaced
        }
        if let file = input.inboxFile {
          if entry.isComplete { totals.finish(file, .processed) }
          if totals.outcome == .stopped { totals.finish(file, .failed) }
        }
        if totals.outcome == .stopped { totals.failedCount += 1 }
      } catch {
        ledger.clear()
        totals.forgetStoredRecords()
        if error.isPassing, environment.monitor.isCancelled() {
          totals.outcome = .cancelled
          return first
        }
        environment.monitor.log.log(.inputFailed(input.name, code: error.code, message: error.message))
        first = first ?? error
        totals.failedCount += 1
        if let file = input.inboxFile, error.exitCode == .dataError, !error.concernsStore {
          totals.finish(file, .failed)
        }
        if definition.errorPolicy == .stop || definition.atomic || error.concernsStore { return first }
      }
      if totals.outcome != .completed { break }
    }
    return first
  }

  /// Adds what earlier runs of the pipeline have imported to its end and not reported: they were killed, or could not
  /// write their report. What this run has replaced is not among them.
  private func addOwed(_ known: KnownInputs, ledger: Ledger, totals: inout ImportTotals) -> RunFailure? {
    if isDryRun || options.isReplay { return nil }
    let done = Set(totals.completed.map(\.id))
    let owed = known.all.filter {
      $0.isComplete && !$0.isReported && $0.pipeline == definition.name && !done.contains($0.id)
    }
    do throws(RunFailure) {
      for entry in owed.reversed() {
        let file = InputFile(name: entry.path, path: entry.location ?? entry.path)
        let part = parts.first { $0.environment.definition.entity == entry.entity } ?? parts[0]
        var importer = FileImporter(
          file, environment: part.environment, contexts: part.contexts(), ledger: ledger, rejectsPath: nil)
        totals.completed.append(try importer.finishUnreported(entry, &totals))
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

  // MARK: Rejects

  /// The path of each input's rejects. A dry run leaves no files behind unless the options request them.
  private func rejectsPaths(_ inputs: [InputFile]) -> [String?] {
    if isDryRun, options.rejects == nil { return inputs.map { _ in nil } }
    if options.isReplay { return inputs.map { RejectsMark.pathOfRest(of: $0.path) } }
    return RejectsDestination.paths(for: inputs.map(\.name), definition, options, store: store.location)
  }

  /// An unwritable path is reported before the import rather than at the first reject.
  private func checkRejects(_ inputs: [InputFile]) throws(RunFailure) {
    let isRequested = RejectsDestination.requested(definition, options) != nil
    for path in rejectsPaths(inputs).compactMap({ $0 }) {
      // The folder of a store that does not exist yet is created with it.
      let isNextToStore = store.path.map(OutputPath.folder) == OutputPath.folder(of: path)
      if isRequested || !isNextToStore { try RejectsDestination.check(path) }
    }
  }
}
