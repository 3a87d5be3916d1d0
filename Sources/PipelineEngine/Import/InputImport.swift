import CSV
import Foundation
import Locking
import OpenCoreData

/// The import of one input: what the reading thread sends is planned, saved and noted chunk by chunk.
struct InputImport {
  private let file: InputFile
  private let setup: ImportSetup
  private let chain: ImportChain
  private let ledger: Ledger
  private let rejectsPath: String?
  private var definition: PipelineDefinition { setup.definition }

  private var summary: RunSummary.File
  private var tally: InputTally
  private var entry: LedgerEntry
  private var rejects: RejectsFile?
  private var matcher: EntryMatcher?
  private var mapping: HeaderMapping?
  private var storeKeys = EntryMatcher.Keys(next: 1, base: 0)
  private var totalBytes: Int?
  private var wasOpened = false
  /// What the input must hold; nil where nobody asks for it.
  private var seal: OutputSeal?
  /// Half-done imports of the same input that this one takes the place of, from its first save on.
  private var halfDone: [LedgerEntry] = []
  /// How many of the listed issues the ledger has.
  private var issuesWritten = 0

  init(
    _ file: InputFile, _ setup: ImportSetup, _ chain: ImportChain, _ ledger: Ledger, rejectsPath: String?
  ) {
    self.file = file
    self.setup = setup
    self.chain = chain
    self.ledger = ledger
    self.rejectsPath = rejectsPath
    summary = RunSummary.File(path: file.name, bytes: 0, records: 0, state: .imported)
    tally = InputTally(listedMax: setup.definition.limits.issuesListedMax, profiler: setup.profiler)
    entry = LedgerEntry(
      id: 0, run: setup.runID, pipeline: setup.definition.name, pipelineDigest: setup.digest,
      entity: setup.definition.entity, path: file.name)
  }

  // MARK: Messages

  /// Handles the whole input and notes what came of it in `state`.
  ///
  /// - Returns: What the ledger knows of it now.
  mutating func run(_ known: [LedgerEntry], _ state: inout ImportState) throws(RunFailure) -> LedgerEntry {
    defer { state.finish(wasOpened ? summary : nil, tally, rejects: rejectsResult) }
    do throws(RunFailure) {
      if let failure = file.failure { throw failure }
      if definition.verifyHash || setup.options.verifiesHash { seal = try OutputSeal.verified(file.path, file.name) }
      let queue = startReading(known)
      try setup.clock.time(.save) { (share) throws(RunFailure) in try handleAll(queue, &share, &state) }
    } catch {
      if let issue = error.issue(file.name) { tally.log.add(issue) }
      throw error
    }
    return entry
  }

  private func startReading(_ known: [LedgerEntry]) -> BoundedQueue<InputReading.Message> {
    let recognizer = InputRecognizer(
      definition: definition, digest: setup.digest, path: file.name,
      entries: setup.options.again ? [] : known.filter { $0.entity == definition.entity })
    let setup = setup
    return InputReading(
      file: file, definition: definition, columns: setup.columns, entity: setup.entity,
      takesDefaults: setup.options.fillsAttributesByName, recognizer: recognizer,
      digester: { setup.digester($0) }, clock: setup.clock
    ).start()
  }

  private mutating func handleAll(
    _ queue: BoundedQueue<InputReading.Message>, _ share: inout StageClock.Share, _ state: inout ImportState
  ) throws(RunFailure) {
    defer { queue.abandon() }
    while state.outcome == .completed {
      // An input may keep silent for long, as a pipe can; a wish to end must not wait for it.
      let isStillWanted = share.waiting { queue.waitForContent(unless: setup.monitor.isCancelled) }
      guard isStillWanted, !setup.monitor.isCancelled() else {
        // Where the end is all that was missing, the input is done.
        if case .end(let progress)? = queue.receiveIfReady() { return try complete(progress, &state) }
        state.outcome = .cancelled
        return
      }
      guard let message = queue.receive() else { return }
      switch message {
      case .failure(let error): throw RunFailure(error)
      case .recognized(let recognition): try begin(recognition, &state)
      case .opened(let mapping, let header, let totalBytes):
        (self.totalBytes, wasOpened) = (totalBytes, true)
        setup.monitor.log.log(.inputOpened(file.name, bytes: totalBytes))
        try open(mapping, header, &state)
      case .chunk(let parsed):
        guard let chunk = share.waiting(parsed.receive) else { return }
        try save(chunk, &state)
      case .end(let progress): try complete(progress, &state)
      }
    }
  }

