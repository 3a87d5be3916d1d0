import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData

// Rules (Apple documentation: NSMigrationManager, NSEntityMapping, NSPropertyMapping; Apple's Core Data Model Versioning and
// Data Migration Programming Guide, "The Migration Process"): objects become other objects as the entity mappings say, by
// the default policy.

@Suite("A mapping model made in code carries objects into a new store")
struct CustomMigrationTests {
  private static let old = """
    <entity name="Board"><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="riders" optional="YES" toMany="YES" destinationEntity="Rider" inverseName="boards"
        inverseEntity="Rider"/></entity>
    <entity name="Fish" parentEntity="Board"><attribute name="fins" optional="YES" attributeType="Integer 16"/></entity>
    <entity name="Rider"><attribute name="age" optional="YES" attributeType="Integer 16"/>
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="boards" optional="YES" toMany="YES" destinationEntity="Board" inverseName="riders"
        inverseEntity="Board"/>
      <relationship name="spot" optional="YES" maxCount="1" destinationEntity="Spot" inverseName="riders"
        inverseEntity="Spot"/></entity>
    <entity name="Spot"><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="riders" optional="YES" toMany="YES" ordered="YES" destinationEntity="Rider" inverseName="spot"
        inverseEntity="Rider"/></entity>
    """
  private static let new = """
    <entity name="Beach"><attribute name="title" attributeType="String" defaultValueString="?"/>
      <attribute name="length" optional="YES" attributeType="Integer 64"/>
      <relationship name="people" optional="YES" toMany="YES" ordered="YES" destinationEntity="Surfer"
        inverseName="beach" inverseEntity="Surfer"/></entity>
    <entity name="Board"><attribute name="fins" optional="YES" attributeType="Integer 32"/>
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="owners" optional="YES" toMany="YES" destinationEntity="Surfer" inverseName="boards"
        inverseEntity="Surfer"/></entity>
    <entity name="Surfer"><attribute name="isAdult" attributeType="Boolean" usesScalarValueType="YES"/>
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="beach" optional="YES" maxCount="1" destinationEntity="Beach" inverseName="people"
        inverseEntity="Beach"/>
      <relationship name="boards" optional="YES" toMany="YES" destinationEntity="Board" inverseName="owners"
        inverseEntity="Board"/></entity>
    """
  private static let rows = """
    INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZNAME, ZFINS) VALUES(4, 1, 1, 'log', NULL), (7, 2, 3, 'keel', 2);
    INSERT INTO ZSPOT(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(1, 4, 1, 'Pipe'), (3, 4, 1, NULL);
    INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT, ZAGE, ZNAME, ZSPOT, Z_FOK_SPOT) VALUES
      (5, 3, 1, 44, 'Ann', 1, 20), (6, 3, 1, 12, 'Bob', 1, 10), (9, 3, 1, NULL, 'Cy', NULL, NULL);
    INSERT INTO Z_1RIDERS VALUES(4, 5), (7, 5), (7, 6);
    UPDATE Z_PRIMARYKEY SET Z_MAX = 9;
    """

  private static var mappings: [NSEntityMapping] {
    [
      entityMapping(
        "SpotToBeach", from: "Spot", to: "Beach",
        attributes: ["title": "$source.name", "length": "length($source.name)"],
        relationships: ["people": instances("RiderToSurfer", "riders")]),
      entityMapping(
        "BoardToBoard", from: "Board", to: "Board", attributes: ["name": "$source.name", "fins": "1"],
        relationships: ["owners": instances("RiderToSurfer", "riders")]),
      entityMapping(
        "FishToBoard", from: "Fish", to: "Board",
        attributes: ["name": "uppercase($source.name)", "fins": "$source.fins"],
        relationships: ["owners": instances("RiderToSurfer", "riders")]),
      entityMapping(
        "RiderToSurfer", from: "Rider", to: "Surfer",
        attributes: ["name": "$source.name", "isAdult": "TERNARY($source.age >= 18, YES, NO)"],
        relationships: ["beach": instances("SpotToBeach", "spot")]),
    ]
  }
  private static let query = """
    SELECT ZTITLE, ZLENGTH FROM ZBEACH ORDER BY Z_PK;
    SELECT s.ZNAME, s.ZISADULT, b.ZTITLE FROM ZSURFER s LEFT JOIN ZBEACH b ON b.Z_PK = s.ZBEACH ORDER BY s.Z_FOK_BEACH, 1;
    SELECT b.ZNAME, b.ZFINS, s.ZNAME FROM ZBOARD b JOIN Z_2OWNERS j ON j.Z_2BOARDS = b.Z_PK JOIN ZSURFER s
      ON s.Z_PK = j.Z_3OWNERS ORDER BY 1, 3;
    SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY; SELECT count(DISTINCT Z_ENT) FROM ZBOARD
    """
  private static let expected = """
    Pipe|4
    ?|
    Cy|0|
    Bob|0|Pipe
    Ann|1|Pipe
    KEEL|2|Ann
    KEEL|2|Bob
    log|1|Ann
    Beach|2
    Board|2
    Surfer|3
    1
    """

