import Foundation
import OpenCoreData

/// Takes back what came of an input, so that its present content can take the place.
struct InputReplacement {
  private let environment: ImportEnvironment
  private let file: InputFile
  /// What was imported before.
  private let known: KnownInputs
  /// The inputs that are replaced.
  let old: [LedgerEntry]

  private init(_ old: [LedgerEntry], of file: InputFile, _ environment: ImportEnvironment, known: KnownInputs) {
    (self.environment, self.file, self.known, self.old) = (environment, file, known, old)
  }

  /// Finds the earlier inputs that a file replaces: those with its path, or the one that most of its records came from.
  ///
  /// - Parameters:
  ///   - entry: The ledger's entry that the file will have.
  ///   - changed: The earlier input that it begins with, if there is one.
  /// - Returns: Nil where there is nothing to replace.
  static func find(
    for file: InputFile, _ environment: ImportEnvironment, entry: LedgerEntry, changed: LedgerEntry?,
    known: KnownInputs, totals: inout ImportTotals
  ) throws(RunFailure) -> InputReplacement? {
    guard file.isReadTwice else {
      throw RunFailure(
        code: .inputRefused, exitCode: .dataError,
        message: "only a file can replace what it inserted before; write standard input to a file, and import that")
    }
    let entity = environment.definition.entity
    var old = known.at(file.location, of: entity)
    if let changed, !old.contains(where: { $0.id == changed.id }) { old.append(changed) }
    if old.isEmpty, let main = try source(of: file, environment, entry: entry, known: known, totals: &totals) {
      old = main.location == nil ? [main] : known.at(main.location, of: entity)
    }
    return old.isEmpty ? nil : InputReplacement(old, of: file, environment, known: known)
  }

  /// The input that most of the file's records came from; nil if the store does not have most of them.
  private static func source(
    of file: InputFile, _ environment: ImportEnvironment, entry: LedgerEntry, known: KnownInputs,
    totals: inout ImportTotals
  ) throws(RunFailure) -> LedgerEntry? {
    let check = OverlapCheck(of: file, environment, known: known)
    guard let overlap = try check?.overlap(entry, &totals), overlap.isMost else { return nil }
    if let main = known.input(overlap.mainInput) { return main }
    throw RunFailure(
      code: .inputRefused, exitCode: .dataError,
      message:
        "\(file.name): \(overlap.storedCount.grouped) of its \(overlap.recordCount.grouped) records are in the "
        + "store, but it is not recorded which input inserted them. Add only the records that are new with --only-new")
  }

  /// The matcher for the new content. As many records as the old one had inserted of them take the place of those;
  /// more are new only if the rest of the store does not have them.
  func matcher(_ mapping: HeaderMapping) throws(RunFailure) -> EntryMatcher {
    let matcher = environment.keys.wholeRecordMatcher(mapping)
    let chosen = Set(old.map(\.id))
    let ranges = try environment.store.perform {
      try InsertedRanges.all(of: environment.definition.entity, environment.tables, in: $0).filter {
        chosen.contains($0.input)
      }
    }
    try environment.store.load(matcher, with: environment.links, unless: environment.monitor.isCancelled) { key in
      InsertedRanges.input(of: key, in: ranges) != nil
    }
    return matcher
  }

  /// Deletes what the inputs inserted, in the transaction of the import; a dry run only counts it.
  ///
  /// - Returns: What was done, as a sentence for the report.
  func takeBack() throws(RunFailure) -> String {
    let store = environment.store
    let program = environment.definition.vocabulary.program
    let plan: UndoPlan
    do {
      let undos = try InputUndo.all(
        of: old, in: store.container, tables: environment.tables, program: program, keepsRelated: true)
      let advice =
        "give \(environment.definition.entity) a key with \"duplicates\": \"update\", which changes its entries in "
        + "place, or take both imports back with '\(program) undo'"
      let chosen = Set(old.map(\.id))
      plan = try undos.reduce(UndoPlan()) { $0 + (try $1.plan(known.all, with: chosen, advice: advice)) }
      if !environment.isDryRun {
        for undo in undos { try undo.unlink(keeping: [], [undo.rootName]) }
        for undo in undos { try undo.apply() }
      }
    } catch let refusal as UndoRefusal {
      throw RunFailure(
        code: .inputRefused, exitCode: .dataError, message: "\(file.name) can't replace its entries: \(refusal.message)"
      )
    } catch {
      throw RunFailure(store: error as NSError, path: store.path)
    }
    let names = Set(old.map(\.name)).sorted().joined(separator: ", ")
    let isDry = environment.isDryRun || environment.options.isDryRunOnCopy
    let stay = keptObjects.map { "; \($0) that it had created \(isDry ? "would stay" : "stay")" } ?? ""
    switch plan.deletedCount {
    case 0: return "no entry that \(names) had inserted is left to be replaced"
    case 1: return "1 entry that \(names) had inserted \(isDry ? "would be" : "was") replaced\(stay)"
    case let count:
      return "\(count.grouped) entries that \(names) had inserted \(isDry ? "would be" : "were") replaced\(stay)"
    }
  }

  /// The related objects that the inputs have created, in words: others may lead to them by now.
  private var keptObjects: String? {
    let created = old.reduce([]) { LinkCounts.sum($0, $1.results.links ?? []) }.filter { $0.created > 0 }
    return created.isEmpty ? nil : created.map { "\($0.created) \($0.entity)" }.joined(separator: " and ")
  }
}
