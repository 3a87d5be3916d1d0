import Foundation
@testable import OpenCoreData
import TestSupport
import Testing

/// A store that can't be read: another program has taken its tables away.
///
/// Rules pinned (Apple documentation: NSManagedObjectContext, "fetch(_:)", "save()", "existingObject(with:)",
/// "shouldDeleteInaccessibleFaults"; NSManagedObject, "Faulting"): whatever can throw throws the store's error, and
/// nothing has changed then; reading a property can't throw, so it ends the process.
@Suite("An error of the store is thrown wherever an error can be thrown", .sqliteOnly("its tables are taken away"))
struct StoreErrorTests {
  private let stack: Stack

  init() throws {
    let model = Sessions.model()
    let session = try #require(model.entitiesByName["Session"])
    let spot = NSEntityDescription()
    spot.name = "Spot"
    let (toSpot, toSessions) = (NSRelationshipDescription(), NSRelationshipDescription())
    (toSpot.name, toSpot.destinationEntity, toSpot.maxCount, toSpot.isOptional) = ("spot", spot, 1, true)
    (toSessions.name, toSessions.destinationEntity, toSessions.isOptional) = ("sessions", session, true)
    (toSpot.inverseRelationship, toSessions.inverseRelationship) = (toSessions, toSpot)
    session.properties.append(toSpot)
    spot.properties = [Sessions.attribute("name", .stringAttributeType), toSessions]
    model.entities.append(spot)
    stack = try Stack(try TemporaryFolder(), model: model)
    let context = stack.context()
    try context.performAndWait {
      let home = NSManagedObject(entity: spot, insertInto: context)
      home.setValue("Bells", forKey: "name")
      InsertionWay.single.insert(0..<3, into: context, stack.entity)
      try context.save()
    }
    try stack.sqlite("UPDATE ZSESSION SET ZSPOT = 1")
  }

  /// Runs `body` while the table can't be read.
  private func without(_ table: String, _ body: () throws -> Void) throws {
    try stack.sqlite("ALTER TABLE \(table) RENAME TO GONE")
    defer { _ = try? stack.sqlite("ALTER TABLE GONE RENAME TO \(table)") }
    try body()
  }

  private func sessions(_ format: String, sortedBy key: String = "place") -> NSFetchRequest<NSManagedObject> {
    let request = stack.request()
    request.predicate = NSPredicate(format: format)
    request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
    return request
  }

  @Test("A fetch through a relationship, with an unsaved change", arguments: ["spot.name == 'Bells'", "TRUEPREDICATE"])
  func keyPaths(format: String) throws {
    let context = stack.context()
    try context.performAndWait {
      let request = sessions(format, sortedBy: "spot.name")
      let first = try #require(try context.fetch(sessions("rating == 1")).first)
      first.setValue(5, forKey: "rating")
      try without("ZSPOT") {
        #expect(throws: NSError.self) { try context.fetch(request) }
      }
      #expect(first.isUpdated && context.updatedObjects == [first])
      #expect(try context.fetch(request).count == 3)
    }
  }

  @Test("A child's fetch, whose parent has an unsaved change")
  func parents() throws {
    let parent = stack.context()
    let child = stack.context(parent)
    try parent.performAndWait {
      try #require(try parent.fetch(sessions("rating == 1")).first).setValue(5, forKey: "rating")
    }
    try child.performAndWait {
      let request = sessions("spot.name == 'Bells'")
      try without("ZSPOT") {
        #expect(throws: NSError.self) { try child.fetch(request) }
      }
      #expect(try child.fetch(request).count == 3)
    }
  }

  @Test("A results controller whose sections are named through a relationship")
  func sections() throws {
    let context = stack.context()
    try context.performAndWait {
      let controller = NSFetchedResultsController(
        fetchRequest: sessions("TRUEPREDICATE"), managedObjectContext: context, sectionNameKeyPath: "spot.name",
        cacheName: nil)
      try without("ZSPOT") {
        #expect(throws: NSError.self) { try controller.performFetch() }
      }
      try controller.performFetch()
      #expect(controller.sections?.map(\.name) == ["Bells"])
    }
  }

  @Test("existingObject(with:), and a fault that is loaded later")
  func existing() throws {
    let context = stack.context()
    try context.performAndWait {
      let id = try #require(try context.fetch(sessions("rating == 1")).first).objectID
      context.reset()
      try without("ZSESSION") {
        #expect(throws: NSError.self) { try context.existingObject(with: id) }
      }
      let found = try context.existingObject(with: id)
      #expect(!found.isDeleted && found.place == "Spot 0")
    }
  }

  @Test("A child's save that has to read a row again: nothing of it is taken over")
  func childSave() throws {
    let parent = stack.context()
    let child = stack.context(parent)
    let id = parent.performAndWait {
      InsertionWay.single.insert(7..<8, into: parent, stack.entity)
      return parent.insertedObjects.first?.objectID
    }
    let session = try child.performAndWait { try child.existingObject(with: try #require(id)) }
    // The child has read the session before it had a version.
    try parent.performAndWait {
      try parent.save()
      parent.refreshAllObjects()
    }
    try child.performAndWait {
      session.setValue("changed", forKey: "place")
      try without("ZSESSION") {
        #expect(throws: NSError.self) { try child.save() }
      }
      #expect(session.isUpdated && child.hasChanges)
      #expect(parent.performAndWait { !parent.hasChanges })
      try child.save()
    }
    try parent.performAndWait { try parent.save() }
    #expect(try stack.sqlite("SELECT ZPLACE FROM ZSESSION WHERE ZRATING = 3 AND ZPLACE = 'changed'") == "changed")
  }

  @Test("A save at the root: its changes stay, and succeed later")
  func rootSave() throws {
    let context = stack.context()
    try context.performAndWait {
      let session = try #require(try context.fetch(sessions("rating == 1")).first)
      session.setValue("changed", forKey: "place")
      InsertionWay.single.insert(8..<9, into: context, stack.entity)
      try without("ZSESSION") {
        #expect(throws: NSError.self) { try context.save() }
      }
      #expect(session.isUpdated && context.insertedObjects.count == 1)
      try context.save()
    }
    #expect(try stack.sqlite("SELECT count(*), sum(ZPLACE = 'changed') FROM ZSESSION") == "4|1")
  }

  @Test("A property of a fault ends the process with the reason")
  func property() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let suite = try StoreErrorTests()
      let context = suite.stack.context()
      try context.performAndWait {
        let id = try #require(try context.fetch(suite.sessions("rating == 1")).first).objectID
        context.reset()
        try suite.stack.sqlite("ALTER TABLE ZSESSION RENAME TO GONE")
        _ = context.object(with: id).place
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("can't be read"), "\(text)")
  }

  @Test("Without shouldDeleteInaccessibleFaults, a fault whose row is gone ends the process with the reason")
  func inaccessible() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let suite = try StoreErrorTests()
      let context = suite.stack.context()
      try context.performAndWait {
        context.shouldDeleteInaccessibleFaults = false
        let id = try #require(try context.fetch(suite.sessions("rating == 1")).first).objectID
        context.reset()
        try suite.stack.sqlite("DELETE FROM ZSESSION")
        _ = context.object(with: id).place
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("No row is left"), "\(text)")
  }
}
