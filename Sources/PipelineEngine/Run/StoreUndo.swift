import Foundation
import OpenCoreData
import PersistentStores

/// Takes back an import: deletes the entries that it inserted, and sets back the ones that it updated.
///
/// ```swift
/// let undo = try StoreUndo(store: "journal.sqlite", vocabulary: .journal)
/// print("\(undo.preview.deleted) entries would be deleted")
/// try undo.apply()
/// ```
///
/// The ledger knows what each input inserted, and what it overwrote, as far as the limit `overwrittenMax` of its pipeline
/// allows. Where an entry was changed since, nothing is taken back, unless such entries are to stay as they are.
public struct StoreUndo: Sendable {
  /// What the undo does.
  public struct Preview: Sendable, Hashable, Codable {
    /// The runs that the inputs belong to.
    public var runs: [String]
    /// The paths of the inputs, as the user named them.
    public var inputs: [String]
    /// The number of entries that are deleted.
    public var deleted: Int
    /// The number of entries and related objects that get their former values back.
    public var restored: Int
    /// The number of entries that were deleted since.
    public var missing: Int
    /// The number of objects that restored entries led to and that were deleted since: these links are not restored.
    public var gone: Int
    /// The number of entries that were changed since and stay as they are.
    public var changed: Int
    /// Related objects that the inputs created and that stay, by entity.
    public var kept: [LinkCounts]
    /// The paths of later inputs that left out records because the store had them; they may have to be imported again.
    public var outdated: [String]
    /// What the store has lost, as after a power failure; nil if nothing.
    public var loss: String?
  }

