import CSV
import Foundation
import SystemSupport
import OpenCoreData

/// Compares what is in a store, or in a file, with what a file has.
///
/// Nothing is written. Both sides may have any number of entries: memory holds a digest for each entry of both sides, up
/// to the pipeline's `limits.keysInMemoryMax`, and one chunk; the values of entries that differ are kept in a temporary
/// database.
package struct ComparisonRun: Sendable {
  /// The side with which a file is compared.
  package enum Old: Sendable {
    case store(String)
    case file(String)
  }

  private let definition: PipelineDefinition
  private let options: RunOptions
  private let old: Old
  private let new: String

  /// - Parameters:
  ///   - definition: How files are read. Its key identifies entries; without one, whole records are compared.
  ///   - options: Inputs and store in them are not used. Their reports end in .txt, .jsonl or .html.
  ///   - old: The side that is compared with.
  ///   - new: The file, whose entries are new where the old side does not have them.
  package init(_ definition: PipelineDefinition, options: RunOptions, old: Old, new: String) {
    (self.definition, self.options, self.old, self.new) = (definition, options, old, new)
  }

  /// Compares the sides on a thread of its own.
  ///
  /// - Throws: `PipelineError` for a definition that can't be used as it is.
  package func run(_ control: ReadingControl) async throws(PipelineError) -> FileComparison {
    try await ObservedRun.onThread("comparison") { () throws(PipelineError) in
      do {
        return try runHere(control)
      } catch {
        if let error = error as? PipelineError { throw definition.sourceMap.located(error) }
        let failure = error as? RunFailure ?? RunFailure(comparing: error)
        return FileComparison(failure: failure.summary)
      }
    }
  }

  private var storePath: String? {
    if case .store(let path) = old { path } else { nil }
  }

  private func runHere(_ control: ReadingControl) throws -> FileComparison {
    let reports = try ComparisonReports(
      options.reports ?? [], isNoneOf: [storePath.flatMap { StoreLocation($0).path } ?? oldFile, new])
    try checkReadTwice()
    let found = try RunModel.found(
      definition, options: options, store: storePath ?? definition.storeLocation(options)?.text,
      for: storePath == nil ? .modelAlone : .opened
    ).get()
    if found.isOfTables { throw RunModel.unknownModel(of: storePath.map { StoreLocation($0).shown }) }
    let definition = try RunModel.completed(definition, options: options, model: found.model)
    let checked = try ImportSchemaCheck(definition, model: found.model, now: options.now())
    try Self.checkKey(definition)
    if let named = checked.links.first(where: { $0.isByRecord }) {
      throw PipelineError(
        path: definition.columnPath(named.columns[0]),
        "'\(PipelineDefinition.recordName)' names records in the files of one run only, so nothing can be compared "
          + "with it; compare with a pipeline without this column")
    }
    let keys = KeyRules(
      definition: definition, entity: checked.entity, columns: checked.columns, links: checked.links)
    var read = definition
    // Every record is compared, also one whose key another record has.
    (read.key, read.duplicates) = ([], .reject)
    let run = ObservedRun(read, options: options, model: found, control: control)
    var store: ComparedStore?
    if let storePath {
      store = try ComparedStore(
        storePath, definition: definition, model: found.model, entity: checked.entity,
        timeoutSeconds: options.lockTimeoutSeconds)
    }
    defer { store?.close() }
    let comparer = Comparer(run: run, keys: keys, old: store.map(Comparer.Old.store) ?? .file(oldFile))
    let summary = try run.read([new], observer: comparer)
    if summary.unfinished == nil { try comparer.readOldAgain() }
    let comparison = try comparer.result(summary, new: new)
    try reports.write(comparison, unless: { control.isCancelled })
    return comparison
  }

  private var oldFile: String { if case .file(let path) = old { path } else { "" } }

  /// The old side is read twice, and standard input only once.
  private func checkReadTwice() throws {
    guard case .file(let path) = old, mayExist(path) || path == "-",
      path == "-" || InputOpener.isPipe(path)
    else { return }
    let name = path == "-" ? "standard input" : path
    throw RunFailure(
      code: nil, exitCode: .noInput,
      message: "\(name) is a pipe, and the first file is read twice; save it as a file, or name it second")
  }

  private static func checkKey(_ definition: PipelineDefinition) throws(PipelineError) {
    let attributes = definition.columns.map(\.attribute)
    for (index, name) in definition.key.enumerated() where !attributes.contains(name) {
      throw PipelineError(
        path: "key[\(index)]",
        "no column of the pipeline fills '\(name)', so records have no such key; name columns of the pipeline"
          + NearestName.hint(for: name, in: attributes))
    }
  }
}

extension RunFailure {
  fileprivate init(comparing error: any Error) {
    guard error is EntryPairing.ChangedMeanwhile else {
      self.init(saving: error)
      return
    }
    self.init(
      code: nil, exitCode: .temporaryFailure,
      message: "the first file was changed while it was compared; try again when it is complete")
  }
}
