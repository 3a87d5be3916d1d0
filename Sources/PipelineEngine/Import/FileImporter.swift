import CSV
import Foundation
import SystemSupport
import OpenCoreData

/// Imports one input: handles the messages of the thread that reads it, in order, until everything is saved.
///
/// The work for a message is divided:
/// - ``InputReader`` reads, recognises and parses the input on its own threads, and sends the messages.
/// - ``ChunkSaver`` saves a chunk. It has a ``ChunkPlanner``, which decides what happens to each record, the
///   ``RejectsFile``, the ``ImportContexts``, and a ``CheckpointWriter`` for the ledger.
/// - ``InputComparison`` compares the input with what the store has of it: it is refused, replaces that, or goes on.
/// - ``FileCheckpoint`` has the progress of the input.
/// - ``ImportFailures`` words why the input, or the rest of it, is not imported.
struct FileImporter {
  private let file: InputFile
  private let environment: ImportEnvironment
  private let contexts: ImportContexts
  private let ledger: Ledger
  private let rejectsPath: String?
  /// Set where only a shard of the input is imported.
  private let shard: LedgerEntry?
  private var definition: PipelineDefinition { environment.definition }
  private var failures: ImportFailures { ImportFailures(of: file.name, environment) }
  private var writer: CheckpointWriter { CheckpointWriter(environment: environment, ledger: ledger) }

  private(set) var checkpoint: FileCheckpoint
  private var summary: RunSummary.File
  private var rejects: RejectsFile?
  /// The final path of the rejects that an earlier run has begun; a rolled back run does not remove these.
  private var continuedRejects: String?
  /// Nil until the header is known.
  private var saver: ChunkSaver?
  private var totalBytes: Int?
  private var wasOpened = false
  /// The expected content of the input; nil where its hash is not checked.
  private var checksumFile: ChecksumFile?
  private var comparison: InputComparison
  /// The inputs whose entries this one has replaced.
  var replaced: [LedgerEntry] { comparison.replaced }

  /// - Parameters:
  ///   - rejectsPath: Where the rejects are written; nil where no file of them is.
  ///   - shard: The shard that is imported, with its checkpoint; nil for the whole input.
  init(
    _ file: InputFile, environment: ImportEnvironment, contexts: ImportContexts, ledger: Ledger, rejectsPath: String?,
    shard: LedgerEntry? = nil
  ) {
    self.shard = shard
    self.file = file
    self.environment = environment
    self.contexts = contexts
    self.ledger = ledger
    self.rejectsPath = rejectsPath
    checkpoint = FileCheckpoint(file, environment)
    comparison = InputComparison(of: file, environment)
    summary = RunSummary.File(path: file.name, bytes: 0, records: 0, state: .imported)
  }

  /// Handles the whole input and adds its results to `totals`.
  ///
  /// - Parameter known: What was imported before.
  /// - Returns: The ledger's entry for this input.
  mutating func run(_ known: KnownInputs, _ totals: inout ImportTotals) throws(RunFailure) -> LedgerEntry {
    defer {
      let made = rejects?.path == continuedRejects ? nil : rejects?.path
      summary.counts = checkpoint.results.counts
      if totals.outcome == .stopped { summary.failure = totals.stopReason }
      if !wasOpened { summary.state = nil }
      totals.finish(
        summary, wasOpened: wasOpened, checkpoint.results, of: definition.entity, rejects: rejectsResult, made: made)
    }
    do throws(RunFailure) {
      if let failure = file.failure { throw failure }
      if definition.verifyHash || environment.options.verifiesHash {
        checksumFile = try ChecksumFile.verified(file.path, file.name)
      }
      comparison.begin(with: known)
      var reader = environment.reader(
        of: file, known, digester: comparison.needsDigests ? environment.wholeRecordDigester : nil)
      reader.shard = shard.flatMap { entry in entry.shard.map { ($0, entry) } }
      let reading = reader.start()
      defer { reading.end() }
      try environment.clock.time(.save) { (share) throws(RunFailure) in
        try handleAll(reading.messages, share: &share, totals: &totals)
      }
    } catch {
      if !error.isNoted, let issue = error.issue(file.name) { checkpoint.note(issue) }
      summary.failure = error.issue(file.name)?.message ?? error.message
      throw error
    }
    return checkpoint.entry
  }

