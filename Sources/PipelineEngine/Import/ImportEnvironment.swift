import CSV
import Foundation
import PersistentStores

/// What all inputs of an import share.
struct ImportEnvironment {
  let definition: PipelineDefinition
  let options: RunOptions
  let isDryRun: Bool
  let columns: ColumnSet
  /// The relationships that columns lead over; none for most pipelines.
  let links: [EntityLink]
  let store: ImportStore
  var keys: KeyRules
  let monitor: RunMonitor
  /// Identifies the run in the ledger, the report and the files of rejects.
  let runID: String
  let startedAt: Date
  let digest: ContentDigest
  /// Counts the entries' values, where a report will show them.
  let profiler: EntryProfiler?
  /// Counts what the pipeline has expectations for.
  let statistics: EntryStatistics?
  let tables: LedgerTables
  var plans: PlanTables { PlanTables(definition.vocabulary) }
  /// The names of the tables that a plan has for itself.
  var planTableNames: PlanTableNames { PlanTableNames(plan: runID, part: part, definition.vocabulary) }
  /// The tables of the keys of a plan.
  var sharedKeys: SharedKeyTables { SharedKeyTables(planTableNames) }
  /// The tables of what the records of a plan lead to.
  var sharedLinks: SharedLinkTables { SharedLinkTables(planTableNames) }
  /// Whether several workers find and create what records lead to.
  var sharesLinks = false
  /// Whether the run has more than one input.
  var hasSeveralInputs = false
  /// The links that are set at the end of the run; nil for a preview.
  var late: LateLinks?
  /// The number of the part.
  var part = 0
  /// Called at the beginning of the saves of shards; throws `WritersBusy` where this worker may not write yet. Nil where
  /// all may. Otherwise a worker has a connection only while it uses it.
  var takeTurn: (@Sendable (SaveTransaction) throws -> Void)?
  /// Nil for an ordinary run.
  var observer: (any ChunkObserver)?
  let clock = StageClock()
  /// The names of the rejects that this run writes.
  var rejectsNames = RejectsNames()

  /// What the first save of the run writes to the ledger.
  var runBegin: [LedgerTables.Statement] {
    let run = LedgerRun(id: runID, pipeline: definition.name, kind: ledgerKind, startedAt: startedAt)
    return [tables.record(run), tables.noteInterruptions(before: runID)]
  }

  /// A replay has a kind of its own, because later runs are compared with imports only.
  var ledgerKind: LedgerRun.Kind { options.isReplay ? .replay : .import }

  /// The primary key that the next inserted entry counts as until it has one.
  func nextKey(_ totals: ImportTotals) throws(RunFailure) -> Int64 {
    isDryRun ? totals.lastStoredKey + totals.insertedCount + 1 : try lastStoredKey() + 1
  }

  /// A primary key below those that entries count as which the run inserts, and not below those of the store.
  func lastStoredKey() throws(RunFailure) -> Int64 {
    store.givesKeysInOrder ? try store.lastKey() : EntryMatcher.Keys.notGiven
  }

  /// The keys of what an input has inserted in earlier runs, where the highest key before it does not show that.
  func ownKeys(of entry: LedgerEntry) throws(RunFailure) -> InsertedRanges.Sorted {
    if store.givesKeysInOrder || !store.isOpen { return [] }
    return try store.perform {
      try InsertedRanges.all(of: entry.entity, tables, in: $0).filter { $0.input == entry.id }
    }
  }

  /// The keys of a plan; nil for an input that is not a shard, and for a pipeline without a key.
  func sharedKeys(of shard: LedgerEntry?, _ mapping: HeaderMapping) throws(RunFailure) -> SharedKeys? {
    guard keys.areShared, let shard = shard?.shard else { return nil }
    let (plans, id) = (plans, shard.plan)
    let first = try store.perform {
      try $0.participantRows("SELECT MIN(inputID) FROM \(plans.planned) WHERE planID = ?", [id]).first?.first as? Int64
    }
    return SharedKeys(self, mapping, of: shard, firstInput: first ?? shard.input)
  }

  /// Logs a saved chunk and its issues.
  func log(_ plan: ChunkPlan, of chunk: ParsedChunk, input: String) {
    let log = monitor.log
    if log.takes(.debug) {
      log.log(.chunkSaved(input, record: chunk.progress.position.record - 1, rows: plan.inserts.count))
    }
    if log.takes(.error) {
      for issue in plan.issues { log.log(.issue(issue)) }
    }
  }

  // MARK: Inputs

  /// An input that can be read: a copy, if the pipeline has a command that reads it.
  func readable(_ file: InputFile) throws(RunFailure) -> InputFile {
    guard let read = definition.read, file.path != "-", !options.isReplay else { return file }
    return try file.read { name throws(RunFailure) in
      try ReadInput.whole(name, read, in: definition.baseDirectory, unless: monitor.isCancelled)
    }
  }

  /// A shard's input, with the bytes that importing the shard takes.
  func readable(_ file: InputFile, for shard: LedgerEntry) throws(RunFailure) -> InputFile {
    guard let read = definition.read, let bytes = shard.shard?.storedBytes else { return file }
    // Rows at the end of a file that do not count are known when the rest is read.
    guard read.range != nil, definition.dialect.skipLastRows == 0 else { return try readable(file) }
    // The head by which the input is recognised may reach into the shard, or behind it.
    let head = 0..<max(min(ReadInput.headBytes, bytes.lowerBound), shard.progress.headBytes)
    let parts = head.upperBound < bytes.lowerBound ? [head, bytes] : [0..<max(head.upperBound, bytes.upperBound)]
    return try file.read { name throws(RunFailure) in
      try ReadInput.parts(parts, of: name, read, in: definition.baseDirectory, unless: monitor.isCancelled)
    }
  }

