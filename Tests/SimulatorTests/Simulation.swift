import Foundation
import Glibc
import ManagedObjectModel
import PersistentStores
import SurfJournal
import TestSupport

@testable import PipelineDefinition
@testable import PipelineEngine

/// A difference between the store and the model, with what repeats it.
struct Mismatch: Error, CustomStringConvertible {
  let description: String
}

/// One world: a store, a pipeline, files and the model, and the steps that a seed plays on them.
final class Simulation {
  let seed: UInt64
  var random: SeededGenerator
  let folder: TemporaryFolder
  /// For the shim that kills processes.
  let shimFolder: TemporaryFolder
  let pipeline: SimulatedPipeline
  var model: StoreModel
  /// What is in the files that may be imported, by their paths.
  var files: [String: InputText] = [:]
  /// Files of rejects, with the header of their records.
  var rejects: [String: InputText] = [:]
  /// Those that a killed run has not given their names: the run that reports the input does.
  var owedRejects: [Int: InputText] = [:]
  var story: [String] = []
  var stepCount = 0
  var killCount = 0
  var runNumber = 0
  var fileNumber = 0
  /// What runs that were killed or refused calls may have left: the next undisturbed ones like them remove it.
  var owedFiles = OwedFiles()
  /// Files of rejects that a replay has moved away.
  var replayed: Set<String> = []
  /// How many runs were processes that the system refused a call.
  var refusalCount = 0
  /// How many runs stood still while others went on.
  var besideCount = 0
  /// One in so many runs is a process that is killed; 0 for none.
  let killsOneIn: Int
  /// Whether processes are refused calls, and run while others stand still in the middle of theirs.
  let hasProcesses: Bool
  /// Whether commands other than imports are disturbed, too. The worlds of older seeds have none.
  let disturbsAll: Bool
  /// How many of them were disturbed, and how.
  var disturbances: [String: Int] = [:]
  let harm: Harm?

  var store: String { folder.path("journal.sqlite") }
  var definitionPath: String { folder.path("simulated.json") }

  /// - Parameters:
  ///   - mistake: A rule that the model gets wrong, for canaries.
  ///   - leftOver: The name of a file that no run knows of, for canaries.
  ///   - harm: What happens to the store after a disturbed command, for canaries.
  init(
    seed: UInt64, killsOneIn: Int = 0, hasProcesses: Bool = false, disturbsAll: Bool = false,
    mistake: StoreModel.Mistake? = nil, leftOver: String? = nil, harm: Harm? = nil
  ) throws {
    self.seed = seed
    (self.killsOneIn, self.hasProcesses, self.disturbsAll, self.harm) = (killsOneIn, hasProcesses, disturbsAll, harm)
    random = SeededGenerator(seed: seed)
    (folder, shimFolder) = (try TemporaryFolder(), try TemporaryFolder())
    pipeline = SimulatedPipeline(&random)
    model = StoreModel(pipeline)
    model.mistake = mistake
    try folder.makeFolder("in")
    if let leftOver { try folder.write("", to: leftOver) }
  }

  func play(steps: Int) async throws {
    do {
      while stepCount < steps {
        stepCount += 1
        try await step()
        try checkStore()
      }
      try await repeatDisturbedRuns()
    } catch {
      let text = "seed \(seed), step \(stepCount): \(error)\n\(pipeline)\n" + story.suffix(60).joined(separator: "\n")
      throw Mismatch(description: text)
    }
  }

  private func step() async throws {
    // A world without processes draws nothing here, so that its seed stays the same world.
    if disturbsAll, random.isOne(in: 4) { return try await disturbedStep() }
    if hasProcesses, random.isOne(in: 3) {
      return random.isOne(in: 2) ? try await importWithRefusedCall() : try await importBesideOthers()
    }
    switch random.number(0...29) {
    case 0...13: try await importFiles()
    case 14...16: try await importInbox()
    case 17, 18: try await replay()
    case 19, 20, 21: try undo()
    case 22: try editByHand()
    case 23: try deleteByHand()
    case 24: try await export()
    case 25, 26: try await validate()
    case 27: try await importWhileLocked()
    default: try await importFiles(repeatsOld: true)
    }
  }

  func tell(_ text: String) { story.append("\(stepCount). \(text)") }

  // MARK: The store

  /// The rows of a query of the store; none without a store, or without the table if one is named.
  func rows(_ sql: String, of table: String? = nil) throws -> [[StoredValue]] {
    // A run that was killed at once may have left an empty file.
    guard setTimeBack() else { return [] }
    let opened = try OpenedDatabase.openForReading(store)
    defer { opened.connection.close() }
    // A run that was killed while it created the store has left it without tables.
    if let table, try opened.connection.rows("SELECT 1 FROM sqlite_master WHERE name = '\(table)'").isEmpty {
      return []
    }
    return try opened.connection.rows(sql)
  }

  /// Sets the store's time back by an hour. A reader waits while a store was written to within a tick of the file
  /// system's clock, and those waits would be most of the time of a world.
  ///
  /// - Returns: Whether there is a store that is not empty.
  private func setTimeBack() -> Bool {
    var status = stat()
    guard stat(store, &status) == 0, status.st_size > 0 else { return false }
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    if time.tv_sec - status.st_mtim.tv_sec < 60 {
      time.tv_sec -= 3600
      utimensat(AT_FDCWD, store, [status.st_atim, time], 0)
    }
    return true
  }

  /// The ledger's inputs.
  func records() throws -> [StoreModel.Record] {
    let sql = "SELECT inputID, path, state, record, rejectsPath, runID FROM SJ_INPUT ORDER BY inputID"
    return try rows(sql, of: "SJ_INPUT").map { row in
      StoreModel.Record(
        id: row[0].number, path: row[1].text ?? "", state: row[2].text ?? "", read: row[3].number - 1,
        rejectsPath: row[4].text, runID: row[5].text ?? "")
    }
  }

  func checkStore() throws {
    try checkRows(model)
    try checkFolder()
    try checkSoundness()
  }

  /// The store has the entries of the model.
  func checkRows(_ model: StoreModel) throws {
    let sql = "SELECT ZDATE, ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK"
    let stored = try rows(sql, of: "ZJOURNALENTRY").map { row in
      Session(
        day: Session.dayOfSeconds[row[0].number] ?? -1, place: row[1].text, rating: row[2].isNull ? nil : row[2].number)
    }
    let expected = model.sessions
    guard stored != expected else { return }
    let (added, missing) = (Self.difference(stored, expected), Self.difference(expected, stored))
    throw Mismatch(
      description: "the store has \(stored.count) entries, expected \(expected.count); too many: \(added), "
        + "missing: \(missing)")
  }

  private static func difference(_ left: [Session], _ right: [Session]) -> [Session] {
    var counts = right.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    return left.filter { session in
      counts[session, default: 0] -= 1
      return counts[session, default: 0] < 0
    }
  }

  private func checkSoundness() throws {
    guard stepCount.isMultiple(of: 8) else { return }
    let result = try rows("PRAGMA integrity_check").first?.first?.text
    guard result == nil || result == "ok" else { throw Mismatch(description: "the store is damaged: \(result ?? "")") }
  }
}

extension StoredValue {
  var number: Int {
    switch self {
    case .integer(let number): Int(number)
    case .real(let number): Int(number)
    default: -1
    }
  }

  var text: String? { if case .text(let text) = self { text } else { nil } }
  var isNull: Bool { if case .null = self { true } else { false } }
}
