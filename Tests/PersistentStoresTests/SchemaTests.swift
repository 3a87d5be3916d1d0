import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import PersistentStores

@Suite("A new store's schema equals Apple's")
struct SchemaTests {
  @Test(
    "statements, their order and Z_PRIMARYKEY equal those of unmigrated stores",
    .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)),
    arguments: SharedStore.all.filter { !$0.isMigrated })
  func realStores(store: SharedStore) throws {
    let schema = try SQLSchema(model: .load(contentsOf: store.modelURL))
    let written = try store.query(
      "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' ORDER BY rowid")
    let statements = written.split(separator: "\n").map(String.init)
    // Framework 519 and before knew no model cache.
    let hasCache = statements.last == "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)"
    #expect(schema.creationStatements.dropLast(hasCache ? 0 : 1) == statements[...])
    let keys = try store.query("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT")
    #expect(keys == schema.entities.map { "\($0.number)|\($0.name)|\($0.superNumber)\n" }.joined())
  }

  @Test(
    "a migrated store has the same tables, columns and indexes in another order",
    .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)),
    arguments: SharedStore.all.filter(\.isMigrated))
  func migratedStores(store: SharedStore) throws {
    let schema = try SQLSchema(model: .load(contentsOf: store.modelURL))
    let written = try store.query("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    #expect(Set(written.split(separator: "\n").map(String.init)) == Set(schema.creationStatements))
  }

  @Test("SQLite takes every statement of a model with everything in it")
  func statementsRun() throws {
    let schema = try SQLSchema(model: NSManagedObjectModel.load(xml: Data(Self.richModel.utf8)))
    let script = schema.creationStatements.map { $0 + ";\n" }.joined() + ".exit\n"
    let output = try Programs.output(of: ["sqlite3", "-bail", ":memory:"], input: Data(script.utf8))
    #expect(output.isEmpty)
  }

  @Test("columns stand by group, URIs behind other texts, then by entity, attributes and relationships by name")
  func columnOrder() throws {
    let schema = try SQLSchema(model: NSManagedObjectModel.load(xml: Data(Self.richModel.utf8)))
    let expected = """
      CREATE TABLE ZBEACH ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRANK INTEGER, \
      ZNEAREST INTEGER, Z1_NEAREST INTEGER, ZNEAREST1 INTEGER, ZDEPTH FLOAT, ZOPENED TIMESTAMP, \
      ZWIDTH FLOAT, ZPRICE DECIMAL, ZNAME VARCHAR, ZNAME1 VARCHAR, ZLINK VARCHAR, ZID BLOB, ZCOLOR \
      BLOB, ZMAP BLOB )
      CREATE TABLE Z_1SURFERS ( Z_1BEACHES INTEGER, Z_4SURFERS INTEGER, Z_FOK_4SURFERS INTEGER, \
      PRIMARY KEY (Z_1BEACHES, Z_4SURFERS) )
      CREATE TABLE ZPHOTO ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTAKEN INTEGER, \
      ZBEACH INTEGER, Z1_BEACH INTEGER, Z4FAVOURITES INTEGER, Z_FOK_BEACH INTEGER )
      CREATE TABLE ZSURFER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNICKNAME VARCHAR \
      )
      CREATE TABLE Z_4FRIENDS ( Z_4FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_4FRIENDS, \
      REFLEXIVE) )
      """
    #expect(schema.creationStatements.prefix(5).joined(separator: "\n") == expected)
  }

  /// As stores of frameworks 641 to 1145 have them: positions stand behind the keys of the whole table, in join tables
  /// in the order of the columns; relationships of one name that lead to one entity are distinguished by a number.
  @Test("positions stand behind all keys, and names in join tables differ by where they lead")
  func positionsAndJoinNames() throws {
    let model = """
      <model>
        <entity name="Message">
          <attribute name="at" attributeType="Date" indexed="YES"/>
          <attribute name="kind" attributeType="Integer 16"/>
          <relationship name="room" maxCount="1" destinationEntity="Room" inverseName="messages" inverseEntity="Room"/>
          <relationship name="sender" maxCount="1" destinationEntity="User"/>
          <compoundIndexes>
            <compoundIndex><index value="room"/><index value="kind"/></compoundIndex>
            <compoundIndex><index value="kind"/><index value="gone"/></compoundIndex>
          </compoundIndexes>
        </entity>
        <entity name="Notice" parentEntity="Message">
          <attribute name="level" attributeType="Integer 16"/>
          <relationship name="users" toMany="YES" destinationEntity="User" inverseName="notices" inverseEntity="User"/>
        </entity>
        <entity name="Reaction">
          <relationship name="users" toMany="YES" destinationEntity="User" inverseName="marks" inverseEntity="User"/>
        </entity>
        <entity name="Room">
          <relationship name="messages" toMany="YES" ordered="YES" destinationEntity="Message" inverseName="room" inverseEntity="Message"/>
          <relationship name="members" toMany="YES" ordered="YES" destinationEntity="User" inverseName="rooms" inverseEntity="User"/>
        </entity>
        <entity name="User">
          <relationship name="marks" toMany="YES" destinationEntity="Reaction" inverseName="users" inverseEntity="Reaction"/>
          <relationship name="notices" toMany="YES" destinationEntity="Notice" inverseName="users" inverseEntity="Notice"/>
          <relationship name="rooms" toMany="YES" ordered="YES" destinationEntity="Room" inverseName="members" inverseEntity="Room"/>
        </entity>
      </model>
      """
    let statements = try SQLSchema(model: NSManagedObjectModel.load(xml: Data(model.utf8))).creationStatements
    for expected in [
      "CREATE TABLE ZMESSAGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZKIND INTEGER, ZROOM INTEGER, "
        + "ZSENDER INTEGER, ZLEVEL INTEGER, Z_FOK_ROOM INTEGER, ZAT TIMESTAMP )",
      "CREATE TABLE Z_2USERS ( Z_2NOTICES INTEGER, Z_5USERS1 INTEGER, PRIMARY KEY (Z_2NOTICES, Z_5USERS1) )",
      "CREATE TABLE Z_3USERS ( Z_3MARKS INTEGER, Z_5USERS INTEGER, PRIMARY KEY (Z_3MARKS, Z_5USERS) )",
      "CREATE TABLE Z_4MEMBERS ( Z_4ROOMS INTEGER, Z_5MEMBERS INTEGER, Z_FOK_4ROOMS INTEGER, Z_FOK_5MEMBERS INTEGER, "
        + "PRIMARY KEY (Z_4ROOMS, Z_5MEMBERS) )",
      "CREATE INDEX Z_2USERS_Z_5USERS1_INDEX ON Z_2USERS (Z_5USERS1, Z_2NOTICES)",
      "CREATE INDEX Z_Message_room_kind ON ZMESSAGE (ZROOM COLLATE BINARY ASC, ZKIND COLLATE BINARY ASC)",
      "CREATE INDEX Z_Message_at ON ZMESSAGE (ZAT COLLATE BINARY ASC)",
    ] {
      #expect(statements.contains(expected), "\(statements.joined(separator: "\n"))")
    }
    #expect(statements.filter { $0.hasPrefix("CREATE INDEX Z_Message") }.count == 2)
  }

  @Test("each table's indexes are its keys, the entity, fetch indexes, unique ones, then its join tables'")
  func indexOrder() throws {
    let schema = try SQLSchema(model: NSManagedObjectModel.load(xml: Data(Self.richModel.utf8)))
    let indexes = schema.creationStatements.filter { $0.contains(" INDEX ") }
    let expected = """
      CREATE INDEX ZBEACH_ZNEAREST_INDEX ON ZBEACH (ZNEAREST)
      CREATE INDEX ZBEACH_ZNEAREST1_INDEX ON ZBEACH (ZNEAREST1)
      CREATE INDEX ZBEACH_Z_ENT_INDEX ON ZBEACH (Z_ENT)
      CREATE INDEX Z_Beach_rank ON ZBEACH (ZRANK COLLATE BINARY ASC)
      CREATE INDEX Z_Beach_byOpened ON ZBEACH (ZOPENED COLLATE BINARY DESC, ZNAME COLLATE BINARY ASC)
      CREATE UNIQUE INDEX Z_Beach_UNIQUE_id ON ZBEACH (ZID COLLATE BINARY ASC)
      CREATE INDEX Z_Reef_byDepth ON ZBEACH (ZDEPTH COLLATE BINARY ASC)
      CREATE UNIQUE INDEX Z_Reef_UNIQUE_name_width ON ZBEACH (ZNAME1 COLLATE BINARY ASC, ZWIDTH \
      COLLATE BINARY ASC)
      CREATE INDEX Z_1SURFERS_Z_4SURFERS_INDEX ON Z_1SURFERS (Z_4SURFERS, Z_1BEACHES)
      CREATE INDEX ZPHOTO_ZBEACH_INDEX ON ZPHOTO (ZBEACH)
      CREATE INDEX ZPHOTO_Z4FAVOURITES_INDEX ON ZPHOTO (Z4FAVOURITES)
      CREATE INDEX Z_4FRIENDS_REFLEXIVE_INDEX ON Z_4FRIENDS (REFLEXIVE, Z_4FRIENDS)
      """
    #expect(indexes.joined(separator: "\n") == expected)
  }

  @Test("entities tell their numbers, table and the columns of slots and relationships")
  func entityFacts() throws {
    let model = try NSManagedObjectModel.load(xml: Data(Self.richModel.utf8))
    let schema = try SQLSchema(model: model)
    #expect(schema.entities.map(\.name) == ["Beach", "Reef", "Photo", "Surfer"])
    let beach = try #require(schema.entity(named: "Beach"))
    let reef = try #require(schema.entity(numbered: 2))
    #expect(beach.numbers == [1, 2])
    #expect(reef.numbers == [2])
    #expect(reef.number == 2 && reef.superNumber == 1 && reef.rootNumber == 1)
    #expect(reef.tableName == "ZBEACH")
    let slots = try #require(model.entitiesByName["Reef"]?.attributeSlots.map(\.name))
    #expect(
      slots == [
        "color", "depth", "id", "link", "map", "naMe", "name", "opened", "price", "rank", "today", "width",
      ])
    #expect(reef.attributeColumns[5]?.name == "ZNAME")
    #expect(reef.attributeColumns[6]?.name == "ZNAME1")
    #expect(reef.attributeColumns[10] == nil, "a transient attribute has no column")
    #expect(
      reef.relationships == [
        "nearest": .toOne(column: "ZNEAREST1", entityColumn: nil, orderColumn: nil),
        "neaRest": .toOne(column: "ZNEAREST", entityColumn: "Z1_NEAREST", orderColumn: nil),
        "photos": .toMany(table: "ZPHOTO", column: "ZBEACH", orderColumn: "Z_FOK_BEACH"),
        "surfers": .manyToMany(
          table: "Z_1SURFERS", sourceColumn: "Z_1BEACHES", destinationColumn: "Z_4SURFERS",
          orderColumn: "Z_FOK_4SURFERS"),
      ])
    #expect(
      schema.entity(named: "Surfer")?.relationships == [
        "beaches": .manyToMany(
          table: "Z_1SURFERS", sourceColumn: "Z_4SURFERS", destinationColumn: "Z_1BEACHES", orderColumn: nil),
        "favourites": .toMany(table: "ZPHOTO", column: "Z4FAVOURITES", orderColumn: nil),
        "friends": .manyToMany(
          table: "Z_4FRIENDS", sourceColumn: "Z_4FRIENDS", destinationColumn: "REFLEXIVE", orderColumn: nil),
      ])
    #expect(schema.entity(named: "Nobody") == nil)
    #expect(schema.entity(numbered: 0) == nil)
    #expect(schema.entities.count == 4)
  }

  @Test("a configuration's store keeps its entities only, numbered among themselves")
  func configurations() throws {
    let model = try NSManagedObjectModel.load(
      xml: Data(
        """
        <model><entity name="A"/><entity name="B"/><entity name="C"/>
        <configuration name="Local"><memberEntity name="C"/><memberEntity name="B"/></configuration></model>
        """.utf8))
    let schema = try SQLSchema(model: model, configuration: "Local")
    #expect(schema.entities.map { "\($0.number) \($0.name)" } == ["1 B", "2 C"])
    #expect(throws: NSError.self) { try SQLSchema(model: model, configuration: "Cloud") }
  }

  @Test(
    "what no store can keep is refused with the place and the remedy",
    arguments: [
      (#"<entity name="A"><attribute name="a" attributeType="Undefined"/></entity>"#, "'A.a'"),
      (#"<entity name="A b"/>"#, "'A b'"),
      (#"<entity name="A"><attribute name="a;b" attributeType="String"/></entity>"#, "'a;b'"),
      (#"<entity name="A"><fetchIndex name="x y"/></entity>"#, "'x y'"),
    ])
  func refusals(entity: String, place: String) throws {
    let model = try NSManagedObjectModel.load(xml: Data("<model>\(entity)</model>".utf8))
    let error = #expect(throws: NSError.self) { try SQLSchema(model: model) }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSCoreDataError)
    #expect(error?.localizedDescription.contains(place) == true)
  }

  @Test("a uniqueness constraint that cannot become an index is refused, not lost")
  func lostConstraint() throws {
    let entity = NSEntityDescription()
    entity.name = "A"
    entity.uniquenessConstraints = [["nothing"]]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    #expect(throws: NSError.self) { try SQLSchema(model: model) }
  }

  /// Names that clash in upper case, every column group, every kind of relationship and index.
  private static let richModel = """
    <model>
      <entity name="Beach">
        <attribute name="rank" attributeType="Integer 32" indexed="YES"/>
        <attribute name="width" attributeType="Float"/>
        <attribute name="opened" attributeType="Date"/>
        <attribute name="price" attributeType="Decimal"/>
        <attribute name="link" attributeType="URI"/>
        <attribute name="naMe" attributeType="String"/>
        <attribute name="id" attributeType="UUID"/>
        <attribute name="map" attributeType="Binary"/>
        <attribute name="color" attributeType="Transformable"/>
        <attribute name="today" attributeType="String" transient="YES"/>
        <attribute name="depth" attributeType="Double"/>
        <relationship name="photos" toMany="YES" ordered="YES" destinationEntity="Photo" inverseName="beach"
          inverseEntity="Photo"/>
        <relationship name="surfers" toMany="YES" ordered="YES" destinationEntity="Surfer"
          inverseName="beaches" inverseEntity="Surfer"/>
        <relationship name="nearest" maxCount="1" destinationEntity="Reef"/>
        <relationship name="neaRest" maxCount="1" destinationEntity="Beach"/>
        <fetchIndex name="byOpened">
          <fetchIndexElement property="opened" type="Binary" order="descending"/>
          <fetchIndexElement property="naMe" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="byNearest"><fetchIndexElement property="nearest" type="Binary"/></fetchIndex>
        <fetchIndex name="byPlace"><fetchIndexElement property="width" type="RTree"/></fetchIndex>
        <uniquenessConstraints>
          <uniquenessConstraint><constraint value="id"/></uniquenessConstraint>
        </uniquenessConstraints>
      </entity>
      <entity name="Reef" parentEntity="Beach">
        <attribute name="name" attributeType="String"/>
        <fetchIndex name="byDepth"><fetchIndexElement property="depth" type="Binary"/></fetchIndex>
        <uniquenessConstraints>
          <uniquenessConstraint><constraint value="name"/><constraint value="width"/></uniquenessConstraint>
        </uniquenessConstraints>
      </entity>
      <entity name="Photo">
        <attribute name="taken" attributeType="Boolean"/>
        <relationship name="beach" maxCount="1" destinationEntity="Beach" inverseName="photos"
          inverseEntity="Beach"/>
      </entity>
      <entity name="Surfer">
        <attribute name="nickname" attributeType="String"/>
        <relationship name="beaches" toMany="YES" destinationEntity="Beach" inverseName="surfers"
          inverseEntity="Beach"/>
        <relationship name="favourites" toMany="YES" destinationEntity="Photo"/>
        <relationship name="friends" toMany="YES" destinationEntity="Surfer" inverseName="friends"
          inverseEntity="Surfer"/>
      </entity>
    </model>
    """
}