  private func bench() throws -> MappingBench { try MappingBench(old: Self.old, new: Self.new, rows: Self.rows) }

  @Test("Attributes are computed, relationships follow what their objects have become, order included")
  func properties() throws {
    let bench = try bench()
    let before = try bench.bench.dump()
    try bench.migrate(Self.mappings)
    #expect(try bench.found(Self.query) == Self.expected)
    #expect(try bench.bench.dump() == before)
    #expect(try sqlite(bench.target, "SELECT Z_UUID FROM Z_METADATA") != bench.bench.uuid())
  }

  @Test("Source expressions: a fetch with a predicate, a request, a list; a mapping without one reads its entity alone")
  func sources() throws {
    let fetch = "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\" , \"Rider\", "
    for (text, names) in [
      (fetch + "\"age > 20\"), $manager.sourceContext, NO)", "Ann"),
      (fetch + "\"TRUEPREDICATE\"), FUNCTION($manager, \"sourceContext\"), NO)", "Ann\nBob\nCy"),
      ("FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Rider', 'age == nil')", "Cy"),
      ("SUBQUERY(\(fetch)\"TRUEPREDICATE\"), $manager.sourceContext, NO), $x, $x.age < 20)", "Bob"),
    ] {
      let bench = try bench()
      let mapping = entityMapping(
        "R", from: "Rider", to: "Surfer", attributes: ["name": "$source.name", "isAdult": "YES"])
      mapping.sourceExpression = NSExpression(format: text)
      try bench.migrate([mapping])
      #expect(try bench.found("SELECT ZNAME FROM ZSURFER ORDER BY 1") == names, "\(text)")
      #expect(NSExpression(format: mapping.sourceExpression?.description ?? "") == mapping.sourceExpression)
    }
  }

