import CSV
import Foundation
import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// The tables of plans: of imports that many workers do. They are in the store from its first plan on.
///
/// A planned input is a row of the ledger's table of inputs with the state `planned`, until the plan is closed. Its
/// shards, their rejects and what only the plan knows of it are here.
struct PlanTables: Sendable {
  typealias Statement = LedgerTables.Statement

  let plan: String
  /// The forms of planned inputs.
  let planned: String
  let shard: String
  let reject: String
  /// A row for each worker of a plan that may write at the same time; none where their number is not limited.
  let writer: String

  init(_ vocabulary: DefinitionVocabulary) {
    let prefix = vocabulary.ledgerPrefix
    (plan, planned) = ("\(prefix)PLAN", "\(prefix)PLANNED")
    (shard, reject, writer) = ("\(prefix)SHARD", "\(prefix)REJECT", "\(prefix)WRITER")
  }

  var names: [String] { [writer, reject, shard, planned, plan] }

  /// The statements that create the tables that are missing. One for a table that is there needs the right to create
  /// tables, too.
  func missingDefinitions(in coordinator: NSPersistentStoreCoordinator) throws -> [String] {
    let dialect = try coordinator.participantDialect()
    let known = Set(try dialect.tables(names) { try coordinator.participantRows($0) }.map(\.name))
    return definitions(dialect).filter { !known.contains($0.table) }.map(\.statement)
  }

  private func definitions(_ dialect: ParticipantDialect) -> [(table: String, statement: String)] {
    let statements = [
      """
      CREATE TABLE IF NOT EXISTS \(plan) (planID TEXT PRIMARY KEY, state TEXT NOT NULL, madeAt TEXT NOT NULL,
        closedAt TEXT, digest TEXT NOT NULL, pipeline TEXT NOT NULL, notes TEXT NOT NULL)
      """,
      """
      CREATE TABLE IF NOT EXISTS \(planned) (inputID INTEGER PRIMARY KEY, planID TEXT NOT NULL, ordinal INTEGER NOT NULL,
        header BLOB NOT NULL, format TEXT NOT NULL)
      """,
      """
      CREATE TABLE IF NOT EXISTS \(shard) (shardID INTEGER PRIMARY KEY, planID TEXT NOT NULL, shard INTEGER NOT NULL,
        inputID INTEGER NOT NULL, firstRecord INTEGER NOT NULL, firstLine INTEGER NOT NULL, firstByte INTEGER NOT NULL,
        endRecord INTEGER NOT NULL, storedFrom INTEGER NOT NULL, storedTo INTEGER NOT NULL, contentHash TEXT NOT NULL,
        dates TEXT, state TEXT NOT NULL, record INTEGER NOT NULL, line INTEGER NOT NULL, byte INTEGER NOT NULL,
        recordsRead INTEGER NOT NULL, inserted INTEGER NOT NULL, updated INTEGER NOT NULL, unchanged INTEGER NOT NULL,
        duplicate INTEGER NOT NULL, repeated INTEGER NOT NULL, rejected INTEGER NOT NULL, tally TEXT NOT NULL,
        savedAt TEXT NOT NULL, UNIQUE (planID, shard))
      """,
      """
      CREATE TABLE IF NOT EXISTS \(reject) (shardID INTEGER NOT NULL, firstRecord INTEGER NOT NULL,
        count INTEGER NOT NULL, records BLOB NOT NULL, details BLOB NOT NULL, PRIMARY KEY (shardID, firstRecord))
      """,
      "CREATE TABLE IF NOT EXISTS \(writer) (planID TEXT NOT NULL, writer INTEGER NOT NULL, PRIMARY KEY (planID, writer))",
    ]
    return zip([plan, planned, shard, reject, writer], statements).map { ($0, dialect.definition($1)) }
  }

  // MARK: Shards

  static let shardColumns = [
    "shardID", "planID", "shard", "inputID", "firstRecord", "firstLine", "firstByte", "endRecord", "storedFrom",
    "storedTo", "contentHash", "dates",
  ]

  static let progressColumns = [
    "state", "record", "line", "byte", "recordsRead", "inserted", "updated", "unchanged", "duplicate", "repeated",
    "rejected", "tally", "savedAt",
  ]

  /// Inserts the rows of new shards, several with each statement.
  func insert(_ shards: [LedgerEntry]) -> [Statement] {
    let columns = Self.shardColumns + Self.progressColumns
    let row = "(" + Array(repeating: "?", count: columns.count).joined(separator: ", ") + ")"
    return stride(from: 0, to: shards.count, by: Self.rowsPerStatement).map { first in
      let part = shards[first..<min(first + Self.rowsPerStatement, shards.count)]
      return (
        "INSERT INTO \(shard) (\(columns.joined(separator: ", "))) VALUES "
          + Array(repeating: row, count: part.count).joined(separator: ", "),
        part.flatMap { entry in (entry.shard.map(values) ?? []) + progress(of: entry) }
      )
    }
  }