  private mutating func begin(_ recognition: InputRecognition, _ state: inout ImportState) throws(RunFailure) {
    switch recognition {
    case .fresh:
      if setup.options.isReplay { try Replay.checkFresh(file.path) }
      entry.id = ledger.newInputID()
      // Whoever asks for all of it again gives up what was half done.
      halfDone = ledger.entries.filter { !$0.isComplete && $0.path == file.name && $0.pipelineDigest == setup.digest }
    case .known(let known):
      wasOpened = true
      summary.state = .known
      summary.importedAt = known.savedAt
      setup.monitor.log.log(.inputKnown(file.name, importedAt: LedgerDate.text(known.savedAt)))
      summary.bytes = known.progress.consumedBytes
      guard !known.isReported, known.run != setup.runID else { return entry = known }
      // The run that imported it was killed before it could say so: this one reports in its place.
      try resume(known)
      try writeLedger(&state)
    case .resumed(let known):
      summary.state = .resumed
      try resume(known)
    case .grown(let known):
      summary.state = .grown
      entry.id = ledger.newInputID()
      entry.progress = known.progress
    case .refused(let reason):
      throw RunFailure(code: .inputRefused, exitCode: .dataError, message: "\(file.name): \(reason)")
    }
    guard summary.state == .resumed || summary.state == .grown else { return }
    let position = entry.progress.position
    summary.firstRecord = position.record
    setup.monitor.log.log(.inputResumed(file.name, record: position.record - 1, byte: position.byteOffset))
  }

  /// Takes over what an interrupted run has noted.
  private mutating func resume(_ known: LedgerEntry) throws(RunFailure) {
    entry = known
    entry.run = setup.runID
    do {
      let issues = try ledger.tables.issues(ofInput: known.id, setup.coordinator)
      tally = InputTally(
        known, issues: issues, listedMax: definition.limits.issuesListedMax, profiler: setup.profiler)
    } catch {
      throw RunFailure(store: error as NSError)
    }
    issuesWritten = tally.log.listed.count
    (summary.bytes, summary.records) = (known.progress.consumedBytes, tally.counts.read)
  }

  private mutating func open(
    _ mapping: HeaderMapping, _ header: [UInt8], _ state: inout ImportState
  ) throws(RunFailure) {
    let issues = mapping.issues + setup.missingKeys(mapping, input: file.name)
    // An interrupted run has noted them already.
    if summary.state != .resumed { for issue in issues { tally.log.add(issue) } }
    if let fault = issues.first(where: { $0.severity == .error }) {
      throw RunFailure(
        code: fault.code, exitCode: .dataError,
        message: "\(file.name): the header does not fit the pipeline: \(fault.message)")
    }
    try setup.openStore()
    self.mapping = mapping
    matcher = try state.matcher(mapping, setup)
    if summary.state != .resumed { entry.baseKey = try nextKey(state) - 1 }
    storeKeys.base = entry.baseKey
    try openRejects(header)
  }