  // MARK: Messages

  private mutating func handleAll(
    _ messages: BoundedQueue<InputReader.Message>, share: inout StageClock.Share, totals: inout ImportTotals
  ) throws(RunFailure) {
    let isCancelled = environment.monitor.isCancelled
    while totals.outcome == .completed {
      // A pipe may send nothing for a long time; a request to cancel must not wait for it.
      let isStillWanted = share.waiting { messages.waitForContent(unless: isCancelled) }
      guard isStillWanted, !isCancelled() else {
        // If only the end was missing, the input is complete.
        if case .end(let progress)? = messages.receiveIfReady() { return try complete(progress, &totals) }
        totals.outcome = .cancelled
        return
      }
      switch messages.receive() {
      case nil: return
      case .failure(let error): throw failures.failure(error, after: checkpoint.results.counts)
      case .recognized(let recognition): try begin(recognition, &totals)
      case .opened(let input):
        (totalBytes, wasOpened) = (input.totalBytes, true)
        environment.monitor.log.log(.inputOpened(file.name, bytes: input.totalBytes))
        try open(input, &totals)
      case .surveyed(let result):
        for issue in result.issues { note(issue) }
        if let fault = result.refusal { throw failures.refusal(fault, after: checkpoint.results.counts) }
        totals.notes += result.notes
      case .chunk(let parsed):
        guard let chunk = share.waiting(parsed.receive) else { return }
        try save(chunk, &totals)
      case .end(let progress): try complete(progress, &totals)
      }
    }
  }

  /// Handles the result of comparing the input with the ledger.
  private mutating func begin(_ recognition: InputRecognition, _ totals: inout ImportTotals) throws(RunFailure) {
    if let rejectsPath { environment.removeAbandonedRejects(at: rejectsPath, ledger) }
    if environment.options.isReplay, !environment.isDryRun { try Replay.setDetailsAside(ofRestOf: file.path) }
    switch recognition {
    case .fresh:
      if environment.options.isReplay { try Replay.checkFresh(file.path) }
      checkpoint.restart(ledger, completed: totals.completed)
      return try comparison.compare(with: nil, checkpoint.entry, &totals)
    case .changed(let entry):
      checkpoint.restart(ledger, completed: totals.completed)
      return try comparison.compare(with: entry, checkpoint.entry, &totals)
    case .known(let known): return try noteKnown(known, &totals)
    case .resumed(let known):
      // What precedes the checkpoint was compared when it was begun.
      comparison.skip()
      summary.state = .resumed
      if known.path != file.name { environment.removeAbandonedRejects(ofInput: known.path, ledger) }
      try resume(known)
    case .grown(let known):
      comparison.skip()
      summary.state = .grown
      checkpoint.begin(after: known, ledger)
    case .refused(let reason):
      throw RunFailure(code: .inputRefused, exitCode: .dataError, message: "\(file.name): \(reason)")
    }
    let position = checkpoint.entry.progress.position
    summary.firstRecord = position.record
    environment.monitor.log.log(.inputResumed(file.name, record: position.record - 1, byte: position.byteOffset))
  }

  /// The input was imported to its end before: none of it is read.
  private mutating func noteKnown(_ known: LedgerEntry, _ totals: inout ImportTotals) throws(RunFailure) {
    wasOpened = true
    summary.state = .known
    summary.importedAt = known.savedAt
    // The earlier file may have been compressed, and this one not.
    let size = file.isReadTwice ? stat.of(file.path).map { Int($0.st_size) } : nil
    summary.bytes = size ?? known.progress.consumedBytes
    environment.monitor.log.log(.inputKnown(file.name, importedAt: LedgerDate.text(known.savedAt)))
    guard !known.isReported, known.run != environment.runID else {
      totals.notes += known.noteOfRejects(program: definition.vocabulary.program).map { [$0] } ?? []
      return checkpoint.keep(known)
    }
    // The run that imported it was killed before it wrote its report, or could not write it: this one reports instead.
    try resume(known)
    try writer.write(&checkpoint, &totals)
  }

