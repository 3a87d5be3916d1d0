import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// The R-trees of location attributes, and what else Apple's framework takes from user info (docs/coredata-format.md,
/// "Location attributes").
@Suite struct LocationAttributeTests {
  private static let place = """
    <attribute name="place" optional="YES" transient="YES" attributeType="Undefined"><userInfo>
      <entry key="_NSLocationAttributeDerivedComponents" value="latitude, longitude"/></userInfo></attribute>
    """
  private static let numbers = """
    <attribute name="latitude" optional="YES" attributeType="Double"/>
    <attribute name="longitude" optional="YES" attributeType="Double"/>
    """
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }
  private var file: URL { folder.file("Photos.sqlite") }

  private func model(_ properties: String, _ more: String = "") throws -> NSManagedObjectModel {
    try .load(xml: Data("<model><entity name=\"Photo\">\(properties)</entity>\(more)</model>".utf8))
  }

  private func make(_ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = nil) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.remove(
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options))
  }

  @Test func `The texts are those of Apple's stores, behind the triggers of the entity's derived attributes`() throws {
    let more = """
      <entity name="Shop"><attribute name="code" optional="YES" attributeType="Integer 32"/></entity>
      <entity name="Zoo"><attribute name="shopCode" optional="YES" derived="YES" derivationExpression="shop.code" attributeType="Integer 32"/>
        <relationship name="shop" optional="YES" maxCount="1" destinationEntity="Shop"/></entity>
      """
    let derived = """
      <attribute name="shopCode" optional="YES" derived="YES" derivationExpression="shop.code" attributeType="Integer 32"/>
      <relationship name="shop" optional="YES" maxCount="1" destinationEntity="Shop"/>
      """
    try make(model(Self.numbers + Self.place + derived, more))
    let tree = "Z_RT_Photo_place"
    let found = try sqlite(
      file, "SELECT sql FROM sqlite_master WHERE sql LIKE '% RTREE %' OR type = 'trigger' ORDER BY rowid")
    let columns = "(Z_PK, ZLATITUDE_MIN, ZLATITUDE_MAX, ZLONGITUDE_MIN, ZLONGITUDE_MAX)"
    let values = "VALUES (NEW.Z_PK, NEW.ZLATITUDE ,NEW.ZLATITUDE, NEW.ZLONGITUDE, NEW.ZLONGITUDE)"
    let lines = found.split(separator: "\n").map(String.init)
    #expect(lines.count == 12)
    #expect(lines.prefix(4).allSatisfy { $0.contains("Photo_shopCode") })
    #expect(lines.suffix(4).allSatisfy { $0.contains("Zoo_shopCode") })
    #expect(
      lines.dropFirst(4).prefix(4).joined(separator: "\n") == """
        CREATE VIRTUAL TABLE \(tree) USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT, ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT)
        CREATE TRIGGER \(tree)_INSERT AFTER INSERT ON ZPHOTO FOR EACH ROW BEGIN INSERT OR REPLACE INTO \(tree) \(columns) \(values) ; END
        CREATE TRIGGER \(tree)_UPDATE AFTER UPDATE ON ZPHOTO FOR EACH ROW BEGIN DELETE FROM \(tree) WHERE Z_PK = NEW.Z_PK ; INSERT INTO \(tree) \(columns) \(values) ; END
        CREATE TRIGGER \(tree)_DELETE AFTER DELETE ON ZPHOTO FOR EACH ROW BEGIN DELETE FROM \(tree) WHERE Z_PK = OLD.Z_PK ; END
        """)
  }

  @Test func `The two attributes may be in a list, as compiled models of older versions have them`() throws {
    let model = try model(Self.numbers + Self.place)
    let place = try #require(model.entitiesByName["Photo"]?.attributesByName["place"])
    place.userInfo = ["_NSLocationAttributeDerivedComponents": ["latitude", "longitude"]]
    try make(model)
    #expect(try sqlite(file, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'Z_RT_Photo_place%'") == "7")
  }

  /// Rows of either side without the other; the tree keeps 32-bit numbers, which these are.
  private static let wrong = """
    SELECT count(*) FROM (SELECT Z_PK, ZLATITUDE, ZLATITUDE, ZLONGITUDE, ZLONGITUDE FROM ZPHOTO EXCEPT SELECT * FROM Z_RT_Photo_place)
    """

  @Test(arguments: [UInt64(18), UInt64.random(in: 0...UInt64.max)])
  func `Objects that are saved, changed and deleted are in the tree as in the table`(seed: UInt64) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try model(Self.numbers + Self.place))
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    var random = SeededGenerator(seed: seed)
    try context.performAndWait {
      var photos: [NSManagedObject] = []
      for step in 0..<60 {
        if photos.isEmpty || Bool.random(using: &random) {
          photos.append(NSEntityDescription.insertNewObject(forEntityName: "Photo", into: context))
        } else if Int.random(in: 0..<4, using: &random) == 0 {
          context.delete(photos.remove(at: Int.random(in: 0..<photos.count, using: &random)))
        }
        for photo in photos.suffix(2) {
          photo.setValue(Double(Int.random(in: -90...90, using: &random)), forKey: "latitude")
          photo.setValue(Double(Int.random(in: -180...180, using: &random)) / 2, forKey: "longitude")
        }
        try context.save()
        #expect(try sqlite(file, Self.wrong) == "0", "seed \(seed), step \(step)")
        #expect(
          try sqlite(file, "SELECT count(*) FROM Z_RT_Photo_place") == "\(photos.count)", "seed \(seed), step \(step)")
      }
    }
    #expect(try sqlite(file, "SELECT rtreecheck('Z_RT_Photo_place')") == "ok")
  }

  @Test func `A migration makes the tree again and fills it`() throws {
    let source = try model(Self.numbers + Self.place)
    try make(source)
    _ = try sqlite(
      file, "INSERT INTO ZPHOTO(Z_PK, Z_ENT, Z_OPT, ZLATITUDE, ZLONGITUDE) VALUES (1, 1, 1, 47.5, 8.5), (2, 1, 1, 2, 3)"
    )
    let title = #"<attribute name="title" optional="YES" attributeType="String"/>"#
    let target = try model(Self.numbers + Self.place + title)
    try make(target, MigrationBench.options([source]))
    #expect(try sqlite(file, Self.wrong) == "0")
    #expect(try sqlite(file, "SELECT count(*) FROM Z_RT_Photo_place") == "2")
    #expect(try sqlite(file, "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") == "3")
    #expect(try sqlite(file, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'OCD_OLD%'") == "0")
  }

  @Test(arguments: [
    (place.replacing("latitude, ", with: ""), "the R-tree of the location attribute 'Photo.place'"),
    (place.replacing("latitude", with: "height"), "the R-tree of the location attribute 'Photo.place'"),
    (
      #"<attribute name="n" attributeType="Integer 32"><userInfo><entry key="NSTriggerKey" value="faces.hidden == NO"/></userInfo></attribute>"#,
      "the triggers of 'Photo.n' (NSTriggerKey)"
    ),
  ])
  func `What is not known of user info is made on request only`(_ property: String, _ words: String) throws {
    let model = try model(Self.numbers + property)
    let error = #expect(throws: NSError.self) { try make(model) }
    #expect(error?.localizedDescription.contains(words) == true, "\(error?.localizedDescription ?? "")")
    #expect(try folder.names.isEmpty)
    try make(model, [OCDIncompleteSchemaOption: true])
    #expect(try sqlite(file, "SELECT count(*) FROM ZPHOTO") == "0")
  }

  @Test(arguments: [("YES", "0"), ("NO", "1")])
  func `The index of entity numbers is left out where the root's user info says so`(
    _ value: String, _ count: String
  ) throws {
    let info = #"<userInfo><entry key="_NSEntityOmitSubentityColumnIndex" value="\#(value)"/></userInfo>"#
    try make(model(Self.numbers + info, #"<entity name="Video" parentEntity="Photo"/>"#))
    #expect(try sqlite(file, "SELECT count(*) FROM sqlite_master WHERE name = 'ZPHOTO_Z_ENT_INDEX'") == count)
  }
}
