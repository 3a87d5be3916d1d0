import CSV
import Dispatch
import Foundation
import SystemSupport
import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// One export, from the store to its summary: a private background context fetches the entries in one read snapshot,
/// and another thread formats them as records.
struct ExportRun {
  private let definition: PipelineDefinition
  private let export: ExportDefinition
  private let options: RunOptions
  private let monitor: RunMonitor
  private let entity: NSEntityDescription
  private let formatter: EntryFormatter
  private let container: NSPersistentContainer
  private let place: StoreLocation
  /// For messages.
  private var storePath: String { place.shown }
  /// Whether the model was derived from the store's tables, so that nothing can be compared.
  private let isOfTables: Bool
  private let template: OutputTemplate
  private let startedAt: Date
  /// Values that were left out because their files are missing, if the options ask for it.
  private let missing: MissingValues?

  init(
    _ definition: PipelineDefinition, options: RunOptions, model: RunModel, monitor: RunMonitor
  ) throws(PipelineError) {
    let definition = options.joinsLists ? definition.joiningLists(in: model.model) : definition
    self.definition = definition
    self.options = options
    self.monitor = monitor
    startedAt = options.now()
    missing = options.leavesOutMissingValues ? MissingValues() : nil
    let checked = try ExportSchemaCheck(definition, model: model.model)
    entity = checked.entity
    formatter = checked.formatter
    container = NSPersistentContainer(name: definition.modelName, managedObjectModel: model.model)
    isOfTables = model.isOfTables
    guard let store = definition.storeLocation(options) else {
      throw PipelineError(path: "store", "no store to export from is named; name one with --store or in the pipeline")
    }
    place = store
    let declared = definition.export ?? ExportDefinition()
    let output = options.output ?? declared.output.map(definition.path) ?? "-"
    let contradictions = declared.contradictions(output: output)
    if !contradictions.isEmpty {
      throw PipelineError(mistakes: contradictions.map { .init(path: "export.\($0.key)", message: $0.message) })
    }
    export = declared.resolved(output: output)
    if place.isServer, export.incremental {
      throw PipelineError(
        path: "export.incremental",
        "a server gives the numbers of entries in blocks, so that new entries may have lower numbers than old ones; export "
          + "all entries, or those of a condition, without --incremental")
    }
    if export.format == .jsonl { try formatter.checkNames() }
    template = try OutputTemplate(output, split: export.split)
    try checkReaders()
    let firstPath = template.path(OutputTemplate.Values(start: startedAt))
    try OutputPath.check([firstPath], key: "export.output", filesRead: [], store: place.path)
    let neighbours = [("incremental", export.incremental), ("hash", export.hash), ("split", export.split != nil)]
    if let (key, _) = neighbours.first(where: \.1), let path = [firstPath, output].first(where: OutputPath.isSpecial) {
      throw PipelineError(
        path: "export.\(key)", "puts a file next to the output, and \(path) is not a regular file; name one")
    }
    try OutputPath.check(ReportFiles.paths(definition, options), key: "report", filesRead: [], store: place.path)
    try EventLog.checkPath(definition, options, filesRead: [], store: place.path)
  }

  /// Ranges of keys follow each other in the order of the keys only.
  private func checkReaders() throws(PipelineError) {
    guard options.readers > 1 else { return }
    let reason: String
    if !place.isServer {
      reason = "several readers are for a store on a server, and \(storePath) is a file"
    } else if case .month(let attribute)? = export.split, export.sort.isEmpty {
      reason = "several readers read the entries by key, and months are written in the order of \(attribute)"
    } else if let key = export.sort.first {
      reason = "several readers read the entries by key, and these are sorted by \(key.attribute)"
    } else {
      return
    }
    throw PipelineError(path: "readers", "\(reason); leave --readers out")
  }

  mutating func run() -> RunSummary {
    let clock = ContinuousClock()
    let begin = clock.now
    var state = ExportState(log: IssueLog(listedMax: definition.limits.issuesListedMax))
    var failure: RunFailure?
    do throws(RunFailure) {
      try ReportFiles.check(ReportFiles.paths(definition, options))
      try openStore()
      try write(&state)
    } catch {
      failure = error
    }
    for store in container.persistentStoreCoordinator.persistentStores {
      try? container.persistentStoreCoordinator.remove(store)
    }
    var summary = RunSummary(
      kind: .export, pipeline: definition.name, outcome: failure == nil ? state.outcome : .failed,
      failure: failure?.summary, startedAt: startedAt, seconds: begin.duration(to: clock.now) / .seconds(1),
      outputs: state.outputs, store: storePath, exported: state.outputs.reduce(0) { $0 + $1.records },
      issues: state.log, program: definition.vocabulary.program)
    summary.note = state.note
    summary.gauges.version = options.programVersion
    summary.exportedAs = exportedAs
    for file in state.outputs {
      monitor.log.log(.outputWritten(file.path, records: file.records, bytes: file.bytes))
    }
    return summary
  }

