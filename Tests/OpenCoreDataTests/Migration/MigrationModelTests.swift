import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (Apple documentation: NSMappingModel, NSEntityMapping, NSMigrationManager, NSPersistentStoreDescription,
// NSManagedObjectModel.mergedModel(from:forStoreMetadata:)): the source model is found by the store's hashes; inferred
// mappings tell what becomes of each entity and property; a manager migrates from one file into another.

@Suite("Source models are found, and mappings are described")
struct MigrationModelTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static let first = Changed.session(Changed.place + Changed.rating)
  private static let second = Changed.session(
    "<attribute name=\"spot\" optional=\"YES\" attributeType=\"String\" elementID=\"place\"/>" + Changed.rating)
  private static let third =
    Changed.session(
      "<attribute name=\"beach\" optional=\"YES\" attributeType=\"String\" elementID=\"spot\"/>" + Changed.rating,
      "elementID=\"Session\"") + "<entity name=\"Board\"/>"

  /// An `.xcdatamodeld` with the versions, the last of which is current.
  private func package(_ versions: [String]) throws -> URL {
    let package = folder.file("Log.xcdatamodeld")
    for (number, entities) in versions.enumerated() {
      let version = package.appendingPathComponent("Log \(number + 1).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try Data("<model>\(entities)</model>".utf8).write(to: version.appendingPathComponent("contents"))
    }
    let list = ["_XCCurrentVersionName": "Log \(versions.count).xcdatamodel"]
    try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
      .write(to: package.appendingPathComponent(".xccurrentversion"))
    return package
  }

  private func load(_ container: NSPersistentContainer) -> NSError? {
    var found: NSError?
    container.loadPersistentStores { found = $1.map { $0 as NSError } }
    return found
  }

  @Test("A container migrates by itself, from any version next to the one that its model was read from")
  func container() throws {
    let package = try package([Self.first, Self.second, Self.third])
    for (number, column) in [(1, "ZPLACE"), (2, "ZSPOT")] {
      let file = folder.file("store \(number).sqlite")
      let version = package.appendingPathComponent("Log \(number).xcdatamodel")
      try MigrationBench.add(file, model: NSManagedObjectModel.load(contentsOf: version), options: nil)
      try sqlite(file, Changed.rows.replacingOccurrences(of: "ZPLACE", with: column))
      let model = try #require(NSManagedObjectModel(contentsOf: package))
      let container = NSPersistentContainer(name: "Log", managedObjectModel: model)
      container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
      #expect(load(container) == nil)
      // From the second version by its own chain of names; from the first one the name in between is not known.
      let expected = number == 2 ? "Pipe\n\nJaws" : "\n\n"
      #expect(try sqlite(file, "SELECT ZBEACH FROM ZSESSION") == expected.trimmingCharacters(in: .newlines))
    }
  }

  @Test("A description asks for both by default, and this can be switched off")
  func description() throws {
    let description = NSPersistentStoreDescription()
    #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
    #expect(description.options[NSMigratePersistentStoresAutomaticallyOption] as? NSNumber == 1)
    description.shouldInferMappingModelAutomatically = false
    let copy = try #require(description.copy() as? NSPersistentStoreDescription)
    #expect(copy.shouldMigrateStoreAutomatically && !copy.shouldInferMappingModelAutomatically)
    description.shouldMigrateStoreAutomatically = false
    let file = folder.file("store.sqlite")
    try MigrationBench.add(file, model: migrationModel(Self.first), options: nil)
    description.url = file
    let container = NSPersistentContainer(name: "Log", managedObjectModel: try migrationModel(Self.second))
    container.persistentStoreDescriptions = [description]
    #expect(load(container)?.code == NSPersistentStoreIncompatibleVersionHashError)
  }

  @Test("A missing source model is reported with what was looked at, unreadable versions among them")
  func missing() throws {
    let package = try package([Self.second, "<entity/>", Self.third])
    let file = folder.file("store.sqlite")
    try MigrationBench.add(file, model: migrationModel(Self.first), options: nil)
    let container = NSPersistentContainer(
      name: "Log", managedObjectModel: try NSManagedObjectModel.load(contentsOf: package))
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
    let error = try #require(load(container))
    #expect(error.code == NSMigrationMissingSourceModelError)
    #expect(error.localizedDescription.contains("Log 1.xcdatamodel, Log 2.xcdatamodel (unreadable)"))
  }

  @Test("A store's model is found among several, or merged of those that make it up")
  func merged() throws {
    let models = try [Self.second, Self.first, "<entity name=\"Board\"/>"].map(migrationModel)
    let whole = try MigrationBench.add(folder.file("one.sqlite"), model: models[1], options: nil).metadata
    #expect(NSManagedObjectModel(byMerging: models, forStoreMetadata: whole)?.entities.map(\.name) == ["Session"])
    let both = try #require(NSManagedObjectModel(byMerging: [models[1], models[2]]))
    let metadata = try MigrationBench.add(folder.file("two.sqlite"), model: both, options: nil).metadata
    let found = NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
    #expect(found?.entitiesByName.keys.sorted() == ["Board", "Session"])
    #expect(found?.entitiesByName["Session"]?.attributesByName["place"] != nil)
    #expect(NSManagedObjectModel(byMerging: [models[0]], forStoreMetadata: whole) == nil)
    #expect(NSManagedObjectModel(byMerging: nil, forStoreMetadata: whole) == nil)
    #expect(NSManagedObjectModel.mergedModel(from: [], forStoreMetadata: whole) == nil)
  }

  @Test("An inferred mapping names what is added, removed, copied and transformed")
  func mappings() throws {
    let old = try migrationModel(Self.first + "<entity name=\"Gone\"/><entity name=\"Same\"/>")
    let new = try migrationModel(Self.second + "<entity name=\"New\"/><entity name=\"Same\"/>")
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    #expect(
      mapping.entityMappings.map(\.name) == [
        "IEM_Add_New", "IEM_Copy_Same", "IEM_Transform_Session", "IEM_Remove_Gone",
      ])
    let session = try #require(mapping.entityMappingsByName["IEM_Transform_Session"])
    #expect(session.mappingType == .transformEntityMappingType)
    #expect(session.sourceEntityName == "Session" && session.destinationEntityName == "Session")
    #expect(session.sourceEntityVersionHash == old.entitiesByName["Session"]?.versionHash)
    #expect(
      session.attributeMappings?.map { "\($0.name ?? "-") \($0.sourceName ?? "-")" } == ["rating rating", "spot place"])
    #expect(session.relationshipMappings?.isEmpty == true)
    let gone = try #require(mapping.entityMappingsByName["IEM_Remove_Gone"])
    #expect(gone.mappingType == .removeEntityMappingType && gone.destinationEntityName == nil)
    #expect(gone.attributeMappings == nil)
    #expect(NSMappingModel(from: nil, forSourceModel: old, destinationModel: new) == nil)
  }

  @Test("Renaming identifiers are read from the model's elementID")
  func identifiers() throws {
    let model = try migrationModel(Self.third)
    let session = try #require(model.entitiesByName["Session"])
    #expect(session.attributesByName["beach"]?.renamingIdentifier == "spot")
    #expect(session.attributesByName["rating"]?.renamingIdentifier == "rating")
    #expect(model.entitiesByName["Board"]?.renamingIdentifier == "Board")
  }

  @Test("A manager writes a new file and leaves the old one, with the data that lies in files of its own")
  func manager() throws {
    let bench = try MigrationBench(old: Self.first, rows: Changed.rows, "old.sqlite")
    let before = try Data(contentsOf: bench.file)
    let external = bench.folder.file(".old_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: external, withIntermediateDirectories: true)
    try Data("photo".utf8).write(to: external.appendingPathComponent("A"))
    let model = try migrationModel(Self.second)
    let manager = NSMigrationManager(sourceModel: bench.old, destinationModel: model)
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: bench.old, destinationModel: model)
    let target = bench.folder.file("new.sqlite")
    func migrate(_ mapping: NSMappingModel?, from file: URL) throws {
      try manager.migrateStore(from: file, with: mapping, toDestinationURL: target)
    }
    try migrate(mapping, from: bench.file)
    #expect(manager.migrationProgress == 1 && manager.mappingModel === mapping)
    #expect(
      try sqlite(target, "SELECT Z_PK, ZSPOT FROM ZSESSION; SELECT Z_MAX FROM Z_PRIMARYKEY") == "1|Pipe\n2|\n9|Jaws\n12"
    )
    #expect(try sqlite(target, "PRAGMA journal_mode; PRAGMA auto_vacuum; PRAGMA page_size") == "wal\n2\n4096")
    #expect(try Data(contentsOf: bench.file) == before)
    #expect(FileManager.default.fileExists(atPath: bench.folder.file(".new_SUPPORT/_EXTERNAL_DATA/A").path))
    let fresh = bench.folder.file("fresh.sqlite")
    try MigrationBench.add(fresh, model: model, options: nil)
    #expect(try sqlite(target, MigrationBench.layout) == sqlite(fresh, MigrationBench.layout))
    let names = try FileManager.default.contentsOfDirectory(atPath: bench.folder.url.path)
    #expect(!names.contains { $0.hasPrefix(".new.sqlite") }, "the workplace is left over")

    let refusals: [(NSMappingModel?, URL, Int)] = [
      (nil, bench.file, NSMigrationMissingMappingModelError),
      (mapping, bench.file, NSMigrationManagerDestinationStoreError),
    ]
    for (mapping, file, code) in refusals {
      let error = #expect(throws: NSError.self) { try migrate(mapping, from: file) }
      #expect(error?.code == code)
    }
    try FileManager.default.removeItem(at: target)
    let other = bench.folder.file("other.sqlite")
    try manager.migrateStore(from: bench.file, type: .sqlite, mapping: mapping, to: other, type: .sqlite)
    #expect(try sqlite(other, "SELECT count(*) FROM ZSESSION") == "3")
    for file in [fresh, bench.folder.file("none.sqlite")] {
      let error = #expect(throws: NSError.self) { try migrate(mapping, from: file) }
      #expect(error?.code == NSMigrationManagerSourceStoreError)
      #expect(!FileManager.default.fileExists(atPath: target.path))
    }
  }
}