  /// Adds the results of an input that an earlier run has imported to its end without reporting it.
  mutating func finishUnreported(_ owed: LedgerEntry, _ totals: inout ImportTotals) throws(RunFailure) -> LedgerEntry {
    defer {
      summary.counts = checkpoint.results.counts
      totals.finish(
        summary, wasOpened: true, checkpoint.results, of: owed.entity, rejects: owed.rejects.path, made: nil)
    }
    try noteKnown(owed, &totals)
    return checkpoint.entry
  }

  /// Continues from the state of an interrupted run.
  private mutating func resume(_ known: LedgerEntry) throws(RunFailure) {
    do {
      // Nothing is known of what was not begun.
      let issues =
        known.counts.read == 0 && known.shard != nil
        ? [] : try environment.tables.issues(ofInput: known.id, environment.store.coordinator)
      checkpoint.resume(known, issues: issues, environment)
    } catch {
      throw RunFailure(store: error as NSError)
    }
    noteSaved(known.progress)
  }

  /// Called when the header was read: opens the store and prepares for chunks.
  private mutating func open(_ input: InputReader.Opened, _ totals: inout ImportTotals) throws(RunFailure) {
    let mapping = input.mapping
    let missingKeys = environment.keys.missingKeys(mapping, input: file.name)
    // The error about a column of the key replaces the warning about the same column.
    let others = input.issues.filter { issue in
      !missingKeys.contains { $0.code == issue.code && $0.column == issue.column }
    }
    let issues = others + missingKeys
    // An interrupted run has already added them, or the plan of a shard.
    if summary.state != .resumed {
      for issue in issues { note(issue) }
    }
    if let fault = issues.first(where: { $0.severity == .error }) {
      throw failures.refusal(fault, after: checkpoint.results.counts)
    }
    if let labels = input.labels {
      let last = ledger.entries.first {
        $0.isComplete && $0.header != nil && $0.pipeline == definition.name && $0.entity == definition.entity
      }
      if summary.state != .resumed {
        HeaderChange.issues(from: last, to: labels, input: file.name).forEach { note($0) }
      }
      checkpoint.setHeader(labels)
    }
    totals.notes += input.survey?.notes ?? []
    try environment.store.open()
    try environment.observer?.open(file.name, mapping: mapping, in: environment)
    let shared = try environment.sharedKeys(of: shard, mapping)
    let matcher = shared == nil ? try comparison.matcher(mapping, &totals) : nil
    if summary.state == .resumed || summary.state == .grown {
      try comparison.noteEarlierRecords(of: checkpoint.entry, matcher, isGrown: summary.state == .grown, &totals)
    }
    try comparison.takeBack(ledger, &totals)
    if summary.state != .resumed { checkpoint.setBaseKey(try environment.nextKey(totals) - 1) }
    if let rejectsPath {
      let made = environment.rejectsFile(of: file, input.form, labels: input.labels, at: rejectsPath, ledger)
      if summary.state == .resumed, !environment.isDryRun {
        try made.resume(at: checkpoint.entry.rejects)
        continuedRejects = made.path
      }
      rejects = made
    }
    let own = summary.state == .resumed ? try environment.ownKeys(of: checkpoint.entry) : []
    saver = ChunkSaver(
      ChunkPlanner(matcher, checkpoint.entry, own: own, input: file.name, shared: shared),
      linker: try totals.linker(environment),
      contexts: contexts, writer: writer, rejects: rejects)
  }

  /// Notes an issue of the header or of a whole column.
  private mutating func note(_ issue: RecordIssue) {
    checkpoint.note(issue)
    environment.monitor.log.log(.issue(issue))
  }

