import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules: stores that Apple's framework wrote are migrated by the versions in their own packages; the outcome equals that
// of Apple's own migration where there is one to compare with (../shared/stores).

@Suite(
  "Apple's stores are migrated as Apple's framework migrates them",
  .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)))
struct MigrationRealStoreTests {
  struct Step: Sendable, CustomTestStringConvertible {
    let store: Int
    let version: String
    /// SQL that the store answers alike before and after.
    let before: String
    let after: String
    var testDescription: String { "\(SharedStore.all[store].name) to \(version)" }
  }

  static let steps = [
    Step(
      store: 1, version: "TestModel 2.xcdatamodel", before: "SELECT count(*) FROM ZAUTHOR",
      after: "SELECT count(*) FROM ZAUTHOR"),
    Step(
      store: 2, version: "SampleModel2.xcdatamodel",
      before: "SELECT Z_PK, Z_ENT, Z_OPT, ZOWNER, ZMAKER, ZNUMBERPLATE, ZISLIMITEDEDITION FROM ZCAR ORDER BY Z_PK",
      after: "SELECT Z_PK, Z_ENT, Z_OPT, ZOWNER, ZMAKER, ZNUMBERPLATE, ZISLIMITEDEDITION FROM ZCAR ORDER BY Z_PK"),
    Step(
      store: 3, version: "SampleModel3.xcdatamodel",
      before:
        "SELECT Z_PK, ZOWNER, ZMODEL, ZNUMBERPLATE FROM ZCAR ORDER BY Z_PK; SELECT ZLASTNAME FROM ZPERSON ORDER BY 1",
      after:
        "SELECT Z_PK, ZOWNER, ZMODEL, ZNUMBERPLATE FROM ZCAR ORDER BY Z_PK; SELECT ZLASTNAME FROM ZPERSON ORDER BY 1"),
    Step(
      store: 4, version: "CoreDataMigration_Example 2.xcdatamodel",
      before: "SELECT Z_PK, Z_OPT, ZDATE, ZCOLOR, ZCONTENT, ZPOSTID FROM ZPOST ORDER BY Z_PK",
      after: "SELECT Z_PK, Z_OPT, ZDATE, ZHEXCOLOR, ZCONTENT, ZPOSTID FROM ZPOST ORDER BY Z_PK"),
    Step(
      store: 6, version: "CoreDataMigration_Example 4.xcdatamodel",
      before:
        "SELECT Z_PK, ZHEXCOLOR, 0 FROM ZPOST ORDER BY Z_PK; SELECT Z_PK, ZPOST, ZBODY FROM ZSECTION ORDER BY Z_PK",
      after: "SELECT Z_PK, ZHEXCOLOR, ZSOFTDELETED FROM ZPOST ORDER BY Z_PK; SELECT Z_PK, ZPOST, ZBODY FROM ZSECTION "
        + "ORDER BY Z_PK"),
  ]

  @Test("a real store's next version", arguments: steps)
  func real(step: Step) throws {
    let store = SharedStore.all[step.store]
    try store.withCopy { file in
      let before = try sqlite(file, step.before)
      #expect(!before.isEmpty)
      let uuid = try sqlite(file, "SELECT Z_UUID FROM Z_METADATA")
      let version = store.modelURL.deletingLastPathComponent().appendingPathComponent(step.version)
      let model = try NSManagedObjectModel.load(contentsOf: version)
      let container = NSPersistentContainer(name: "Real", managedObjectModel: model)
      container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: file)]
      var failure: (any Error)?
      container.loadPersistentStores { failure = $1 }
      #expect(failure == nil)
      #expect(container.persistentStoreCoordinator.persistentStores.first?.identifier == uuid)
      #expect(try sqlite(file, step.after) == before)
      let fresh = file.deletingLastPathComponent().appendingPathComponent("fresh.sqlite")
      try MigrationBench.add(fresh, model: try NSManagedObjectModel.load(contentsOf: version), options: nil)
      #expect(try sqlite(file, MigrationBench.layout) == sqlite(fresh, MigrationBench.layout))
    }
  }

  @Test("Every row, key and hash is what Apple's migration of the same store made")
  func likeApples() throws {
    let question = """
      SELECT Z_PK, Z_ENT, Z_OPT, ZOWNER, ZISLIMITEDEDITION, ZMARKEDFORDELETIONASOF, ZMAKER, ZMODEL, ZNUMBERPLATE
        FROM ZCAR ORDER BY Z_PK;
      SELECT Z_PK, Z_ENT, Z_OPT, ZUPDATEDAT, ZFIRSTNAME, ZLASTNAME FROM ZPERSON ORDER BY Z_PK;
      SELECT Z_ENT, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT; SELECT Z_VERSION, Z_UUID FROM Z_METADATA;
      SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY sql
      """
    let (before, apples) = (SharedStore.all[2], SharedStore.all[3])
    try before.withCopy { file in
      let version = before.modelURL.deletingLastPathComponent().appendingPathComponent("SampleModel2.xcdatamodel")
      let model = try NSManagedObjectModel.load(contentsOf: version)
      let store = try MigrationBench.add(
        file, model: model,
        options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
      #expect(try sqlite(file, question) + "\n" == apples.query(question))
      let theirs = try apples.metadata()
      for key in [NSStoreModelVersionHashesDigestKey, NSStoreModelVersionIdentifiersKey] {
        #expect(store.metadata[key] as? NSObject == theirs[key] as? NSObject)
      }
      let mine = store.metadata[NSStoreModelVersionHashesKey] as? [String: Data]
      #expect(mine != nil && mine == theirs[NSStoreModelVersionHashesKey] as? [String: Data])
    }
  }
}