  /// A statement has at most 65,535 values.
  private static let rowsPerStatement = 1000

  private func values(_ shard: Shard) -> [StoredValue] {
    let numbers = [
      shard.input, Int64(shard.start.record), Int64(shard.start.line), Int64(shard.start.byteOffset),
      Int64(shard.endRecord), Int64(shard.storedBytes.lowerBound), Int64(shard.storedBytes.upperBound),
    ]
    return [.integer(shard.id), .text(shard.plan), .integer(Int64(shard.number))]
      + numbers.map { .integer($0) } + [.text(shard.hash.hex), ShardDates.text(shard.excludedFormats)]
  }

  private func progress(of entry: LedgerEntry) -> [StoredValue] {
    let (counts, position) = (entry.counts, entry.progress.position)
    let numbers = [
      position.record, position.line, position.byteOffset, counts.read, counts.inserted, counts.updated,
      counts.unchanged, counts.duplicate, counts.repeated, counts.rejected,
    ]
    return [.text(entry.isComplete ? "complete" : counts.read == 0 ? "planned" : LedgerEntry.partialState)]
      + numbers.map { .integer(Int64($0)) } + [.text(entry.results.json), .text(LedgerDate.text(entry.savedAt))]
  }

  /// Moves the checkpoint of a shard, if it is where the caller believes it to be. No row is changed otherwise.
  ///
  /// - Parameter former: Where it has to be.
  func move(_ entry: LedgerEntry, of shard: Shard, from former: ReaderPosition) -> Statement {
    let changes = Self.progressColumns.map { "\($0) = ?" }.joined(separator: ", ")
    return (
      "UPDATE \(self.shard) SET \(changes) WHERE shardID = ? AND planID = ? AND record = ? AND byte = ? "
        + "AND state <> 'complete'",
      progress(of: entry) + [
        .integer(shard.id), .text(shard.plan), .integer(Int64(former.record)), .integer(Int64(former.byteOffset)),
      ]
    )
  }

  /// Rejected records of a chunk, as a file of rejects and the one next to it have them.
  struct Rejects: Sendable {
    /// The number of the first record of the chunk.
    var firstRecord: Int
    var count: Int
    var records: [UInt8]
    var details: [UInt8]
  }

  func record(_ rejects: Rejects, of shard: Shard) -> Statement {
    (
      "INSERT INTO \(reject) (shardID, firstRecord, count, records, details) VALUES (?, ?, ?, ?, ?)",
      [
        .integer(shard.id), .integer(Int64(rejects.firstRecord)), .integer(Int64(rejects.count)),
        .blob(Data(rejects.records)), .blob(Data(rejects.details)),
      ]
    )
  }

  // MARK: Inputs

  /// The form of a planned input, for its rejects.
  struct Form: Hashable, Sendable {
    /// The header's bytes.
    var header: [UInt8]
    var isJSONLines: Bool
    /// Whether the input's name decided that its values are separated by tabs.
    var hasTabs: Bool
  }

  func record(_ form: Form, of input: Int64, ordinal: Int, plan id: String) -> Statement {
    let format = form.isJSONLines ? "jsonl" : form.hasTabs ? "tabs" : "csv"
    return (
      "INSERT INTO \(planned) (inputID, planID, ordinal, header, format) VALUES (?, ?, ?, ?, ?)",
      [.integer(input), .text(id), .integer(Int64(ordinal)), .blob(Data(form.header)), .text(format)]
    )
  }

  /// The inputs of a plan, in order.
  func forms(ofPlan id: String, in coordinator: NSPersistentStoreCoordinator) throws -> [(input: Int64, form: Form)] {
    try coordinator.participantRows(
      "SELECT inputID, header, format FROM \(planned) WHERE planID = ? ORDER BY ordinal", [id]
    ).compactMap { row in
      guard let input = row[0] as? Int64 else { return nil }
      let (header, format) = (row[1] as? Data ?? Data(), row[2] as? String)
      return (input, Form(header: Array(header), isJSONLines: format == "jsonl", hasTabs: format == "tabs"))
    }
  }

