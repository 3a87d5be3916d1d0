import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (Apple documentation: "Lightweight Migration"): entities may be added, removed and renamed; properties may move
// within a hierarchy, which may gain and lose members; hierarchies may not be merged. Entities get new numbers, and
// Z_ENT changes in every row (docs/coredata-format.md, "Tables and columns", "Relationships"); the keys of each root
// continue where they ended.

@Suite("Entities and hierarchies go along with a lightweight migration")
struct MigrationEntityTests {
  private static func entity(_ name: String, _ inside: String = "", attributes: String = "") -> String {
    "<entity name=\"\(name)\" \(attributes)>\(inside)</entity>"
  }
  private static func text(_ name: String, _ attributes: String = "") -> String {
    "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"String\" \(attributes)/>"
  }

  /// Board ← Fish, Board ← Gun; Spot. Numbers 1 to 4.
  private static let boards =
    entity("Board", text("name")) + entity("Fish", text("fins"), attributes: "parentEntity=\"Board\"")
    + entity("Gun", text("rhino"), attributes: "parentEntity=\"Board\"") + entity("Spot", text("name"))
  private static let boardRows = """
    INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZNAME, ZFINS, ZRHINO) VALUES(1, 1, 1, 'log', NULL, NULL),
      (2, 2, 1, 'twin', '2', NULL), (3, 3, 1, 'gun', NULL, 'yes'), (4, 2, 5, 'quad', '4', NULL);
    INSERT INTO ZSPOT(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(7, 4, 1, 'Pipe');
    UPDATE Z_PRIMARYKEY SET Z_MAX = 6 WHERE Z_NAME = 'Board'; UPDATE Z_PRIMARYKEY SET Z_MAX = 8 WHERE Z_NAME = 'Spot';
    """

  private static func made(_ id: String, new: String, query: String, expected: String) -> MigrationCase {
    MigrationCase(id: id, old: boards, new: new, rows: boardRows, query: query, expected: expected)
  }

  private static let keys = "SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY"

  static let cases = [
    made(
      "an added entity renumbers those after it", new: entity("Alga", text("name")) + boards,
      query: "SELECT Z_PK, Z_ENT FROM ZBOARD ORDER BY Z_PK; SELECT Z_PK, Z_ENT FROM ZSPOT; \(keys)",
      expected: "1|2\n2|3\n3|4\n4|3\n7|5\nAlga|0\nBoard|6\nFish|0\nGun|0\nSpot|8"),
    made(
      "a removed entity takes its rows along", new: entity("Spot", text("name")), query: "SELECT * FROM ZSPOT; \(keys)",
      expected: "7|1|1|Pipe\nSpot|8"),
    made(
      "a renamed entity keeps its rows and keys",
      new: boards.replacingOccurrences(of: "entity name=\"Spot\"", with: "entity elementID=\"Spot\" name=\"Beach\""),
      query: "SELECT * FROM ZBEACH; \(keys)", expected: "7|1|1|Pipe\nBeach|8\nBoard|6\nFish|0\nGun|0"),
    made(
      "a renamed root keeps its whole table",
      new: boards.replacingOccurrences(of: "entity name=\"Board\"", with: "entity elementID=\"Board\" name=\"Wood\"")
        .replacingOccurrences(of: "parentEntity=\"Board\"", with: "parentEntity=\"Wood\""),
      query: "SELECT Z_PK, Z_ENT, ZNAME, ZFINS, ZRHINO FROM ZWOOD; \(keys)",
      expected: "1|2|log||\n2|3|twin|2|\n3|4|gun||yes\n4|3|quad|4|\nSpot|8\nWood|6\nFish|0\nGun|0"),
    made(
      "a renamed subentity is sorted in anew",
      new: boards.replacingOccurrences(of: "entity name=\"Fish\"", with: "entity elementID=\"Fish\" name=\"Twin\""),
      query: "SELECT Z_PK, Z_ENT, ZFINS FROM ZBOARD; \(keys)",
      expected: "1|1|\n2|3|2\n3|2|\n4|3|4\nBoard|6\nGun|0\nTwin|0\nSpot|8"),
    made(
      "a removed subentity takes its rows along, and no others",
      new: entity("Board", text("name")) + entity("Gun", text("rhino"), attributes: "parentEntity=\"Board\"")
        + entity("Spot", text("name")),
      query: "SELECT * FROM ZBOARD; \(keys)", expected: "1|1|1|log|\n3|2|1|gun|yes\nBoard|6\nGun|0\nSpot|8"),
    made(
      "an added superentity gives the table its name and the rows their keys",
      new: entity("Alpha", "", attributes: "isAbstract=\"YES\"")
        + boards.replacingOccurrences(
          of: "entity name=\"Board\"", with: "entity name=\"Board\" parentEntity=\"Alpha\""),
      query: "SELECT Z_PK, Z_ENT, ZNAME FROM ZALPHA; \(keys)",
      expected: "1|2|log\n2|3|twin\n3|4|gun\n4|3|quad\nAlpha|6\nBoard|0\nFish|0\nGun|0\nSpot|8"),
    made(
      "a subentity becomes a root, with a table of its own and keys that were never given out",
      new: boards.replacingOccurrences(of: text("fins"), with: text("fins") + text("name")).replacingOccurrences(
        of: "entity name=\"Fish\" parentEntity=\"Board\"", with: "entity name=\"Fish\""),
      query: "SELECT * FROM ZBOARD; SELECT * FROM ZFISH; \(keys)",
      expected: "1|1|1|log|\n3|2|1|gun|yes\n2|3|1|2|twin\n4|3|5|4|quad\nBoard|6\nGun|0\nFish|6\nSpot|8"),
    made(
      "an attribute moves up to the superentity",
      new: boards.replacingOccurrences(of: text("fins"), with: "").replacingOccurrences(
        of: "name=\"Board\" >" + text("name"), with: "name=\"Board\" >" + text("name") + text("fins")),
      query: "SELECT Z_PK, ZFINS FROM ZBOARD", expected: "1|\n2|2\n3|\n4|4"),
    made(
      "an attribute moves down, and stays with those that still have it",
      new: boards.replacingOccurrences(of: "name=\"Board\" >" + text("name"), with: "name=\"Board\" >")
        .replacingOccurrences(of: text("fins"), with: text("fins") + text("title", "elementID=\"name\"")),
      query: "SELECT Z_PK, ZFINS, ZTITLE FROM ZBOARD", expected: "1||\n2|2|twin\n3||\n4|4|quad"),
  ]

