import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// A model from the entities' XML.
func migrationModel(_ entities: String) throws -> NSManagedObjectModel {
  try NSManagedObjectModel.load(xml: Data("<model>\(entities)</model>".utf8))
}

/// A store of an old model, with rows that the `sqlite3` shell put in, and what migrations make of it.
struct MigrationBench {
  let folder: TemporaryFolder
  let file: URL
  let old: NSManagedObjectModel

  init(old entities: String, rows: String, _ name: String = "store.sqlite") throws {
    try self.init(old: migrationModel(entities), rows: rows, name)
  }

  init(old: NSManagedObjectModel, rows: String, _ name: String = "store.sqlite") throws {
    folder = try TemporaryFolder()
    file = folder.file(name)
    self.old = old
    try Self.add(file, model: old, options: nil)
    try sqlite(file, rows)
  }

  /// Opens and closes a store.
  @discardableResult
  static func add(
    _ file: URL, model: NSManagedObjectModel, options: [AnyHashable: Any]?
  ) throws -> NSPersistentStore {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
    try coordinator.remove(store)
    return store
  }

  static func options(_ sources: [NSManagedObjectModel]) -> [AnyHashable: Any] {
    [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      OCDSourceModelsOption: sources,
    ]
  }

  @discardableResult
  func migrate(to model: NSManagedObjectModel) throws -> NSPersistentStore {
    try Self.add(file, model: model, options: Self.options([old]))
  }

  /// The schema in the order of its making, foreign things left out, and the numbers of the entities.
  static let layout = """
    SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'SJ_%' ORDER BY rowid;
    SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY; SELECT count(*) FROM Z_MODELCACHE; PRAGMA integrity_check;
    """

  /// Demands that the migrated store is laid out as a new one, is what it was, and opens as a store of the model.
  func expectFresh(_ model: NSManagedObjectModel, uuid: String) throws {
    let fresh = folder.file("fresh-\(UUID().uuidString).sqlite")
    try Self.add(fresh, model: model, options: nil)
    #expect(try sqlite(file, Self.layout) == sqlite(fresh, Self.layout))
    let reopened = try Self.add(file, model: model, options: nil)
    #expect(reopened.identifier == uuid)
  }

  func uuid() throws -> String { try sqlite(file, "SELECT Z_UUID FROM Z_METADATA") }

  /// The whole database as SQL text.
  func dump() throws -> String { try sqlite(file, ".dump") }
}

/// One way in which a model changes, and what the rows are before and after.
struct MigrationCase: Sendable, CustomTestStringConvertible {
  let id: String
  let old: String
  let new: String
  /// SQL that fills the old store.
  let rows: String
  /// SQL that asks the new one.
  let query: String
  let expected: String

  var testDescription: String { id }

  /// What the query finds after the migration; the layout is compared with that of a new store.
  func found() throws -> String {
    let bench = try MigrationBench(old: old, rows: rows)
    let uuid = try bench.uuid()
    let model = try migrationModel(new)
    try bench.migrate(to: model)
    let found = try sqlite(bench.file, query)
    try bench.expectFresh(model, uuid: uuid)
    return found
  }
}

/// An entity of the shape that most cases start from.
enum Changed {
  static func session(_ inside: String, _ attributes: String = "") -> String {
    "<entity name=\"Session\" \(attributes)>\(inside)</entity>"
  }
  static let place = "<attribute name=\"place\" optional=\"YES\" attributeType=\"String\"/>"
  static let rating = "<attribute name=\"rating\" optional=\"YES\" attributeType=\"Integer 16\"/>"
  static let rows = """
    INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, ZPLACE, ZRATING) VALUES(1, 1, 1, 'Pipe', 5), (2, 1, 7, NULL, NULL),
      (9, 1, 3, 'Jaws', 2);
    UPDATE Z_PRIMARYKEY SET Z_MAX = 12;
    """
}
