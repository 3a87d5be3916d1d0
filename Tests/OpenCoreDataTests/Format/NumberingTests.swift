import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// Numbers of entities, and what they decide (docs/coredata-format.md, "Z_PRIMARYKEY", "Join tables").
@Suite struct NumberingTests {
  private func schema(_ xml: String) throws -> SQLSchema {
    try SQLSchema(model: .load(xml: Data("<model>\(xml)</model>".utf8)))
  }

  private static let mixedCase = """
    <entity name="zebra"/><entity name="Ant"/><entity name="bee">
      <attribute name="b" optional="YES" attributeType="String"/>
      <attribute name="Z" optional="YES" attributeType="String"/>
      <attribute name="a" optional="YES" attributeType="String"/></entity>
    <entity name="Worker" parentEntity="bee"/><entity name="drone" parentEntity="bee"/><entity name="Crab"/>
    """

  @Test func `Entities are numbered without regard to case, columns stand in byte order`() throws {
    let schema = try schema(Self.mixedCase)
    #expect(schema.entities.map(\.name) == ["Ant", "bee", "drone", "Worker", "Crab", "zebra"])
    #expect(schema.entities.map(\.number) == [1, 2, 3, 4, 5, 6])
    #expect(schema.tables.map(\.name) == ["ZANT", "ZBEE", "ZCRAB", "ZZEBRA"])
    #expect(schema.tables[1].columns.map(\.name) == ["ZZ", "ZA", "ZB"])
  }

  @Test func `A store numbered by the earlier rule, in byte order, is read and written by its own numbers`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("Old.sqlite")
    let model = try NSManagedObjectModel.load(xml: Data("<model>\(Self.mixedCase)</model>".utf8))
    func context() throws -> NSManagedObjectContext {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
      let context = NSManagedObjectContext(concurrencyType: .privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    _ = try context()
    // Byte order: Ant 1, Crab 2, bee 3, Worker 4, drone 5, zebra 6.
    try sqlite(
      file,
      """
      DELETE FROM Z_PRIMARYKEY; INSERT INTO Z_PRIMARYKEY VALUES (1, 'Ant', 0, 0), (2, 'Crab', 0, 0), (3, 'bee', 0, 2),
        (4, 'Worker', 3, 0), (5, 'drone', 3, 0), (6, 'zebra', 0, 0);
      INSERT INTO ZBEE(Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 4, 1, 'worker'), (2, 5, 1, 'drone')
      """)
    let opened = try context()
    try opened.performAndWait {
      let bees = try opened.fetch(NSFetchRequest<NSManagedObject>(entityName: "bee"))
      #expect(
        Set(bees.map { "\($0.entity.name ?? "") \($0.value(forKey: "a") ?? "")" }) == ["Worker worker", "drone drone"])
      for name in ["drone", "Worker", "Crab"] { NSEntityDescription.insertNewObject(forEntityName: name, into: opened) }
      try opened.save()
    }
    #expect(try sqlite(file, "SELECT group_concat(Z_ENT) FROM (SELECT Z_ENT FROM ZBEE ORDER BY Z_ENT)") == "4,4,5,5")
    #expect(try sqlite(file, "SELECT Z_ENT FROM ZCRAB") == "2")
  }

  @Test func `The only side with subentities names a join table, which is made with the lower number's`() throws {
    let schema = try schema(
      """
      <entity name="Asset">
        <relationship name="groups" toMany="YES" destinationEntity="Group" inverseName="assets" inverseEntity="Group"/>
        <relationship name="tags" toMany="YES" destinationEntity="Tag" inverseName="assets" inverseEntity="Tag"/>
      </entity>
      <entity name="Group">
        <relationship name="assets" toMany="YES" ordered="YES" destinationEntity="Asset" inverseName="groups" inverseEntity="Asset"/>
      </entity>
      <entity name="Club" parentEntity="Group"/>
      <entity name="Tag">
        <relationship name="assets" toMany="YES" destinationEntity="Asset" inverseName="tags" inverseEntity="Asset"/>
      </entity>
      """)
    #expect(
      schema.creationStatements.prefix(5) == [
        "CREATE TABLE ZASSET ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
        "CREATE TABLE Z_2ASSETS ( Z_2GROUPS INTEGER, Z_1ASSETS INTEGER, Z_FOK_1ASSETS INTEGER, "
          + "PRIMARY KEY (Z_2GROUPS, Z_1ASSETS) )",
        "CREATE TABLE Z_1TAGS ( Z_1ASSETS1 INTEGER, Z_4TAGS INTEGER, PRIMARY KEY (Z_1ASSETS1, Z_4TAGS) )",
        "CREATE TABLE ZGROUP ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
        "CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER )",
      ])
  }

  @Test func `Join tables that are named after the other side, by the earlier rule, are found`() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("Old.sqlite")
    let pairs = ["A", "B"].map { end in
      """
      <entity name="One\(end)">
        <relationship name="many" toMany="YES" destinationEntity="Two\(end)" inverseName="ones" inverseEntity="Two\(end)"/>
      </entity>
      <entity name="Two\(end)">
        <relationship name="ones" toMany="YES" destinationEntity="One\(end)" inverseName="many" inverseEntity="One\(end)"/>
      </entity>
      <entity name="Sub\(end)" parentEntity="Two\(end)"/>
      """
    }
    let model = try NSManagedObjectModel.load(xml: Data("<model>\(pairs.joined())</model>".utf8))
    func layout() throws -> SQLSchema {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
      try coordinator.remove(store)
      let connection = try SQLiteConnection(path: file.path, mode: .readWrite)
      defer { connection.close() }
      return try SQLSchema(model: model, configuration: nil, existing: StoreLayout(connection), location: "here")
    }
    // OneA 1, OneB 2, TwoA 3 with SubA 4, TwoB 5 with SubB 6.
    _ = try layout()
    try sqlite(file, "ALTER TABLE Z_3ONES RENAME TO Z_1MANY; ALTER TABLE Z_5ONES RENAME TO Z_2MANY")
    #expect(
      try layout().entity(named: "OneB")?.relationships["many"]
        == .manyToMany(table: "Z_2MANY", sourceColumn: "Z_2ONES", destinationColumn: "Z_5MANY", orderColumn: nil))
  }

  @Test func `Columns of join tables are numbered among those of one entity only`() throws {
    let schema = try schema(
      """
      <entity name="Base"><attribute name="marks" attributeType="String"/></entity>
      <entity name="Left" parentEntity="Base">
        <relationship name="peers" toMany="YES" destinationEntity="Right" inverseName="marks" inverseEntity="Right"/>
      </entity>
      <entity name="Lower" parentEntity="Base">
        <relationship name="rights" toMany="YES" destinationEntity="Right" inverseName="marks2" inverseEntity="Right"/>
      </entity>
      <entity name="Right">
        <attribute name="peers" attributeType="String"/>
        <relationship name="marks" toMany="YES" destinationEntity="Left" inverseName="peers" inverseEntity="Left"/>
        <relationship name="marks2" toMany="YES" destinationEntity="Lower" inverseName="rights" inverseEntity="Lower"/>
      </entity>
      """)
    #expect(
      schema.joinTables.map { [$0.name, $0.firstColumn, $0.secondColumn] } == [
        ["Z_2PEERS", "Z_2MARKS", "Z_4PEERS"], ["Z_3RIGHTS", "Z_3MARKS2", "Z_4RIGHTS"],
      ])
    #expect(schema.tables[0].columns.map(\.name) == ["ZMARKS"])
  }
}