  /// The rejects of a shard, in order.
  func rejects(ofShard id: Int64, in coordinator: NSPersistentStoreCoordinator) throws -> [Rejects] {
    try coordinator.participantRows(
      "SELECT firstRecord, count, records, details FROM \(reject) WHERE shardID = ? ORDER BY firstRecord", [id]
    ).map { row in
      Rejects(
        firstRecord: Int(row[0] as? Int64 ?? 0), count: Int(row[1] as? Int64 ?? 0),
        records: Array(row[2] as? Data ?? Data()), details: Array(row[3] as? Data ?? Data()))
    }
  }

  /// The numbers of a plan's inputs and the keys of its shards that have listed issues.
  func inputsWithIssues(
    ofPlan id: String, _ tables: LedgerTables, in coordinator: NSPersistentStoreCoordinator
  ) throws -> Set<Int64> {
    let rows = try coordinator.participantRows(
      "SELECT DISTINCT inputID FROM \(tables.issue) WHERE inputID IN (SELECT inputID FROM \(planned) WHERE planID = ?) "
        + "OR -inputID IN (SELECT shardID FROM \(shard) WHERE planID = ?)", [id, id])
    return Set(rows.compactMap { $0.first as? Int64 })
  }

  private func areThere(in connection: LedgerConnection) throws -> Bool {
    try connection.dialect.tables([plan], connection.plainRows).first?.isTable == true
  }

  /// The number of a plan that is not closed; nil if there is none.
  private func openPlan(_ connection: LedgerConnection) throws -> String? {
    guard try areThere(in: connection) else { return nil }
    return try connection.plainRows("SELECT planID FROM \(plan) WHERE state = 'open' ORDER BY madeAt").first?.first
      as? String
  }

  /// Throws if a plan is not closed.
  ///
  /// - Parameters:
  ///   - consequence: Why that matters.
  ///   - action: What can be done when the plan is ended.
  func checkAllClosed(_ connection: LedgerConnection, consequence: String, action: String) throws {
    guard let id = try openPlan(connection) else { return }
    throw RunFailure(
      code: nil, exitCode: .dataError,
      message: "the plan \(id) is not closed, and \(consequence); close it with 'report --plan \(id)', or end it with "
        + "--abandon, \(action)")
  }

  /// The numbers of the plans that have compared keys.
  func comparingKeys(_ connection: LedgerConnection) throws -> Set<String> {
    guard try areThere(in: connection) else { return [] }
    struct Kept: Decodable {
      struct Part: Decodable { var key: [String]? }
      struct Pipeline: Decodable {
        var key: [String]?
        var parts: [Part]?
      }
      var pipeline: Pipeline
    }
    let found = try connection.plainRows("SELECT planID, pipeline FROM \(plan)").compactMap { row -> String? in
      let kept = try? JSONDecoder().decode(Kept.self, from: Data((row[1] as? String ?? "").utf8))
      let keys = [kept?.pipeline.key] + (kept?.pipeline.parts ?? []).map(\.key)
      return keys.contains { $0?.isEmpty == false } ? row[0] as? String : nil
    }
    return Set(found)
  }

  // MARK: The end

  /// Removes what only the workers and the report of a plan need.
  func forget(plan id: String, _ tables: LedgerTables) -> [Statement] {
    let own = "(SELECT shardID FROM \(shard) WHERE planID = ?)"
    return [
      ("DELETE FROM \(tables.issue) WHERE -inputID IN \(own)", [.text(id)]),
      ("DELETE FROM \(reject) WHERE shardID IN \(own)", [.text(id)]),
      ("DELETE FROM \(writer) WHERE planID = ?", [.text(id)]),
      ("DELETE FROM \(planned) WHERE planID = ?", [.text(id)]),
      ("DELETE FROM \(shard) WHERE planID = ?", [.text(id)]),
    ]
  }

  func close(plan id: String, as state: String, at date: Date) -> Statement {
    (
      "UPDATE \(plan) SET state = ?, closedAt = ? WHERE planID = ? AND state = 'open'",
      [.text(state), .text(LedgerDate.text(date)), .text(id)]
    )
  }

  // MARK: Writers

  /// Limits how many workers of a plan write at the same time.
  func limitWriters(to count: Int, plan id: String) -> [Statement] {
    (1...count).map { number in
      ("INSERT INTO \(writer) (planID, writer) VALUES (?, ?)", [.text(id), .integer(Int64(number))])
    }
  }

  /// Whether the number of a plan's workers that may write at the same time is limited.
  func limitsWriters(ofPlan id: String, in coordinator: NSPersistentStoreCoordinator) throws -> Bool {
    try !coordinator.participantRows("SELECT 1 FROM \(writer) WHERE planID = ? LIMIT 1", [id]).isEmpty
  }

