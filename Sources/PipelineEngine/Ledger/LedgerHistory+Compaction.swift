import Foundation
import ManagedObjectModel
import PersistentStores

extension LedgerHistory {
  /// What a compaction has left in a ledger.
  public struct Compaction: Sendable, Hashable, Codable {
    /// Runs that the history no longer lists.
    public var runsRemoved: Int
    /// Inputs that are no longer recognised.
    public var inputsRemoved: Int
    /// Runs that are left.
    public var runs: Int
    /// Inputs that are left.
    public var inputs: Int
  }

  /// Removes what a store's ledger knows of imports that are older than a number of days. A pipeline with the limits
  /// `historyDays` and `inputsDays` does the same at the end of each run.
  ///
  /// ```swift
  /// let compaction = try LedgerHistory.compact(store: "journal.sqlite", vocabulary: .journal, historyDays: 365)
  /// print("\(compaction?.runsRemoved ?? 0) runs are no longer listed")
  /// ```
  ///
  /// - Parameters:
  ///   - path: The store.
  ///   - vocabulary: The vocabulary of the program whose ledger it is.
  ///   - historyDays: Imports older than this are no longer listed, and can't be undone or replaced. Their inputs are
  ///     still recognised.
  ///   - inputsDays: Inputs older than this are forgotten, except the last one of each file and of each pipeline. A file
  ///     that comes again is then read as a new one: a key recognises its records; without a key it is refused if the
  ///     store has most of its records, and otherwise stored twice. Nil to forget none.
  ///   - now: The time from which the days are counted back.
  ///   - timeoutSeconds: How long to wait for a store that another program writes to.
  /// - Returns: What was removed; nil for a store without a ledger.
  /// - Throws: `LedgerAccessError`, also for a ledger of another layout than the present one, which a run brings up to
  ///   date.
  public static func compact(
    store path: String, vocabulary: DefinitionVocabulary = DefinitionVocabulary(), historyDays: Int,
    inputsDays: Int? = nil, now: Date = Date(), timeoutSeconds: Double = 10
  ) throws(LedgerAccessError) -> Compaction? {
    let tables = LedgerTables(vocabulary)
    let retention = LedgerRetention(historyDays: historyDays, inputsDays: inputsDays)
    let store = StoreLocation(path)
    return try LedgerAccess.changed(
      store, of: vocabulary, by: "ledger compact", timeoutSeconds: timeoutSeconds
    ) { ledger in
      guard let layout = try ledger.layout(of: tables) else { return nil }
      // Inputs of the layouts before have nothing that could be removed.
      guard layout == .third || layout == .current else { throw LedgerLayoutError(path: store.shown) }
      let before = (runs: try ledger.count(tables.run), inputs: try ledger.count(tables.input))
      try ledger.transaction {
        for sql in LedgerLayout.statements(for: tables, ledger.dialect, from: layout) { _ = try ledger.rows(sql, []) }
        for statement in tables.compact(retention, at: now) { _ = try ledger.rows(statement.sql, statement.values) }
      }
      let after = (runs: try ledger.count(tables.run), inputs: try ledger.count(tables.input))
      return Compaction(
        runsRemoved: before.runs - after.runs, inputsRemoved: before.inputs - after.inputs, runs: after.runs,
        inputs: after.inputs)
    }
  }
}

/// A ledger that was not brought up to date yet.
private struct LedgerLayoutError: LocalizedError {
  let path: String

  var errorDescription: String? {
    "\(path) has the ledger of an earlier version of this program; import something into it first, which brings the "
      + "ledger up to date"
  }
}
