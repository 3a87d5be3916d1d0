import Foundation
import OpenCoreData

/// The import of one entity in a run: what its inputs share, and the inputs. Most runs have one.
struct ImportPart {
  var environment: ImportEnvironment
  /// The named inputs; those of an inbox are listed when the run begins.
  let inputs: [InputFile]
  let inbox: Inbox?
  private var definition: PipelineDefinition { environment.definition }

  /// What the parts of a run have in common.
  struct Run {
    let options: RunOptions
    let model: NSManagedObjectModel
    let container: NSPersistentContainer
    let isDryRun: Bool
    /// Whether the store is on a server, also where a dry run imports into a copy of it.
    let isOnServer: Bool
    let monitor: RunMonitor
    let observer: (any ChunkObserver)?
    let id: String
    let startedAt: Date
    /// The names of the root entities of the parts.
    let roots: [String]
    /// The relationships that columns of the parts lead over.
    let relationships: [NSRelationshipDescription]
    let late: LateLinks?
    let held = HeldLock()
    /// Whether there are others.
    var hasSeveralParts: Bool { roots.count > 1 }
  }

  /// - Throws: `PipelineError` for what the model does not allow.
  ///
  /// - Parameter number: The number of the part.
  init(_ definition: PipelineDefinition, number: Int, _ run: Run) throws(PipelineError) {
    var options = run.options
    // A replay of rejects needs to know which part they come from.
    if run.hasSeveralParts {
      options.entityReference = definition.entity
      // A key decides about its records, with or without the options.
      if !definition.key.isEmpty { options.changedInputs = nil }
    }
    var definition = try Self.completed(definition, options: options, model: run.model)
    definition.chunkRows = definition.chunkRows(isOnServer: run.isOnServer)
    var checked = try ImportSchemaCheck(definition, model: run.model, now: run.startedAt)
    if run.isOnServer { try checked.setOnServer(definition.dialect) }
    if options.fillsAttributesByName { checked.setUndeclared() }
    if run.late == nil {
      checked.deferLinks()
    } else {
      try checked.setLate(roots: run.roots[(number + 1)...], among: run.relationships, definition)
    }
    let store = ImportStore(
      container: run.container, entity: checked.entity, location: definition.storeLocation(options),
      isDryRun: run.isDryRun,
      isAtomic: definition.atomic || options.changedInputs(definition) != .refuse,
      lockTimeoutSeconds: options.lockTimeoutSeconds, allowsIncompleteSchema: options.allowsIncompleteSchema,
      keepsLargeValues: options.keepsLargeValues, held: run.held)
    inputs = Self.inputs(of: definition, options)
    inbox = options.inputs == nil ? Self.inbox(of: definition, options) : nil
    // A page of charts shows one entity.
    let profiler =
      run.hasSeveralParts ? nil : try EntryProfiler.requested(definition, options: options, entity: checked.entity)
    environment = ImportEnvironment(
      definition: definition, options: options, isDryRun: run.isDryRun, columns: checked.columns,
      links: checked.links, store: store,
      keys: KeyRules(
        definition: definition, entity: checked.entity, columns: checked.columns, links: checked.links,
        comparesWholeRecords: options.changedInputs(definition) == .onlyNew), monitor: run.monitor,
      runID: run.id, startedAt: run.startedAt, digest: definition.digest, profiler: profiler,
      statistics: try EntryStatistics(definition, entity: checked.entity),
      tables: LedgerTables(definition.vocabulary), hasSeveralInputs: inputs.count > 1 || inbox != nil,
      late: run.late, part: number, observer: run.observer)
    try check()
  }

  /// The definition with its columns, where they are those of the entity: its attributes, and the related objects that the
  /// header names.
  private static func completed(
    _ definition: PipelineDefinition, options: RunOptions, model: NSManagedObjectModel
  ) throws(PipelineError) -> PipelineDefinition {
    var completed = try RunModel.completed(definition, options: options, model: model)
    if options.fillsAttributesByName, definition.columns.isEmpty {
      completed.columns += try NamedLinks.columns(
        for: definition, entity: try definition.entity(in: model), in: inputs(of: definition, options).first,
        csvOptions: options.csvOptions)
    }
    return completed
  }

  /// The inputs that the options or the definition name.
  static func inputs(of definition: PipelineDefinition, _ options: RunOptions) -> [InputFile] {
    options.inputs?.map { InputFile(name: $0, path: $0) } ?? InputFiles.expand(definition)
  }

