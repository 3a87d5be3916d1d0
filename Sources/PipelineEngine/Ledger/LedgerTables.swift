import OpenCoreData

/// The tables of the ledger. Their names begin with `SJ_`, which no framework of Core Data's uses.
enum LedgerTables {
  static let names = ["SJ_ISSUE", "SJ_INPUT", "SJ_RUN", "SJ_LEDGER"]

  /// The layout that this version writes and reads.
  static let version = 1

  static func exist(in coordinator: NSPersistentStoreCoordinator) throws -> Bool {
    let tables = try coordinator.participantRows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'SJ_LEDGER'")
    guard !tables.isEmpty else { return false }
    let found = try coordinator.participantRows("SELECT version FROM SJ_LEDGER").first?.first as? Int64 ?? 0
    guard found == version else { throw LedgerVersionError(found: Int(found)) }
    return true
  }

  static func create(in transaction: SaveTransaction) throws {
    for sql in layout { try transaction.run(sql, []) }
  }

  private static let layout = [
    "CREATE TABLE IF NOT EXISTS SJ_LEDGER (version INTEGER PRIMARY KEY)",
    "INSERT OR IGNORE INTO SJ_LEDGER VALUES (\(version))",
    """
    CREATE TABLE IF NOT EXISTS SJ_RUN (runID TEXT PRIMARY KEY, pipeline TEXT NOT NULL, kind TEXT NOT NULL,
      startedAt TEXT NOT NULL, endedAt TEXT, outcome TEXT NOT NULL, exitCode INTEGER, recordsRead INTEGER,
      inserted INTEGER, updated INTEGER, unchanged INTEGER, duplicate INTEGER, rejected INTEGER) WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS SJ_INPUT (inputID INTEGER PRIMARY KEY, runID TEXT NOT NULL, pipeline TEXT NOT NULL,
      pipelineDigest TEXT NOT NULL, entity TEXT NOT NULL, path TEXT NOT NULL, state TEXT NOT NULL,
      record INTEGER NOT NULL, line INTEGER NOT NULL, byte INTEGER NOT NULL, contentHash TEXT NOT NULL,
      headBytes INTEGER NOT NULL, headHash TEXT NOT NULL, endsOpen INTEGER NOT NULL, storedBytes INTEGER NOT NULL,
      rejectsPath TEXT, rejectsBytes INTEGER NOT NULL, rejectsDetailBytes INTEGER NOT NULL,
      rejectsCount INTEGER NOT NULL, baseKey INTEGER NOT NULL, recordsRead INTEGER NOT NULL, inserted INTEGER NOT NULL,
      updated INTEGER NOT NULL, unchanged INTEGER NOT NULL, duplicate INTEGER NOT NULL, rejected INTEGER NOT NULL,
      tally TEXT NOT NULL, savedAt TEXT NOT NULL)
    """,
    """
    CREATE TABLE IF NOT EXISTS SJ_ISSUE (inputID INTEGER NOT NULL, ordinal INTEGER NOT NULL, issue TEXT NOT NULL,
      PRIMARY KEY (inputID, ordinal)) WITHOUT ROWID
    """,
  ]

  static let replaceRun = replace("SJ_RUN", LedgerRun.columns)
  static let replaceInput = replace("SJ_INPUT", LedgerEntry.columns)
  static let replaceIssue = replace("SJ_ISSUE", ["inputID", "ordinal", "issue"])

  private static func replace(_ table: String, _ columns: [String]) -> String {
    let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
    return "INSERT OR REPLACE INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))"
  }
}

/// A ledger that another version of this program wrote.
struct LedgerVersionError: Error, CustomStringConvertible {
  let found: Int

  var description: String {
    "the store's ledger has the layout \(found), and this program knows layout \(LedgerTables.version); use the "
      + "version that wrote it, or remove the ledger with 'surfjournal ledger drop' and know your inputs yourself"
  }
}
