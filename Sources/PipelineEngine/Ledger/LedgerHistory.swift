import Foundation
import SystemSupport
import ManagedObjectModel
import PersistentStores

/// The content of a store's ledger for users: the runs, the newest first, and their inputs.
public struct LedgerHistory: Sendable, Hashable, Codable {
  /// One input of a run.
  public struct Input: Sendable, Hashable, Codable {
    /// The path of the input.
    public var path: String
    /// `complete`, `partial` where a later run can continue, `undone` where it was taken back, or `outdated`
    /// where an undo has deleted entries that made it leave out records; `planned` where a plan is not closed.
    public var state: String
    /// XXH3 with 128 bits of the input's text, as far as it was read.
    public var contentHash: String
    /// Number of the next record.
    public var nextRecord: Int
    /// What happened to its records.
    public var counts: RunCounts
    /// The path of its rejected records; nil when there were none.
    public var rejects: String?
    /// How many of its rejected records wait for a correction: none once the file is gone, or has been replayed. An undo
    /// takes back what a replay inserted, and leaves the file of the rest.
    public var waiting: Int
  }

  /// One run that is in the ledger.
  public struct Run: Sendable, Hashable, Codable {
    /// Identifies the run, as in its summary.
    public var run: String
    /// The name of the definition.
    public var pipeline: String
    /// ISO 8601, UTC.
    public var startedAt: String
    /// Nil while it runs, and permanently if it was killed.
    public var endedAt: String?
    /// As in the summary; `running`, `interrupted` for a run that was killed, `planned` for a plan that is not closed, or
    /// `undone` for one that was taken back.
    public var outcome: String
    /// The exit status of the run; nil until it has ended.
    public var exitCode: Int?
    /// What happened to the records of all inputs; nil until the run has ended.
    public var counts: RunCounts?
    /// Why the run failed, or was stopped or cancelled.
    public var message: String?
    /// The inputs, in the order of their import.
    public var inputs: [Input]
  }

  /// The runs, the newest first.
  public var runs: [Run]

  /// Reads the ledger of a store without changing the store.
  ///
  /// - Parameters:
  ///   - path: The path or the address of the store.
  ///   - vocabulary: The vocabulary of the program whose runs are read.
  /// - Throws: `LedgerAccessError` for a store that does not exist, is not a store, or can't be read.
  public init(
    store path: String, vocabulary: DefinitionVocabulary = DefinitionVocabulary()
  ) throws(LedgerAccessError) {
    let tables = LedgerTables(vocabulary)
    let store = StoreLocation(path)
    runs = try LedgerAccess.explained(store) {
      let ledger = try LedgerConnection.reading(store)
      defer { ledger.close() }
      let found = try ledger.layout(of: tables).map { try Self.runs(tables, $0, rows: ledger.plainRows) } ?? []
      try ledger.checkUnchanged()
      return found
    }
    leaveOutReplayed()
  }

  /// The files of rejects that wait for a correction, the newest first.
  public var waitingRejects: [String] {
    var known: Set<String> = []
    return runs.flatMap(\.inputs).compactMap { $0.waiting > 0 ? $0.rejects : nil }
      .filter { known.insert($0).inserted }
  }

  /// A file of rejects holds what the last run that wrote it has rejected. A replay that was interrupted at its end has
  /// left it under another name.
  private mutating func leaveOutReplayed() {
    var writers: [String: String] = [:]
    for run in runs.indices {
      for input in runs[run].inputs.indices {
        guard let path = runs[run].inputs[input].rejects, runs[run].inputs[input].waiting > 0 else { continue }
        // The rejects of the inputs of a plan are in one file.
        let file = URL(fileURLWithPath: path).path
        let isOlder = writers[file] != nil && writers[file] != runs[run].run
        if !isOlder { writers[file] = runs[run].run }
        let names = [path, RejectsMark.pathOfRest(of: path)]
        if isOlder || !names.contains(where: FileManager.default.fileExists) { runs[run].inputs[input].waiting = 0 }
      }
    }
  }

  private static func runs(
    _ tables: LedgerTables, _ layout: LedgerLayout, rows: (String) throws -> [[Any?]]
  ) throws -> [Run] {
    var inputs: [String: [Input]] = [:]
    for entry in try tables.entries(layout, rows).reversed() { inputs[entry.run, default: []].append(Input(entry)) }
    let columns = layout.readable(LedgerRun.columns).joined(separator: ", ")
    return try rows(
      "SELECT \(columns) FROM \(tables.run) \(tables.joinedLastInput) \(tables.newestFirst(layout)), runID"
    ).map { Run($0, inputs) }
  }

  /// Removes the ledger's tables; everything else in the store stays. The next run knows no input.
  ///
  /// - Returns: Whether there was a ledger.
  /// - Throws: `LedgerAccessError`, also for a store that another program writes to for longer than `timeoutSeconds`, and
  ///   for one with an open plan.
  public static func drop(
    store path: String, vocabulary: DefinitionVocabulary = DefinitionVocabulary(), timeoutSeconds: Double = 10
  ) throws(LedgerAccessError) -> Bool {
    let tables = LedgerTables(vocabulary)
    return try LedgerAccess.changed(
      StoreLocation(path), of: vocabulary, by: "ledger drop", timeoutSeconds: timeoutSeconds
    ) { ledger in
      let found = try ledger.dialect.tables([tables.ledger], ledger.plainRows)
      if found.first?.isTable != true { return false }
      try PlanTables(vocabulary).checkAllClosed(
        ledger, consequence: "no later run would know what its workers save", action: "and remove the ledger then")
      try ledger.transaction {
        let own = try PlanTableNames.all(ledger, vocabulary)
        for table in own + PlanTables(vocabulary).names + tables.names {
          _ = try ledger.rows("DROP TABLE IF EXISTS \(table)", [])
        }
      }
      return true
    }
  }
}