  private func check() throws(PipelineError) {
    // If all sources are optional, there may be no input.
    if inputs.isEmpty, inbox == nil, environment.options.inputs != nil || definition.source.isEmpty {
      throw PipelineError(path: "source", "no input is named; name a file, or - for standard input")
    }
    if definition.columns.isEmpty {
      throw PipelineError(path: "columns", "the pipeline declares no columns, so it can't import; add some")
    }
    let policy = environment.options.changedInputs(definition)
    if environment.late != nil, let late = environment.links.first(where: { $0.isLate && $0.different == .update }) {
      throw PipelineError(
        path: definition.columnPath(late.columns[0]),
        "'\(late.name)' leads to entries that this run imports, and their own records say which values they have; set "
          + "\"ifDifferent\" to keep or reject")
    }
    if environment.options.changedInputs != nil || policy != .refuse {
      try ImportSchemaCheck.checkComparable(definition, environment.links)
    }
  }

  /// Whether links of the part are set at the end of the run.
  var hasLateLinks: Bool { environment.links.contains { $0.isLate && !$0.isOwnName } }

  /// The contexts that the chunks of the part pass.
  ///
  /// - Parameter isLate: Whether the links that are set at the end of the run are set.
  func contexts(isLate: Bool = false) -> ImportContexts {
    let options = environment.options
    let isWaiting = environment.links.contains { $0.isLate && !$0.isOwnName && !$0.relationship.isOptional }
    return ImportContexts(
      environment.store.container, chain: options.contextChain, notificationContents: options.notificationContents,
      relationships: isWaiting && !isLate ? .ignore : definition.relationships, isDryRun: environment.isDryRun)
  }

  // MARK: The inbox

  private static func inbox(of definition: PipelineDefinition, _ options: RunOptions) -> Inbox? {
    guard let declared = definition.inbox else { return nil }
    var inbox = Inbox(declared, in: definition)
    let own = OwnFiles(definition, options)
    inbox.isOwn = { own.contains($0) }
    inbox.isOfRejects = RejectsFile.isOfRejects
    return inbox
  }

  /// The named inputs and what is in the inbox now, and how many files there are not ready.
  func listed() throws(RunFailure) -> (files: [InputFile], waiting: Int) {
    guard let inbox else { return (inputs, 0) }
    let listing = try inbox.list()
    for item in listing.leftAlone where item.reason.isWorthTelling {
      let (name, reason) = (item.name, item.reason.rawValue)
      // Such a link stays until a person does something about it.
      let isLasting = item.reason == .linkOfOther
      environment.monitor.log.log(
        isLasting ? .inputNotMoved(name, reason: reason) : .inputLeftAlone(name, reason: reason))
    }
    let ready = listing.ready.map { InputFile(name: $0.name, path: $0.path, inboxFile: $0) }
    // Such a file is never imported: that must not look like a night in which nothing came.
    let unreadable = listing.leftAlone.filter { $0.reason == .unreadableName }.map { item in
      InputFile(name: item.name, path: "\(inbox.folder)/\(item.name)", hasUnreadableName: true)
    }
    return (inputs + ready + unreadable, listing.leftAlone.count { $0.reason.isExpected })
  }

  /// A file that was read to its end is processed, even if records of it were rejected; one that can't be read or
  /// exceeded the error policy has failed. A file that stopped for another reason stays for the next run.
  func moveFiles(_ files: [(file: Inbox.File, outcome: Inbox.Outcome)]) throws(RunFailure) {
    guard let inbox, !environment.isDryRun else { return }
    var first: RunFailure?
    for start in stride(from: 0, to: files.count, by: Self.movesPerSync) {
      let failure = moveTogether(files[start..<min(start + Self.movesPerSync, files.count)], of: inbox)
      first = first ?? failure
    }
    if let first { throw first }
  }

  /// So many moves share the syncs of their folders. A move that a power cut takes back is made again by the next run.
  private static let movesPerSync = 1000

  /// Moves files, and logs the moves when they are on the disk.
  ///
  /// - Returns: The first failure.
  private func moveTogether(
    _ files: ArraySlice<(file: Inbox.File, outcome: Inbox.Outcome)>, of inbox: Inbox
  ) -> RunFailure? {
    let log = environment.monitor.log
    var (first, outcomes) = (RunFailure?.none, Set<Inbox.Outcome>())
    var moved: [(name: String, path: String)] = []
    for (file, outcome) in files {
      do throws(RunFailure) {
        switch try inbox.move(file, to: outcome, on: environment.startedAt) {
        case .moved(let path):
          moved.append((file.name, path))
          outcomes.insert(outcome)
        case .gone: log.log(.inputNotMoved(file.name, reason: "it is gone"))
        case .changed: log.log(.inputNotMoved(file.name, reason: "it was changed meanwhile"))
        }
      } catch {
        log.log(.inputNotMoved(file.name, reason: error.message))
        first = first ?? error
      }
    }
    if moved.isEmpty { return first }
    do throws(RunFailure) {
      try inbox.syncMoves(to: outcomes, on: environment.startedAt)
      for (name, path) in moved { log.log(.inputMoved(name, to: path)) }
    } catch {
      for (name, _) in moved { log.log(.inputNotMoved(name, reason: error.message)) }
      first = first ?? error
    }
    return first
  }
}
