import Foundation
import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// The tables of the ledger: their names, and the statements that write and read them; see ``LedgerLayout`` for their
/// columns.
///
/// Their names begin with the program's prefix, which must be one that no Core Data framework uses.
struct LedgerTables: Sendable {
  typealias Statement = (sql: String, values: [StoredValue])

  /// The table with the layout's version.
  let ledger: String
  let run: String
  let input: String
  let issue: String
  /// The primary keys of the entries that each input inserted, as ranges.
  let inserted: String
  /// The values of entries from before each input updated them.
  let overwritten: String
  /// Entries that an undo has set back, with their versions.
  let restored: String
  /// The program's name in messages.
  let program: String
  /// The objects whose versions the saves of each input have counted up, because entries were linked to them.
  let linked: String
  private let replaceRun: String
  private let replaceInput: String
  private let replaceIssue: String

  init(_ vocabulary: DefinitionVocabulary) {
    let prefix = vocabulary.ledgerPrefix
    (ledger, run, input, issue) = ("\(prefix)LEDGER", "\(prefix)RUN", "\(prefix)INPUT", "\(prefix)ISSUE")
    (inserted, overwritten) = ("\(prefix)INSERTED", "\(prefix)OVERWRITTEN")
    restored = "\(prefix)RESTORED"
    linked = "\(prefix)LINKED"
    program = vocabulary.program
    replaceRun = Self.replace(run, LedgerRun.columns, key: ["runID"])
    replaceInput = Self.replace(input, LedgerEntry.columns, key: ["inputID"])
    replaceIssue = Self.replace(issue, Self.issueColumns, key: ["inputID", "ordinal"])
  }

  /// Referring tables come first.
  var names: [String] { [linked, restored, overwritten, inserted, issue, input, run, ledger] }

  /// The columns of each table, but for the one with the layout's version.
  var columns: [(table: String, columns: [String])] {
    [
      (run, LedgerRun.columns), (input, LedgerEntry.columns), (issue, Self.issueColumns),
      (inserted, ["inputID", "firstKey", "lastKey"]), (overwritten, ["inputID", "ordinal", "count", "entries"]),
      (restored, Self.restoredColumns), (linked, ["inputID", "ordinal", "entity", "keys"]),
    ]
  }

  private static let issueColumns = ["inputID", "ordinal", "issue"]
  private static let restoredColumns = ["entity", "entryKey", "version", "formerVersion"]

  // MARK: Layout

  /// The layout of the store's ledger; nil without one.
  func layout(in coordinator: NSPersistentStoreCoordinator) throws -> LedgerLayout? {
    try layout(coordinator.participantDialect()) { try coordinator.participantRows($0) }
  }

  /// The layout that `rows`, which returns the rows of a statement, finds; nil without a ledger.
  func layout(_ dialect: ParticipantDialect, _ rows: (String) throws -> [[Any?]]) throws -> LedgerLayout? {
    let known = try dialect.tables(names, rows)
    // The query of a view may never end.
    if let other = known.first(where: { !$0.isTable }) {
      throw NSError.coreData(
        .open, "The store's ledger can't be used: its \(other.name) is not a table. Restore the store from a copy.")
    }
    guard known.contains(where: { $0.name == ledger }) else { return nil }
    let found = try rows("SELECT version FROM \(ledger)").first?.first as? Int64 ?? 0
    guard let layout = LedgerLayout(rawValue: Int(found)) else {
      throw LedgerVersionError(found: Int(found), program: program)
    }
    return layout
  }

  /// Creates the tables, or adds what an older version of this program did not have.
  func create(in transaction: SaveTransaction) throws {
    let found = try layout(transaction.dialect) { try transaction.rows($0) }
    for sql in LedgerLayout.statements(for: self, transaction.dialect, from: found) { try transaction.run(sql, []) }
  }

  // MARK: Statements

  /// Writes the run and its results so far.
  func record(_ run: LedgerRun) -> Statement { (replaceRun, run.values) }

  /// Marks earlier runs that were killed as interrupted.
  func noteInterruptions(before run: String) -> Statement {
    ("UPDATE \(self.run) SET outcome = 'interrupted' WHERE outcome = 'running' AND runID <> ?", [.text(run)])
  }

  func record(_ entry: LedgerEntry) -> Statement { (replaceInput, entry.values) }

