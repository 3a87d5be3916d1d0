import Foundation
import TestSupport
import Testing

@testable import OpenCoreData

// Rules (Apple documentation: NSEntityMigrationPolicy, NSMigrationManager): policies may use the destination context and
// reset the manager; source expressions may find objects of entities that inherit from the mapping's.

/// Saves what it has made, as policies of tutorials do.
private final class SavingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    try manager.destinationContext.save()
  }
}

/// Forgets all associations with the first object that is linked.
private final class ForgetfulPolicy: NSEntityMigrationPolicy {
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws { manager.reset() }
}

@Suite("Policies and source expressions that do more than most")
struct UnusualPolicyTests {
  private static let old = """
    <entity name="Board"><attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="size" optional="YES" attributeType="Integer 16"/>
      <relationship name="rider" optional="YES" maxCount="1" destinationEntity="Rider" inverseName="boards"
        inverseEntity="Rider"/></entity>
    <entity name="Fish" parentEntity="Board"><attribute name="fins" optional="YES" attributeType="Integer 16"/></entity>
    <entity name="Rider"><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="boards" optional="YES" toMany="YES" destinationEntity="Board" inverseName="rider"
        inverseEntity="Board"/></entity>
    """
  private static let new = """
    <entity name="Board"><attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="size" optional="YES" attributeType="Integer 16"/>
      <relationship name="rider" optional="YES" maxCount="1" destinationEntity="Rider" inverseName="boards"
        inverseEntity="Rider"/></entity>
    <entity name="Rider"><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="boards" optional="YES" toMany="YES" destinationEntity="Board" inverseName="rider"
        inverseEntity="Board"/></entity>
    """

  /// - Parameter boards: The number of boards in addition to the two of Ann.
  private func bench(boards: Int = 0) throws -> MappingBench {
    try MappingBench(
      old: Self.old, new: Self.new,
      rows: """
        INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(1, 3, 1, 'Ann');
        INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZNAME, ZSIZE, ZFINS, ZRIDER) VALUES
          (1, 1, 1, 'log', 9, NULL, 1), (2, 2, 1, 'keel', 5, 2, 1);
        INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZNAME)
          WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < \(boards + 2))
          SELECT i, 1, 1, 'board ' || i FROM n WHERE i > 2 AND \(boards) > 0;
        UPDATE Z_PRIMARYKEY SET Z_MAX = \(boards + 9);
        """)
  }

  private func mappings(_ policy: NSEntityMigrationPolicy.Type?) -> [NSEntityMapping] {
    let boards = entityMapping(
      "Boards", from: "Board", to: "Board", policy: policy,
      attributes: ["name": "$source.name", "size": "$source.size"],
      relationships: ["rider": instances("Riders", "rider")])
    // Fish are boards too.
    boards.sourceExpression = NSExpression(forConstantValue: NSFetchRequest<NSManagedObject>(entityName: "Board"))
    return [
      entityMapping("Riders", from: "Rider", to: "Rider", attributes: ["name": "$source.name"]), boards,
    ]
  }

  private static let query = """
    SELECT b.ZNAME, b.ZSIZE, r.ZNAME FROM ZBOARD b LEFT JOIN ZRIDER r ON r.Z_PK = b.ZRIDER ORDER BY b.ZSIZE
    """

  @Test("Objects of an entity that inherits from the mapping's have their own values copied")
  func subentities() throws {
    let bench = try bench()
    try bench.migrate(mappings(nil))
    #expect(try bench.found(Self.query) == "keel|5|Ann\nlog|9|Ann")
  }

  @Test("Objects that the policy has saved itself are linked like others")
  func savedByPolicy() throws {
    let bench = try bench()
    try bench.migrate(mappings(SavingPolicy.self))
    #expect(try bench.found(Self.query) == "keel|5|Ann\nlog|9|Ann")
  }

  @Test("A policy that resets the manager while objects are linked ends the links, not the program")
  func reset() throws {
    let bench = try bench(boards: 1_500)
    try bench.migrate(mappings(ForgetfulPolicy.self))
    #expect(try bench.found("SELECT count(*), count(ZRIDER) FROM ZBOARD") == "1502|0")
  }

  @Test(
    "A table, view or trigger of another program is refused by its name",
    arguments: [
      "CREATE TABLE zones(x)", "CREATE TABLE Zebra(x)", "CREATE VIEW list AS SELECT 1",
      "CREATE TRIGGER Zlog AFTER INSERT ON ZRIDER BEGIN SELECT 1; END",
    ])
  func others(sql: String) throws {
    let bench = try bench()
    try sqlite(bench.bench.file, sql)
    let before = try bench.bench.dump()
    let error = #expect(throws: NSError.self) { try bench.migrate(mappings(nil)) }
    #expect(
      error?.localizedDescription.contains("which is not Core Data's") == true, "\(error?.localizedDescription ?? "")")
    try bench.expectOnlyOld(before)
  }

  @Test("A migration by SQL that is cancelled gives no file, and the manager has no current mapping afterwards")
  func cancelled() throws {
    let bench = try bench()
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: bench.bench.old, destinationModel: bench.new)
    let manager = CancellingManager(sourceModel: bench.bench.old, destinationModel: bench.new)
    let before = try bench.bench.dump()
    let error = #expect(throws: NSError.self) { try bench.migrate(mapping, manager) }
    #expect(error?.domain == "Cancelled")
    #expect(manager.currentEntityMapping == nil)
    try bench.expectOnlyOld(before)
  }
}

/// Is cancelled once its migration has begun.
private final class CancellingManager: NSMigrationManager {
  override var usesStoreSpecificMigrationManager: Bool {
    get {
      cancelMigrationWithError(NSError(domain: "Cancelled", code: 1))
      return super.usesStoreSpecificMigrationManager
    }
    set { super.usesStoreSpecificMigrationManager = newValue }
  }
}