  private mutating func save(_ chunk: ParsedChunk, _ totals: inout ImportTotals) throws(RunFailure) {
    try comparison.checkFirst(chunk, of: checkpoint.entry, &totals)
    if summary.bytes == 0, !comparison.isReplacement { try environment.store.prepare(for: expectedCount(after: chunk)) }
    do {
      if let stop = try saver?.save(chunk, checkpoint: &checkpoint, totals: &totals) {
        note(stop, before: chunk, totals: &totals)
      } else {
        noteSaved(chunk.progress)
      }
    } catch {
      throw RunFailure(saving: error)
    }
    let sum = totals.counts + checkpoint.results.counts
    environment.monitor.report(
      RunProgress(
        file: file.name, records: sum.read, rejected: sum.rejected, bytes: summary.bytes, total: totalBytes))
  }

  /// About how many records the input has, by the size of those of its first chunk; fewer if it is compressed, and 0 if
  /// its size is not known.
  private func expectedCount(after chunk: ParsedChunk) -> Int {
    // More than the chunk was read ahead.
    let bytes = min(Int(chunk.progress.position.byteOffset), chunk.progress.consumedBytes)
    guard let totalBytes, bytes > 0 else { return 0 }
    return Int(Double(chunk.batch.count) * Double(totalBytes) / Double(bytes))
  }

  /// Called at the end of the input. The rejects are on the disk first: an input that counts as complete has them.
  private mutating func complete(_ progress: InputProgress, _ totals: inout ImportTotals) throws(RunFailure) {
    try checksumFile?.checkRecords(progress.position.record - 1, of: file.name)
    if comparison.isReplacement, progress.position.record == 1 { throw failures.onlyDeletes }
    // The records of these were not counted, or the entries that were replaced still are.
    let isReplaced = comparison.isReplacement && !environment.isDryRun
    if summary.state != .imported || !file.isReadTwice || isReplaced { totals.forgetStoredRecords() }
    try rejects?.finish()
    try takeFreedPath(&totals)
    if environment.isDryRun, let path = rejects?.path { try RejectsFile.publish(path, replaces: true) }
    summary.bytes = progress.consumedBytes
    // The last chunk has completed a shard.
    if shard == nil {
      checkpoint.complete(progress, rejects: rejects?.mark, at: environment.options.now())
      try writer.write(&checkpoint, &totals)
    }
    environment.monitor.log.log(.inputCompleted(file.name, checkpoint.results.counts))
  }

  /// Rejects that had to avoid the name of a partial import, which this one has replaced, take that name. Those of a run
  /// that was killed may have avoided a name that is free now.
  private func takeFreedPath(_ totals: inout ImportTotals) throws(RunFailure) {
    let isInTransaction = definition.atomic || environment.savesInputsWhole
    let mayBeFree = summary.state == .resumed || !totals.obsoleteRejects.isEmpty
    guard let rejects, let old = rejects.path, mayBeFree, !isInTransaction, !environment.isDryRun,
      let path = environment.freedPath(for: rejects, totals.obsoleteRejects, ledger)
    else { return }
    // Until this is on the disk, the partial import may come back with its files.
    try environment.store.checkpoint()
    guard rejects.link(to: path) else { return }
    totals.obsoleteRejects.removeAll { $0 == path }
    totals.obsoleteRejects.append(old)
  }

  // MARK: The report

  private mutating func noteSaved(_ progress: InputProgress) {
    (summary.bytes, summary.records) = (progress.consumedBytes, checkpoint.results.counts.read)
  }

  /// The chunk is not saved: what precedes it stays.
  private mutating func note(_ stop: ChunkSaver.Stop, before chunk: ParsedChunk, totals: inout ImportTotals) {
    for issue in stop.issues {
      checkpoint.note(issue)
      environment.monitor.log.log(.issue(issue))
    }
    totals.discard(stop.counts)
    totals.outcome = .stopped
    totals.stopReason = failures.stop(stop.reason, after: chunk.block.start.record - 1)
  }

  /// The path of the rejects; those of an incomplete input have a temporary name.
  private var rejectsResult: String? {
    let entry = checkpoint.entry
    guard let path = rejects?.path ?? entry.rejects.path, summary.state != .known || !entry.isReported else {
      return nil
    }
    return entry.isComplete || environment.isDryRun ? path : RejectsFile.partPath(of: path)
  }
}