  /// The reader of an input; `known` has what was imported before.
  ///
  /// - Parameter digester: What is digested of the records; by default what the pipeline compares.
  func reader(
    of file: InputFile, _ known: KnownInputs, digester: (@Sendable (HeaderMapping) -> RowDigester)? = nil
  ) -> InputReader {
    let recognizer = InputRecognizer(
      definition: definition, digest: digest, location: file.location,
      entries: options.again ? nil : known, planned: known.planned, changedInputs: changedInputs,
      comparesLinks: comparesLinks,
      readsRejectedAgain: options.isReplay && !Replay.hasRest(of: file.path))
    return InputReader(
      file: file, definition: definition, columns: columns, links: links, entity: store.entity,
      takesDefaults: options.fillsAttributesByName, csvOptions: options.csvOptions, recognizer: recognizer,
      digester: digester ?? { [keys] in keys.digester($0) }, clock: clock)
  }

  /// The treatment of an input that has changed since an import: the caller's, or else the pipeline's.
  var changedInputs: PipelineDefinition.ChangedInputPolicy { options.changedInputs(definition) }

  /// Whether whole records can be compared with what they lead to: it is known before the end of the run.
  var comparesLinks: Bool { !links.contains(where: \.isLate) }

  /// What is digested of the records where they are compared with the store's: all that the input fills.
  var wholeRecordDigester: @Sendable (HeaderMapping) -> RowDigester { { [keys] in keys.wholeRecordDigester($0) } }

  /// Whether each input is one transaction: otherwise an interrupted replacement would leave neither the old nor the new
  /// entries, and equal records could no longer be counted.
  var savesInputsWhole: Bool { changedInputs != .refuse && !definition.atomic }

  /// The file of the rejects of an input, which does not exist until the first reject.
  ///
  /// - Parameter labels: The labels of the input's header; nil without a header.
  func rejectsFile(
    of file: InputFile, _ form: PlanTables.Form, labels: [String]?, at path: String, _ ledger: Ledger
  ) -> RejectsFile {
    var readingOptions = options.readingOptions
    var path = path
    if form.isJSONLines {
      // Broken records alone may not show what they are.
      readingOptions["format"] = [DialectDefinition.Format.jsonl.rawValue]
      path = RejectsDestination.jsonLinesPath(for: path, definition, options)
    }
    // The name of the rejects does not say it.
    if form.hasTabs { readingOptions["delimiter"] = ["\\t"] }
    let rejectsPath = path
    let context = RejectsFile.Context(
      run: runID, pipeline: options.pipelineReference ?? (options.fillsAttributesByName ? nil : definition.name),
      entity: options.entityReference, model: options.modelReference, input: file.name,
      store: storeInRejects, seed: options.seedInRejects,
      options: readingOptions.isEmpty ? nil : readingOptions, labels: labels)
    let permissions = FileRights.ofFile(rejectsPath, near: store.path)
    // A dry run overwrites what an earlier one found; what an import has rejected must not be overwritten.
    if isDryRun {
      return RejectsFile(
        header: form.header, context: context, permissions: permissions, requestedPath: rejectsPath,
        kept: ledger.unreportedRejects, choosePath: nil)
    }
    return RejectsFile(
      header: form.header, context: context, permissions: permissions, requestedPath: rejectsPath
    ) { [rejectsNames, rejectsOwner] in
      rejectsNames.take(rejectsPath, unless: ledger.unreportedRejects, owner: rejectsOwner)
    }
  }

  /// The store that details of rejects name; nil where they name none.
  private var storeInRejects: String? { options.namesStoreInRejects ? store.location?.recorded : nil }
  /// The store or seed that rejects belong to, as their details name it.
  private var rejectsOwner: String? { storeInRejects ?? options.seedInRejects }

  /// Removes the rejects that a run has left of an input before anything of it was in the store. An input that is known by
  /// now, or refused, writes none that would take their place.
  func removeAbandonedRejects(at path: String, _ ledger: Ledger) {
    if isDryRun { return }
    for name in Set([path, RejectsDestination.jsonLinesPath(for: path, definition, options)]) {
      RejectsDestination.removeAbandoned(
        name, numbers: rejectsNames.unfinishedNumbers(of: name),
        unless: { ledger.unreportedRejects.contains($0) || rejectsNames.contains($0) },
        owner: rejectsOwner)
    }
  }

  /// The same for an input that another name continues.
  func removeAbandonedRejects(ofInput name: String, _ ledger: Ledger) {
    let paths =
      options.isReplay
      ? [RejectsMark.pathOfRest(of: name)]
      : RejectsDestination.paths(for: [name], definition, options, store: store.location).compactMap(\.self)
    for path in paths { removeAbandonedRejects(at: path, ledger) }
  }

  /// The path that completed rejects would have without the partial import whose paths are `freed`, and without a run that
  /// was killed; nil where that is the one that they have.
  func freedPath(for rejects: RejectsFile, _ freed: [String], _ ledger: Ledger) -> String? {
    let own = rejects.path.map { [$0] } ?? []
    let kept = ledger.unreportedRejects.subtracting(freed + own)
    let others = kept.union(freed.filter(rejectsNames.contains))
    let path = RejectsDestination.free(rejects.requestedPath, taken: others.subtracting(own), owner: rejectsOwner)
    return own.contains(path) ? nil : path
  }
}