  /// Takes the place of one of the plan's writers until the transaction of a save ends.
  ///
  /// - Throws: ``WritersBusy`` where all are taken.
  func takeWriter(of id: String, in transaction: SaveTransaction) throws {
    let free = try transaction.rows(
      "SELECT writer FROM \(writer) WHERE planID = ? LIMIT 1 FOR UPDATE SKIP LOCKED", [id])
    if !free.isEmpty { return }
    // A plan that was closed has no places, and no shards: the checkpoint decides.
    if try !transaction.rows("SELECT 1 FROM \(writer) WHERE planID = ? LIMIT 1", [id]).isEmpty { throw WritersBusy() }
  }

  // MARK: Reading

  /// The number of the next shard of any plan.
  static func nextShardID(_ plans: PlanTables, in coordinator: NSPersistentStoreCoordinator) throws -> Int64 {
    let tables = try coordinator.participantDialect().tables([plans.shard]) { try coordinator.participantRows($0) }
    if tables.isEmpty { return 1 }
    let last = try coordinator.participantRows("SELECT MAX(shardID) FROM \(plans.shard)").first?.first
    return (last as? Int64 ?? 0) + 1
  }

  /// The shards of a plan that `condition` selects, in order. Each is the entry of its input with the shard's own
  /// progress.
  func shards(
    where condition: String, _ values: [Any?], inputs: [Int64: LedgerEntry],
    in coordinator: NSPersistentStoreCoordinator
  ) throws -> [LedgerEntry] {
    let columns = (Self.shardColumns + Self.progressColumns).joined(separator: ", ")
    return try coordinator.participantRows(
      "SELECT \(columns) FROM \(shard) WHERE \(condition) ORDER BY shard", values
    ).compactMap { row in
      Shard(row: row).flatMap { shard in inputs[shard.input].map { LedgerEntry(shard, row: row, of: $0) } }
    }
  }
}

extension Shard {
  /// From a row in the order of `PlanTables.shardColumns`; nil where the row is invalid.
  fileprivate init?(row: [Any?]) {
    func integer(_ index: Int) -> Int { (row[index] as? Int64).map(Int.init) ?? 0 }
    guard let hash = ContentDigest(hex: row[10] as? String ?? ""), integer(8) <= integer(9) else { return nil }
    self.init(
      id: Int64(integer(0)), plan: row[1] as? String ?? "", number: integer(2), input: Int64(integer(3)),
      start: ReaderPosition(record: integer(4), line: integer(5), byteOffset: integer(6)), endRecord: integer(7),
      storedBytes: integer(8)..<integer(9), hash: hash, excludedFormats: ShardDates.formats(row[11] as? String))
  }
}

extension LedgerEntry {
  /// The progress of a shard, from a row whose last columns are `PlanTables.progressColumns`.
  fileprivate init(_ shard: Shard, row: [Any?], of input: LedgerEntry) {
    let row = row.suffix(PlanTables.progressColumns.count).map(\.self)
    func integer(_ index: Int) -> Int { (row[index] as? Int64).map(Int.init) ?? 0 }
    self = LedgerEntry(shard, of: input)
    isComplete = row[0] as? String == "complete"
    progress.position = ReaderPosition(record: integer(1), line: integer(2), byteOffset: integer(3))
    counts = RunCounts(
      read: integer(4), inserted: integer(5), updated: integer(6), unchanged: integer(7), duplicate: integer(8),
      repeated: integer(9), rejected: integer(10))
    results = InputResults.Kept(json: row[11] as? String ?? "")
    savedAt = LedgerDate.date(row[12] as? String ?? "") ?? Date(timeIntervalSince1970: 0)
  }

  /// A shard before its first record is imported.
  init(_ shard: Shard, of input: LedgerEntry) {
    self = input
    id = shard.issueKey
    self.shard = shard
    self.shard?.isLast = shard.endRecord == input.progress.position.record
    (isPlanned, isComplete) = (false, false)
    // The head is that of the whole input.
    progress.position = shard.start
    progress.consumedBytes = shard.storedBytes.lowerBound
    (counts, results) = (RunCounts(), InputResults.Kept())
    firstRecord = shard.start.record
  }
}

/// Date formats as JSON in a column.
private enum ShardDates {
  static func text(_ formats: [String: [String]]) -> StoredValue {
    if formats.isEmpty { return .null }
    return (try? JSONEncoder().encode(formats)).map { .text(String(decoding: $0, as: UTF8.self)) } ?? .null
  }

  static func formats(_ text: String?) -> [String: [String]] {
    text.flatMap { try? JSONDecoder().decode([String: [String]].self, from: Data($0.utf8)) } ?? [:]
  }
}

/// All places for the writers of a plan are taken. A worker that waits for one has no connection to the server, so that the
/// plan limits connections, too.
struct WritersBusy: Error {}
