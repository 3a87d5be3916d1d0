import Foundation
import ModelTestSupport
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import PersistentStores

/// Apple's compiled models against the model files that they were compiled from. Rules: Apple documentation,
/// NSManagedObjectModel ("init(contentsOf:)", "entityVersionHashesByName"), and the files themselves.
@Suite("A compiled model is the model that it was compiled from", .enabled(if: SharedFiles.arePresent))
struct CompiledModelTests {
  private static let package = SharedStore.all[2].folder.appendingPathComponent("SampleModel.momd")

  @Test(
    "each .mom has the descriptions of its .xcdatamodel", arguments: ["SampleModel", "SampleModel2", "SampleModel3"])
  func equalsSource(version: String) throws {
    let source = Self.package.deletingLastPathComponent()
      .appendingPathComponent("SampleModel.xcdatamodeld/\(version).xcdatamodel")
    let compiled = try ModelFile.load(Self.package.appendingPathComponent("\(version).mom"))
    let read = try NSManagedObjectModel.load(contentsOf: source)
    #expect(modelText(compiled.model) == modelText(read))
    #expect(compiled.notes == [])
    #expect(compiled.model.versionIdentifiers == read.versionIdentifiers)
    let classes = { (model: NSManagedObjectModel) in model.entities.map(\.managedObjectClassName).sorted() }
    #expect(classes(compiled.model) == classes(read))
  }

  @Test("the hashes are those that VersionInfo.plist states, stated or computed")
  func hashes() throws {
    let plist = try Data(contentsOf: Self.package.appendingPathComponent("VersionInfo.plist"))
    let info = try #require(
      PropertyListSerialization.propertyList(from: plist, format: nil) as? [String: Any])
    let stated = try #require(info["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])
    #expect(stated.count == 3)
    for (version, hashes) in stated {
      let file = Self.package.appendingPathComponent("\(version).mom")
      #expect(try NSManagedObjectModel.load(contentsOf: file).entityVersionHashesByName == hashes)
      let alone = try CompiledModel(archive: Data(contentsOf: file)).model
      #expect(alone.entityVersionHashesByName == hashes)
    }
  }

  @Test("a .momd is its current version, and lists all of them")
  func packages() throws {
    let current = try ModelFile.currentVersion(of: Self.package)
    #expect(current.lastPathComponent == "SampleModel.mom")
    let model = try #require(NSManagedObjectModel(contentsOf: Self.package))
    #expect(modelText(model) == modelText(try NSManagedObjectModel.load(contentsOf: current)))
    #expect(
      try ModelFile.versions(of: Self.package).map(\.lastPathComponent)
        == ["SampleModel.mom", "SampleModel2.mom", "SampleModel3.mom"])
  }

  @Test("an .omo is refused with the way out")
  func optimized() {
    let file = Self.package.appendingPathComponent("SampleModel.omo")
    #expect(throws: NSError.self) { try NSManagedObjectModel.load(contentsOf: file) }
    do {
      _ = try NSManagedObjectModel.load(contentsOf: file)
    } catch {
      #expect((error as NSError).localizedDescription.contains("Give the .mom next to it"))
    }
  }

  @Test(
    "the model within a store is the one that it was written with",
    arguments: SharedStore.all.filter { $0.name != "surfjournal-kodeco" })
  func cached(store: SharedStore) throws {
    let read = try NSManagedObjectModel.load(contentsOf: store.modelURL)
    let found = try store.withCopy { try StoreModel.find(forStoreAt: $0, file: nil, embedded: []) }
    #expect(found.origin == .cache)
    #expect(found.notes == [])
    // What a store keeps has no renaming identifiers of its own but where they differ from the name, as in files.
    #expect(modelText(found.model) == modelText(read))
    let metadata = try store.metadata()
    #expect(found.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
  }
}
