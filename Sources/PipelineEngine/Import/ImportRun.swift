import CSV
import Foundation
import OpenCoreData

/// One import or dry run, from its inputs to its summary.
struct ImportRun {
  private let definition: PipelineDefinition
  private let options: RunOptions
  private let isDryRun: Bool
  private let monitor: RunMonitor
  private let inputs: [InputFile]
  private let entity: NSEntityDescription
  private let columns: ColumnSet
  private let container: NSPersistentContainer
  /// The store's file; of a dry run the one that an import would go to, if it is known.
  private let storePath: String?
  private let startedAt: Date

  init(
    _ definition: PipelineDefinition, _ options: RunOptions, model: NSManagedObjectModel, isDryRun: Bool,
    _ monitor: RunMonitor
  ) throws(PipelineError) {
    self.definition = definition
    self.options = options
    self.isDryRun = isDryRun
    self.monitor = monitor
    startedAt = options.now()
    entity = try definition.entity(in: model)
    columns = try ColumnSet(definition, types: entity.columnTypes, now: startedAt)
    container = NSPersistentContainer(name: definition.model, managedObjectModel: model)
    inputs =
      options.inputs?.map { InputFile(name: $0, path: $0) }
      ?? definition.source.map { InputFile(name: $0, path: definition.path($0)) }
    storePath = options.store.map { URL(fileURLWithPath: $0).path } ?? definition.store.map(definition.path)
    try checkDefinition()
    let filesRead = inputs.map(\.path) + (storePath.map { [$0] } ?? [])
    for path in ReportFiles.paths(definition, options) {
      try OutputPlace.check(path, key: "report", isNoneOf: filesRead)
    }
    for path in rejectsPaths.compactMap({ $0 }) {
      try OutputPlace.check(path, key: "rejects", isNoneOf: filesRead)
    }
  }

  private func checkDefinition() throws(PipelineError) {
    if inputs.isEmpty { throw PipelineError(path: "source", "there is no input; name a file, or - for standard input") }
    if definition.columns.isEmpty {
      throw PipelineError(path: "columns", "the pipeline declares no columns, so it can't import; add some")
    }
    if !isDryRun, storePath == nil {
      throw PipelineError(path: "store", "there is no store to import into; name one with --store or in the pipeline")
    }
    for name in definition.key where entity.slot(named: name) == nil {
      let hint = NearestName.hint(for: name, in: entity.columnTypes.keys.sorted())
      throw PipelineError(path: "key", "\(definition.entity) has no attribute '\(name)'\(hint)")
    }
    if inputs.count > 1, let wish = RejectsFile.wish(definition, options), !RejectsFile.isFolder(wish) {
      throw PipelineError(
        path: "rejects", "several inputs need several files for their rejects; name a folder, ending in '/'")
    }
  }

  mutating func run() -> RunSummary {
    let clock = ContinuousClock()
    let begin = clock.now
    var state = ImportState(definition)
    var failure: RunFailure?
    do throws(RunFailure) {
      try ReportFiles.check(ReportFiles.paths(definition, options))
      try checkRejects()
      let chain = ImportChain(container, chain: options.contextChain, isDryRun: isDryRun)
      failure = importAll(chain, &state)
      try closeStore()
    } catch {
      failure = failure ?? error
    }
    let duration = begin.duration(to: clock.now)
    return summary(&state, failure, seconds: duration / .seconds(1))
  }

  /// An input that can't be read does not keep the others from being imported, unless the policy is to stop.
  private func importAll(_ chain: ImportChain, _ state: inout ImportState) -> RunFailure? {
    var first: RunFailure?
    for (input, rejectsPath) in zip(inputs, rejectsPaths) {
      let part = InputImport(
        file: input, definition: definition, columns: columns, entity: entity, chain: chain, monitor: monitor,
        rejectsPath: rejectsPath, openStore: openStore)
      do throws(RunFailure) {
        try part.run(&state)
      } catch {
        if let issue = error.issue(input.name) { state.log.add(issue) }
        first = first ?? error
        if definition.errorPolicy == .stop || error.concernsStore { return first }
      }
      if state.outcome != .completed { break }
    }
    return first
  }

  // MARK: Rejects

  /// For each input the place of its rejects. A dry run leaves no files behind unless it was told to.
  private var rejectsPaths: [String?] {
    if isDryRun, options.rejects == nil { return inputs.map { _ in nil } }
    return RejectsFile.paths(for: inputs.map(\.name), definition, options, store: storePath)
  }

  /// Better to learn before the import than at the first reject that it has no place to go.
  private func checkRejects() throws(RunFailure) {
    let isWished = RejectsFile.wish(definition, options) != nil
    for path in rejectsPaths.compactMap({ $0 }) {
      // The folder of a store that is not there yet is made with it.
      let isBesideStore = storePath.map(OutputPlace.folder) == OutputPlace.folder(of: path)
      if isWished || !isBesideStore { try OutputPlace.check(path) }
    }
  }

  // MARK: The store

  /// Called at the first input that can be imported: a run without one makes no store.
  private func openStore() throws(RunFailure) {
    let coordinator = container.persistentStoreCoordinator
    guard coordinator.persistentStores.isEmpty else { return }
    do {
      guard let storePath, !isDryRun else {
        try checkFit()
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return
      }
      let url = URL(fileURLWithPath: storePath)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url,
        options: [NSPersistentStoreTimeoutOption: NSNumber(value: options.lockTimeoutSeconds)])
    } catch {
      throw RunFailure(store: error as NSError, path: storePath)
    }
  }

  /// The store of a dry run, if it is there: opened for reading only, to see that an import could use it.
  private func checkFit() throws {
    guard let storePath, FileManager.default.fileExists(atPath: storePath) else { return }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: container.managedObjectModel)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: storePath),
      options: [
        NSReadOnlyPersistentStoreOption: NSNumber(value: true),
        NSPersistentStoreTimeoutOption: NSNumber(value: options.lockTimeoutSeconds),
      ])
    try coordinator.remove(store)
  }

  /// What was imported is in the file itself, and on the disk, before anyone is told that it is.
  private func closeStore() throws(RunFailure) {
    do {
      let coordinator = container.persistentStoreCoordinator
      try coordinator.checkpoint()
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    } catch {
      throw RunFailure(store: error as NSError, path: storePath)
    }
  }

  private func summary(_ state: inout ImportState, _ failure: RunFailure?, seconds: Double) -> RunSummary {
    RunSummary(
      kind: isDryRun ? .validate : .import, pipeline: definition.name,
      outcome: failure == nil ? state.outcome : .failed, failure: failure?.summary, startedAt: startedAt,
      seconds: seconds, inputs: state.files, store: storePath, counts: state.counts, issues: state.log,
      rejects: state.rejectsPaths.isEmpty ? nil : state.rejectsPaths.joined(separator: ", "))
  }
}

/// An input as the person calls it, and its place.
struct InputFile: Sendable {
  let name: String
  /// `-` for standard input.
  let path: String
}
