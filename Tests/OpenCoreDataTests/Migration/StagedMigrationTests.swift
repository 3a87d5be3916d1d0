import Foundation
import TestSupport
import Testing

@testable import OpenCoreData

// Rules (Apple's headers: NSStagedMigrationManager.h, NSCustomMigrationStage.h, NSLightweightMigrationStage.h,
// NSManagedObjectModelReference.h): the custom stages after the store's version are carried out in their order, each between
// its two handlers.

@Suite("Stages bring a store from any version to the newest")
struct StagedMigrationTests {
  private static func entity(_ inside: String) -> String { "<entity name=\"Rider\">\(inside)</entity>" }
  private static let name = "<attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/>"
  private static func text(_ name: String) -> String {
    "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"String\"/>"
  }
  /// The name is split in the third version, and mandatory in the fourth.
  private static func versions() throws -> [NSManagedObjectModel] {
    try [
      entity(name), entity(name + text("note")), entity(name + text("note") + text("first") + text("last")),
      entity(
        text("note") + "<attribute name=\"first\" attributeType=\"String\" defaultValueString=\"?\"/>" + text("last")),
    ].map(migrationModel)
  }

  private struct Bench {
    let folder: TemporaryFolder
    let file: URL
    let versions: [NSManagedObjectModel]

    /// - Parameter version: The version of the store, from 0.
    init(_ version: Int) throws {
      folder = try TemporaryFolder()
      file = folder.file("store.sqlite")
      versions = try StagedMigrationTests.versions()
      try MigrationBench.add(file, model: versions[version], options: nil)
      let column = version < 3 ? "ZNAME" : "ZFIRST"
      try sqlite(
        file,
        "INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT, \(column)) VALUES(1, 1, 1, 'Ann Lee'), (2, 1, 1, 'Bob'); "
          + "UPDATE Z_PRIMARYKEY SET Z_MAX = 2")
    }

    func reference(_ version: Int) -> NSManagedObjectModelReference {
      NSManagedObjectModelReference(model: versions[version], versionChecksum: versions[version].versionChecksum)
    }

    func add(_ manager: NSStagedMigrationManager, model: Int = 3) throws {
      let description = NSPersistentStoreDescription(url: file)
      description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
      description.setOption(NSArray(array: versions), forKey: OCDSourceModelsOption)
      let container = NSPersistentContainer(name: "Riders", managedObjectModel: versions[model])
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { _, error in failure = error }
      if let failure { throw failure }
      for store in container.persistentStoreCoordinator.persistentStores {
        try container.persistentStoreCoordinator.remove(store)
      }
    }

