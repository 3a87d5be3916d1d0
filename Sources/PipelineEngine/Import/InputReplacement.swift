import Foundation
import OpenCoreData

/// Takes back what came of an input, so that its present content can take the place.
struct InputReplacement {
  private let environment: ImportEnvironment
  private let file: InputFile
  /// The ledger's entry that the input will have.
  private let entry: LedgerEntry
  /// The ledger's entries, the newest first.
  private let known: [LedgerEntry]

  init(_ environment: ImportEnvironment, _ file: InputFile, entry: LedgerEntry, known: [LedgerEntry]) {
    (self.environment, self.file, self.entry, self.known) = (environment, file, entry, known)
  }

  /// The earlier inputs that this one replaces: those with its path, or the one that most of its records came from.
  ///
  /// - Parameter changed: The earlier input that it begins with, if there is one.
  /// - Returns: Nil where there is nothing to replace.
  func inputs(_ changed: LedgerEntry?, _ totals: inout ImportTotals) throws(RunFailure) -> [LedgerEntry]? {
    guard file.isReadTwice else {
      throw RunFailure(
        code: .inputRefused, exitCode: .dataError,
        message:
          "\(file.name): only a file can replace what it inserted before; write the input to a file, and import that")
    }
    let entity = environment.definition.entity
    var old = known.filter { $0.path == file.name && $0.entity == entity }
    if let changed, !old.contains(where: { $0.id == changed.id }) { old.append(changed) }
    if !old.isEmpty { return old }
    let check = OverlapCheck(of: file, environment, known: known)
    guard let overlap = try check?.overlap(entry, &totals), overlap.isMost else { return nil }
    guard let main = known.first(where: { $0.id == overlap.mainInput }) else {
      throw RunFailure(
        code: .inputRefused, exitCode: .dataError,
        message:
          "\(file.name): \(overlap.storedCount) of its \(overlap.recordCount) records are in the store, but it is not "
          + "recorded which input inserted them. Add only what is new with --only-new")
    }
    return known.filter { $0.path == main.path && $0.entity == entity }
  }

  /// Deletes what the inputs inserted, in the transaction of the import; a dry run only counts it.
  ///
  /// - Returns: What was done, as a sentence for the report.
  func takeBack(_ inputs: [LedgerEntry]) throws(RunFailure) -> String? {
    let store = environment.store
    let undo = InputUndo(
      inputs, in: store.container, entity: store.entity, tables: environment.tables,
      program: environment.definition.vocabulary.program)
    let plan: UndoPlan
    do {
      plan = try undo.plan(known)
      if !environment.isDryRun { try undo.apply() }
    } catch let refusal as UndoRefusal {
      throw RunFailure(
        code: .inputRefused, exitCode: .dataError, message: "\(file.name) can't replace its entries: \(refusal.message)"
      )
    } catch {
      throw RunFailure(store: error as NSError, path: store.path)
    }
    let count = plan.deletedCount
    let names = Set(inputs.map(\.path)).sorted().joined(separator: ", ")
    let subject = count == 1 ? "1 entry" : "\(count) entries"
    let verb = environment.isDryRun ? "would be" : count == 1 ? "was" : "were"
    return "\(subject) that \(names) had inserted \(verb) replaced"
  }
}