  func record(_ issue: RecordIssue, ofInput id: Int64, ordinal: Int) -> Statement? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(issue) else { return nil }
    return (replaceIssue, [.integer(id), .integer(Int64(ordinal)), .text(String(decoding: data, as: UTF8.self))])
  }

  /// Called when the report is written: it contains the issues, and the inputs of the run are complete.
  func finish(run: String) -> [Statement] {
    [
      (
        "DELETE FROM \(issue) WHERE inputID IN "
          + "(SELECT inputID FROM \(input) WHERE runID = ? AND state <> 'partial')",
        [.text(run)]
      ),
      ("UPDATE \(input) SET state = 'complete' WHERE runID = ? AND state = 'unreported'", [.text(run)]),
      ("UPDATE \(input) SET state = 'outdated' WHERE runID = ? AND state = 'unreportedOutdated'", [.text(run)]),
    ]
  }

  /// Discards the state of a partial input that is imported from its start again, as the input `newID`. What it has
  /// inserted and overwritten goes with the new one.
  func forget(input id: Int64, for newID: Int64) -> [Statement] {
    [
      ("DELETE FROM \(issue) WHERE inputID = ?", [.integer(id)]),
      ("UPDATE \(inserted) SET inputID = ? WHERE inputID = ?", [.integer(newID), .integer(id)]),
      ("UPDATE \(overwritten) SET inputID = ? WHERE inputID = ?", [.integer(newID), .integer(id)]),
      ("UPDATE \(linked) SET inputID = ? WHERE inputID = ?", [.integer(newID), .integer(id)]),
      ("DELETE FROM \(input) WHERE inputID = ? AND state = 'partial'", [.integer(id)]),
    ]
  }

  /// Records that what an input had inserted and updated was taken back. A run whose inputs are all undone is so too.
  /// Later inputs that left out records, because the store had them, may have to be imported again.
  func undo(input id: Int64) -> [Statement] {
    [
      (
        "DELETE FROM \(restored) WHERE EXISTS (SELECT 1 FROM \(inserted) WHERE inputID = ?1 "
          + "AND entryKey BETWEEN firstKey AND lastKey) "
          + "AND entity = (SELECT entity FROM \(input) WHERE inputID = ?1)",
        [.integer(id)]
      ),
      (
        "UPDATE \(input) SET state = CASE state WHEN 'complete' THEN 'outdated' ELSE 'unreportedOutdated' END "
          + "WHERE inputID > ?1 AND state IN ('complete', 'unreported') "
          + "AND unchanged + duplicate > 0 AND entity = (SELECT entity FROM \(input) WHERE inputID = ?1)",
        [.integer(id)]
      ),
      ("DELETE FROM \(issue) WHERE inputID = ?", [.integer(id)]),
      ("DELETE FROM \(inserted) WHERE inputID = ?", [.integer(id)]),
      ("DELETE FROM \(overwritten) WHERE inputID = ?", [.integer(id)]),
      ("UPDATE \(input) SET state = 'undone' WHERE inputID = ?", [.integer(id)]),
      (
        "UPDATE \(run) SET outcome = 'undone' WHERE runID = (SELECT runID FROM \(input) WHERE inputID = ?1) AND NOT "
          + "EXISTS (SELECT 1 FROM \(input) other WHERE other.runID = \(run).runID AND other.state <> 'undone')",
        [.integer(id)]
      ),
    ]
  }

  /// Records that an undo has set an entry back, which gave it a new version: it counts as the former one.
  func noteRestored(_ key: Int64, of entity: String, version: Int64, formerVersion: Int64) -> Statement {
    (
      Self.replace(restored, Self.restoredColumns, key: ["entity", "entryKey", "version"]),
      [.text(entity), .integer(key), .integer(version), .integer(formerVersion)]
    )
  }

  // MARK: Reading

  /// The inputs whose rows can be read, the newest first.
  func entries(_ layout: LedgerLayout, _ rows: (String) throws -> [[Any?]]) rethrows -> [LedgerEntry] {
    try inputRows(layout, rows).compactMap(LedgerEntry.init(row:))
  }

  /// All inputs, the newest first.
  ///
  /// - Throws: `RunFailure` for a row that can't be read: its input would be unknown, and could be imported again.
  func allEntries(_ layout: LedgerLayout, _ rows: (String) throws -> [[Any?]]) throws -> [LedgerEntry] {
    let found = try inputRows(layout, rows)
    let entries = found.compactMap(LedgerEntry.init(row:))
    guard entries.count == found.count else {
      throw RunFailure(
        code: nil, exitCode: .dataError,
        message: "\(found.count - entries.count) of \(found.count) rows of \(input), which say what was imported, "
          + "can't be read, so that an input could be imported again. The ledger is damaged: restore the store from a copy",
        concernsStore: true)
    }
    return entries
  }

  private func inputRows(_ layout: LedgerLayout, _ rows: (String) throws -> [[Any?]]) rethrows -> [[Any?]] {
    let columns = layout.readable(LedgerEntry.columns).joined(separator: ", ")
    return try rows("SELECT \(columns) FROM \(input) ORDER BY inputID DESC")
  }

  /// One input.
  func entry(ofInput id: Int64, _ coordinator: NSPersistentStoreCoordinator) throws -> LedgerEntry? {
    let columns = LedgerEntry.columns.joined(separator: ", ")
    return try coordinator.participantRows("SELECT \(columns) FROM \(input) WHERE inputID = ?", [id]).first
      .flatMap(LedgerEntry.init(row:))
  }

  /// The inputs of a run, the newest first.
  func entries(ofRun id: String, _ coordinator: NSPersistentStoreCoordinator) throws -> [LedgerEntry] {
    let columns = LedgerEntry.columns.joined(separator: ", ")
    return try coordinator.participantRows(
      "SELECT \(columns) FROM \(input) WHERE runID = ? ORDER BY inputID DESC", [id]
    ).compactMap(LedgerEntry.init(row:))
  }

  /// Joins each run with the number of its last input. The runs of an input have no index: asked for each run, it would
  /// cost a pass over all inputs.
  var joinedLastInput: String {
    "LEFT JOIN (SELECT runID AS lastRun, MAX(inputID) AS lastInput FROM \(input) GROUP BY runID) AS lastInputs "
      + "ON lastRun = runID"
  }

  /// The order of runs. Times are to the second; what tells the runs of a second apart is newer than some ledgers, in
  /// which the numbers of inputs do.
  func newestFirst(_ layout: LedgerLayout) -> String {
    "ORDER BY startedAt DESC, \(layout.readable(["began"]).joined()) DESC NULLS LAST, lastInput DESC NULLS LAST"
  }

  /// Records read by the last completed imports of a pipeline, the newest first.
  func recordsRead(ofLast count: Int, pipeline: String, _ coordinator: NSPersistentStoreCoordinator) throws -> [Int] {
    guard let layout = try layout(in: coordinator) else { return [] }
    let rows = try coordinator.participantRows(
      "SELECT recordsRead FROM \(run) \(joinedLastInput) WHERE pipeline = ? AND kind = ? AND outcome = ? "
        + "AND recordsRead IS NOT NULL \(newestFirst(layout)) LIMIT \(count)",
      [pipeline, LedgerRun.Kind.import.rawValue, RunSummary.Outcome.completed.rawValue])
    return rows.compactMap { ($0.first as? Int64).map(Int.init) }
  }

  /// The issues of an input that a report lists.
  func issues(ofInput id: Int64, _ coordinator: NSPersistentStoreCoordinator) throws -> [RecordIssue] {
    let rows = try coordinator.participantRows("SELECT issue FROM \(issue) WHERE inputID = ? ORDER BY ordinal", [id])
    let decoder = JSONDecoder()
    return rows.compactMap { row in
      (row[0] as? String).flatMap { try? decoder.decode(RecordIssue.self, from: Data($0.utf8)) }
    }
  }

  /// Inserts a row, or replaces the one with the same primary key.
  private static func replace(_ table: String, _ columns: [String], key: [String]) -> String {
    let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
    let changes = columns.filter { !key.contains($0) }.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    return "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks)) "
      + "ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(changes)"
  }
}

/// A ledger that another version of this program wrote.
struct LedgerVersionError: Error, CustomStringConvertible {
  let found: Int
  /// The program's name in messages.
  let program: String

  var description: String {
    "the store's ledger has the layout \(found), and this program knows the layouts up to \(LedgerLayout.current); use "
      + "the version that wrote it, or remove the ledger with '\(program) ledger drop', after which no input counts "
      + "as imported"
  }
}