  private mutating func openRejects(_ header: [UInt8]) throws(RunFailure) {
    guard let rejectsPath else { return }
    let context = RejectsFile.Context(
      run: setup.runID,
      pipeline: setup.options.pipelineReference ?? (setup.options.fillsAttributesByName ? nil : definition.name),
      entity: setup.options.entityReference, model: setup.options.modelReference, input: file.name,
      store: setup.options.namesStoreInRejects ? setup.storePath : nil)
    let taken = setup.isDryRun ? nil : Set(ledger.entries.filter { !$0.isComplete }.compactMap(\.rejects.path))
    let file = RejectsFile(header: header, context: context) {
      // What a dry run finds is found again; what an import rejects must not be written over.
      taken.map { RejectsPlace.free(rejectsPath, taken: $0) } ?? rejectsPath
    }
    if summary.state == .resumed, !setup.isDryRun { try file.resume(at: entry.rejects) }
    rejects = file
  }

  // MARK: Chunks

  private mutating func save(_ chunk: ParsedChunk, _ state: inout ImportState) throws(RunFailure) {
    do {
      let refused = try matcher?.needsValidEntries == true ? issues(for: chain.validate(chunk), chunk) : [:]
      try save(chunk, refused: refused, &state)
    } catch {
      throw error as? RunFailure ?? RunFailure(saving: error)
    }
    let sum = state.counts + tally.counts
    setup.monitor.report(
      RunProgress(
        file: file.name, records: sum.read, rejected: sum.rejected, bytes: summary.bytes, total: totalBytes))
  }

  /// Plans the chunk and saves it; records that are refused become rejects, and the rest is planned anew.
  private mutating func save(
    _ chunk: ParsedChunk, refused: [Int: RecordIssue], _ state: inout ImportState
  ) throws {
    var refused = refused
    let rejectsBefore = rejects?.mark ?? RejectsMark()
    while true {
      if matcher != nil { storeKeys.next = try nextKey(state) }
      let plan =
        try matcher?.plan(chunk, storeKeys, refused: refused, input: file.name)
        ?? ChunkPlan(inserting: chunk, without: refused)
      if let reason = excess(plan, state) { return stop(plan, chunk, reason, &state) }
      try rejects?.cutBack(to: rejectsBefore)
      try rejects?.append(plan, of: chunk)
      var (nextTally, nextEntry) = (tally, entry)
      nextTally.add(plan, of: chunk)
      nextEntry.note(chunk.progress, nextTally, rejects?.mark, at: Date())
      if !setup.isDryRun { prepareLedger(nextEntry, nextTally, plan, state) }
      let outcome = try chain.save(plan, of: chunk, lastStoredKey: setup.isDryRun ? state.lastStoredKey : .max)
      guard outcome.failures.isEmpty else {
        matcher?.undoChunk()
        refused.merge(issues(for: outcome.failures, chunk)) { $1 }
        continue
      }
      (tally, entry) = (nextTally, nextEntry)
      (summary.bytes, summary.records) = (chunk.progress.consumedBytes, tally.counts.read)
      noteSaved(plan, &state)
      setup.log(plan, of: chunk, input: file.name)
      try matcher?.endChunk(chunk, plan, expected: storeKeys.next, first: outcome.firstKey ?? storeKeys.next)
      return
    }
  }

