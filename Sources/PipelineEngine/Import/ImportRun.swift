import CSV
import Foundation
import OpenCoreData

/// One import or dry run, from its inputs to its summary.
struct ImportRun {
  private let definition: PipelineDefinition
  private let options: RunOptions
  private let isDryRun: Bool
  private let monitor: RunMonitor
  private let inputs: [String]
  private let entity: NSEntityDescription
  private let columns: ColumnSet
  private let container: NSPersistentContainer
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
    inputs = options.inputs ?? definition.source
    let store = options.store.map { URL(fileURLWithPath: $0).path } ?? definition.store.map(definition.path)
    storePath = isDryRun ? nil : store
    try checkDefinition(store)
  }

  private func checkDefinition(_ store: String?) throws(PipelineError) {
    if inputs.isEmpty { throw PipelineError(path: "source", "there is no input; name a file, or - for standard input") }
    if definition.columns.isEmpty {
      throw PipelineError(path: "columns", "the pipeline declares no columns, so it can't import; add some")
    }
    if !isDryRun, store == nil {
      throw PipelineError(path: "store", "there is no store to import into; name one with --store or in the pipeline")
    }
    for name in definition.key where entity.slot(named: name) == nil {
      let hint = NearestName.hint(for: name, in: entity.columnTypes.keys.sorted())
      throw PipelineError(path: "key", "\(definition.entity) has no attribute '\(name)'\(hint)")
    }
    if inputs.count > 1, let rejects = options.rejects ?? definition.rejects, !rejects.hasSuffix("/") {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: definition.path(rejects), isDirectory: &isFolder), isFolder.boolValue
      else {
        throw PipelineError(
          path: "rejects", "several inputs need several rejects files; name a folder, ending in '/'")
      }
    }
  }

  mutating func run() -> RunSummary {
    let clock = ContinuousClock()
    let begin = clock.now
    var state = ImportState(definition)
    var failure: RunFailure?
    do throws(RunFailure) {
      try openStore()
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
    for input in inputs {
      let part = InputImport(
        input: input, definition: definition, columns: columns, entity: entity, chain: chain, monitor: monitor,
        rejectsPath: rejectsPath(input))
      do throws(RunFailure) {
        try part.run(&state)
      } catch {
        if let issue = error.issue(input) { state.log.add(issue) }
        first = first ?? error
        if definition.errorPolicy == .stop || error.concernsStore { return first }
      }
      if state.outcome != .completed { break }
    }
    return first
  }

  private func rejectsPath(_ input: String) -> String? {
    // A dry run leaves no files behind unless it was told to.
    if isDryRun, options.rejects == nil { return nil }
    return RejectsFile.path(for: input, definition, options, store: storePath)
  }

  private func openStore() throws(RunFailure) {
    do {
      let coordinator = container.persistentStoreCoordinator
      guard let storePath else {
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        return
      }
      let url = URL(fileURLWithPath: storePath)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    } catch {
      throw RunFailure(store: error as NSError)
    }
  }

  /// What was imported is in the file itself, and on the disk, before anyone is told that it is.
  private func closeStore() throws(RunFailure) {
    do {
      let coordinator = container.persistentStoreCoordinator
      try coordinator.checkpoint()
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    } catch {
      throw RunFailure(store: error as NSError)
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
