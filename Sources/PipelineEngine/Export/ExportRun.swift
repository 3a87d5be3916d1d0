import CSV
import Foundation
import OpenCoreData

/// One export, from the store to its summary: a private background context walks over the entries in one read
/// snapshot, another thread turns them into records.
struct ExportRun {
  private let definition: PipelineDefinition
  private let export: ExportDefinition
  private let options: RunOptions
  private let monitor: RunMonitor
  private let entity: NSEntityDescription
  private let formatter: EntryFormatter
  private let container: NSPersistentContainer
  private let storePath: String
  private let outputPath: String
  private let startedAt: Date

  init(
    _ definition: PipelineDefinition, _ options: RunOptions, model: NSManagedObjectModel, _ monitor: RunMonitor
  ) throws(PipelineError) {
    self.definition = definition
    self.options = options
    self.monitor = monitor
    startedAt = options.now()
    export = definition.export ?? ExportDefinition()
    entity = try definition.entity(in: model)
    formatter = try EntryFormatter(export, entity: entity)
    container = NSPersistentContainer(name: definition.model, managedObjectModel: model)
    let store = options.store.map { URL(fileURLWithPath: $0).path } ?? definition.store.map(definition.path)
    guard let store else {
      throw PipelineError(path: "store", "there is no store to export from; name one with --store or in the pipeline")
    }
    storePath = store
    outputPath = options.output ?? export.output.map(definition.path) ?? "-"
    do {
      // Only to find mistakes now; the fetching context parses it again for itself.
      if let text = export.predicate {
        _ = try NSPredicate.parse(format: text).predicateNode().bound(to: EntityPredicateSchema(entity: entity))
      }
    } catch {
      throw PipelineError(path: "export.predicate", (error as NSError).localizedDescription)
    }
    try checkSort()
    try OutputPlace.check(outputPath, key: "export.output", isNoneOf: [storePath])
    for path in ReportFiles.paths(definition, options) {
      try OutputPlace.check(path, key: "report", isNoneOf: [storePath])
    }
  }

  private func checkSort() throws(PipelineError) {
    for (index, key) in export.sort.enumerated() where entity.slot(named: key.attribute) == nil {
      let hint = NearestName.hint(for: key.attribute, in: entity.columnTypes.keys.sorted())
      throw PipelineError(
        path: "export.sort[\(index)]", "\(entity.name ?? "") has no attribute '\(key.attribute)'\(hint)")
    }
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
    let isWritten = failure == nil && state.outcome == .completed
    return RunSummary(
      kind: .export, pipeline: definition.name, outcome: failure == nil ? state.outcome : .failed,
      failure: failure?.summary, startedAt: startedAt, seconds: begin.duration(to: clock.now) / .seconds(1),
      outputs: isWritten
        ? [RunSummary.File(path: outputPath, bytes: state.bytes, records: state.written)] : [],
      store: storePath, exported: isWritten ? state.written : 0, issues: state.log)
  }

  private func openStore() throws(RunFailure) {
    guard FileManager.default.fileExists(atPath: storePath) else {
      throw RunFailure(
        code: .sourceError, exitCode: .noInput,
        message: "there is no store \(storePath); check the path, or import into it first")
    }
    do {
      try container.persistentStoreCoordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: storePath),
        options: [
          NSReadOnlyPersistentStoreOption: NSNumber(value: true),
          NSPersistentStoreTimeoutOption: NSNumber(value: options.lockTimeoutSeconds),
        ])
    } catch {
      throw RunFailure(store: error as NSError, path: storePath)
    }
  }

  // MARK: Writing

  private func write(_ state: inout ExportState) throws(RunFailure) {
    let queue = BoundedQueue<BatchMessage>(capacity: 2)
    do throws(CSVError) {
      let isGzip = outputPath == "-" ? export.gzip ?? false : export.isGzip(outputPath)
      let sink = try ByteSink(path: outputPath, compression: isGzip ? .gzip() : .none)
      var writer = try CSVWriter(sink, dialect: export.dialect.csv)
      if export.dialect.header { try writer.write(formatter.names) }
      startReading(into: queue)
      try writeAll(from: queue, to: &writer, &state)
      if state.outcome == .completed, state.failure == nil {
        try writer.flush()
        try sink.commit()
        state.bytes = sink.writtenBytes
      } else {
        sink.cancel()
      }
    } catch {
      throw RunFailure(error)
    }
    if let failure = state.failure { throw failure }
    let stored = try? FileManager.default.attributesOfItem(atPath: outputPath)[.size] as? Int
    state.bytes = stored ?? state.bytes
  }

  /// What the fetching context sends to the writing thread.
  private enum BatchMessage: Sendable {
    case batch(ObjectBatch, ObjectIDCollection)
    case failure(RunFailure)
  }

  private func startReading(into queue: BoundedQueue<BatchMessage>) {
    let context = container.newBackgroundContext()
    context.name = "export"
    let (predicate, limit, rows) = (export.predicate, export.limit, definition.chunkRows)
    let sort = export.sort
    let name = definition.entity
    context.perform {
      defer { queue.finish() }
      // A limit of nothing is none to a fetch request.
      guard limit != 0 else { return }
      let request = NSFetchRequest<NSManagedObject>(entityName: name)
      request.sortDescriptors = sort.map { NSSortDescriptor(key: $0.attribute, ascending: $0.ascending) }
      request.fetchLimit = limit ?? 0
      request.includesSubentities = false
      do {
        request.predicate = try predicate.map { try NSPredicate.parse(format: $0) }
        try context.walk(request, rowsPerBatch: min(rows, 10_000)) { batch, ids in
          queue.send(.batch(batch, ids))
        }
      } catch {
        _ = queue.send(.failure(RunFailure(store: error as NSError)))
      }
    }
  }

  private func writeAll(
    from queue: BoundedQueue<BatchMessage>, to writer: inout CSVWriter, _ state: inout ExportState
  ) throws(CSVError) {
    defer { queue.abandon() }
    var formatter = formatter
    while let message = queue.receive() {
      guard case .batch(let batch, let ids) = message else {
        if case .failure(let failure) = message { state.failure = failure }
        return
      }
      for row in 0..<batch.count {
        if let refusal = try formatter.write(row, of: batch, to: &writer) {
          state.refuse(refusal, ids[row], storePath)
        } else {
          state.written += 1
        }
      }
      monitor.report(
        RunProgress(
          file: outputPath, records: state.written, rejected: state.log.errorsTotal, bytes: state.bytes))
      if monitor.isCancelled() {
        state.outcome = .cancelled
        return
      }
    }
  }
}

/// What an export knows of itself while it runs.
private struct ExportState {
  var log: IssueLog
  var outcome = RunSummary.Outcome.completed
  /// Set when the store can't be read any further.
  var failure: RunFailure?
  var written = 0
  var bytes = 0

  mutating func refuse(_ refusal: EntryFormatter.Refusal, _ id: NSManagedObjectID, _ store: String) {
    let position = RecordPosition(input: store, record: 0, line: 0, byte: 0)
    log.add(
      RecordIssue(
        .unwritableValue, at: position, field: refusal.column + 1, column: refusal.name,
        message: "the entry \(id.uriRepresentation().lastPathComponent) was left out: \(refusal.reason). "
          + "Export with another dialect or format, or change the entry"))
  }
}
