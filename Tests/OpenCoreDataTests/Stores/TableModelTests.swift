import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// The model that the tables alone give: docs/coredata-format.md, "Tables and columns", "Relationships".
@Suite("Tables give a model whose names lead back to the columns")
struct TableModelTests {
  /// A store of this library's, which keeps no model of its own.
  private func tables(of xml: String) throws -> (model: NSManagedObjectModel, notes: [String]) {
    let folder = try TemporaryFolder()
    let url = folder.file("a.sqlite")
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: try NSManagedObjectModel.load(xml: Data(xml.utf8)))
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
    try coordinator.remove(store)
    let found = try withExtendedLifetime(folder) { try StoreModel.find(forStoreAt: url, file: nil, embedded: []) }
    #expect(found.origin == .tables)
    return (found.model, found.notes)
  }

  @Test("every attribute type by its column")
  func attributes() throws {
    let types = [
      "Integer 16", "Integer 64", "Decimal", "Double", "Float", "String", "Boolean", "Date", "Binary", "UUID", "URI",
      "Transformable",
    ]
    let lines = types.enumerated().map { #"<attribute name="aName\#($0)" attributeType="\#($1)"/>"# }
    let found = try tables(of: #"<model><entity name="Thing">\#(lines.joined())</entity></model>"#)
    let entity = try #require(found.model.entitiesByName["Thing"])
    let expected: [NSAttributeType] = [
      .integer64AttributeType, .integer64AttributeType, .decimalAttributeType, .doubleAttributeType,
      .doubleAttributeType, .stringAttributeType, .integer64AttributeType, .dateAttributeType,
      .binaryDataAttributeType, .binaryDataAttributeType, .stringAttributeType, .binaryDataAttributeType,
    ]
    #expect((0..<12).map { entity.attributesByName["aname\($0)"]?.attributeType } == expected)
    #expect(entity.properties.allSatisfy { $0.isOptional })
    #expect(found.notes.contains { $0.contains("their original spelling is unknown") })
    #expect(found.notes.contains { $0.contains("or Booleans") })
  }

  @Test("inheritance from Z_PRIMARYKEY; keys that are clear are relationships, others numbers with a note")
  func relationships() throws {
    let xml = """
      <model>
        <entity name="Animal"><attribute name="name" attributeType="String"/></entity>
        <entity name="Dog" parentEntity="Animal"><attribute name="breed" attributeType="String"/></entity>
        <entity name="Owner">
          <relationship name="pet" optional="YES" maxCount="1" destinationEntity="Animal"/>
          <relationship name="home" optional="YES" maxCount="1" destinationEntity="House"/>
          <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Owner" inverseName="friendOf"/>
          <relationship name="friendOf" optional="YES" toMany="YES" destinationEntity="Owner" inverseName="friends"/>
        </entity>
        <entity name="House"><attribute name="number" attributeType="Integer 32"/></entity>
      </model>
      """
    let found = try tables(of: xml)
    let entities = found.model.entitiesByName
    #expect(entities["Dog"]?.superentity?.name == "Animal")
    #expect(entities["Animal"]?.ownProperties.map(\.name).sorted() == ["breed", "name"])
    #expect(entities["Dog"]?.ownProperties.isEmpty == true)
    #expect(entities["Owner"]?.relationshipsByName["pet"]?.destinationEntity?.name == "Animal")
    #expect(entities["Owner"]?.attributesByName["home"]?.attributeType == .integer64AttributeType)
    #expect(entities["Owner"]?.properties.map(\.name).sorted() == ["home", "pet"])
    #expect(found.notes.contains { $0.hasPrefix("ZHOME of ZOWNER may be keys") })
    #expect(found.notes.contains { $0.contains("it is unknown which subentity has which") })
    #expect(found.notes.contains { $0.contains("these tables join objects: Z_4FRIENDS") }, "\(found.notes)")
  }

  @Test("Apple's store without a model", .enabled(if: SharedFiles.arePresent))
  func oldStore() throws {
    let found = try SharedStore.all[0].withCopy { try StoreModel.find(forStoreAt: $0, file: nil, embedded: []) }
    #expect(found.origin == .tables)
    let entity = try #require(found.model.entitiesByName["JournalEntry"])
    let columns = try SharedStore.all[0].query("SELECT name FROM pragma_table_info('ZJOURNALENTRY')")
      .split(separator: "\n").map(String.init).filter { !$0.hasPrefix("Z_") }
    #expect(!columns.isEmpty)
    #expect(entity.properties.map { "Z\($0.name.uppercased())" }.sorted() == columns.sorted())
    #expect(entity.attributesByName["date"]?.attributeType == .dateAttributeType)
  }

  @Test("damaged key rows are an error that names them", .enabled(if: SharedFiles.arePresent))
  func damaged() throws {
    let changes = [
      "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT + 1; UPDATE Z_PRIMARYKEY SET Z_SUPER = 1 WHERE Z_ENT = 4":
        "inherits from itself",
      "UPDATE Z_PRIMARYKEY SET Z_NAME = NULL WHERE Z_ENT = 2": "a row without a number or name",
    ]
    for (sql, reason) in changes {
      try SharedStore.all[2].withCopy { url in
        try sqlite(url, "DROP TABLE Z_MODELCACHE; \(sql)")
        let error = #expect(throws: NSError.self) {
          try StoreModel.find(forStoreAt: url, file: nil, embedded: [])
        }
        #expect(error?.localizedDescription.contains(reason) == true)
      }
    }
  }
}