  /// Why an import can't be taken back.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// What is wrong, and a remedy.
    public let description: String
    /// The exit status for it.
    public let exitCode: ExitCode
  }

  /// What `apply()` would delete and restore.
  public let preview: Preview
  private let store: StoreLocation
  private let inputs: [LedgerEntry]
  private let vocabulary: DefinitionVocabulary
  private let model: String?
  private let timeoutSeconds: Double
  private let keepsChanged: Bool

  /// Finds out what there is to take back. The store is only read.
  ///
  /// - Parameters:
  ///   - path: The path or the address of the store.
  ///   - names: Numbers of runs as `history` shows them, or their beginnings, or paths of inputs, which are taken back
  ///     together. Empty for the last run that imported something.
  ///   - vocabulary: The vocabulary of the program whose runs are taken back.
  ///   - model: The name or path of the store's model; nil for one that is compatible with the store.
  ///   - timeoutSeconds: How long to wait for a store that another program writes to.
  ///   - keepsChanged: Whether entries that were changed since stay as they are, and the rest is taken back.
  /// - Throws: ``Failure`` for a store without such an import, or where an entry was changed since.
  public init(
    store path: String, _ names: [String] = [], vocabulary: DefinitionVocabulary, model: String? = nil,
    timeoutSeconds: Double = 10, keepsChanged: Bool = false
  ) throws(Failure) {
    self.keepsChanged = keepsChanged
    let store = StoreLocation(path)
    (self.store, self.vocabulary, self.model, self.timeoutSeconds) = (store, vocabulary, model, timeoutSeconds)
    guard store.exists else {
      let word = store.isServer ? "address" : "path"
      throw Failure(description: "the store \(store.shown) does not exist; check the \(word)", exitCode: .noInput)
    }
    do throws(RunFailure) {
      try Self.checkLock(store, vocabulary)
      (inputs, preview) = try PrivateCopy.keeping { () throws(RunFailure) in
        let (entries, undone) = try Self.entries(vocabulary, store, timeoutSeconds: timeoutSeconds)
        Self.removeLeftovers(of: undone, unlike: entries, of: store, vocabulary)
        let inputs = try Self.chosen(names, of: entries, in: store)
        try Self.checkWhole(inputs, of: entries, in: store, vocabulary, timeoutSeconds: timeoutSeconds)
        let work = try Self.work(
          inputs, in: store, vocabulary: vocabulary, model: model, timeoutSeconds: timeoutSeconds, isReadOnly: true)
        defer { work.store.close() }
        let plan = try Self.explained(store) { try work.plan(entries, keepsChanged: keepsChanged) }
        return (inputs, Self.preview(of: plan, inputs, among: entries, loss: work.store.coordinator.losses.first))
      }
    } catch {
      throw Failure(description: error.message, exitCode: error.exitCode)
    }
  }

  private static func preview(
    of plan: UndoPlan, _ inputs: [LedgerEntry], among entries: [LedgerEntry], loss: String?
  ) -> Preview {
    Preview(
      runs: Array(Set(inputs.map(\.run))).sorted(), inputs: inputs.map(\.path), deleted: plan.deletedCount,
      restored: plan.restoredCount, missing: plan.missingCount, gone: plan.goneCount,
      changed: plan.changed.values.reduce(0) { $0 + $1.count }, kept: Self.kept(of: inputs),
      outdated: Self.outdated(by: inputs, of: entries), loss: loss.map(DamagedWAL.note))
  }

  /// Others may lead to these objects by now.
  private static func kept(of inputs: [LedgerEntry]) -> [LinkCounts] {
    inputs.reduce([]) { LinkCounts.sum($0, $1.results.links ?? []) }.filter { $0.created > 0 }
  }

  /// Does what the preview says, in one transaction, and waits for the disk.
  ///
  /// - Throws: ``Failure`` for a store that another run is using, or that has changed since the preview; then nothing is
  ///   taken back.
  public func apply() throws(Failure) {
    do throws(RunFailure) {
      let lock = try StoreLock(
        store, vocabulary, pipeline: "undo", now: Date(), timeoutSeconds: timeoutSeconds)
      defer { lock.release() }
      let entries = try Self.entries(vocabulary, store, timeoutSeconds: timeoutSeconds).kept
      let work = try Self.work(
        inputs, in: store, vocabulary: vocabulary, model: model, timeoutSeconds: timeoutSeconds, isReadOnly: false)
      defer { work.store.close() }
      try Self.publishRejects(of: entries, in: work.store)
      if let fence = lock.fence { work.store.coordinator.addSaveParticipant(fence) }
      try work.store.beginTransaction()
      do throws(RunFailure) {
        let plan = try Self.explained(store) { try work.plan(entries, keepsChanged: keepsChanged) }
        let isSame =
          plan.deletedCount == preview.deleted && plan.restoredCount == preview.restored
          && Set(inputs.map(\.id)).isSubset(of: entries.map(\.id))
        guard isSame else {
          throw RunFailure(
            code: nil, exitCode: .temporaryFailure,
            message:
              "\(store.shown) was changed meanwhile; nothing was taken back. Look at it again, and repeat the undo")
        }
        try Self.explained(store) {
          let roots = Set(work.undos.filter(\.deletes).map(\.rootName))
          for undo in work.undos { try undo.unlink(keeping: plan.changed[undo.entityName] ?? [], roots) }
          for undo in work.undos { try undo.apply(keeping: plan.changed[undo.entityName] ?? []) }
        }
        try work.store.commitTransaction(of: nil, LedgerTables(vocabulary))
      } catch {
        try? work.store.rollBackTransaction()
        throw error
      }
      try work.store.checkpoint()
      // Rejects of what was not imported to its end are of no use.
      for entry in entries where !entry.isComplete && inputs.contains(where: { $0.id == entry.id }) {
        if let path = entry.rejects.path { RejectsFile.removeAllNames(of: path) }
      }
    } catch {
      throw Failure(description: error.message, exitCode: error.exitCode)
    }
  }

  // MARK: Rejects

  /// Gives the rejects of inputs that a killed run has imported to their end and not reported their names: of what is taken
  /// back no later run does. This comes before the transaction: an undo that is killed leaves them named, and nothing to do.
  private static func publishRejects(of entries: [LedgerEntry], in store: ImportStore) throws(RunFailure) {
    let paths = entries.filter { $0.isComplete && !$0.isReported }.compactMap(\.rejects.path)
    guard paths.contains(where: RejectsFile.hasParts) else { return }
    try store.checkpoint()
    for path in paths { try RejectsFile.publish(path) }
  }

  /// Removes what an undo that was killed at its very end has left of the rejects of inputs that were not imported to their
  /// end.
  private static func removeLeftovers(
    of undone: [LedgerEntry], unlike kept: [LedgerEntry], of store: StoreLocation, _ vocabulary: DefinitionVocabulary
  ) {
    let used = Set(kept.compactMap(\.rejects.path))
    let left = undone.compactMap(\.rejects.path).filter { path in
      // The details are removed last, and say whose they are: a ledger may name any file.
      guard !used.contains(path), let origin = RejectsFile.originOfParts(of: path) else { return false }
      return (origin.owner ?? store.recorded) == store.recorded && !RejectsFile.isInUse(path, byOtherThan: origin.owner)
    }
    // Another run may be about to take the names.
    guard !left.isEmpty, let lock = try? StoreLock(store, vocabulary, pipeline: "undo", now: Date()) else { return }
    for path in left { RejectsFile.removeAllNames(of: path) }
    lock.release()
  }

  // MARK: Choosing

  /// The inputs that were not undone, the newest first, and those that were.
  private static func entries(
    _ vocabulary: DefinitionVocabulary, _ store: StoreLocation, timeoutSeconds: Double
  ) throws(RunFailure) -> (kept: [LedgerEntry], undone: [LedgerEntry]) {
    let tables = LedgerTables(vocabulary)
    return try explained(store) {
      let ledger = try LedgerConnection.reading(store, isWritten: true, timeoutSeconds: timeoutSeconds)
      defer { ledger.close() }
      guard let layout = try ledger.layout(of: tables) else { return ([], []) }
      try PlanTables(vocabulary).checkAllClosed(
        ledger, consequence: "its workers may be saving", action: "and undo then")
      let found = try tables.entries(layout, ledger.plainRows)
      try ledger.checkUnchanged()
      return (found.filter { !$0.isUndone }, found.filter(\.isUndone))
    }
  }

  private static func outdated(by inputs: [LedgerEntry], of entries: [LedgerEntry]) -> [String] {
    let chosen = Set(inputs.map(\.id))
    let oldest = Dictionary(inputs.map { ($0.entity, $0) }) { $0.id < $1.id ? $0 : $1 }
    return entries.filter { entry in
      !chosen.contains(entry.id) && oldest[entry.entity].map(entry.isOutdated(byUndoOf:)) ?? false
    }
    .map(\.name)
  }

  /// Throws if another run is using the store: what it has saved so far would be compared with what it had read.
  private static func checkLock(_ store: StoreLocation, _ vocabulary: DefinitionVocabulary) throws(RunFailure) {
    do throws(RunFailure) {
      try StoreLock(store, vocabulary, pipeline: "undo", now: Date(), onlyLooks: true).release()
    } catch {
      // Where no lock can be made, no run can be writing.
      if error.exitCode == .temporaryFailure { throw error }
    }
  }

  private static func refusal(_ text: String) -> RunFailure {
    RunFailure(code: nil, exitCode: .noInput, message: text)
  }

  private static func chosen(
    _ names: [String], of entries: [LedgerEntry], in store: StoreLocation
  ) throws(RunFailure) -> [LedgerEntry] {
    guard let newest = entries.first else {
      throw refusal("\(store.shown) has no ledger of an import that could be undone; check the path")
    }
    if names.isEmpty { return entries.filter { $0.run == newest.run } }
    var ids: Set<Int64> = []
    for name in names { ids.formUnion(try chosen(name, of: entries).map(\.id)) }
    return entries.filter { ids.contains($0.id) }
  }

  private static func chosen(_ name: String, of entries: [LedgerEntry]) throws(RunFailure) -> [LedgerEntry] {
    let runs = Set(entries.map(\.run).filter { name.count >= 4 && $0.hasPrefix(name) })
    if runs.count == 1 { return entries.filter { runs.contains($0.run) } }
    if runs.count > 1 { throw refusal("more than one run begins with '\(name)'; write more of its number") }
    let location = URL(fileURLWithPath: name).standardizedFileURL.path
    if let input = entries.first(where: { $0.path == name }) ?? entries.first(where: { $0.location == location }) {
      return [input]
    }
    throw refusal(
      "no run with inputs that can be undone has the number '\(name)', and no input the path; 'history' lists them. "
        + "What a run that was interrupted had imported belongs to the run that continued it")
  }

  /// Workers of a plan that compares keys may have inserted the entry of one file for a record of another.
  private static func checkWhole(
    _ inputs: [LedgerEntry], of entries: [LedgerEntry], in store: StoreLocation, _ vocabulary: DefinitionVocabulary,
    timeoutSeconds: Double
  ) throws(RunFailure) {
    let chosen = Set(inputs.map(\.id))
    let parts = Set(entries.filter { !chosen.contains($0.id) }.map(\.run)).intersection(inputs.map(\.run))
    if parts.isEmpty || !store.isServer { return }
    let comparing = try explained(store) {
      let ledger = try LedgerConnection.reading(store, timeoutSeconds: timeoutSeconds)
      defer { ledger.close() }
      return try PlanTables(vocabulary).comparingKeys(ledger)
    }
    guard let plan = parts.intersection(comparing).min() else { return }
    throw refusal(
      "the files of the plan \(plan) have entries in common by their keys; take back all of it with 'undo' and its number"
    )
  }

  // MARK: Working

  /// The undo of inputs of one or more entities.
  private struct Work {
    let store: ImportStore
    /// One for each entity; that of the newest input first, because it may lead to the others.
    let undos: [InputUndo]
    let chosen: Set<Int64>

    func plan(_ entries: [LedgerEntry], keepsChanged: Bool) throws -> UndoPlan {
      try undos.reduce(UndoPlan()) { $0 + (try $1.plan(entries, with: chosen, keepsChanged: keepsChanged)) }
    }
  }

  private static func work(
    _ inputs: [LedgerEntry], in location: StoreLocation, vocabulary: DefinitionVocabulary, model modelName: String?,
    timeoutSeconds: Double, isReadOnly: Bool
  ) throws(RunFailure) -> Work {
    let store = try explained(location) {
      let definition = PipelineDefinition(name: "undo", entity: inputs.first?.entity ?? "", vocabulary: vocabulary)
        .using(model: modelName)
      let run = try RunModel(
        definition, given: nil, store: location.text,
        access: RunModel.Access(readsDamagedWAL: true, timeoutSeconds: timeoutSeconds))
      if run.isOfTables { throw RunModel.unknownModel(of: location.shown) }
      let model = run.model
      guard let entity = inputs.first.flatMap({ model.entitiesByName[$0.entity] }) else {
        throw InputUndo.unknownEntity(inputs.first?.entity ?? "")
      }
      return ImportStore(
        container: NSPersistentContainer(name: definition.modelName, managedObjectModel: model),
        entity: entity, location: location, isDryRun: isReadOnly, isAtomic: false, lockTimeoutSeconds: timeoutSeconds)
    }
    try store.openExisting()
    let undos = try explained(location) {
      try InputUndo.all(
        of: inputs, in: store.container, tables: LedgerTables(vocabulary), program: vocabulary.program)
    }
    return Work(store: store, undos: undos, chosen: Set(inputs.map(\.id)))
  }

  private static func explained<Result>(
    _ store: StoreLocation, _ body: () throws -> Result
  ) throws(RunFailure) -> Result {
    do {
      return try body()
    } catch let failure as RunFailure {
      throw failure
    } catch let refusal as UndoRefusal {
      throw RunFailure(code: nil, exitCode: .dataError, message: refusal.message)
    } catch let version as LedgerVersionError {
      throw RunFailure(code: nil, exitCode: .dataError, message: version.description)
    } catch let mistake as PipelineError {
      throw RunFailure(code: nil, exitCode: .configuration, message: mistake.message)
    } catch let error as SQLiteError {
      throw RunFailure(store: NSError.sqlite(error, .open, message: "\(store.shown) can't be read"), path: store.path)
    } catch {
      throw RunFailure(store: error as NSError, path: store.path)
    }
  }
}