  /// What is exported, for the report.
  private var exportedAs: RunSummary.Exported {
    let keys = order.map { $0.ascending ? $0.attribute : "\($0.attribute) (greatest first)" }
    return RunSummary.Exported(
      entity: definition.entity, columns: formatter.names, predicate: export.predicate,
      order: keys.isEmpty ? nil : keys.joined(separator: ", then "), limit: export.limit,
      format: export.format == .jsonl ? "jsonl" : "csv", incremental: export.incremental)
  }

  private func openStore() throws(RunFailure) {
    guard place.exists else { throw RunFailure(noStore: place.shown) }
    var chosen: [AnyHashable: Any] = [
      NSReadOnlyPersistentStoreOption: NSNumber(value: true),
      NSIgnorePersistentStoreVersioningOption: NSNumber(value: isOfTables),
      NSPersistentStoreTimeoutOption: NSNumber(value: options.lockTimeoutSeconds),
      DamagedWAL.optionKey: NSNumber(value: options.readsDamagedWAL),
      StoreOptions.ignoresMetadataKey: NSNumber(value: options.ignoresMetadata),
    ]
    chosen[MissingValues.optionKey] = missing
    do {
      try container.persistentStoreCoordinator.addPersistentStore(
        ofType: place.type, configurationName: nil, at: try place.url(), options: chosen)
    } catch {
      throw RunFailure(reading: error as NSError, path: place.shown, isIncremental: export.incremental)
    }
  }

  // MARK: Writing

  private func write(_ state: inout ExportState) throws(RunFailure) {
    let mark = try export.incremental ? readMark() : nil
    var files = ExportFiles(
      export, template, names: formatter.names, storePath: storePath, rightsOf: options.originalStore,
      startedAt: startedAt, unless: monitor.isCancelled)
    do throws(CSVError) {
      try files.begin()
      let queue = BoundedQueue<BatchMessage>(capacity: 2)
      let hasEnded = startReading(into: queue, keysAbove: mark?.greatestKey)
      // A reader that is cut off by the end of the process would leave its -wal and -shm files next to the store.
      defer { hasEnded.wait() }
      try writeAll(from: queue, to: &files, &state)
      if state.outcome == .completed, state.failure == nil { state.outputs = try files.commit() }
      files.cancel()
    } catch {
      files.cancel()
      guard error.errnoCode == ECANCELED else { throw RunFailure(error) }
      state.outcome = .cancelled
      state.note = error.path.map { "\($0) \(error.message)" }
    }
    if let failure = state.failure { throw failure }
    if export.incremental, state.outcome == .completed { try finishIncrement(mark, &state) }
  }

  private func readMark() throws(RunFailure) -> ExportMark? {
    try OutputPath.check(template.markPath)
    guard let mark = try ExportMark.read(template.markPath) else { return nil }
    let lastKey: Int64
    do {
      lastKey = try container.persistentStoreCoordinator.lastKey(of: entity)
    } catch {
      throw RunFailure(store: error as NSError, path: storePath)
    }
    try mark.check(
      pipeline: definition.name, store: storeUUID, entity: definition.entity, lastKey: lastKey, path: template.markPath)
    return mark
  }

  private var storeUUID: String { container.persistentStoreCoordinator.persistentStores.first?.identifier ?? "" }

  /// Written only after the outputs have their final names: a mark that is ahead of them would lose entries
  /// permanently.
  private func finishIncrement(_ mark: ExportMark?, _ state: inout ExportState) throws(RunFailure) {
    guard let greatestKey = state.greatestKey else {
      let last = mark.map { " since \(DateText.iso8601($0.exportedAt.timeIntervalSinceReferenceDate) ?? "")" } ?? ""
      state.note = "nothing is new\(last), so no file was written"
      OutputFile.removeLeftovers(of: template.markPath)
      return
    }
    let new = ExportMark(
      pipeline: definition.name, store: storeUUID, entity: definition.entity, greatestKey: greatestKey,
      exported: state.outputs.reduce(0) { $0 + $1.records }, exportedAt: startedAt)
    do {
      // The entries may not be on the disk yet: with the power their keys would be lost, and given to others.
      if !place.isServer { try WALFile.sync(ofStore: storePath) }
      try new.write(template.markPath, permissions: FileRights.ofFile(template.markPath, near: storePath))
    } catch {
      let (status, reason): (ExitCode, String) =
        switch error {
        case let error as CSVError: (RunFailure(error).exitCode, RunFailure(error).message)
        case let error as POSIXError: (.ioError, String(cString: strerror(error.code.rawValue)))
        default: (.cannotCreate, (error as NSError).reason)
        }
      throw RunFailure(
        code: nil, exitCode: status,
        message: "the output is complete, but not the mark of how far it goes, \(template.markPath): \(reason). The "
          + "next export will write the same entries again")
    }
  }

  /// What the fetching context sends to the writing thread.
  private enum BatchMessage: Sendable {
    case batch(ObjectBatch, ObjectIDCollection, refused: [Int: EntryFormatter.Refusal])
    case failure(RunFailure)
  }