  private func issues(for failures: [ImportChain.Failure], _ chunk: ParsedChunk) -> [Int: RecordIssue] {
    let pairs = failures.map { failure in
      let issue = RecordIssue(
        failure.code, at: chunk.position(ofRow: failure.row, input: file.name),
        value: chunk.shownValue(ofRecord: Int(chunk.recordOfRow[failure.row])), message: failure.message)
      return (failure.row, issue)
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  /// The key that the next inserted entry gets.
  private func nextKey(_ state: ImportState) throws(RunFailure) -> Int64 {
    if setup.isDryRun { return state.lastStoredKey + state.insertedCount + 1 }
    do {
      return try setup.coordinator.lastKey(of: setup.entity) + 1
    } catch {
      throw RunFailure(store: error as NSError)
    }
  }

  // MARK: The budget

  private func excess(_ plan: ChunkPlan, _ state: ImportState) -> String? {
    guard !plan.rejected.isEmpty else { return nil }
    let sum = state.counts + tally.counts + plan.counts
    return definition.budget.excess(rejected: sum.rejected, read: sum.read)
  }

  /// The chunk is not saved: what lies before it stays.
  private mutating func stop(
    _ plan: ChunkPlan, _ chunk: ParsedChunk, _ reason: String, _ state: inout ImportState
  ) {
    var last = UInt64.max
    let before = state.counts + tally.counts
    if let errors = definition.budget.errors, before.rejected + plan.rejected.count > errors {
      // What comes after the record that was one too many was not looked at, so to speak.
      last = UInt64(chunk.block.number(ofRecordAt: plan.rejected[max(0, errors - before.rejected)]))
    }
    for issue in plan.issues where issue.record <= last {
      tally.log.add(issue)
      setup.monitor.log.log(.issue(issue))
    }
    let saved = chunk.block.start.record - 1
    let extent = saved == 0 ? "nothing" : saved == 1 ? "record 1" : "records 1 to \(saved)"
    state.outcome = .stopped
    state.stopReason = reason + (definition.atomic ? "" : "; of \(file.name) \(extent) counted, and no more")
  }

  // MARK: The ledger

  private mutating func prepareLedger(
    _ entry: LedgerEntry, _ tally: InputTally, _ plan: ChunkPlan?, _ state: ImportState
  ) {
    var statements = state.hasSaved ? [] : setup.runBegin
    statements += halfDone.flatMap { ledger.tables.forget(input: $0.id) } + [ledger.tables.record(entry)]
    for ordinal in issuesWritten..<max(issuesWritten, tally.log.listed.count) {
      if let statement = ledger.tables.record(tally.log.listed[ordinal], ofInput: entry.id, ordinal: ordinal) {
        statements.append(statement)
      }
    }
    ledger.prepare(statements, beforeCommit: plan?.rejected.isEmpty == false ? rejects?.startSync() : nil)
  }

  private mutating func noteSaved(_ plan: ChunkPlan?, _ state: inout ImportState) {
    ledger.didSave()
    for path in halfDone.compactMap(\.rejects.path) { RejectsFile.remove(RejectsFile.partPath(of: path)) }
    halfDone = []
    issuesWritten = tally.log.listed.count
    state.noteSaved(inserted: plan?.inserts.count ?? 0)
  }

  /// Writes what the ledger says of the input, without entries.
  private mutating func writeLedger(_ state: inout ImportState) throws(RunFailure) {
    guard !setup.isDryRun else { return }
    prepareLedger(entry, tally, nil, state)
    do {
      try setup.coordinator.saveParticipants()
    } catch {
      throw RunFailure(store: error as NSError)
    }
    noteSaved(nil, &state)
  }

  /// The end was reached. The rejects get their name first: an input that counts as done has them.
  private mutating func complete(_ progress: InputProgress, _ state: inout ImportState) throws(RunFailure) {
    if let seal, progress.position.record - 1 != seal.records {
      throw RunFailure(
        code: .rowCount, exitCode: .dataError,
        message:
          "\(file.name): has \(progress.position.record - 1) records, and its hash file says \(seal.records): its "
          + "dialect is not the pipeline's, though every byte is in place")
    }
    try rejects?.commit()
    entry.note(progress, tally, rejects?.mark, at: Date())
    entry.isComplete = true
    summary.bytes = progress.consumedBytes
    try writeLedger(&state)
    setup.monitor.log.log(.inputCompleted(file.name, tally.counts))
  }

  /// Where the rejects are; those of an input that was not done have no name yet.
  private var rejectsResult: String? {
    guard let path = rejects?.path ?? entry.rejects.path, summary.state != .known || !entry.isReported else {
      return nil
    }
    return entry.isComplete || setup.isDryRun ? path : RejectsFile.partPath(of: path)
  }
}