  @Test("an entity's change", arguments: cases)
  func entities(case: MigrationCase) throws { #expect(try `case`.found() == `case`.expected) }

  @Test("Indexes and uniqueness constraints come and go")
  func indexes() throws {
    let attributes = Changed.place + Changed.rating
    let plain = Changed.session(attributes)
    let unique = Changed.session(
      attributes + "<fetchIndex name=\"byRating\"><fetchIndexElement property=\"rating\" type=\"Binary\"/></fetchIndex>"
        + "<uniquenessConstraints><uniquenessConstraint><constraint value=\"place\"/></uniquenessConstraint>"
        + "</uniquenessConstraints>")
    for (old, new, count) in [(plain, unique, "2"), (unique, plain, "0")] {
      let change = MigrationCase(
        id: "", old: old, new: new, rows: Changed.rows,
        query: "SELECT count(*) FROM sqlite_master WHERE type = 'index'; SELECT count(*) FROM ZSESSION",
        expected: "\(count)\n3")
      #expect(try change.found() == change.expected)
    }
  }

  @Test("A configuration's store is migrated by that configuration of the old version")
  func configurations() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("store.sqlite")
    let configuration = "<configuration name=\"Local\"><memberEntity name=\"Session\"/></configuration>"
    let old = try migrationModel(Changed.session(Changed.place) + Self.entity("Spot") + configuration)
    let new = try migrationModel(Changed.session(Changed.place + Changed.rating) + Self.entity("Spot") + configuration)
    func add(_ model: NSManagedObjectModel, _ options: [AnyHashable: Any]?) throws {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: "Local", at: file, options: options)
      try coordinator.remove(store)
    }
    try add(old, nil)
    try sqlite(file, "INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, ZPLACE) VALUES(1, 1, 1, 'Pipe')")
    try add(new, MigrationBench.options([old]))
    #expect(
      try sqlite(file, "SELECT ZPLACE, ZRATING FROM ZSESSION; SELECT Z_NAME FROM Z_PRIMARYKEY") == "Pipe|\nSession")

    // A store of everything is none of the configuration's: what that leaves out would be lost.
    try FileManager.default.removeItem(at: file)
    try MigrationBench.add(file, model: old, options: nil)
    try sqlite(file, "INSERT INTO ZSPOT(Z_PK, Z_ENT, Z_OPT) VALUES(1, 2, 1)")
    let error = #expect(throws: NSError.self) { try add(new, MigrationBench.options([old])) }
    #expect(error?.code == NSMigrationError && error?.localizedDescription.contains("1 objects of Spot") == true)
    #expect(try sqlite(file, "SELECT count(*) FROM ZSPOT") == "1")
  }
}
