import CSV
import Foundation
import OpenCoreData

/// What all inputs of an import share.
struct ImportSetup {
  let definition: PipelineDefinition
  let options: RunOptions
  let isDryRun: Bool
  let entity: NSEntityDescription
  let columns: ColumnSet
  let container: NSPersistentContainer
  /// The store's file; of a dry run the one that an import would go to, if it is known.
  let storePath: String?
  let monitor: RunMonitor
  /// Names the run in the ledger, the report and the files of rejects.
  let runID: String
  let startedAt: Date
  let digest: ContentDigest
  /// Counts what the entries are like, where a report will show it.
  let profiler: EntryProfiler?
  let tables: LedgerTables
  let clock = StageClock()

  var coordinator: NSPersistentStoreCoordinator { container.persistentStoreCoordinator }

  // MARK: The store

  /// Opens the store that is there already, a dry run's for reading only. A store that is not there is made at the
  /// first input that can be imported: a run without one makes none.
  func openExistingStore() throws(RunFailure) {
    guard let storePath, FileManager.default.fileExists(atPath: storePath) else { return }
    try addStore(storePath)
  }

  /// Called at the first input that can be imported.
  func openStore() throws(RunFailure) {
    guard coordinator.persistentStores.isEmpty else { return }
    do {
      guard let storePath, !isDryRun else {
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return
      }
      try FileManager.default.createDirectory(
        at: URL(fileURLWithPath: storePath).deletingLastPathComponent(), withIntermediateDirectories: true)
    } catch {
      throw RunFailure(store: error as NSError, path: storePath)
    }
    guard let storePath else { return }
    try addStore(storePath)
    if definition.atomic { try beginTransaction() }
  }

  /// Of an atomic run: all saves from now on are one transaction.
  func beginTransaction() throws(RunFailure) {
    guard !isDryRun, !coordinator.persistentStores.isEmpty else { return }
    do {
      try coordinator.beginTransaction()
    } catch {
      throw RunFailure(store: error as NSError, path: storePath)
    }
  }

  private func addStore(_ path: String) throws(RunFailure) {
    do {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path),
        options: [
          NSReadOnlyPersistentStoreOption: NSNumber(value: isDryRun),
          NSPersistentStoreTimeoutOption: NSNumber(value: options.lockTimeoutSeconds),
        ])
    } catch {
      throw RunFailure(store: error as NSError, path: path)
    }
  }

  func closeStore() {
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }

  /// Tells the log of a chunk that is saved and of what is wrong in it.
  func log(_ plan: ChunkPlan, of chunk: ParsedChunk, input: String) {
    let log = monitor.log
    if log.takes(.debug) {
      log.log(.chunkSaved(input, record: chunk.progress.position.record - 1, rows: plan.inserts.count))
    }
    for issue in plan.issues { log.log(.issue(issue)) }
  }

  // MARK: Keys

  /// What entries are told apart and compared by, where an input has the columns of `mapping`.
  func matcher(_ mapping: HeaderMapping) -> EntryMatcher {
    EntryMatcher(definition, entity: entity, uniquenesses: uniquenesses, updatedSlots: updatedSlots(mapping))
  }

  func digester(_ mapping: HeaderMapping) -> RowDigester {
    let slots = definition.duplicates.updates ? updatedSlots(mapping) : []
    return EntryMatcher.digester(definition, entity, uniquenesses, slots)
  }

  /// Attributes that an update may change: of columns that the input has or the pipeline fills, and not of the key.
  private func updatedSlots(_ mapping: HeaderMapping) -> [Int] {
    var names = columns.parsers.filter { mapping.fieldOfColumn[$0.column] != nil || $0.textWhenAbsent != nil }
      .map(\.definition.attribute)
    if case .update(let wanted?) = definition.duplicates { names = names.filter(wanted.contains) }
    return names.filter { !definition.key.contains($0) }.compactMap { entity.slot(named: $0) }.sorted()
  }

  /// Without these columns a key says nothing, and all records would be new.
  func missingKeys(_ mapping: HeaderMapping, input: String) -> [RecordIssue] {
    var wanted = definition.key
    if case .keepNewest(let by) = definition.duplicates { wanted.append(by) }
    return columns.parsers.compactMap { parser in
      let isThere = mapping.fieldOfColumn[parser.column] != nil || parser.valueWhenAbsent != .null
      guard wanted.contains(parser.definition.attribute), !isThere else { return nil }
      let known = mapping.issues.contains { $0.code == .missingLabel && $0.column == parser.definition.name }
      guard !known else { return nil }
      return RecordIssue(
        .missingLabel, at: RecordPosition(input: input, record: 0, line: 1, byte: 0), column: parser.definition.name,
        message: "the header has no '\(parser.definition.name)', and the pipeline's key needs it; add the column, or "
          + "declare its label as a synonym")
    }
  }

  /// What the ledger is told with the first save of the run.
  var runBegin: [LedgerTables.Statement] {
    let run = LedgerRun(id: runID, pipeline: definition.name, startedAt: startedAt)
    return [tables.record(run), tables.noteInterruptions(before: runID)]
  }

  /// Columns with the rule `unique`, and the model's own constraints: these are checked here too, so that a dry run
  /// finds what the store would refuse.
  private var uniquenesses: [EntryMatcher.Uniqueness] { columnUniquenesses + modelUniquenesses }

  private var columnUniquenesses: [EntryMatcher.Uniqueness] {
    definition.columns.compactMap { column in
      guard let rule = column.rules.first(where: { $0.kind == .unique }),
        let slot = entity.slot(named: column.attribute)
      else { return nil }
      return EntryMatcher.Uniqueness(
        slots: [slot], code: .uniqueError, column: column.name, names: column.name, severity: rule.severity)
    }
  }

  private var modelUniquenesses: [EntryMatcher.Uniqueness] {
    entity.uniquenessConstraintNames.compactMap { names in
      let slots = names.compactMap { entity.slot(named: $0) }
      guard slots.count == names.count else { return nil }
      return EntryMatcher.Uniqueness(
        slots: slots, code: .storeConstraint, column: nil, names: names.joined(separator: ", "), severity: .error)
    }
  }

  /// Tells the matcher of every entry of the store: one thread reads them, and this one notes their keys.
  func load(_ matcher: EntryMatcher) throws(RunFailure) {
    guard !matcher.digester.isIdle, !coordinator.persistentStores.isEmpty else { return }
    let batches = StoreWalk(container.newBackgroundContext(), entity).start(matcher.digester)
    defer { batches.abandon() }
    do {
      // There are hardly more entries than the last one's key.
      matcher.reserve(Int(try coordinator.lastKey(of: entity)))
      while let next = batches.receive() {
        let (digests, keys) = try next.get()
        try matcher.load(digests, storeKeys: keys)
        if monitor.isCancelled() { return }
      }
    } catch {
      throw RunFailure(saving: error)
    }
  }
}

extension RunFailure {
  /// What ended a save, or the search for keys before it.
  init(saving error: any Error) {
    if let spill = error as? KeySpillError {
      self.init(code: nil, exitCode: spill.exitCode, message: spill.description)
    } else {
      self.init(store: error as NSError)
    }
  }
}
