import Foundation
import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// The tables of the ledger: their names, their layout, and the statements that write them.
///
/// Their names begin with the program's prefix, which must be one that no Core Data framework uses.
struct LedgerTables: Sendable {
  typealias Statement = (sql: String, values: [StoredValue])

  /// The table with the layout's version.
  let ledger: String
  let run: String
  let input: String
  let issue: String
  /// The program's name in messages.
  private let program: String
  private let replaceRun: String
  private let replaceInput: String
  private let replaceIssue: String

  init(_ vocabulary: DefinitionVocabulary) {
    let prefix = vocabulary.ledgerPrefix
    (ledger, run, input, issue) = ("\(prefix)LEDGER", "\(prefix)RUN", "\(prefix)INPUT", "\(prefix)ISSUE")
    program = vocabulary.program
    replaceRun = Self.replace(run, LedgerRun.columns)
    replaceInput = Self.replace(input, LedgerEntry.columns)
    replaceIssue = Self.replace(issue, ["inputID", "ordinal", "issue"])
  }

  /// Referring tables come first.
  var names: [String] { [issue, input, run, ledger] }

  /// The layout that this version writes and reads.
  static let version = 1

  func exist(in coordinator: NSPersistentStoreCoordinator) throws -> Bool {
    let tables = try coordinator.participantRows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?", [ledger])
    guard !tables.isEmpty else { return false }
    let found = try coordinator.participantRows("SELECT version FROM \(ledger)").first?.first as? Int64 ?? 0
    guard found == Self.version else { throw LedgerVersionError(found: Int(found), program: program) }
    return true
  }

  func create(in transaction: SaveTransaction) throws {
    for sql in layout { try transaction.run(sql, []) }
  }

  private var layout: [String] {
    [
      "CREATE TABLE IF NOT EXISTS \(ledger) (version INTEGER PRIMARY KEY)",
      "INSERT OR IGNORE INTO \(ledger) VALUES (\(Self.version))",
      """
      CREATE TABLE IF NOT EXISTS \(run) (runID TEXT PRIMARY KEY, pipeline TEXT NOT NULL, kind TEXT NOT NULL,
        startedAt TEXT NOT NULL, endedAt TEXT, outcome TEXT NOT NULL, exitCode INTEGER, recordsRead INTEGER,
        inserted INTEGER, updated INTEGER, unchanged INTEGER, duplicate INTEGER, rejected INTEGER) WITHOUT ROWID
      """,
      """
      CREATE TABLE IF NOT EXISTS \(input) (inputID INTEGER PRIMARY KEY, runID TEXT NOT NULL, pipeline TEXT NOT NULL,
        pipelineDigest TEXT NOT NULL, entity TEXT NOT NULL, path TEXT NOT NULL, state TEXT NOT NULL,
        record INTEGER NOT NULL, line INTEGER NOT NULL, byte INTEGER NOT NULL, contentHash TEXT NOT NULL,
        headBytes INTEGER NOT NULL, headHash TEXT NOT NULL, endsOpen INTEGER NOT NULL, storedBytes INTEGER NOT NULL,
        rejectsPath TEXT, rejectsBytes INTEGER NOT NULL, rejectsDetailBytes INTEGER NOT NULL,
        rejectsCount INTEGER NOT NULL, baseKey INTEGER NOT NULL, recordsRead INTEGER NOT NULL, inserted INTEGER NOT NULL,
        updated INTEGER NOT NULL, unchanged INTEGER NOT NULL, duplicate INTEGER NOT NULL, rejected INTEGER NOT NULL,
        tally TEXT NOT NULL, savedAt TEXT NOT NULL)
      """,
      """
      CREATE TABLE IF NOT EXISTS \(issue) (inputID INTEGER NOT NULL, ordinal INTEGER NOT NULL, issue TEXT NOT NULL,
        PRIMARY KEY (inputID, ordinal)) WITHOUT ROWID
      """,
    ]
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
    ]
  }

  /// Discards the state of a partial input that is imported from its start again.
  func forget(input id: Int64) -> [Statement] {
    [
      ("DELETE FROM \(issue) WHERE inputID = ?", [.integer(id)]),
      ("DELETE FROM \(input) WHERE inputID = ? AND state = 'partial'", [.integer(id)]),
    ]
  }

  // MARK: Reading

  /// Records read by the last completed imports of a pipeline, the newest first.
  func recordsRead(ofLast count: Int, pipeline: String, _ coordinator: NSPersistentStoreCoordinator) throws -> [Int] {
    guard try exist(in: coordinator) else { return [] }
    // Times are to the second; the numbers of inputs increase.
    let rows = try coordinator.participantRows(
      "SELECT recordsRead FROM \(run) AS r WHERE pipeline = ? AND kind = ? AND outcome = ? AND recordsRead IS NOT NULL "
        + "ORDER BY startedAt DESC, (SELECT max(inputID) FROM \(input) WHERE runID = r.runID) DESC LIMIT \(count)",
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

  private static func replace(_ table: String, _ columns: [String]) -> String {
    let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
    return "INSERT OR REPLACE INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))"
  }
}

/// A ledger that another version of this program wrote.
struct LedgerVersionError: Error, CustomStringConvertible {
  let found: Int
  /// The program's name in messages.
  let program: String

  var description: String {
    "the store's ledger has the layout \(found), and this program knows layout \(LedgerTables.version); use the "
      + "version that wrote it, or remove the ledger with '\(program) ledger drop' and know your inputs yourself"
  }
}
