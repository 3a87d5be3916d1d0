import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// Indexes that a large import leaves out are made again with the same statements: by itself, or by the next opening
/// for writing. (docs/decisions/0029.)
@Suite struct DeferredIndexTests {
  private static let xml = """
    <model>
      <entity name="Book">
        <attribute name="number" attributeType="Integer 64" optional="YES"/>
        <attribute name="title" attributeType="String" optional="YES"/>
        <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books"
          inverseEntity="Author"/>
        <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary" order="descending"/></fetchIndex>
        <uniquenessConstraints><uniquenessConstraint><constraint value="number"/></uniquenessConstraint>
        </uniquenessConstraints>
      </entity>
      <entity name="Author">
        <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author"
          inverseEntity="Book"/>
      </entity>
    </model>
    """
  private static let unique = "Z_Book_UNIQUE_number"
  private static let all = [unique, "Z_Book_byTitle", "ZBOOK_ZAUTHOR_INDEX"].sorted()

  private let folder: TemporaryFolder
  private let model: NSManagedObjectModel
  init() throws {
    folder = try TemporaryFolder()
    model = try NSManagedObjectModel.load(xml: Data(Self.xml.utf8))
  }

  private func open(readOnly: Bool = false) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("s"),
      options: [NSReadOnlyPersistentStoreOption: NSNumber(value: readOnly)])
    return coordinator
  }

  private func schema() throws -> String {
    try Programs.sqlite(
      "s", "SELECT name, sql FROM sqlite_schema WHERE type IN ('index', 'table') ORDER BY 1", in: folder)
  }

  private func indexes() throws -> [String] {
    try Programs.sqlite("s", "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql <> '' ORDER BY 1", in: folder)
      .split(separator: "\n").map(String.init)
  }

  private func book() throws -> NSEntityDescription { try #require(model.entitiesByName["Book"]) }

  @Test func `Only indexes that make reading faster are left out, and they come back as they were`() throws {
    let coordinator = try open()
    let before = try schema()
    #expect(try indexes() == Self.all)
    try coordinator.deferIndexes(of: book())
    #expect(try indexes() == [Self.unique])
    // The second input of a run.
    try coordinator.deferIndexes(of: book())
    try coordinator.restoreIndexes()
    #expect(try schema() == before)
    try coordinator.restoreIndexes()
    #expect(try schema() == before)
  }

  @Test func `The next opening for writing makes them, one for reading leaves the store alone`() throws {
    let coordinator = try open()
    let before = try schema()
    try coordinator.deferIndexes(of: book())
    let without = try schema()
    _ = try open(readOnly: true)
    #expect(try schema() == without)
    _ = try open()
    #expect(try schema() == before)
    // The process that has left them out goes on, and finds nothing left to do.
    try coordinator.restoreIndexes()
    #expect(try schema() == before)
  }

  @Test func `A transaction that is rolled back has left nothing out`() throws {
    let coordinator = try open()
    let before = try schema()
    try coordinator.beginTransaction()
    try coordinator.deferIndexes(of: book())
    try coordinator.rollBackTransaction()
    #expect(try schema() == before)
    try coordinator.beginTransaction()
    try coordinator.deferIndexes(of: book())
    try coordinator.restoreIndexes()
    try coordinator.commitTransaction()
    #expect(try schema() == before)
  }

  @Test func `A migration of a store without them makes all indexes of the new model`() throws {
    try open().deferIndexes(of: book())
    let newer = try NSManagedObjectModel.load(
      xml: Data(
        Self.xml.replacing(
          "name=\"title\" attributeType", with: "name=\"title\" defaultValueString=\"none\" attributeType"
        )
        .replacing(
          "<entity name=\"Author\">",
          with: "<entity name=\"Author\"><attribute name=\"name\" attributeType=\"String\" optional=\"YES\"/>"
        ).utf8))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newer)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("s"),
      options: [
        NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
        NSInferMappingModelAutomaticallyOption: NSNumber(value: true), OCDSourceModelsOption: [model],
      ])
    #expect(try indexes() == Self.all)
    #expect(try schema().contains("OPENCOREDATA_DEFERRED_INDEX") == false)
  }
}
