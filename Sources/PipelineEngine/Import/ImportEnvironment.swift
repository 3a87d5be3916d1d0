import CSV
import Foundation

/// What all inputs of an import share.
struct ImportEnvironment {
  let definition: PipelineDefinition
  let options: RunOptions
  let isDryRun: Bool
  let columns: ColumnSet
  let store: ImportStore
  let keys: KeyRules
  let monitor: RunMonitor
  /// Names the run in the ledger, the report and the files of rejects.
  let runID: String
  let startedAt: Date
  let digest: ContentDigest
  /// Counts what the entries are like, where a report will show it.
  let profiler: EntryProfiler?
  let tables: LedgerTables
  let clock = StageClock()

  /// What the ledger is told with the first save of the run.
  var runBegin: [LedgerTables.Statement] {
    let run = LedgerRun(id: runID, pipeline: definition.name, startedAt: startedAt)
    return [tables.record(run), tables.noteInterruptions(before: runID)]
  }

  /// The key that the next inserted entry gets.
  func nextKey(_ totals: ImportTotals) throws(RunFailure) -> Int64 {
    isDryRun ? totals.lastStoredKey + totals.insertedCount + 1 : try store.lastKey() + 1
  }

  /// Tells the log of a chunk that is saved and of what is wrong in it.
  func log(_ plan: ChunkPlan, of chunk: ParsedChunk, input: String) {
    let log = monitor.log
    if log.takes(.debug) {
      log.log(.chunkSaved(input, record: chunk.progress.position.record - 1, rows: plan.inserts.count))
    }
    for issue in plan.issues { log.log(.issue(issue)) }
  }

  // MARK: Inputs

  /// What reads an input; `known` is what the ledger knows of inputs, the newest first.
  func reader(of file: InputFile, _ known: [LedgerEntry]) -> InputReader {
    let recognizer = InputRecognizer(
      definition: definition, digest: digest, path: file.name,
      entries: options.again ? [] : known.filter { $0.entity == definition.entity })
    return InputReader(
      file: file, definition: definition, columns: columns, entity: store.entity,
      takesDefaults: options.fillsAttributesByName, recognizer: recognizer, digester: { keys.digester($0) },
      clock: clock)
  }

  /// The file of the rejects of an input, of which nothing is there until the first reject.
  func rejectsFile(of file: InputFile, header: [UInt8], at path: String, _ ledger: Ledger) -> RejectsFile {
    let context = RejectsFile.Context(
      run: runID, pipeline: options.pipelineReference ?? (options.fillsAttributesByName ? nil : definition.name),
      entity: options.entityReference, model: options.modelReference, input: file.name,
      store: options.namesStoreInRejects ? store.path : nil,
      options: options.readingOptions.isEmpty ? nil : options.readingOptions)
    // What a dry run finds is found again; what an import rejects must not be written over.
    let taken = isDryRun ? nil : Set(ledger.entries.filter { !$0.isComplete }.compactMap(\.rejects.path))
    return RejectsFile(header: header, context: context) { taken.map { RejectsPlace.free(path, taken: $0) } ?? path }
  }
}
