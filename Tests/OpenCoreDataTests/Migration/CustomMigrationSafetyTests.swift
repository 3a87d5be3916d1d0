import CSQLite
import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules: a new file appears whole or not at all (POSIX: rename), and has all that the source had when it appeared.

/// Calls a closure for each object.
final class WatchingPolicy: NSEntityMigrationPolicy {
  final class Watch {
    let body: (Int, NSMigrationManager) throws -> Void
    var count = 0
    init(_ body: @escaping (Int, NSMigrationManager) throws -> Void) { self.body = body }
  }

  private func note(_ manager: NSMigrationManager) throws {
    guard let watch = manager.userInfo?["watch"] as? Watch else { return }
    watch.count += 1
    try watch.body(watch.count, manager)
  }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try note(manager)
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try note(manager)
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
  }
}

@Suite("A custom migration is whole, and keeps few objects in memory")
struct CustomMigrationSafetyTests {
  private static let old = """
    <entity name="Wave"><attribute name="height" optional="YES" attributeType="Integer 32"/>
      <relationship name="spot" optional="YES" maxCount="1" destinationEntity="Spot" inverseName="waves"
        inverseEntity="Spot"/></entity>
    <entity name="Spot"><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="waves" optional="YES" toMany="YES" destinationEntity="Wave" inverseName="spot"
        inverseEntity="Wave"/></entity>
    """
  private static let new = old.replacingOccurrences(of: "\"height\"", with: "\"feet\"")

  private static func rows(_ count: Int) -> String {
    """
    INSERT INTO ZSPOT(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(1, 1, 1, 'Pipe'), (2, 1, 1, 'Jaws');
    INSERT INTO ZWAVE(Z_PK, Z_ENT, Z_OPT, ZHEIGHT, ZSPOT) WITH n(k) AS
      (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < \(count)) SELECT k, 2, 1, k, k % 2 + 1 FROM n;
    UPDATE Z_PRIMARYKEY SET Z_MAX = \(count);
    """
  }

  private static func mapping() -> NSMappingModel {
    let model = NSMappingModel()
    model.entityMappings = [
      entityMapping(
        "W", from: "Wave", to: "Wave", policy: WatchingPolicy.self, attributes: ["feet": "$source.height"],
        relationships: ["spot": instances("S", "spot")]),
      entityMapping(
        "S", from: "Spot", to: "Spot", attributes: ["name": "$source.name"],
        relationships: ["waves": instances("W", "waves")]),
    ]
    return model
  }

  private static let query = """
    SELECT count(*), sum(ZFEET) FROM ZWAVE; SELECT s.ZNAME, count(*), sum(w.ZFEET % 2) FROM ZWAVE w JOIN ZSPOT s
      ON s.Z_PK = w.ZSPOT GROUP BY 1 ORDER BY 1
    """

  private func bench(_ count: Int) throws -> MappingBench {
    try MappingBench(old: Self.old, new: Self.new, rows: Self.rows(count))
  }

  @Test("Both contexts hold a batch of objects, however many there are")
  func memory() throws {
    let bench = try bench(5000)
    var most = 0
    let manager = bench.manager()
    manager.userInfo = [
      "watch": WatchingPolicy.Watch { count, manager in
        guard count.isMultiple(of: 997) else { return }
        most = max(
          most, manager.sourceContext.registeredObjects.count + manager.destinationContext.registeredObjects.count)
      }
    ]
    try bench.migrate(Self.mapping(), manager)
    #expect(try bench.found(Self.query) == "5000|12502500\nJaws|2500|2500\nPipe|2500|0")
    #expect(most > 500 && most < 4100, "\(most) objects")
  }

