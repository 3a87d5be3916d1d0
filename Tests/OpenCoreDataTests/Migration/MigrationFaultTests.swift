import Foundation
import TestSupport
import Testing

@testable import OpenCoreData
@testable import PersistentStores

// Rules (SQLite documentation: "Atomic Commit"; POSIX): a migration is whole or was not begun, whichever call on the
// store's files fails, is the last of the process, or is not on the disk when the power fails; and without memory.

/// Makes two instances of each source object.
final class DoublingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    for _ in 0..<2 { try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager) }
  }
}

/// Every call of a migration in another process goes wrong once. A few by chance in the short series, all in the long one.
@Suite(.seeded, .serialized) struct MigrationFaultTests {
  /// A store and the version of its model that it is migrated to.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let stage: @Sendable () throws -> MigrationStage
  }

  static let cases =
    [
      Case(testDescription: "a store of this library with a WAL") { try ownStage() },
      Case(testDescription: "a store of this library, by a mapping model with a policy") { try customStage() },
    ]
    + (SharedFiles.arePresent
      ? [
        Case(testDescription: "a store of Apple's framework") { try appleStage() }
      ] : [])

  private static let old = """
    <entity name="Board"><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="riders" optional="YES" toMany="YES" destinationEntity="Rider" inverseName="boards"
        inverseEntity="Rider"/></entity>
    <entity name="Rider"><attribute name="photo" optional="YES" attributeType="Binary"/>
      <relationship name="boards" optional="YES" toMany="YES" destinationEntity="Board" inverseName="riders"
        inverseEntity="Board"/></entity>
    """
  private static let new = """
    <entity name="Board"><attribute name="title" elementID="name" attributeType="String" defaultValueString="?"/>
      <relationship name="riders" optional="YES" toMany="YES" destinationEntity="Surfer" inverseName="boards"
        inverseEntity="Surfer"/></entity>
    <entity name="Surfer" elementID="Rider"><attribute name="photo" optional="YES" attributeType="Binary"/>
      <attribute name="age" attributeType="Integer 16" defaultValueString="7"/>
      <relationship name="boards" optional="YES" toMany="YES" destinationEntity="Board" inverseName="riders"
        inverseEntity="Board"/></entity>
    """

  /// The versions are files: the other process finds that of the store next to the new one.
  private static let models: Result<TemporaryFolder, any Error> = Result {
    let folder = try TemporaryFolder()
    for (name, entities) in [("Old", old), ("New", new)] {
      try folder.makeFolder("Boards.xcdatamodeld/\(name).xcdatamodel")
      try folder.write("<model>\(entities)</model>", to: "Boards.xcdatamodeld/\(name).xcdatamodel/contents")
    }
    return folder
  }

  private static let inferredLaw = [
    KeptRows(old: "SELECT Z_PK, coalesce(ZNAME, '?') FROM ZBOARD", new: "SELECT Z_PK, ZTITLE FROM ZBOARD"),
    KeptRows(old: "SELECT Z_PK, ZPHOTO, 7 FROM ZRIDER", new: "SELECT Z_PK, ZPHOTO, ZAGE FROM ZSURFER"),
    .same("SELECT * FROM Z_1RIDERS"),
  ]

  private static func ownStage(by mapping: URL? = nil, keeping law: [KeptRows] = inferredLaw) throws -> MigrationStage {
    let models = try models.get()
    let model = models.file("Boards.xcdatamodeld/New.xcdatamodel")
    return try MigrationStage(to: model, by: mapping, keeping: law) { folder in
      try MigrationBench.add(folder.file("store.sqlite"), model: try migrationModel(old), options: nil)
      try Programs.python(
        """
        import os, sqlite3
        store = sqlite3.connect("store.sqlite", isolation_level=None)
        store.execute("PRAGMA wal_autocheckpoint = 0")
        for statement in (
            "INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(1, 1, 1, 'log'), (2, 1, 3, NULL)",
            "INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT, ZPHOTO) WITH n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n "
            "WHERE k < 40) SELECT k, 2, 1, CAST(printf('%02000d', k) AS BLOB) FROM n",
            "INSERT INTO Z_1RIDERS SELECT Z_PK % 2 + 1, Z_PK FROM ZRIDER",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 40",
        ): store.execute(statement)
        os._exit(0)
        """, in: folder)
    }
  }

  /// Each rider becomes two surfers, who share the boards of the rider.
  private static func customStage() throws -> MigrationStage {
    let mapping = NSMappingModel()
    mapping.entityMappings = [
      entityMapping(
        "BoardToBoard", from: "Board", to: "Board", attributes: ["title": "$source.name"],
        relationships: ["riders": instances("RiderToSurfer", "riders")]),
      entityMapping("RiderToSurfer", from: "Rider", to: "Surfer", attributes: ["photo": "$source.photo", "age": "9"]),
    ]
    mapping.entityMappings[1].entityMigrationPolicyClassName = "OpenCoreDataTests.DoublingPolicy"
    let file = try models.get().file("Doubled.cdm")
    try MappingFileWriter.compiled(mapping).write(to: file)
    func links(_ title: String, _ rider: String) -> String {
      """
      SELECT \(title), ZPHOTO FROM Z_1RIDERS JOIN ZBOARD ON ZBOARD.Z_PK = Z_1BOARDS
        JOIN \(rider) ON \(rider).Z_PK = Z_2RIDERS
      """
    }
    let law = [
      KeptRows(old: "SELECT coalesce(ZNAME, '?') FROM ZBOARD", new: "SELECT ZTITLE FROM ZBOARD"),
      KeptRows(
        old: "SELECT ZPHOTO, 9 FROM ZRIDER UNION ALL SELECT ZPHOTO, 9 FROM ZRIDER",
        new: "SELECT ZPHOTO, ZAGE FROM ZSURFER"),
      KeptRows(
        old: ["", "UNION ALL "].map { $0 + links("coalesce(ZNAME, '?')", "ZRIDER") }.joined(separator: " "),
        new: links("ZTITLE", "ZSURFER")),
    ]
    return try ownStage(by: file, keeping: law)
  }

  private static func appleStage() throws -> MigrationStage {
    let store = SharedStore.all[2]
    let model = store.modelURL.deletingLastPathComponent().appendingPathComponent("SampleModel2.xcdatamodel")
    let cars = """
      SELECT ZCAR.Z_PK, replace(Z_NAME, 'ExpensiveSport', 'Luxury'), ZOWNER, ZISLIMITEDEDITION, ZMARKEDFORDELETIONASOF,
        ZMAKER, ZMODEL, ZNUMBERPLATE FROM ZCAR JOIN Z_PRIMARYKEY USING (Z_ENT)
      """
    let people = "SELECT Z_PK, ZUPDATEDAT, ZFIRSTNAME, ZLASTNAME FROM ZPERSON"
    return try MigrationStage(to: model, keeping: [.same(cars), .same(people)]) { folder in
      for end in ["", "-wal", "-shm"] {
        let original = store.folder.appendingPathComponent(store.sqliteFile + end)
        guard FileManager.default.fileExists(atPath: original.path) else { continue }
        try Data(contentsOf: original).write(to: folder.file("store.sqlite" + end))
      }
    }
  }

  /// The other process comes here too.
  @Test(arguments: cases)
  func `Whatever call fails or is the last, the store is old or new, and the next opening migrates it`(
    _ example: Case
  ) throws {
    _ = try MigrationStage.migrate()
    let stage = try example.stage()
    var random = Randomness.generator()
    let points = FaultMode.allCases.flatMap { mode in
      (1...max(1, mode.callsCount(in: stage.undisturbed))).map(mode.fault)
    }
    let tried = TestLength.rounds(3, long: points.count)
    var happened = 0
    for fault in tried < points.count ? Array(points.shuffled(using: &random).prefix(tried)) : points {
      let (problems, hasHappened) = try stage.problems(with: fault)
      for problem in problems { Issue.record("\(problem)") }
      if hasHappened { happened += 1 }
    }
    #expect(happened * 10 >= min(tried, points.count) * 8 - 10)
    Figures.add("faults: \(example.testDescription)", happened, suite: Self.self)
    if tried == points.count {
      Figures.add("series of a fault at every call: \(example.testDescription)", 1, suite: Self.self)
    }
    print("migration of \(example.testDescription): \(happened) faults of \(points.count), seed \(Randomness.seed)")
  }

  @Test(.enabled(if: Shim.seesAllocations, "a sanitizer has an allocator of its own"), arguments: cases)
  func `Without memory for SQLite it is old or new as well`(_ example: Case) throws {
    _ = try MigrationStage.migrate()
    let stage = try example.stage()
    var random = Randomness.generator()
    var refused = 0
    let allocations = try stage.allocations()
    try #require(allocations > 100)
    for _ in 0..<TestLength.rounds(1, long: 400) {
      let number = Int.random(in: 1...allocations, using: &random)
      let (problems, happened) = try stage.problems(with: .none, more: ["SHIM_MEMORY_AT": "\(number)"])
      for problem in problems { Issue.record("allocation \(number): \(problem)") }
      if happened { refused += 1 }
    }
    Figures.add("refused allocations", refused, suite: Self.self)
    print("migration of \(example.testDescription): \(refused) refusals, seed \(Randomness.seed)")
  }

  @Test(arguments: cases)
  func `After a power cut it is old or new as well`(_ example: Case) throws {
    _ = try MigrationStage.migrate()
    let stage = try example.stage()
    var random = Randomness.generator()
    let images = TestLength.rounds(2, long: 300)
    let recording = try stage.recording()
    for _ in 0..<images {
      let cut = Int.random(in: 0...recording.changes.count, using: &random)
      for problem in try stage.problems(in: recording, after: cut, using: &random) { Issue.record("\(problem)") }
    }
    Figures.add("images after a power cut", images, suite: Self.self)
    print("migration of \(example.testDescription): \(images) images, seed \(Randomness.seed)")
  }

  // MARK: Canaries

  @Test func `A row that is lost, doubled or changed is found`() throws {
    _ = try MigrationStage.migrate()
    let stage = try Self.ownStage()
    // Closing the store is the last that it does.
    let fault = Fault(.kill, calls: [.close], at: stage.undisturbed.counts[.close] ?? 0)
    let harms = [
      "DELETE FROM ZBOARD WHERE Z_PK = 2", "DELETE FROM Z_1RIDERS WHERE rowid = 3",
      "UPDATE ZSURFER SET ZPHOTO = x'00' WHERE Z_PK = 5", "UPDATE ZSURFER SET ZAGE = 8 WHERE Z_PK = 40",
      "INSERT INTO ZSURFER SELECT 99, Z_ENT, Z_OPT, ZAGE, ZPHOTO FROM ZSURFER WHERE Z_PK = 1",
      "CREATE TABLE ZRIDER AS SELECT * FROM ZSURFER",
    ]
    for harm in harms {
      let (found, happened) = try stage.problems(with: fault) { try sqlite($0.file("store.sqlite"), harm) }
      #expect(happened)
      #expect(found.contains { $0.contains("conservation: ") }, "\(harm): \(found)")
    }
  }
}
