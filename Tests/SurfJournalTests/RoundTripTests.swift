import Foundation
import OpenCoreData
import PipelineEngine
import SurfJournal
import TestSupport
import Testing

/// The `round-trip` pipeline: export, import, export gives the same bytes and the same rows for any store of the model.
@Suite(.seeded) struct RoundTripTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.path(name) }

  @Test(arguments: Randomness.seeds(2, long: 200))
  func `Random stores come back as they were`(seed: UInt64) async throws {
    var random = StoreRandom(seed: seed)
    try makeStore(path("first.sqlite"), entries: 150, &random)
    let packed = seed % 2 == 0 ? "" : ".gz"
    let exported = try await export("first.sqlite", to: "first.csv" + packed)
    #expect(exported.outputs.first?.records == exported.exported)
    var options = RunOptions()
    options.store = path("second.sqlite")
    options.inputs = [path("first.csv" + packed)]
    let imported = try await PipelineRunner(.roundTrip, .import, options: options).run()
    #expect(imported.issues.counts.isEmpty, "\(imported.text())")
    #expect(imported.counts.inserted == exported.exported)
    _ = try await export("second.sqlite", to: "second.csv" + packed)
    let files = try ["first", "second"].map { try folder.data($0 + ".csv" + packed) }
    #expect(files[0] == files[1])
    #expect(files[0].count > 1000)
    let tables = try ["first", "second"].map { try rows(of: path($0 + ".sqlite")) }
    #expect(tables[0] == tables[1])
    #expect(tables[0].split(separator: "\n").count == exported.exported)
  }

  private func export(_ store: String, to name: String) async throws -> RunSummary {
    var options = RunOptions()
    options.store = path(store)
    options.output = path(name)
    let summary = try await PipelineRunner(.roundTrip, .export, options: options).run()
    try #require(summary.exitCode == .ok, "\(summary.text())")
    return summary
  }

  /// Every value of the entries by key, with its type, as the `sqlite3` shell has it.
  private func rows(of store: String) throws -> String {
    let columns = ["ZDATE", "ZHEIGHT", "ZLOCATION", "ZPERIOD", "ZRATING", "ZWIND"]
    let values = columns.map { "typeof(\($0)), \($0 == "ZDATE" ? "quote(\($0))" : "hex(\($0))")" }
    return try sqlite(store, "SELECT \(values.joined(separator: ", ")) FROM ZJOURNALENTRY ORDER BY Z_PK")
  }

  /// Entries through contexts, as a program makes them; some are deleted again, so that keys have gaps.
  private func makeStore(_ path: String, entries: Int, _ random: inout StoreRandom) throws {
    let container = NSPersistentContainer(name: "SurfJournalModel")
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: path))]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    let values = (0..<entries).map { _ in random.entry() }
    let deleted = Set((0..<entries).filter { _ in Int.random(in: 0..<10, using: &random) == 0 })
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let objects = values.map { values in
        let object = NSEntityDescription.insertNewObject(forEntityName: "JournalEntry", into: context)
        for name in object.entity.attributesByName.keys { object.setValue(values[name], forKey: name) }
        return object
      }
      try context.save()
      for index in deleted { context.delete(objects[index]) }
      try context.save()
    }
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }
}

/// Values that are hard on a file of text.
private struct StoreRandom: RandomNumberGenerator {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func next() -> UInt64 { generator.next() }

  private static let parts = [
    "a", "Rincon", ",", "\"", "\"\"", "\n", "\r", "\r\n", " ", "\t", "\0", "\\N", "\\", "N", "é", "e\u{301}", "鵠沼", "🏄🏽‍♀️",
    "\u{FEFF}", "\u{2028}", "#", "'", "NULL", "=1+1", "\u{7F}", "\u{10FFFF}",
  ]

  mutating func entry() -> [String: Any] {
    var values: [String: Any] = [:]
    for name in ["height", "location", "period", "wind"] { values[name] = text() }
    values["date"] = seconds().map { Date(timeIntervalSinceReferenceDate: $0) }
    if Int.random(in: 0..<6, using: &self) > 0 {
      values["rating"] = NSNumber(value: Int16.random(in: .min ... .max, using: &self))
    }
    return values
  }

  private mutating func text() -> String? {
    switch Int.random(in: 0..<80, using: &self) {
    case 0..<4: return nil
    case 4..<8: return ""
    case 8..<11: return "\\N"
    case 11: return "\0"
    case 12: return String(repeating: Self.parts.randomElement(using: &self) ?? "", count: 70_000)
    default:
      let count = Int.random(in: 1...6, using: &self)
      return (0..<count).map { _ in Self.parts.randomElement(using: &self) ?? "" }.joined()
    }
  }

  private mutating func seconds() -> Double? {
    switch Int.random(in: 0..<12, using: &self) {
    case 0: return nil
    // Infinite dates are not entries: the model refuses them.
    case 1..<4:
      return [0, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, -0.1, 1e15 + 0.5].randomElement(using: &self)
    case 4..<7:
      let value = Double(bitPattern: next())
      return value.isFinite ? value : -1
    case 7: return Double(Int.random(in: -9_000_000_000...9_000_000_000, using: &self))
    default: return Double.random(in: -3e9...3e9, using: &self)
    }
  }
}
