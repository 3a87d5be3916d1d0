import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (docs/coredata-format.md, "Z_PRIMARYKEY", "Tables and columns", "Z_METADATA", "Persistent history"): keys
// continue after Z_MAX and above every row, versions count up, unchanged metadata is kept; a store that tracks history,
// or whose triggers need functions that are not available, is not written to; 134100 names the entities that differ and
// what fits.

@Suite("Stores of others are written to in place, or refused")
struct ForeignStoreWritingTests {
  private static let plist = """
    import plistlib, sqlite3, sys
    c = sqlite3.connect(sys.argv[1])
    p = plistlib.loads(c.execute("SELECT Z_PLIST FROM Z_METADATA").fetchone()[0])
    """

  /// Runs Python lines in which `p` is the metadata of `file`, and returns what they print.
  @discardableResult
  private func python(_ file: URL, _ lines: String) throws -> String {
    try Programs.output(of: ["python3", "-c", Self.plist + "\n" + lines, file.path])
  }

  private static let write = """

    c.execute("UPDATE Z_METADATA SET Z_PLIST = ?", (plistlib.dumps(p, fmt=plistlib.FMT_BINARY),)); c.commit()
    """

  @Test(
    "Every store of Apple's takes an inserted, a changed and a deleted row, and keeps all else",
    .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)),
    arguments: SharedStore.all.indices.filter { !SharedStore.all[$0].isMigrated })
  func inPlace(number: Int) throws {
    let shared = SharedStore.all[number]
    try shared.withCopy { file in
      try python(file, "p['com.example.mark'] = {'of': ['others', 7]}" + Self.write)
      let before = try python(file, "print(sorted(p.items()))")
      let schema = try sqlite(file, "SELECT sql FROM sqlite_master")
      let model = try NSManagedObjectModel.load(contentsOf: shared.modelURL)
      let entity = try #require(
        model.entities.filter { !$0.isAbstract && $0.superentity == nil && $0.subentities.isEmpty }
          .min { ($0.name ?? "") < ($1.name ?? "") })
      let table = "Z" + (entity.name ?? "").uppercased()
      let last = Int(try sqlite(file, "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity.name ?? "")'")) ?? -1
      let count = Int(try sqlite(file, "SELECT count(*) FROM \(table)")) ?? -1
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: file)
      let context = NSManagedObjectContext(concurrencyType: .privateQueue)
      context.persistentStoreCoordinator = coordinator
      let text = try #require(entity.attributeSlots.first { $0.attributeType == .stringAttributeType }).name
      try context.performAndWait {
        let objects = (0..<3).map { _ in NSManagedObject.make(entity, in: context) }
        for (number, object) in objects.enumerated() {
          for attribute in entity.attributeSlots {
            switch attribute.attributeType {
            case .stringAttributeType: object.setValue("new \(number)", forKey: attribute.name)
            case .UUIDAttributeType: object.setValue(UUID(), forKey: attribute.name)
            case .dateAttributeType: object.setValue(Date(), forKey: attribute.name)
            default: break
            }
          }
        }
        try context.save()
        objects[0].setValue("changed", forKey: text)
        context.delete(objects[1])
        try context.save()
      }
      #expect(
        try sqlite(file, "SELECT Z_PK, Z_OPT FROM \(table) WHERE Z_PK > \(last) ORDER BY 1")
          == "\(last + 1)|2\n\(last + 3)|1")
      #expect(try sqlite(file, "SELECT count(*) FROM \(table); PRAGMA integrity_check") == "\(count + 2)\nok")
      #expect(try sqlite(file, "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity.name ?? "")'") == "\(last + 3)")
      #expect(try python(file, "print(sorted(p.items()))") == before)
      coordinator.setMetadata(["author": "Ann", "com.example.mark": ["of": ["others", 7]]], for: store)
      try context.performAndWait { try context.save() }
      try coordinator.remove(store)
      #expect(try python(file, "assert p.pop('author') == 'Ann'\nprint(sorted(p.items()))") == before)
      #expect(try sqlite(file, "SELECT sql FROM sqlite_master; PRAGMA journal_mode") == schema + "\nwal")
    }
  }

  @Test("Keys go on above the rows that are there, whatever Z_MAX says")
  func keys() throws {
    let setup = try StoreSetup.closed()
    try sqlite(setup.stack.file, "UPDATE Z_PRIMARYKEY SET Z_MAX = NULL; UPDATE ZSESSION SET Z_PK = 70 WHERE Z_PK = 3")
    try setup.stack.coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: setup.stack.file)
    try setup.add(0..<1)
    #expect(try sqlite(setup.stack.file, "SELECT max(Z_PK), Z_MAX FROM ZSESSION, Z_PRIMARYKEY") == "71|71")
  }

  // MARK: What is not written to

  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let sql: String
    var metadata: String?
    /// Nil where the store can be written to.
    let word: String?
  }

  private static let history =
    "CREATE TABLE ATRANSACTION(Z_PK INTEGER PRIMARY KEY); CREATE TABLE ACHANGE(Z_PK INTEGER PRIMARY KEY);"
    + "INSERT INTO Z_PRIMARYKEY VALUES(16001, 'CHANGE', 0, 0), (16002, 'TRANSACTION', 0, 0);"

  static let refusals = [
    Refusal(testDescription: "unused history tables", sql: history, word: nil),
    Refusal(
      testDescription: "rows of history in tables without its columns",
      sql: history + "INSERT INTO ATRANSACTION VALUES(1)",
      word: "rows in ATRANSACTION"),
    Refusal(
      testDescription: "history that was purged, in tables without its columns",
      sql: history + "UPDATE Z_PRIMARYKEY SET Z_MAX = 9 WHERE Z_ENT = 16002",
      word: "keys of changes"),
    Refusal(
      testDescription: "history by the metadata", sql: "", metadata: "p['NSPersistentHistoryTrackingKey'] = True",
      word: nil),
    Refusal(
      testDescription: "a trigger of the framework's",
      sql: "CREATE TRIGGER a AFTER UPDATE OF ZPLACE ON ZSESSION BEGIN UPDATE ZSESSION SET ZRATING = "
        + "NSCoreDataSomething(NEW.ZPLACE) WHERE Z_PK = NEW.Z_PK; END", word: "NSCoreDataSomething"),
    Refusal(
      testDescription: "a trigger whose condition calls a function",
      sql: "CREATE TRIGGER b BEFORE DELETE ON ZSESSION WHEN somethingElse(OLD.Z_PK) BEGIN SELECT 1; END",
      word: "somethingElse"),
    Refusal(
      testDescription: "an ordinary trigger",
      sql:
        "CREATE TABLE notes(x); CREATE TRIGGER c AFTER INSERT ON ZSESSION BEGIN INSERT INTO notes VALUES(NEW.Z_PK); END",
      word: nil),
    Refusal(
      testDescription: "a trigger on another program's table",
      sql: "CREATE TABLE notes(x); CREATE TRIGGER d AFTER INSERT ON notes BEGIN SELECT unknown(1); END", word: nil),
  ]

  @Test(
    "A history in other tables and the framework's triggers keep a store from being written to, not from being read",
    arguments: refusals)
  func refused(_ refusal: Refusal) throws {
    let setup = try StoreSetup.closed()
    let file = setup.stack.file
    try sqlite(file, "PRAGMA journal_mode = DELETE;" + refusal.sql)
    if let lines = refusal.metadata { try python(file, lines + Self.write) }
    let before = try Data(contentsOf: file)
    if let word = refusal.word {
      let error = #expect(throws: NSError.self) { try StoreSetup.count(file, readOnly: false) }
      #expect(error?.code == NSPersistentStoreOpenError)
      let text = error?.localizedDescription ?? ""
      #expect(text.contains(word) && text.contains("Open it for reading only"), "\(text)")
      // Users of the commands see the message; the constant is for those of the library.
      #expect(!text.contains("NSReadOnlyPersistentStoreOption"), "\(text)")
      let suggestion = error?.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String
      #expect(suggestion?.contains("NSReadOnlyPersistentStoreOption") == true)
    }
    #expect(try StoreSetup.count(file) == 3)
    #expect(try Data(contentsOf: file) == before)
    if refusal.word == nil { #expect(try StoreSetup.count(file, readOnly: false) == 3) }
  }

  // MARK: Other models

  private func mismatch(_ model: NSManagedObjectModel, given: [NSManagedObjectModel] = []) throws -> NSError {
    let setup = try StoreSetup.closed()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let error = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: setup.stack.file, options: [OCDSourceModelsOption: given]
      )
    }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    #expect((error?.userInfo["metadata"] as? [String: Data])?.keys.sorted() == ["Session"])
    return try #require(error)
  }

  @Test("The entities that differ are named, with how")
  func differing() throws {
    let other = Sessions.model { $0.name = "Trip" }
    let text = try mismatch(other).localizedDescription
    #expect(text.contains("Session (only in the store); Trip (only in the model)"), "\(text)")
    let changed = Sessions.model { $0.properties.append(Sessions.attribute("wind", .stringAttributeType)) }
    #expect(try mismatch(changed).localizedDescription.contains("Session (changed)"))
  }

  @Test("The version that fits is named, and whether a lightweight migration leads from it")
  func fitting() throws {
    let newer = Sessions.model { $0.properties.append(Sessions.attribute("wind", .stringAttributeType)) }
    let possible = try mismatch(newer, given: [newer, Sessions.model()])
    #expect(possible.localizedDescription.contains("It is compatible with given model 2"), "\(possible)")
    for word in [NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption] {
      #expect(possible.localizedRecoverySuggestion?.contains(word) == true, "\(possible)")
      #expect(!possible.localizedDescription.contains(word), "\(possible)")
    }
    let typed = Sessions.model { $0.attributesByName["place"]?.attributeType = .dateAttributeType }
    let impossible = try mismatch(typed, given: [Sessions.model()]).localizedDescription
    #expect(
      impossible.contains("It is compatible with given model 1") && impossible.contains("No lightweight migration"),
      "\(impossible)")
    let none = try mismatch(typed, given: [newer]).localizedDescription
    #expect(none.contains("None of the versions found is compatible (given model 1"), "\(none)")
  }

  @Test(
    "Among the versions of a real model the one that fits is named",
    .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)))
  func realVersions() throws {
    let shared = SharedStore.all[4]
    try shared.withCopy { file in
      let package = shared.modelURL.deletingLastPathComponent()
      let model = try NSManagedObjectModel.load(
        contentsOf: package.appendingPathComponent("CoreDataMigration_Example 2.xcdatamodel"))
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let error = #expect(throws: NSError.self) {
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
      }
      let text = error?.localizedDescription ?? ""
      #expect(
        text.contains("Post (changed)") && text.contains("It is compatible with CoreDataMigration_Example.xcdatamodel"),
        "\(text)")
    }
  }
}
