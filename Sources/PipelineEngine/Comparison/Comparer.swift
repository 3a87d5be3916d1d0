import CSV
import OpenCoreData

/// Compares the records of the new file, as they are read, with the old side.
final class Comparer: ChunkObserver {
  enum Old {
    case store(ComparedStore)
    case file(String)
  }

  private let run: ObservedRun
  private let keys: KeyRules
  private let old: Old
  /// What columns lead to; nil for a pipeline without links.
  private let links: ComparedLinks?
  private var spool: DifferenceSpool?
  private var columns: ComparedColumns?
  private var pairing: EntryPairing?
  private var oldSummary: RunSummary?

  init(run: ObservedRun, keys: KeyRules, old: Old) {
    (self.run, self.keys, self.old) = (run, keys, old)
    links = keys.links.isEmpty ? nil : ComparedLinks(keys.columns, entity: keys.entity, keys.links)
  }

  // MARK: The new side

  /// Reads the old side: only when the header of the new one is known, it is known which columns are compared.
  func open(_ input: String, mapping: HeaderMapping, in environment: ImportEnvironment) throws(RunFailure) {
    try Self.checkKeys(keys, mapping, input: input)
    switch old {
    case .store(let store):
      try begin([mapping])
      try explained {
        try store.read(attributes, with: links) { rows in
          try self.pairing?.addOld(rows)
          return !self.run.isCancelled
        }
      }
    case .file(let path):
      let summary: RunSummary
      do throws(PipelineError) {
        summary = try run.read(
          [path],
          observer: OldFileReader { [self] input, other throws(RunFailure) in
            try Self.checkKeys(keys, other, input: input)
            try begin([other, mapping])
          } add: { [self] chunk, plan in
            try pairing?.addOld(rows(chunk, plan))
          })
      } catch {
        // The same definition was accepted for the new file.
        throw RunFailure(code: nil, exitCode: error.exitCode, message: error.description)
      }
      oldSummary = summary
      if let failure = summary.unfinished {
        throw RunFailure(code: failure.code, exitCode: failure.exitCode, message: failure.message)
      }
    }
  }

  func add(_ chunk: ParsedChunk, _ plan: ChunkPlan) throws { try pairing?.addNew(rows(chunk, plan)) }

  private func rows(_ chunk: ParsedChunk, _ plan: ChunkPlan) -> ComparedRows {
    links?.rows(chunk, plan) ?? ComparedRows(chunk, plan)
  }

  private func begin(_ mappings: [HeaderMapping]) throws(RunFailure) {
    let columns = ComparedColumns(
      keys.columns, key: keys.definition.key, mappings: mappings, entity: keys.entity, links)
    if columns.texts.columns.isEmpty {
      throw RunFailure(
        code: nil, exitCode: .dataError,
        message: "the two files have no column of the pipeline in common, so nothing can be compared; check their "
          + "headers")
    }
    self.columns = columns
    try explained {
      let spool = try DifferenceSpool()
      self.spool = spool
      pairing = EntryPairing(columns, keysInMemoryMax: keys.definition.limits.keysInMemoryMax, spool: spool)
    }
  }

  private static func checkKeys(_ keys: KeyRules, _ mapping: HeaderMapping, input: String) throws(RunFailure) {
    guard let issue = keys.missingKeys(mapping, input: input).first else { return }
    throw RunFailure(code: issue.code, exitCode: .dataError, message: "\(input): \(issue.message)")
  }

  private var attributes: Set<String> { columns?.digester.attributes(of: links?.entity ?? keys.entity) ?? [] }

  private func explained(_ body: () throws -> Void) throws(RunFailure) {
    do {
      try body()
    } catch {
      throw error as? RunFailure ?? RunFailure(saving: error)
    }
  }

  // MARK: The old side, second time

  func readOldAgain() throws {
    switch old {
    case .store(let store):
      try store.read(attributes, with: links) { rows in
        try self.pairing?.addOldAgain(rows)
        return !self.run.isCancelled
      }
    case .file(let path):
      var failure: (any Error)?
      let summary = try run.read(
        [path],
        observer: OldFileReader { _, _ in
        } add: { [self] chunk, plan in
          do {
            try pairing?.addOldAgain(rows(chunk, plan))
          } catch {
            failure = error
            throw error
          }
        })
      if let failure { throw failure }
      if let unfinished = summary.unfinished {
        throw RunFailure(code: unfinished.code, exitCode: unfinished.exitCode, message: unfinished.message)
      }
      if summary.counts != oldSummary?.counts { throw EntryPairing.ChangedMeanwhile() }
    }
    if run.isCancelled {
      let message = run.control.isCancelled ? nil : run.timeoutMessage
      throw RunFailure(
        code: nil, exitCode: .temporaryFailure, message: message ?? "the comparison was cancelled; run it again")
    }
  }

  // MARK: The result

  func result(_ summary: RunSummary, new: String) throws -> FileComparison {
    if let failure = summary.unfinished {
      throw RunFailure(code: failure.code, exitCode: failure.exitCode, message: failure.message)
    }
    guard let columns, let spool, let counts = try pairing?.finish() else {
      throw KeySpillError(reason: "it can't be created")
    }
    let oldName: String
    switch old {
    case .store(let store): oldName = store.path
    case .file(let path): oldName = path
    }
    var isStore = false
    if case .store = old { isStore = true }
    return FileComparison(
      content: FileComparison.Content(
        oldName: oldName, newName: new, isStore: isStore, pipeline: run.definition.name,
        program: run.definition.vocabulary.program, columns: columns, counts: counts, oldSummary: oldSummary,
        newSummary: summary, spool: spool))
  }
}

/// Passes on what is read of the old file.
private final class OldFileReader: ChunkObserver {
  private let opened: (String, HeaderMapping) throws(RunFailure) -> Void
  private let added: (ParsedChunk, ChunkPlan) throws -> Void

  init(
    open: @escaping (String, HeaderMapping) throws(RunFailure) -> Void,
    add: @escaping (ParsedChunk, ChunkPlan) throws -> Void
  ) {
    (opened, added) = (open, add)
  }

  func open(_ input: String, mapping: HeaderMapping, in environment: ImportEnvironment) throws(RunFailure) {
    try opened(input, mapping)
  }

  func add(_ chunk: ParsedChunk, _ plan: ChunkPlan) throws { try added(chunk, plan) }
}
