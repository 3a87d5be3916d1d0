import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// Indexes of a new store, and what keeps a store from being made (docs/coredata-format.md, "Indexes").
@Suite struct NewStoreIndexTests {
  private func model(_ xml: String) throws -> NSManagedObjectModel {
    try .load(xml: Data("<model>\(xml)</model>".utf8))
  }

  private func make(
    _ model: NSManagedObjectModel, in folder: TemporaryFolder, _ options: [AnyHashable: Any]? = nil
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("New.sqlite"), options: options)
    try coordinator.remove(store)
  }

  @Test func `A legacy flag and a fetch index of one name are made once, as the fetch index says`() throws {
    let model = try model(
      """
      <entity name="Wave"><attribute name="rank" attributeType="Integer 32" indexed="YES"/>
        <attribute name="mark" attributeType="Integer 32"/>
        <fetchIndex name="rank"><fetchIndexElement property="rank" order="descending"/></fetchIndex></entity>
      """)
    let double = try #require(model.entitiesByName["Wave"])
    double.indexes.append(NSFetchIndexDescription(over: ["mark"]))
    double.indexes.append(NSFetchIndexDescription(name: "MARK", elements: double.indexes.last?.elements))
    let folder = try TemporaryFolder()
    try make(model, in: folder)
    #expect(
      try sqlite(folder.file("New.sqlite"), "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL")
        == """
        CREATE INDEX Z_Wave_rank ON ZWAVE (ZRANK COLLATE BINARY DESC)
        CREATE INDEX Z_Wave_mark ON ZWAVE (ZMARK COLLATE BINARY ASC)
        """)
  }

  @Test func `Indexes stand in the model's order, those of join tables behind unique ones`() throws {
    let model = try model(
      """
      <entity name="Wave"><attribute name="rank" attributeType="Integer 32"/>
        <relationship name="spots" toMany="YES" destinationEntity="Yard" inverseName="waves" inverseEntity="Yard"/>
        <fetchIndex name="zLast"><fetchIndexElement property="rank"/></fetchIndex>
        <fetchIndex name="aFirst"><fetchIndexElement property="rank"/><fetchIndexElement expression="SELF"/>
          <fetchIndexElement expression="entity" order="descending"/></fetchIndex>
        <uniquenessConstraints><uniquenessConstraint><constraint value="rank"/></uniquenessConstraint></uniquenessConstraints>
      </entity>
      <entity name="Yard">
        <relationship name="waves" toMany="YES" destinationEntity="Wave" inverseName="spots" inverseEntity="Wave"/></entity>
      """)
    let statements = try SQLSchema(model: model).creationStatements.filter { $0.contains("INDEX") }
    #expect(
      statements == [
        "CREATE INDEX Z_Wave_zLast ON ZWAVE (ZRANK COLLATE BINARY ASC)",
        "CREATE INDEX Z_Wave_aFirst ON ZWAVE (ZRANK COLLATE BINARY ASC, Z_PK COLLATE BINARY ASC, "
          + "Z_ENT COLLATE BINARY DESC)",
        "CREATE UNIQUE INDEX Z_Wave_UNIQUE_rank ON ZWAVE (ZRANK COLLATE BINARY ASC)",
        "CREATE INDEX Z_1SPOTS_Z_2SPOTS_INDEX ON Z_1SPOTS (Z_2SPOTS, Z_1WAVES)",
      ])
  }

  private static let conditions: [(String, String?)] = [
    ("kind == 1", "ZKIND = 1"), ("kind != 0", "ZKIND <> 0"), ("mark == nil", "ZMARK IS NULL"),
    ("mark != nil", "ZMARK IS NOT NULL"), ("kind > 1 AND mark == nil", "(ZKIND > 1 AND ZMARK IS NULL)"),
    ("kind == -1 AND (kind == 2 OR mark != 5)", "(ZKIND = -1 AND (ZKIND = 2 OR ZMARK <> 5))"),
    ("name BEGINSWITH 'a'", nil),
  ]

  @Test(arguments: conditions)
  func `A partial index keeps its condition, and is left out if that has no SQL`(
    _ condition: String, _ sql: String?
  ) throws {
    let model = try model(
      """
      <entity name="Wave"><attribute name="kind" attributeType="Integer 32"/>
        <attribute name="mark" optional="YES" attributeType="Integer 32"/>
        <attribute name="name" optional="YES" attributeType="String"/></entity>
      """)
    let index = NSFetchIndexDescription(over: ["kind"])
    index.name = "part"
    index.partialIndexPredicate = NSPredicate(format: condition)
    model.entitiesByName["Wave"]?.indexes = [index]
    let folder = try TemporaryFolder()
    try make(model, in: folder)
    #expect(
      try sqlite(folder.file("New.sqlite"), "SELECT sql FROM sqlite_master WHERE name = 'Z_Wave_part'")
        == (sql.map { "CREATE INDEX Z_Wave_part ON ZWAVE (ZKIND COLLATE BINARY ASC) WHERE \($0)" } ?? ""))
  }

  @Test func `A store whose tables can't be made leaves no file`() throws {
    // SQLite's names of indexes are those of the whole database: both would be Z_A_b_c.
    let model = try model(
      """
      <entity name="A"><attribute name="x" attributeType="String"/>
        <fetchIndex name="b_c"><fetchIndexElement property="x"/></fetchIndex></entity>
      <entity name="A_b"><attribute name="x" attributeType="String"/>
        <fetchIndex name="c"><fetchIndexElement property="x"/></fetchIndex></entity>
      """)
    let folder = try TemporaryFolder()
    let error = #expect(throws: NSError.self) { try make(model, in: folder) }
    #expect(error?.localizedDescription.contains("Z_A_b_c") == true)
    #expect(try folder.names.isEmpty)
  }

  @Test(arguments: [
    (#"<attribute name="at" derived="YES" derivationExpression="now()" attributeType="Date"/>"#, "'Wave.at' (now())"),
    (#"<attribute name="x" derived="YES" derivationExpression="canonical:(y)" attributeType="String"/>"#, "'Wave.x'"),
    (
      #"<attribute name="a" attributeType="Double"/><attribute name="b" attributeType="Double"/>"#
        + #"<fetchIndex name="area"><fetchIndexElement property="a" type="RTree"/>"#
        + #"<fetchIndexElement property="b" type="RTree"/></fetchIndex>"#, "the R-tree index 'area' of 'Wave'"
    ),
  ])
  func `A store that would lack triggers is made on request only, and leaves no file`(
    _ part: String, _ word: String
  ) throws {
    let model = try model("<entity name=\"Wave\">\(part)</entity>")
    let folder = try TemporaryFolder()
    let error = #expect(throws: NSError.self) { try make(model, in: folder) }
    #expect(error?.localizedDescription.contains(word) == true, "\(error?.localizedDescription ?? "")")
    #expect(try folder.names.isEmpty)
    try make(model, in: folder, [OCDIncompleteSchemaOption: true])
    try make(model, in: folder)
    #expect(try sqlite(folder.file("New.sqlite"), "SELECT count(*) FROM ZWAVE") == "0")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
  }
}
