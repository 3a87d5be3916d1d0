import CSV
import Foundation
import OpenCoreData
import PersistentStores

/// Makes a plan: an import of files into a store on a server that any number of workers do.
package struct PlanRun {
  /// What was planned.
  package struct Result: Sendable, Codable {
    /// The number of the plan, which is that of its run.
    package var plan: String
    package var store: String
    package var files: [File]
    /// The files that an earlier run has imported, or that are among `files` under another name.
    package var known: [String]
    package var shards: Int
    package var records: Int
    package var bytes: Int
    package var notes: [String]
    package var seconds: Double

    package struct File: Sendable, Codable {
      package var path: String
      package var shards: Int
      package var records: Int
      package var bytes: Int
      package var contentHash: String
      /// Why it is one shard although it is larger.
      package var uncut: String?
    }
  }

  private let run: ImportRun
  private let parts: PlanParts
  private let shardBytes: Int
  private let writersMax: Int?
  /// The environment of what is the same for all parts.
  private var environment: ImportEnvironment { run.environment }
  private var store: ImportStore { environment.store }

  /// - Parameters:
  ///   - shardBytes: About how many bytes a shard has; nil for 64 MiB.
  ///   - writersMax: How many workers may write at the same time; nil for any number.
  ///   - isDryRun: Whether the plan is for workers that only check the files.
  /// - Throws: `PipelineError` for a pipeline that can't be planned, with the reason.
  package init(
    _ definition: PipelineDefinition, options: RunOptions, shardBytes: Int?, writersMax: Int?,
    isDryRun: Bool = false, isCancelled: @escaping @Sendable () -> Bool
  ) throws {
    var options = options
    options.runID = UUID().uuidString.lowercased()
    run = try PlanRun.importRun(definition, options: options, isDryRun: isDryRun, isCancelled: isCancelled)
    self.shardBytes = shardBytes ?? ShardPlanner.shardBytesDefault
    self.writersMax = writersMax
    try PlanRefusal.check(run)
    parts = PlanParts(run, isOfWorker: false)
  }

  /// The import that a plan distributes, with its model.
  static func importRun(
    _ definition: PipelineDefinition, options: RunOptions, isDryRun: Bool = false,
    isCancelled: @escaping @Sendable () -> Bool
  ) throws -> ImportRun {
    let location = isDryRun ? nil : definition.storeLocation(options)
    guard isDryRun || location?.isServer == true else {
      throw RunFailure(
        code: nil, exitCode: .usage,
        message: "a store in a file is written by one machine; import into it with 'import', or name a store on a "
          + "server with --store postgresql://USER@HOST/DATABASE")
    }
    let model = try RunModel.found(definition, options: options, store: location?.text, for: .opened).get()
    // Before the log is opened, which makes its file.
    try EventLog.checkPath(definition, options, filesRead: [], store: definition.storeLocation(options)?.path)
    let log = try EventLog.of(definition, options, unless: isCancelled)
    return try ImportRun(
      definition, options: options, model: model, isDryRun: isDryRun,
      monitor: RunMonitor(isCancelled: isCancelled, report: { _ in }, log: log))
  }

  /// Reads the inputs and writes the plan to the ledger, in one transaction.
  package func plan() throws(RunFailure) -> Result {
    let clock = ContinuousClock()
    let start = clock.now
    let lock = try StoreLock(
      store.location ?? StoreLocation(""), run.definition.vocabulary, pipeline: "plan \(run.definition.name)",
      now: environment.startedAt, timeoutSeconds: run.options.lockTimeoutSeconds)
    defer {
      store.close()
      lock.release()
    }
    if let fence = lock.fence { store.coordinator.addSaveParticipant(fence) }
    try store.openExisting()
    try store.open()
    let ledger = try store.ledger(environment.tables, overwrittenMax: 0)
    var (planned, known) = try read(KnownInputs(ledger.entries))
    if planned.allSatisfy(\.isEmpty) {
      throw RunFailure(
        code: nil, exitCode: .ok,
        message: known.isEmpty
          ? "the pipeline names no file to plan; add files to the command"
          : "every file was imported before; nothing to plan"
      )
    }
    known.sort()
    for part in parts.parts { try part.environment.checkOpenPlans(ledger.entries, isPlan: true) }
    store.coordinator.addSaveParticipant(ledger)
    defer { store.coordinator.removeSaveParticipant(ledger) }
    try makeTables(ledger)
    for (index, inputs) in planned.enumerated() where !inputs.isEmpty {
      let environment = parts[index].environment
      if environment.keys.areShared { try keepKeys(of: inputs[0].digester, environment, ledger) }
      // A worker does so when the parts before are complete.
      if !environment.links.isEmpty, parts.before(index).isEmpty {
        try PlannedObjects(environment: environment, ledger: ledger).complete()
      }
    }
    try store.perform { coordinator in
      ledger.prepare(Ledger.Page(statements: try statements(for: planned, ledger, coordinator)))
      try coordinator.saveParticipants()
    }
    return result(planned, known: known, seconds: start.duration(to: clock.now) / .seconds(1))
  }

  // MARK: What workers look up

  /// Makes the tables by which workers compare keys and find related objects. Until the plan is there no worker reads them;
  /// if it is never made, the next plan removes them.
  private func makeTables(_ ledger: Ledger) throws(RunFailure) {
    try store.perform { coordinator in
      let dialect = try coordinator.participantDialect()
      let made = parts.parts.map(\.environment).flatMap { part in
        (part.keys.areShared ? part.sharedKeys.create(dialect) : [])
          + (part.links.isEmpty ? [] : part.sharedLinks.create(dialect))
      }
      if made.isEmpty { return }
      try save(
        try PlanTableNames.dropAbandoned(coordinator, of: environment.plans, run.definition.vocabulary) + made, ledger)
    }
  }

  private func save(_ statements: [LedgerTables.Statement], _ ledger: Ledger) throws {
    ledger.prepare(Ledger.Page(statements: statements))
    try store.coordinator.saveParticipants()
  }

  /// Writes the keys of the store.
  private func keepKeys(
    of digester: RowDigester, _ environment: ImportEnvironment, _ ledger: Ledger
  ) throws(RunFailure) {
    let (store, links) = (environment.store, KeyedLinks(environment.keys, digester.sharedLinks))
    try store.walk(digester, with: [], unless: environment.monitor.isCancelled) { digests, keys in
      var digests = digests
      let ids = keys.compactMap { store.coordinator.objectID(of: store.entity, key: $0) }
      let context = store.container.newBackgroundContext()
      try context.performAndWait { try links.add(to: &digests, of: ids, in: context) }
      try save([environment.sharedKeys.insert(digests, storeKeys: keys)], ledger)
    }
    guard environment.monitor.isCancelled() else { return }
    throw RunFailure(
      code: nil, exitCode: .temporaryFailure,
      message: "cancelled while the keys of the store were read; nothing is planned")
  }

  /// Reads the inputs, and writes a plan to a file for workers that only check them.
  package func plan(toFile path: String) throws(RunFailure) -> Result {
    let start = ContinuousClock.now
    // A path that can't be written is reported before the work.
    try OutputPath.check(path)
    let (planned, known) = try read(KnownInputs())
    try PlanFile(planned[0], environment).write(to: path)
    return result(planned, known: known, seconds: start.duration(to: .now) / .seconds(1))
  }

  // MARK: Reading

  /// The inputs of each part.
  private func read(_ known: KnownInputs) throws(RunFailure) -> (planned: [[PlannedInput]], known: [String]) {
    var (planned, left): ([[PlannedInput]], [String]) = ([], [])
    for part in parts.parts { planned.append(try read(part, known, leaving: &left)) }
    return (planned, left)
  }

  /// - Parameter left: Gets the inputs that are not planned.
  private func read(
    _ part: ImportPart, _ known: KnownInputs, leaving left: inout [String]
  ) throws(RunFailure) -> [PlannedInput] {
    let environment = part.environment
    let planner = ShardPlanner(environment: environment, shardBytes: shardBytes)
    var totals = ImportTotals(environment.definition)
    var planned: [PlannedInput] = []
    for input in part.inputs {
      let file = try environment.readable(input)
      guard try isNew(file, among: known, in: environment, &totals) else {
        left.append(file.name)
        continue
      }
      let isVerified = environment.definition.verifyHash || run.options.verifiesHash
      let checksum = isVerified ? try ChecksumFile.verified(file.path, file.name) : nil
      let input = try planner.plan(file)
      try checksum?.checkRecords(input.recordCount, of: file.name)
      if let fault = input.issues.first(where: { $0.severity == .error }) {
        throw ImportFailures(of: file.name, environment).refusal(fault, after: RunCounts())
      }
      planned.append(input)
      // The same content under another name is planned once.
      var entry = entry(of: input, environment, id: Int64.max - Int64(planned.count))
      (entry.isPlanned, entry.isComplete) = (false, true)
      known.add(entry, replacing: [])
    }
    do throws(PipelineError) {
      try PlanRefusal.check(planned, environment)
    } catch {
      throw RunFailure(code: nil, exitCode: .configuration, message: "\(error)")
    }
    return planned
  }

  /// Compares an input with the ledger and the store, as an import does.
  ///
  /// - Returns: Whether none of it was imported.
  private func isNew(
    _ file: InputFile, among known: KnownInputs, in environment: ImportEnvironment, _ totals: inout ImportTotals
  ) throws(RunFailure) -> Bool {
    if let failure = file.failure { throw failure }
    let recognition: InputRecognition
    do throws(CSVError) {
      recognition = try environment.reader(of: file, known).recognizer.recognize(InputOpener(file)).0
    } catch {
      throw RunFailure(error)
    }
    let problem: String
    switch recognition {
    case .fresh:
      let entry = FileCheckpoint(file, environment).entry
      if let failure = try OverlapCheck(of: file, environment, known: known)?.run(entry, &totals) { throw failure }
      return true
    case .known: return false
    case .refused(let reason): problem = reason
    case .resumed(let entry):
      problem =
        "an import of it, of \(LedgerDate.text(entry.savedAt)), was interrupted; finish it with 'import' first"
    case .grown: problem = "it has grown since it was imported; import the rest of it with 'import'"
    case .changed: problem = "its content has changed since it was imported; import it with 'import'"
    }
    throw RunFailure(code: .inputRefused, exitCode: .dataError, message: "\(file.name): \(problem)")
  }

  // MARK: Writing

  private func entry(of input: PlannedInput, _ environment: ImportEnvironment, id: Int64) -> LedgerEntry {
    var entry = FileCheckpoint(input.file, environment).entry
    entry.id = id
    entry.isPlanned = true
    entry.header = input.labels
    var results = InputResults(
      listedMax: environment.definition.limits.issuesListedMax, profiler: nil, statistics: nil)
    for issue in input.issues { results.log.add(issue) }
    entry.note(input.progress, results: results, rejects: nil, at: environment.startedAt)
    return entry
  }

  private func statements(
    for inputs: [[PlannedInput]], _ ledger: Ledger, _ coordinator: NSPersistentStoreCoordinator
  ) throws -> [LedgerTables.Statement] {
    let (tables, plans, id) = (environment.tables, environment.plans, environment.runID)
    var statements: [LedgerTables.Statement] = try plans.missingDefinitions(in: coordinator).map { ($0, []) }
    var nextShard = try PlanTables.nextShardID(plans, in: coordinator)
    var plan = StoredPlan(run.completedDefinition, run.options)
    plan.shardCount = inputs.joined().reduce(0) { $0 + $1.shards.count }
    statements.append(
      try PlanRecord.insert(
        plan, as: id, digest: parts.digest,
        notes: inputs.joined().flatMap(\.notes),
        at: environment.startedAt, into: plans))
    var record = LedgerRun(id: id, pipeline: run.definition.name, startedAt: environment.startedAt)
    record.outcome = LedgerRun.plannedOutcome
    statements.append(tables.record(record))
    var shards: [LedgerEntry] = []
    let all = zip(parts.parts, inputs).flatMap { part, inputs in inputs.map { (part.environment, $0) } }
    for (ordinal, (environment, input)) in all.enumerated() {
      let entry = entry(of: input, environment, id: ledger.newInputID())
      statements.append(tables.record(entry))
      statements.append(plans.record(input.form, of: entry.id, ordinal: ordinal, plan: id))
      statements += input.issues.enumerated().compactMap { tables.record($1, ofInput: entry.id, ordinal: $0) }
      for var shard in input.shards {
        (shard.id, shard.plan, shard.number, shard.input) = (nextShard, id, shards.count, entry.id)
        shards.append(LedgerEntry(shard, of: entry))
        nextShard += 1
      }
    }
    return statements + plans.insert(shards) + (writersMax.map { plans.limitWriters(to: $0, plan: id) } ?? [])
  }

  private func result(_ planned: [[PlannedInput]], known: [String], seconds: Double) -> Result {
    let inputs = planned.flatMap(\.self)
    let files = inputs.map { input in
      Result.File(
        path: input.file.name, shards: input.shards.count, records: input.recordCount, bytes: input.storedBytes,
        contentHash: input.progress.hash.hex, uncut: input.reasonUncut)
    }
    return Result(
      plan: environment.runID, store: store.location?.shown ?? "", files: files, known: known,
      shards: files.reduce(0) { $0 + $1.shards }, records: files.reduce(0) { $0 + $1.records },
      bytes: files.reduce(0) { $0 + $1.bytes }, notes: inputs.flatMap(\.notes), seconds: seconds)
  }
}
