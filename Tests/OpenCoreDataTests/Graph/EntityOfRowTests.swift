import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rule (NSPersistentStoreCoordinator.managedObjectID(forURIRepresentation:)): the entities of a hierarchy share one key
// sequence, so that a URI can name the key of a row with another entity. The entity of the row counts: no object has the
// other ID, and its fault is inaccessible (Apple documentation: shouldDeleteInaccessibleFaults).

@Suite("An ID with the key of a row of another entity of the hierarchy", .overBothStores)
struct EntityOfRowTests {
  private let stack: Stack
  private let lesson: NSEntityDescription

  init() throws {
    let lesson = NSEntityDescription()
    lesson.name = "Lesson"
    lesson.managedObjectClassName = "NSManagedObject"
    // Ahead of the inherited attributes: the same slots have other values.
    lesson.properties = [Sessions.attribute("coach", .stringAttributeType)]
    let model = Sessions.model { $0.subentities = [lesson] }
    model.entities.append(lesson)
    stack = try Stack(try TemporaryFolder(), model: model)
    self.lesson = lesson
  }

  /// Saves an object whose place is the name of its entity.
  private func save(_ entity: NSEntityDescription, in context: NSManagedObjectContext) throws -> NSManagedObjectID {
    try context.performAndWait {
      let object = NSManagedObject.make(entity, in: context)
      object.setValue(entity.name, forKey: "place")
      try context.save()
      return object.objectID
    }
  }

  /// An ID with the key of a saved lesson, and the entity of sessions.
  private func otherID() throws -> NSManagedObjectID {
    let id = try save(lesson, in: stack.context())
    let text = id.uriRepresentation().absoluteString.replacing("/Lesson/", with: "/Session/")
    let uri = try #require(URL(string: text))
    return try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri))
  }

  @Test("A fault with the ID has no row")
  func fault() throws {
    let (id, context) = (try otherID(), stack.context())
    try context.performAndWait {
      let object = context.object(with: id)
      #expect(object.place == nil)
      #expect(object.isDeleted)
      let found = try context.fetch(stack.request())
      #expect(found.map(\.entity) == [lesson])
      #expect(found.map(\.place) == ["Lesson"])
      #expect(object.place == nil)
      #expect(!context.hasChanges)
    }
  }

  @Test("There is no existing object with the ID")
  func existingObject() throws {
    let (id, context) = (try otherID(), stack.context())
    let error = #expect(throws: NSError.self) {
      try context.performAndWait { _ = try context.existingObject(with: id) }
    }
    #expect(error?.code == NSManagedObjectReferentialIntegrityError)
  }

  @Test("A fetch takes the place of a fault with the ID")
  func fetch() throws {
    let (id, context) = (try otherID(), stack.context())
    try context.performAndWait {
      let object = context.object(with: id)
      let places = try context.fetch(stack.request()).map(\.place)
      #expect(places == ["Lesson"])
      #expect(object.place == nil)
      #expect(object.managedObjectContext == nil)
    }
  }

  @Test("A child changes the row although its parent has a fault with the ID")
  func child() throws {
    let (id, parent) = (try otherID(), stack.context())
    let child = stack.context(parent)
    let object = parent.performAndWait { parent.object(with: id) }
    try child.performAndWait {
      for object in try child.fetch(stack.request()) { object.setValue("Pipe", forKey: "place") }
      try child.save()
    }
    try parent.performAndWait {
      try parent.save()
      #expect(object.place == nil)
    }
    let reader = stack.context()
    #expect(try reader.performAndWait { try reader.fetch(stack.request()).map(\.place) } == ["Pipe"])
  }

  // The key of the lesson, which the transaction takes back, is given again.
  @Test("A merged insertion that was taken back")
  func mergedInsertion() throws {
    let (writer, context) = (stack.context(), stack.context())
    try stack.coordinator.beginTransaction()
    let id = try save(lesson, in: writer)
    try stack.coordinator.rollBackTransaction()
    writer.performAndWait { writer.reset() }
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectIDsKey: [id]], into: [context])
    let object = context.performAndWait { context.object(with: id) }
    #expect(try save(stack.entity, in: writer).storeKey == id.storeKey)
    try context.performAndWait {
      let places = try context.fetch(stack.request()).map(\.place)
      #expect(places == ["Session"])
      #expect(object.place == nil)
    }
  }
}