  @Test("A copying mapping without property mappings copies what has the same name and type")
  func copying() throws {
    let bench = try MappingBench(old: Self.old, new: Self.old, rows: Self.rows)
    let mappings = ["Board", "Fish", "Rider", "Spot"].map { name in
      let mapping = NSEntityMapping()
      mapping.name = name
      mapping.mappingType = .copyEntityMappingType
      (mapping.sourceEntityName, mapping.destinationEntityName) = (name, name)
      return mapping
    }
    try bench.migrate(mappings)
    #expect(
      try bench.found(
        """
        SELECT Z_ENT, ZNAME, ZFINS FROM ZBOARD ORDER BY 2; SELECT ZNAME FROM ZSPOT ORDER BY 1;
        SELECT r.ZNAME, s.ZNAME FROM ZRIDER r JOIN ZSPOT s ON s.Z_PK = r.ZSPOT ORDER BY r.Z_FOK_SPOT;
        SELECT count(*) FROM Z_1RIDERS
        """) == "2|keel|2\n1|log|\n\nPipe\nBob|Pipe\nAnn|Pipe\n3")
  }

  @Test("What the client put into the metadata, and large values, come along")
  func metadataAndLargeValues() throws {
    let entity = """
      <entity name="Photo"><attribute name="data" optional="YES" attributeType="Binary"
        allowsExternalBinaryDataStorage="YES"/><attribute name="name" optional="YES" attributeType="String"/></entity>
      """
    let bench = try MappingBench(
      old: entity, new: entity.replacingOccurrences(of: "\"name\" opt", with: "\"title\" opt"), rows: "SELECT 1")
    let large = Data(repeating: 7, count: 300_000)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: bench.bench.old)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: bench.bench.file)
    coordinator.setMetadata(["Author": "Ann"], for: store)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for (name, data) in [("large", large), ("small", Data([1]))] {
        let photo = NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context)
        photo.setValue(name, forKey: "name")
        photo.setValue(data, forKey: "data")
      }
      try context.save()
    }
    try coordinator.remove(store)
    try bench.migrate([
      entityMapping("P", from: "Photo", to: "Photo", attributes: ["data": "$source.data", "title": "$source.name"])
    ])
    let reading = NSPersistentStoreCoordinator(managedObjectModel: bench.new)
    #expect(try reading.addPersistentStore(type: .sqlite, at: bench.target).metadata["Author"] as? String == "Ann")
    let reader = NSManagedObjectContext(.privateQueue)
    reader.persistentStoreCoordinator = reading
    try reader.performAndWait {
      let photos = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Photo"))
      #expect(Set(photos.map { $0.value(forKey: "data") as? Data }) == [large, Data([1])])
    }
    let files = try FileManager.default.contentsOfDirectory(
      atPath: bench.folder.file(".new_SUPPORT/_EXTERNAL_DATA").path)
    #expect(files.count == 1)
  }

  // MARK: Refusals

  /// A change of the mappings that makes them unusable, and what the error says.
  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: Int
    let change: @Sendable (inout [NSEntityMapping]) -> Void
  }

  static let refusals = [
    Refusal(testDescription: "the name 'SpotToBeach'", code: NSMigrationMissingMappingModelError) {
      $0[1].name = "SpotToBeach"
    },
    Refusal(testDescription: "has no entity 'Wave'", code: NSMigrationMissingMappingModelError) {
      $0[0].sourceEntityName = "Wave"
    },
    Refusal(
      testDescription: "another version of the destination entity 'Beach'", code: NSMigrationMissingMappingModelError
    ) { $0[0].destinationEntityVersionHash = Data([1]) },
    Refusal(testDescription: "the attribute 'x'", code: NSMigrationMissingMappingModelError) {
      $0[0].attributeMappings?[0].name = "x"
    },
    Refusal(testDescription: "length reads 'x', which Spot does not have", code: NSMigrationMissingMappingModelError) {
      $0[0].attributeMappings?[0].valueExpression = NSExpression(format: "$source.x")
    },
    Refusal(testDescription: "the entity mapping 'Nobody'", code: NSMigrationMissingMappingModelError) {
      $0[0].relationshipMappings?[0].valueExpression = NSExpression(format: instances("Nobody", "riders"))
    },
    Refusal(testDescription: "policy class 'Nowhere.Nobody' was not found", code: NSEntityMigrationPolicyError) {
      $0[0].entityMigrationPolicyClassName = "Nowhere.Nobody"
    },
    Refusal(testDescription: "no method 'shout:'", code: NSEntityMigrationPolicyError) {
      $0[0].attributeMappings?[0].valueExpression = NSExpression(format: "FUNCTION($entityPolicy, 'shout:', 1)")
    },
    Refusal(testDescription: "Beach.length gives String", code: NSMigrationError) {
      $0[0].attributeMappings?[0].valueExpression = NSExpression(format: "'long'")
    },
    Refusal(testDescription: "can't be at its other end", code: NSMigrationError) {
      $0[0].relationshipMappings?[0].valueExpression = NSExpression(format: "$source.riders")
    },
    Refusal(testDescription: "nothing named 'password'", code: NSCoreDataError) {
      $0[0].attributeMappings?[0].valueExpression = NSExpression(format: "$manager.password")
    },
  ]

  @Test("What can't be carried out is an error, and there is no new file", arguments: refusals)
  func refused(_ refusal: Refusal) throws {
    let bench = try bench()
    let before = try bench.bench.dump()
    var mappings = Self.mappings
    refusal.change(&mappings)
    let error = #expect(throws: NSError.self) { try bench.migrate(mappings) }
    #expect(error?.code == refusal.code)
    #expect(
      error?.localizedDescription.contains(refusal.testDescription) == true, "\(error?.localizedDescription ?? "")")
    try bench.expectOnlyOld(before)
  }

  @Test("The rules of the new model are checked at the end, unique values included")
  func rules() throws {
    for (change, code) in [
      ("<attribute name=\"age\" attributeType=\"Integer 16\"/>", NSValidationMissingMandatoryPropertyError),
      (
        "<uniquenessConstraints><uniquenessConstraint><constraint value=\"isAdult\"/></uniquenessConstraint>"
          + "</uniquenessConstraints>", NSMigrationConstraintViolationError
      ),
      (
        "<relationship name=\"home\" maxCount=\"1\" destinationEntity=\"Beach\"/>",
        NSValidationMultipleErrorsError
      ),
    ] {
      let new = Self.new.replacingOccurrences(of: "<entity name=\"Surfer\">", with: "<entity name=\"Surfer\">" + change)
      let bench = try MappingBench(old: Self.old, new: new, rows: Self.rows)
      let before = try bench.bench.dump()
      let mappings = Self.mappings
      if code == NSValidationMissingMandatoryPropertyError {
        let age = NSPropertyMapping()
        age.name = "age"
        age.valueExpression = NSExpression(format: "$source.age")
        mappings[3].attributeMappings?.append(age)
      }
      let error = #expect(throws: NSError.self) { try bench.migrate(mappings) }
      #expect(error?.code == code, "\(error?.localizedDescription ?? "")")
      try bench.expectOnlyOld(before)
    }
  }

  @Test("A store with a history or with tables of others is refused")
  func others() throws {
    for (statement, name) in [
      ("CREATE TABLE ATRANSACTION(Z_PK INTEGER PRIMARY KEY); INSERT INTO ATRANSACTION VALUES(1)", "ATRANSACTION"),
      ("CREATE TABLE NOTES(x)", "table NOTES"),
      ("CREATE VIEW NAMES AS SELECT ZNAME FROM ZRIDER", "view NAMES"),
    ] {
      let bench = try bench()
      try sqlite(bench.bench.file, statement)
      let before = try bench.bench.dump()
      let error = #expect(throws: NSError.self) { try bench.migrate(Self.mappings) }
      #expect(error?.code == NSMigrationError)
      #expect(error?.localizedDescription.contains(name) == true)
      try bench.expectOnlyOld(before)
    }
  }
}