    /// Splits names after the second stage has made room for the parts.
    func stages(_ calls: Calls, failing: NSError? = nil) -> [NSMigrationStage] {
      let split = NSCustomMigrationStage(migratingFrom: reference(1), to: reference(2))
      split.label = "split"
      split.willMigrateHandler = { _, stage in calls.list.append("will \(stage.label ?? "")") }
      split.didMigrateHandler = { manager, stage in
        calls.list.append("did \(stage.label ?? "")")
        let context = try #require(manager.container).newBackgroundContext()
        try context.performAndWait {
          for rider in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Rider")) {
            let parts = (rider.value(forKey: "name") as? String ?? "").split(separator: " ").map(String.init)
            rider.setValue(parts.first, forKey: "first")
            rider.setValue(parts.dropFirst().last, forKey: "last")
          }
          try context.save()
        }
        if let failing { throw failing }
      }
      return [
        NSLightweightMigrationStage([versions[0].versionChecksum]), split,
        NSLightweightMigrationStage([versions[3].versionChecksum]),
      ]
    }
  }

  private final class Calls { var list: [String] = [] }

  @Test("From each version: only the stages that follow it are carried out", arguments: 0...3)
  func versions(start: Int) throws {
    let bench = try Bench(start)
    let uuid = try sqlite(bench.file, "SELECT Z_UUID FROM Z_METADATA")
    let calls = Calls()
    let manager = NSStagedMigrationManager(bench.stages(calls))
    try bench.add(manager)
    #expect(calls.list == (start < 2 ? ["will split", "did split"] : []))
    #expect(manager.container == nil)
    let expected = start < 2 ? "Ann|Lee\nBob|" : start == 2 ? "?|\n?|" : "Ann Lee|\nBob|"
    #expect(try sqlite(bench.file, "SELECT ZFIRST, ZLAST FROM ZRIDER ORDER BY Z_PK") == expected)
    #expect(try sqlite(bench.file, "SELECT Z_UUID FROM Z_METADATA") == uuid)
    #expect(try bench.folder.names.allSatisfy { $0.hasPrefix("store.sqlite") })
    try bench.add(manager)
    #expect(calls.list.count == (start < 2 ? 2 : 0), "it is migrated once")
  }

  @Test("A handler that throws leaves the store as it was")
  func failing() throws {
    let bench = try Bench(0)
    let before = try sqlite(bench.file, ".dump")
    let expected = NSError(domain: "Ours", code: 7)
    let error = #expect(throws: NSError.self) {
      try bench.add(NSStagedMigrationManager(bench.stages(Calls(), failing: expected)))
    }
    #expect(error == expected)
    #expect(try sqlite(bench.file, ".dump") == before)
    #expect(try bench.folder.names.allSatisfy { $0.hasPrefix("store.sqlite") })
  }

  @Test("A store of a later version, versions without a stage, and models that have changed are errors")
  func refusals() throws {
    let bench = try Bench(3)
    let stages = bench.stages(Calls())
    let backward = #expect(throws: NSError.self) { try bench.add(NSStagedMigrationManager(stages), model: 0) }
    #expect(backward?.code == NSStagedMigrationBackwardMigrationError)
    let unknown = #expect(throws: NSError.self) {
      try bench.add(NSStagedMigrationManager([stages[0]]), model: 0)
    }
    #expect(unknown?.code == NSStagedMigrationFrameworkVersionMismatchError)
    let other = try Bench(0)
    let changed = NSManagedObjectModelReference(model: other.versions[2], versionChecksum: "changed")
    let stage = NSCustomMigrationStage(migratingFrom: other.reference(0), to: changed)
    let error = #expect(throws: NSError.self) {
      try other.add(
        NSStagedMigrationManager([stage, NSLightweightMigrationStage([other.versions[3].versionChecksum])]))
    }
    #expect(error?.code == NSManagedObjectModelReferenceNotFoundError)
  }

  @Test("References find models by file and by hashes")
  func references() throws {
    let folder = try TemporaryFolder()
    try folder.makeFolder("M.xcdatamodel")
    try folder.write("<model>\(Self.entity(Self.name))</model>", to: "M.xcdatamodel/contents")
    let model = try migrationModel(Self.entity(Self.name))
    let byFile = NSManagedObjectModelReference(
      fileURL: folder.file("M.xcdatamodel"), versionChecksum: model.versionChecksum)
    #expect(byFile.resolvedModel.entityVersionHashesByName == model.entityVersionHashesByName)
    let missing = NSManagedObjectModelReference(
      entityVersionHashes: ["Nothing": Data([1])], in: nil, versionChecksum: "")
    #expect(
      (#expect(throws: NSError.self) { try missing.resolve() })?.code == NSManagedObjectModelReferenceNotFoundError)
    let unnamed = NSManagedObjectModelReference(name: "Nothing", in: nil, versionChecksum: "")
    #expect(
      (#expect(throws: NSError.self) { try unnamed.resolve() })?.code == NSManagedObjectModelReferenceNotFoundError)
  }

  @Test("A mapping model that is given as an option migrates a store when it is added", arguments: [true, false])
  func mappingModel(infers: Bool) throws {
    let bench = try Bench(0)
    let mapping = NSMappingModel()
    mapping.entityMappings = [
      entityMapping("R", from: "Rider", to: "Rider", attributes: ["first": "uppercase($source.name)"])
    ]
    var options: [AnyHashable: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true, OCDSourceModelsOption: bench.versions,
      OCDMappingModelsOption: [NSMappingModel(), mapping],
    ]
    options[NSInferMappingModelAutomaticallyOption] = infers
    try MigrationBench.add(bench.file, model: bench.versions[3], options: options)
    #expect(try sqlite(bench.file, "SELECT ZFIRST FROM ZRIDER ORDER BY 1") == "ANN LEE\nBOB")
    #expect(try bench.folder.names.allSatisfy { $0.hasPrefix("store.sqlite") })
    let fresh = bench.folder.file("fresh.sqlite")
    try MigrationBench.add(fresh, model: bench.versions[3], options: nil)
    #expect(try sqlite(bench.file, MigrationBench.layout) == sqlite(fresh, MigrationBench.layout))
  }

  @Test("What another program writes during an automatic migration is not lost")
  func writtenMeanwhile() throws {
    let bench = try Bench(0)
    let stage = NSCustomMigrationStage(migratingFrom: bench.reference(0), to: bench.reference(3))
    let file = bench.file
    stage.willMigrateHandler = { _, _ in try sqlite(file, "UPDATE ZRIDER SET ZNAME = 'Cy' WHERE Z_PK = 2") }
    let error = #expect(throws: NSError.self) { try bench.add(NSStagedMigrationManager([stage])) }
    #expect(error?.code == NSMigrationError)
    #expect(try sqlite(file, "SELECT ZNAME FROM ZRIDER ORDER BY 1") == "Ann Lee\nCy")
    stage.willMigrateHandler = nil
    try bench.add(NSStagedMigrationManager([stage]))
    #expect(try sqlite(file, "SELECT ZFIRST FROM ZRIDER ORDER BY 1") == "?\n?")
  }

  @Test("Killed in a handler, it leaves the old store; the next opening migrates it and leaves nothing behind")
  func killed() async throws {
    let bench = try Bench(0)
    let before = try sqlite(bench.file, ".dump")
    let path = bench.file.path
    for isLate in [false, true] {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, isLate = isLate as Bool] in
        let versions = try StagedMigrationTests.versions()
        let references = versions.map { NSManagedObjectModelReference(model: $0, versionChecksum: $0.versionChecksum) }
        let stage = NSCustomMigrationStage(migratingFrom: references[0], to: references[3])
        let end: (NSStagedMigrationManager, NSCustomMigrationStage) -> Void = { _, _ in kill(getpid(), SIGKILL) }
        if isLate { stage.didMigrateHandler = end } else { stage.willMigrateHandler = end }
        var options = MigrationBench.options(versions)
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([stage])
        try MigrationBench.add(URL(fileURLWithPath: path), model: versions[3], options: options)
      }
      #expect(try sqlite(bench.file, ".dump") == before)
    }
    try bench.add(NSStagedMigrationManager(bench.stages(Calls())))
    #expect(try sqlite(bench.file, "SELECT ZFIRST FROM ZRIDER ORDER BY 1") == "Ann\nBob")
    #expect(try bench.folder.names.allSatisfy { $0.hasPrefix("store.sqlite") })
  }
}