extension LedgerHistory.Input {
  init(_ entry: LedgerEntry) {
    self.init(
      path: entry.path,
      state: entry.isUndone ? "undone" : entry.isOutdated ? "outdated" : Self.state(ofRead: entry),
      contentHash: entry.progress.hash.hex,
      nextRecord: entry.progress.position.record, counts: entry.counts, rejects: Self.rejects(of: entry),
      waiting: entry.isUndone && !Self.isOfReplay(entry) ? 0 : entry.rejects.count)
  }

  private static func state(ofRead entry: LedgerEntry) -> String {
    entry.isPlanned ? LedgerEntry.plannedState : entry.isComplete ? "complete" : LedgerEntry.partialState
  }

  private static func isOfReplay(_ entry: LedgerEntry) -> Bool {
    entry.rejects.path == RejectsMark.pathOfRest(of: entry.path)
  }

  /// The rest of a replay takes the place of the file that was replayed.
  private static func rejects(of entry: LedgerEntry) -> String? {
    isOfReplay(entry) ? entry.location ?? entry.path : entry.rejects.path
  }
}

extension LedgerHistory.Run {
  init(_ row: [Any?], _ inputs: [String: [LedgerHistory.Input]]) {
    func integer(_ index: Int) -> Int? { (row[index] as? Int64).map(Int.init) }
    func text(_ index: Int) -> String { row[index] as? String ?? "" }
    let counts = integer(7).map { read in
      RunCounts(
        read: read, inserted: integer(8) ?? 0, updated: integer(9) ?? 0, unchanged: integer(10) ?? 0,
        duplicate: integer(11) ?? 0, repeated: integer(13) ?? 0, rejected: integer(12) ?? 0)
    }
    self.init(
      run: text(0), pipeline: text(1), startedAt: text(3), endedAt: row[4] as? String, outcome: text(5),
      exitCode: integer(6), counts: counts, message: row[14] as? String, inputs: inputs[text(0)] ?? [])
  }
}

/// A file whose ledger can't be read.
public struct LedgerAccessError: Error, Sendable, CustomStringConvertible {
  /// What is wrong, and a remedy.
  public let description: String
  /// The exit status for it.
  public let exitCode: ExitCode

  fileprivate static func missing(_ store: StoreLocation) -> LedgerAccessError {
    let word = store.isServer ? "address" : "path"
    return LedgerAccessError(
      description: "the store \(store.shown) does not exist; check the \(word)", exitCode: .noInput)
  }
}

enum LedgerAccess {
  /// Calls `body` with a connection that writes, while no run uses the store.
  static func changed<Result>(
    _ store: StoreLocation, of vocabulary: DefinitionVocabulary, by command: String, timeoutSeconds: Double,
    _ body: (LedgerConnection) throws -> Result
  ) throws(LedgerAccessError) -> Result {
    guard store.exists else { throw .missing(store) }
    let lock: StoreLock
    do throws(RunFailure) {
      lock = try StoreLock(store, vocabulary, pipeline: command, now: Date(), timeoutSeconds: timeoutSeconds)
    } catch {
      throw LedgerAccessError(description: error.message, exitCode: error.exitCode)
    }
    defer { lock.release() }
    return try explained(store) {
      let ledger = try LedgerConnection.writing(store, timeoutSeconds: timeoutSeconds)
      defer { ledger.close() }
      return try body(ledger)
    }
  }

  static func explained<Result>(
    _ store: StoreLocation, _ body: () throws -> Result
  ) throws(LedgerAccessError) -> Result {
    guard store.exists else { throw .missing(store) }
    do {
      return try body()
    } catch {
      throw failure(error, store)
    }
  }

  private static func failure(_ error: any Error, _ store: StoreLocation) -> LedgerAccessError {
    if let failure = error as? RunFailure {
      return LedgerAccessError(description: failure.message, exitCode: failure.exitCode)
    }
    if store.isServer, !(error is LedgerVersionError), !(error is any LocalizedError) {
      let failure = RunFailure(store: error as NSError)
      return LedgerAccessError(description: failure.message, exitCode: failure.exitCode)
    }
    guard let sqlite = error as? SQLiteError else {
      let error = error as NSError
      return LedgerAccessError(
        description: error.reason,
        exitCode: error.code == NSPersistentStoreTimeoutError ? .temporaryFailure : .dataError)
    }
    let exitCode: ExitCode =
      switch sqlite.failureKind {
      case .busy, .outOfMemory: .temporaryFailure
      case .permissionDenied, .readOnly, .cannotOpen: .noPermission
      case .notAFile: .noInput
      case .notADatabase, .corrupt, .otherTables: .dataError
      default: .ioError
      }
    let advice =
      sqlite.failureKind == .otherTables
      ? "Its tables are not those of a ledger: restore it from a copy." : sqlite.advice
    return LedgerAccessError(
      description: "\(store.shown) can't be used: \(sqlite.plainMessage)" + (advice.map { ". \($0)" } ?? ""),
      exitCode: exitCode)
  }
}
