import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectModel and NSEntityDescription, isEqual(_:); NSEntityDescription,
// managedObjectClassName; NSPropertyDescription, isIndexed): what is described counts, not which object describes it; a
// class without a module is that of the module that has the model.

@Suite("Models and entities are equal if they describe the same")
struct DescriptionEqualityTests {
  private static func model() throws -> NSManagedObjectModel {
    try NSManagedObjectModel.load(xml: Data(LinkedGraph.xml.utf8))
  }

  @Test("Read twice or copied, with relationships that lead in circles")
  func equal() throws {
    let (one, other) = (try Self.model(), try Self.model())
    #expect(one == other && one.hash == other.hash && one !== other)
    #expect(one.copy() as? NSManagedObjectModel == other)
    for (name, entity) in one.entitiesByName {
      #expect(entity == other.entitiesByName[name] && entity.hash == other.entitiesByName[name]?.hash)
    }
    #expect(Set(one.entities + other.entities).count == one.entities.count)
    #expect(Set([one, other]).count == 1)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: other)
    #expect(coordinator.managedObjectModel == one)
  }

  private static let changes: [(name: String, change: @Sendable (NSEntityDescription) -> Void)] = [
    ("name", { $0.name = "Other" }),
    ("class", { $0.managedObjectClassName = "Other" }),
    ("abstract", { $0.isAbstract = true }),
    ("user info", { $0.userInfo = ["a": "b"] }),
    ("modifier", { $0.versionHashModifier = "2" }),
    ("renaming", { $0.renamingIdentifier = "Former" }),
    ("unique", { $0.uniquenessConstraints = [["number"]] }),
    ("property", { $0.properties += [Sessions.attribute("more", .stringAttributeType)] }),
    ("type", { ($0.attributesByName["number"])?.attributeType = .integer16AttributeType }),
    ("optional", { $0.propertiesByName["number"]?.isOptional = false }),
    ("default", { $0.attributesByName["number"]?.defaultValue = 3 }),
    ("rule", { $0.relationshipsByName["items"]?.deleteRule = .cascadeDeleteRule }),
    ("order", { $0.relationshipsByName["items"]?.isOrdered = false }),
    ("destination", { $0.relationshipsByName["items"]?.destinationEntity = $0 }),
    ("inverse", { $0.relationshipsByName["items"]?.inverseRelationship = nil }),
    (
      "index",
      { entity in
        let element = NSFetchIndexElementDescription(
          propertyName: "number", collationType: .binary, ascending: true)
        entity.indexes = [NSFetchIndexDescription(name: "byNumber", elements: [element])]
      }
    ),
  ]

  @Test("Any difference makes both unequal", arguments: changes.indices)
  func different(index: Int) throws {
    let (one, other) = (try Self.model(), try Self.model())
    let (box, changed) = (try #require(one.entitiesByName["Box"]), try #require(other.entitiesByName["Box"]))
    Self.changes[index].change(changed)
    #expect(box != changed, "\(Self.changes[index].name)")
    #expect(one != other, "\(Self.changes[index].name)")
  }

  @Test("A class without a module is that of the module which embeds the model, in a file too")
  func module() throws {
    func xml(_ colour: String) -> String {
      """
      <model><entity name="Animal" representedClassName=".Twin"/>
      <entity name="Plant" representedClassName="Twin"><attribute name="\(colour)" attributeType="String"/></entity></model>
      """
    }
    let types: [(String, NSManagedObject.Type)] = [("TwinsOne", TwinOne.self), ("TwinsTwo", TwinTwo.self)]
    for (module, type) in types {
      EmbeddedModels.register(
        EmbeddedModel(
          name: "Twins", moduleName: module, currentVersionName: "Twins",
          versions: [EmbeddedModel.Version(name: "Twins", xml: xml(module))], classes: ["Twin": type]))
    }
    let folder = try TemporaryFolder()
    for (module, type) in types {
      let file = folder.file("\(module).xcdatamodel")
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
      try Data(xml(module).utf8).write(to: file.appendingPathComponent("contents"))
      let model = try NSManagedObjectModel.load(contentsOf: file)
      #expect(model.entitiesByName["Animal"]?.managedObjectClassName == "\(module).Twin")
      #expect(model.entitiesByName["Plant"]?.managedObjectClassName == "Twin")
      #expect(model.entitiesByName["Plant"]?.objectClass == type)
      let copy = try #require(model.copy() as? NSManagedObjectModel)
      #expect(copy.entitiesByName["Plant"]?.objectClass == type)
    }
  }

  @Test("A property that is marked as indexed has an index in a new store")
  func indexed() throws {
    let folder = try TemporaryFolder()
    let model = Sessions.model { $0.propertiesByName["place"]?.isIndexed = true }
    let stack = try Stack(folder, model: model, kind: .sqlite)
    #expect(stack.entity.propertiesByName["place"]?.isIndexed == true)
    #expect(stack.entity.propertiesByName["rating"]?.isIndexed == false)
    #expect(stack.entity.indexes.map(\.name) == ["place"])
    #expect(
      try sqlite(stack.file, "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql LIKE '%ZPLACE%'") == "1")
  }
}

final class TwinOne: NSManagedObject {}
final class TwinTwo: NSManagedObject {}