  /// - Returns: A semaphore that is signalled when the reader no longer uses the store.
  private func startReading(into queue: BoundedQueue<BatchMessage>, keysAbove key: Int64?) -> DispatchSemaphore {
    let hasEnded = DispatchSemaphore(value: 0)
    let context = container.newBackgroundContext()
    context.name = "export"
    let (predicate, limit, rows) = (export.predicate, export.limit, definition.chunkRows)
    let (sort, readers) = (order, options.readers)
    let (name, keyPaths) = (definition.entity, formatter.pathsBeyondEntity)
    var attributes = formatter.ownAttributes
    if case .month(let attribute)? = export.split { attributes.insert(attribute) }
    let (attributesRead, lists) = (attributes, formatter.lists)
    context.perform {
      defer {
        queue.finish()
        hasEnded.signal()
      }
      // To a fetch request a limit of 0 means no limit.
      guard limit != 0 else { return }
      let request = NSFetchRequest<NSManagedObject>(entityName: name)
      request.sortDescriptors = sort.map { NSSortDescriptor(key: $0.attribute, ascending: $0.ascending) }
      request.fetchLimit = limit ?? 0
      do {
        request.predicate = try predicate.map { try NSPredicate.parse(format: $0) }
        // All reads see one state of the store.
        if !lists.isEmpty { try context.setQueryGenerationFrom(.current) }
        var reader = RelatedListReader(lists, context)
        let send = { (batch: ObjectBatch, ids: ObjectIDCollection) in
          var batch = batch
          let refused = try reader.add(to: &batch, ids)
          return queue.send(.batch(batch, ids, refused: refused))
        }
        let rowsPerBatch = min(rows, 10_000)
        if let key {
          try context.walk(
            request, keyPaths: keyPaths, attributes: attributesRead, keysAbove: key, rowsPerBatch: rowsPerBatch, send)
        } else {
          try context.walk(
            request, keyPaths: keyPaths, attributes: attributesRead, readers: readers, rowsPerBatch: rowsPerBatch, send)
        }
      } catch {
        _ = queue.send(.failure(RunFailure(reading: error as NSError, isIncremental: export.incremental)))
      }
    }
    return hasEnded
  }

  /// Sorted by month, so that only one file is open at a time.
  private var order: [ExportDefinition.SortKey] {
    guard case .month(let attribute)? = export.split, export.sort.isEmpty else { return export.sort }
    return [ExportDefinition.SortKey(attribute)]
  }

  private func writeAll(
    from queue: BoundedQueue<BatchMessage>, to files: inout ExportFiles, _ state: inout ExportState
  ) throws(CSVError) {
    defer {
      queue.abandon()
      state.noteMissing(missing, store: storePath)
    }
    var formatter = formatter
    while let message = queue.receive() {
      guard case .batch(let batch, let ids, let refused) = message else {
        if case .failure(let failure) = message { state.failure = failure }
        return
      }
      formatter.refusedLists = refused
      try files.write(batch, with: &formatter) { row, refusal in state.refuse(refusal, of: ids[row], store: storePath) }
      state.noteMissing(missing, store: storePath)
      state.walked += batch.count
      if export.incremental {
        for index in ids.indices { state.greatestKey = max(state.greatestKey ?? 0, ids.key(at: index) ?? 0) }
      }
      monitor.report(
        RunProgress(
          file: files.path, records: state.walked - state.log.errorsTotal, rejected: state.log.errorsTotal,
          bytes: files.storedBytes))
      if monitor.isCancelled() {
        state.outcome = .cancelled
        return
      }
    }
  }
}

/// The state of a running export.
private struct ExportState {
  var log: IssueLog
  var outcome = RunSummary.Outcome.completed
  /// Set when the store can't be read any further.
  var failure: RunFailure?
  /// Entries that were read, written or refused.
  var walked = 0
  /// The highest primary key that was read; nil before the first entry.
  var greatestKey: Int64?
  /// Empty until all files have their final names.
  var outputs: [RunSummary.File] = []
  var note: String?

  /// Adds a warning for each value that was left out since the last call.
  mutating func noteMissing(_ missing: MissingValues?, store: String) {
    for value in missing?.take() ?? [] {
      log.add(
        RecordIssue(
          .missingExternal, severity: .warning, at: RecordPosition(input: store, record: 0, line: 0, byte: 0),
          message: "the value of \(value.attribute) in row \(value.key) was left out: its file \(value.file) is missing"
        ))
    }
  }

  mutating func refuse(_ refusal: EntryFormatter.Refusal, of id: NSManagedObjectID, store: String) {
    let position = RecordPosition(input: store, record: 0, line: 0, byte: 0)
    log.add(
      RecordIssue(
        .unwritableValue, at: position, field: refusal.column + 1, column: refusal.name,
        message: "the entry \(id.uriRepresentation().lastPathComponent) was left out: \(refusal.reason). "
          + "Export with another dialect or format, or change the entry"))
  }
}
