import PersistentStores

/// A version of the ledger's tables. The raw value is what the table of the ledger says.
///
/// A run brings an older layout up to date with its first save. Reading does not.
enum LedgerLayout: Int, Sendable {
  /// Without the header of inputs, and without what an undo needs.
  case first = 1
  /// Without the objects that were linked.
  case second
  /// Without the reasons of runs that failed or were stopped.
  case third
  case current

  /// Columns that came with a later layout than the first one: their types, and the layout. Older rows have null in
  /// them.
  private static let addedColumns: [String: (type: String, layout: LedgerLayout)] = [
    "repeated": ("INTEGER", .second), "header": ("TEXT", .second), "firstRecord": ("INTEGER", .second),
    "location": ("TEXT", .second), "message": ("TEXT", .current), "began": ("REAL", .current),
  ]

  /// The expressions that select `columns` from a table of this layout.
  func readable(_ columns: [String]) -> [String] {
    columns.map { (Self.addedColumns[$0]?.layout ?? .first).rawValue > rawValue ? "NULL" : $0 }
  }

  /// The statements that create the tables, or change those of an older layout.
  static func statements(
    for tables: LedgerTables, _ dialect: ParticipantDialect, from found: LedgerLayout?
  ) -> [String] {
    var statements: [String] = []
    if found == nil { statements += firstTables(tables) }
    func precedes(_ layout: LedgerLayout) -> Bool { (found?.rawValue ?? 0) < layout.rawValue }
    if precedes(.second) { statements += secondTables(tables) }
    if precedes(.third) { statements += thirdTables(tables) }
    if precedes(.current) {
      statements += ["message", "began"].map { added($0, to: tables.run) }
      statements.append("INSERT INTO \(tables.ledger) VALUES (\(current.rawValue)) ON CONFLICT (version) DO NOTHING")
      statements.append("DELETE FROM \(tables.ledger) WHERE version <> \(current.rawValue)")
    }
    return statements.map(dialect.definition)
  }

  private static func firstTables(_ tables: LedgerTables) -> [String] {
    [
      "CREATE TABLE \(tables.ledger) (version INTEGER PRIMARY KEY)",
      """
      CREATE TABLE \(tables.run) (runID TEXT PRIMARY KEY, pipeline TEXT NOT NULL, kind TEXT NOT NULL,
        startedAt TEXT NOT NULL, endedAt TEXT, outcome TEXT NOT NULL, exitCode INTEGER, recordsRead INTEGER,
        inserted INTEGER, updated INTEGER, unchanged INTEGER, duplicate INTEGER, rejected INTEGER) WITHOUT ROWID
      """,
      """
      CREATE TABLE \(tables.input) (inputID INTEGER PRIMARY KEY, runID TEXT NOT NULL, pipeline TEXT NOT NULL,
        pipelineDigest TEXT NOT NULL, entity TEXT NOT NULL, path TEXT NOT NULL, state TEXT NOT NULL,
        record INTEGER NOT NULL, line INTEGER NOT NULL, byte INTEGER NOT NULL, contentHash TEXT NOT NULL,
        headBytes INTEGER NOT NULL, headHash TEXT NOT NULL, endsOpen INTEGER NOT NULL, storedBytes INTEGER NOT NULL,
        rejectsPath TEXT, rejectsBytes INTEGER NOT NULL, rejectsDetailBytes INTEGER NOT NULL,
        rejectsCount INTEGER NOT NULL, baseKey INTEGER NOT NULL, recordsRead INTEGER NOT NULL, inserted INTEGER NOT NULL,
        updated INTEGER NOT NULL, unchanged INTEGER NOT NULL, duplicate INTEGER NOT NULL, rejected INTEGER NOT NULL,
        tally TEXT NOT NULL, savedAt TEXT NOT NULL)
      """,
      """
      CREATE TABLE \(tables.issue) (inputID INTEGER NOT NULL, ordinal INTEGER NOT NULL, issue TEXT NOT NULL,
        PRIMARY KEY (inputID, ordinal)) WITHOUT ROWID
      """,
    ]
  }

  /// What the third layout adds to the second one.
  private static func thirdTables(_ tables: LedgerTables) -> [String] {
    [
      """
      CREATE TABLE \(tables.linked) (inputID INTEGER NOT NULL, ordinal INTEGER NOT NULL, entity TEXT NOT NULL,
        keys BLOB NOT NULL, PRIMARY KEY (ordinal, entity)) WITHOUT ROWID
      """
    ]
  }

  /// What the second layout adds to the first one.
  private static func secondTables(_ tables: LedgerTables) -> [String] {
    [
      added("repeated", to: tables.run), added("repeated", to: tables.input), added("header", to: tables.input),
      added("firstRecord", to: tables.input), added("location", to: tables.input),
      """
      CREATE TABLE \(tables.inserted) (inputID INTEGER NOT NULL, firstKey INTEGER NOT NULL, lastKey INTEGER NOT NULL,
        PRIMARY KEY (inputID, firstKey)) WITHOUT ROWID
      """,
      """
      CREATE TABLE \(tables.overwritten) (inputID INTEGER NOT NULL, ordinal INTEGER NOT NULL, count INTEGER NOT NULL,
        entries BLOB, PRIMARY KEY (inputID, ordinal))
      """,
      """
      CREATE TABLE \(tables.restored) (entity TEXT NOT NULL, entryKey INTEGER NOT NULL, version INTEGER NOT NULL,
        formerVersion INTEGER NOT NULL, PRIMARY KEY (entity, entryKey, version)) WITHOUT ROWID
      """,
    ]
  }

  private static func added(_ column: String, to table: String) -> String {
    "ALTER TABLE \(table) ADD COLUMN \(column) \(addedColumns[column]?.type ?? "")"
  }
}
