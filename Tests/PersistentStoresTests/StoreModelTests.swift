import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import PersistentStores

/// Which model a store is opened with. An addition of this library (Deviations, "Models"); what fits is what Apple's
/// documentation says of `isConfiguration(withName:compatibleWithStoreMetadata:)`.
@Suite("The model that fits a store is found", .enabled(if: SharedFiles.arePresent))
struct StoreModelTests {
  private static func store(_ name: String) throws -> SharedStore {
    try #require(SharedStore.all.first { $0.name == name })
  }

  private func message(_ body: () throws -> Void) -> String {
    do {
      try body()
      return ""
    } catch {
      return (error as NSError).localizedDescription
    }
  }

  private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = try TemporaryFolder()
    try withExtendedLifetime(folder) { try body(folder.url) }
  }

  @Test(
    "the version with the store's hashes is taken, whichever is current",
    arguments: [
      ("surfjournal-kodeco", "SurfJournalModel.xcdatamodeld", "SurfJournalModel"),
      ("coredataplus-sample1-v1", "SampleModel.momd", "SampleModel"),
      ("coredataplus-sample1-v1", "SampleModel.xcdatamodeld", "SampleModel"),
      ("coredataplus-sample1-v2-migrated", "SampleModel.xcdatamodeld", "SampleModel2"),
      ("wibosco-revised-v1", "CoreDataMigration_Example.xcdatamodeld", "CoreDataMigration_Example"),
      ("wibosco-revised-v3", "CoreDataMigration_Example.xcdatamodeld", "CoreDataMigration_Example 3"),
    ])
  func versions(name: String, file: String, version: String) throws {
    let store = try Self.store(name)
    let model = store.folder.appendingPathComponent(file)
    let found = try store.withCopy { try StoreModel.find(forStoreAt: $0, file: model, embedded: []) }
    #expect(found.origin == .file(version: version))
    #expect(found.notes == [])
    let metadata = try store.metadata()
    #expect(found.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
  }

  @Test("where no version fits, the current one is taken with a note; without a store, too")
  func currentVersion() throws {
    let store = try Self.store("bnr-testmodel")
    let file = try Self.store("coredataplus-sample1-v1").folder.appendingPathComponent("SampleModel.momd")
    let found = try store.withCopy { try StoreModel.find(forStoreAt: $0, file: file, embedded: []) }
    #expect(found.origin == .file(version: "SampleModel"))
    #expect(found.notes.count == 1)
    #expect(found.notes.first?.contains("none of its 3 versions has the hashes") == true)
    let fresh = try StoreModel.find(forStoreAt: nil, file: file, embedded: [])
    #expect(fresh.origin == .file(version: "SampleModel"))
    #expect(fresh.notes == [])
    let folder = try TemporaryFolder()
    let missing = folder.file("missing.sqlite")
    let unmade = try withExtendedLifetime(folder) {
      try StoreModel.find(forStoreAt: missing, file: file, embedded: [])
    }
    #expect(unmade.origin == fresh.origin)
    let text = message { _ = try StoreModel.find(forStoreAt: missing, file: nil, embedded: ["NoSuchModel"]) }
    #expect(text.contains("Give a model file"))
  }

  @Test("embedded models come before the store's own, if they fit")
  func embeddedModels() throws {
    let store = try Self.store("bnr-testmodel")
    let xml = String(decoding: try Data(contentsOf: store.modelURL.appendingPathComponent("contents")), as: UTF8.self)
    let other = #"<model><entity name="Other"/></model>"#
    let name = "StoreModelTests"
    EmbeddedModels.register(
      EmbeddedModel(
        name: name, moduleName: "Tests", currentVersionName: "New",
        versions: [.init(name: "New", xml: other), .init(name: "Old", xml: xml)], classes: [:]))
    try store.withCopy { url in
      let found = try StoreModel.find(forStoreAt: url, file: nil, embedded: [name])
      #expect(found.origin == .embedded("StoreModelTests/Old"))
      let own = try StoreModel.find(forStoreAt: url, file: nil, embedded: [])
      #expect(own.origin == .cache)
    }
    let fresh = try StoreModel.find(forStoreAt: nil, file: nil, embedded: [name])
    #expect(fresh.origin == .embedded("\(name)/New"))
    let foreign = try Self.store("wibosco-revised-v1").withCopy {
      try StoreModel.find(forStoreAt: $0, file: nil, embedded: [name])
    }
    #expect(foreign.origin == .cache)
    #expect(foreign.notes.isEmpty, "the store has a model of its own, so other models need no note")
  }

  @Test(
    "a cache that can't be used gives way to the tables, and the notes say why",
    arguments: [
      ("UPDATE Z_MODELCACHE SET Z_CONTENT = substr(Z_CONTENT, 1, 200)", "cut off after 200"),
      ("UPDATE Z_MODELCACHE SET Z_CONTENT = X'FFFF00112233'", "compressed bytes are damaged"),
      ("UPDATE Z_MODELCACHE SET Z_CONTENT = X'4B4C4A0600'", "not a property list"),
      ("DELETE FROM Z_MODELCACHE", "keeps no model of its own"),
      ("DROP TABLE Z_MODELCACHE", "keeps no model of its own"),
    ])
  func damagedCache(sql: String, reason: String) throws {
    let store = try Self.store("coredataplus-sample1-v1")
    try store.withCopy { url in
      try sqlite(url, sql)
      let found = try StoreModel.find(forStoreAt: url, file: nil, embedded: [])
      #expect(found.origin == .tables)
      #expect(found.notes.first?.contains(reason) == true, "\(found.notes)")
      #expect(found.model.entitiesByName.keys.sorted() == ["Car", "ExpensiveSportCar", "Person", "SportCar"])
      #expect(found.model.entitiesByName["ExpensiveSportCar"]?.superentity?.name == "SportCar")
    }
  }

  @Test("what is not a store, and what is not a model, is an error that says so")
  func errors() throws {
    try withFolder { folder in
      let text = folder.appendingPathComponent("text.sqlite")
      try Data(String(repeating: "no database at all. ", count: 100).utf8).write(to: text)
      let noDatabase = message { _ = try StoreModel.find(forStoreAt: text, file: nil, embedded: []) }
      #expect(noDatabase.contains(text.path))
      let other = folder.appendingPathComponent("other.sqlite")
      try sqlite(other, "CREATE TABLE a(b)")
      let foreign = message { _ = try StoreModel.find(forStoreAt: other, file: nil, embedded: []) }
      #expect(foreign.contains("not a Core Data store"))

      let package = folder.appendingPathComponent("M.momd")
      try FileManager.default.createDirectory(at: package, withIntermediateDirectories: false)
      let load = { message { _ = try NSManagedObjectModel.load(contentsOf: package) } }
      #expect(load().contains("It contains no .mom"))
      for name in ["A", "B"] { try Data("x".utf8).write(to: package.appendingPathComponent("\(name).mom")) }
      #expect(load().contains("It has 2 versions and no VersionInfo.plist"))
      let info = package.appendingPathComponent("VersionInfo.plist")
      try Data("not a list <".utf8).write(to: info)
      #expect(load().contains("This is not a usable property list"))
      func write(_ list: [String: Any]) throws {
        try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0).write(to: info)
      }
      try write([:])
      #expect(load().contains("does not name a current version"))
      try write(["NSManagedObjectModel_CurrentVersionName": "C"])
      #expect(load().contains("names the version 'C', but has no .mom of it"))
      try write(["NSManagedObjectModel_CurrentVersionName": "B"])
      #expect(load().contains("B.mom: This is not a compiled model: it is not a property list"))
      try Data().write(to: package.appendingPathComponent("B.mom"))
      #expect(load().contains("it is empty"))
      let archive = try NSKeyedArchiver.archivedData(
        withRootObject: NSArray(array: ["a"]), requiringSecureCoding: true)
      try archive.write(to: package.appendingPathComponent("B.mom"))
      #expect(load().contains("it is an archive of 'NSArray', not of a model"))
    }
  }

  @Test("a store's model is found without a trace")
  func traceless() throws {
    for store in SharedStore.all {
      try store.withCopy { url in
        func files() throws -> [String: Data] {
          let folder = url.deletingLastPathComponent()
          let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
          return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.appendingPathComponent($0))) })
        }
        let before = try files()
        _ = try StoreModel.find(forStoreAt: url, file: nil, embedded: [])
        let after = try files()
        #expect(after == before, "\(store.name)")
      }
    }
  }
}
