import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import StoreInspection

// Rules (Apple documentation: NSRelationshipDescription, "Cardinality"): the counts of a to-many relationship are limits
// for every object that is saved, and an optional relationship may be empty. docs/coredata-format.md, "Join tables": one
// row of a relationship that is its own inverse may stand for both directions.

@Suite("Verification of the numbers of objects, and of links in both directions")
struct CountVerificationTests {
  private let folder: TemporaryFolder
  private let file: URL
  private let modelFile: URL

  /// A team has two or three riders and up to two fans, a rider any number of friends but at most two.
  private static let xml = """
    <model>
      <entity name="Rider">
        <relationship name="team" optional="YES" maxCount="1" destinationEntity="Team" inverseName="riders"
          inverseEntity="Team"/>
        <relationship name="friends" optional="YES" toMany="YES" minCount="1" maxCount="2" destinationEntity="Rider"
          inverseName="friends" inverseEntity="Rider"/>
        <relationship name="teams" optional="YES" toMany="YES" destinationEntity="Team" inverseName="fans"
          inverseEntity="Team"/>
      </entity>
      <entity name="Team">
        <relationship name="riders" toMany="YES" minCount="2" maxCount="3" destinationEntity="Rider"
          inverseName="team" inverseEntity="Rider"/>
        <relationship name="fans" optional="YES" toMany="YES" minCount="2" maxCount="2" destinationEntity="Rider"
          inverseName="teams" inverseEntity="Rider"/>
      </entity>
    </model>
    """

  init() throws {
    folder = try TemporaryFolder()
    file = folder.file("Teams.sqlite")
    modelFile = folder.file("Teams.xcdatamodel")
    try FileManager.default.createDirectory(at: modelFile, withIntermediateDirectories: true)
    try Data(Self.xml.utf8).write(to: modelFile.appendingPathComponent("contents"))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try .load(contentsOf: modelFile))
    let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    try coordinator.remove(store)
    try sqlite(
      file,
      """
      INSERT INTO ZTEAM(Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1), (2, 2, 1);
      INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT, ZTEAM) VALUES (1, 1, 1, 1), (2, 1, 1, 1), (3, 1, 1, 2), (4, 1, 1, 2), (5, 1, 1, NULL);
      INSERT INTO Z_1FRIENDS VALUES (1, 2), (2, 1), (2, 3), (3, 2), (4, 4);
      UPDATE Z_PRIMARYKEY SET Z_MAX = 9;
      """)
  }

  private static let damages: [(sql: String, findings: [String])] = [
    ("SELECT 1", []),
    ("UPDATE ZRIDER SET ZTEAM = 1 WHERE Z_PK = 3", ["tooFewObjects error riders 1 [2]"]),
    ("UPDATE ZRIDER SET ZTEAM = 1 WHERE Z_PK = 5", []),
    ("UPDATE ZRIDER SET ZTEAM = 1", ["tooFewObjects error riders 1 [2]", "tooManyObjects error riders 1 [1]"]),
    ("INSERT INTO Z_1TEAMS VALUES (1, 1), (2, 1)", []),
    ("INSERT INTO Z_1TEAMS VALUES (1, 1)", ["tooFewObjects error fans 1 [1]"]),
    ("INSERT INTO Z_1TEAMS VALUES (1, 1), (2, 1), (3, 1)", ["tooManyObjects error fans 1 [1]"]),
    ("INSERT INTO Z_1FRIENDS VALUES (2, 4), (4, 2)", ["tooManyObjects error friends 1 [2]"]),
    // A link of one row counts at both ends.
    (
      "INSERT INTO Z_1FRIENDS VALUES (5, 2)",
      ["joinOneSided warning friends 1 [6]", "tooManyObjects error friends 1 [2]"]
    ),
    ("DELETE FROM Z_1FRIENDS WHERE Z_1FRIENDS = 3", ["joinOneSided warning friends 1 [3]"]),
    // All links have one row: the way of the program that wrote them.
    ("DELETE FROM Z_1FRIENDS WHERE Z_1FRIENDS > REFLEXIVE", []),
  ]

  @Test("Too few, too many, and links of one direction are found, and nothing else", arguments: damages.indices)
  func damage(_ index: Int) throws {
    let damage = Self.damages[index]
    try sqlite(file, damage.sql)
    let seen = try StoreVerification(storeAt: file, modelFile: modelFile)
    let found = seen.findings.map { "\($0.code) \($0.severity.rawValue) \($0.property ?? "") \($0.count) \($0.keys)" }
    #expect(found.sorted() == damage.findings, "\(seen.text())")
    #expect(seen.notes.isEmpty)
  }

  @Test("A file that an early ended save left is said to go with the next opening, and does")
  func leftFile() throws {
    let store = try PhotoStore()
    let context = store.stack.context()
    try context.performAndWait {
      store.insert(PhotoStore.photo(1), context)
      try context.save()
    }
    try store.close()
    let names = [UUID().uuidString, UUID().uuidString]
    try FileManager.default.createDirectory(at: store.marks, withIntermediateDirectories: true)
    for name in names { try Data([1]).write(to: store.values.appendingPathComponent(name)) }
    for name in [names[0], store.files.first { !names.contains($0) } ?? ""] {
      try Data().write(to: store.marks.appendingPathComponent(name))
    }
    let model = store.folder.file("Photos.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try Data(Self.photos.utf8).write(to: model.appendingPathComponent("contents"))
    let seen = try StoreVerification(storeAt: store.stack.file, modelFile: model)
    #expect(seen.findings.map(\.code) == ["largeValueOrphan", "largeValuePending"], "\(seen.text())")
    #expect(seen.findings.last?.message.contains(names[0]) == true)
    #expect(seen.findings.last?.advice.contains("removes them") == true)
    _ = try store.newStack()
    #expect(store.files.count == 2 && store.files.contains(names[1]) && store.marked.isEmpty)
    #expect(try store.photos() == [1: PhotoStore.photo(1)])
  }

  private static let photos = """
    <model>
      <entity name="Session">
        <attribute name="date" optional="YES" attributeType="Date"/>
        <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="place" optional="YES" attributeType="String"/>
        <attribute name="rating" optional="YES" attributeType="Integer 16" defaultValueString="0"/>
      </entity>
    </model>
    """
}