  /// Without another user the store is read without locks, and with one in its WAL.
  @Test("What another program writes meanwhile is not lost: the migration fails", arguments: [false, true])
  func writtenMeanwhile(hasOtherUser: Bool) throws {
    let bench = try bench(50)
    let manager = bench.manager()
    let file = bench.bench.file
    let other = try SQLiteConnection(path: file.path, mode: .readWrite)
    if hasOtherUser { _ = try other.rows("SELECT count(*) FROM ZSPOT") } else { other.close() }
    defer { if hasOtherUser { other.close() } }
    manager.userInfo = [
      "watch": WatchingPolicy.Watch { count, _ in
        if count == 20 { try sqlite(file, "UPDATE ZSPOT SET ZNAME = 'Teahupoo' WHERE Z_PK = 1") }
      }
    ]
    let error = #expect(throws: NSError.self) { try bench.migrate(Self.mapping(), manager) }
    #expect(error?.code == (hasOtherUser ? NSMigrationManagerSourceStoreError : NSPersistentStoreTimeoutError))
    try bench.expectOnlyOld(bench.bench.dump())
    manager.userInfo = nil
    try bench.migrate(Self.mapping(), manager)
    #expect(
      try bench.found(Self.query + "; SELECT ZNAME FROM ZSPOT WHERE Z_PK = 1")
        == "50|1275\nJaws|25|25\nTeahupoo|25|0\nTeahupoo")
  }

  @Test("Killed at one of several objects, it leaves the old store, and no store under the new name")
  func killed() async throws {
    let bench = try bench(2500)
    let before = try bench.bench.dump()
    let path = bench.bench.file.path
    let target = bench.target.path
    for count in [1, 1000, 1001, 2500, 2501, 3600, 5000] {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, target = target as String, count = count as Int] in
        let manager = NSMigrationManager(
          sourceModel: try migrationModel(CustomMigrationSafetyTests.old),
          destinationModel: try migrationModel(CustomMigrationSafetyTests.new))
        manager.userInfo = ["watch": WatchingPolicy.Watch { at, _ in if at == count { kill(getpid(), SIGKILL) } }]
        try manager.migrateStore(
          from: URL(fileURLWithPath: path), with: CustomMigrationSafetyTests.mapping(),
          toDestinationURL: URL(fileURLWithPath: target))
      }
      #expect(try bench.bench.dump() == before)
      #expect(!FileManager.default.fileExists(atPath: target))
    }
    try bench.migrate(Self.mapping())
    #expect(try bench.found(Self.query) == "2500|3126250\nJaws|1250|1250\nPipe|1250|0")
  }

  @Test("A chain of versions: each step finds its models by the metadata, as tutorials do")
  func progressive() throws {
    let folder = try TemporaryFolder()
    func version(_ name: String) throws -> NSManagedObjectModel {
      try migrationModel(
        "<entity name=\"Note\"><attribute name=\"\(name)\" optional=\"YES\" attributeType=\"String\"/></entity>")
    }
    let names = ["one", "two", "three", "four"]
    let versions = try names.map(version)
    var file = folder.file("0.sqlite")
    try MigrationBench.add(file, model: versions[0], options: nil)
    try sqlite(
      file, "INSERT INTO ZNOTE(Z_PK, Z_ENT, Z_OPT, ZONE) VALUES(1, 1, 1, 'a'); UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
    var steps = 0
    while true {
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: file)
      if versions[3].isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) { break }
      let source = try #require(
        versions.first { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) })
      let at = try #require(versions.firstIndex { $0 === source })
      let mapping = NSMappingModel()
      mapping.entityMappings = [
        entityMapping(
          "N", from: "Note", to: "Note", attributes: [names[at + 1]: "uppercase($source.\(names[at]))"])
      ]
      let next = folder.file("\(at + 1).sqlite")
      try NSMigrationManager(sourceModel: source, destinationModel: versions[at + 1])
        .migrateStore(from: file, type: .sqlite, mapping: mapping, to: next, type: .sqlite)
      file = next
      steps += 1
    }
    #expect(steps == 3)
    #expect(try sqlite(file, "SELECT ZFOUR FROM ZNOTE") == "A")
  }
}
