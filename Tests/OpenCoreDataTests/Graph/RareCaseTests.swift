import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectContext, reset(), delete(_:), mergeChanges(fromContextDidSave:);
// NSFetchedResultsController, init; NSAttributeDescription, valueTransformerName;
// NSIgnorePersistentStoreVersioningOption; NSPersistentStoreCoordinator, store types).

/// Counts how often it is prepared for its deletion.
final class PreparedSession: NSManagedObject {
  static let count = Locked(0)
  override func prepareForDeletion() { Self.count.withLock { $0 += 1 } }
}

/// A value of the app's own.
final class Mood: NSObject, NSSecureCoding {
  static let supportsSecureCoding = true
  let text: String
  init(_ text: String) { self.text = text }
  init?(coder: NSCoder) { text = coder.decodeObject(of: NSString.self, forKey: "text")?.description ?? "" }
  func encode(with coder: NSCoder) { coder.encode(NSString(string: text), forKey: "text") }
}

@Suite("Rare cases are as documented", .overBothStores, .serialized)
struct RareCaseTests {
  @Test("After a reset objects are faults that read as nil and can't be changed")
  func reset() async throws {
    let graph = try LinkedGraph(kind: .current)
    let context = graph.context()
    let (node, pending) = (LinkedGraph.make("Node", 1, in: context), LinkedGraph.make("Node", 2, in: context))
    context.delete(pending)
    node.setValue(LinkedGraph.make("Box", 1, in: context), forKey: "box")
    try context.save()
    let second = LinkedGraph.make("Node", 3, in: context)
    context.reset()
    for object in [node, second] {
      #expect(object.isFault && object.managedObjectContext == nil && !object.isInserted)
      #expect(object.value(forKey: "number") == nil && object.value(forKey: "box") == nil)
      #expect((object.value(forKey: "friends") as? NSSet)?.count == 0)
    }
    await #expect(processExitsWith: .failure) {
      let stack = try Stack(try TemporaryFolder())
      let context = stack.context()
      let session = NSManagedObject.make(stack.entity, in: context)
      context.reset()
      session.setValue("Rincon", forKey: "place")
    }
  }

  @Test("Each call of delete prepares the object")
  func deletion() throws {
    let stack = try Stack(
      try TemporaryFolder(), model: Sessions.model(className: "OpenCoreDataTests.PreparedSession"))
    let context = stack.context()
    let session = NSManagedObject.make(stack.entity, in: context)
    try context.save()
    PreparedSession.count.withLock { $0 = 0 }
    context.delete(session)
    context.delete(session)
    #expect(PreparedSession.count.withLock { $0 } == 2)
  }

  @Test("Objects that a merge has inserted are registered until the end of the event")
  func merge() async throws {
    let stack = try Stack(try TemporaryFolder())
    let (context, other) = (stack.context(), stack.context())
    let saved = Locked<[NSManagedObjectID]>([])
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: other, queue: nil
    ) { notification in
      nonisolated(unsafe) let notification = notification
      context.performAndWait { context.mergeChanges(fromContextDidSave: notification) }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try other.performAndWait {
      let session = NSManagedObject.make(stack.entity, in: other)
      try other.save()
      saved.withLock { $0 = [session.objectID] }
    }
    let id = try #require(saved.withLock { $0.first })
    #expect(context.performAndWait { context.registeredObject(for: id)?.isFault } == true)
    await context.perform {}
    #expect(context.performAndWait { context.registeredObject(for: id) } == nil)
  }

  @Test("A results controller takes a request without an order, if it has an empty list of descriptors")
  func noOrder() throws {
    let stack = try Stack(try TemporaryFolder())
    let context = stack.context()
    InsertionWay.single.insert(0..<3, into: context, stack.entity)
    let request = stack.request()
    request.sortDescriptors = []
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    try controller.performFetch()
    #expect(controller.fetchedObjects?.count == 3)
  }

  @Test("A transformable without a transformer keeps values of the class that it names, and refuses others")
  func transformable() async throws {
    func model(_ className: String?) -> NSManagedObjectModel {
      Sessions.model { entity in
        let mood = Sessions.attribute("mood", .transformableAttributeType)
        mood.attributeValueClassName = className
        entity.properties += [mood]
      }
    }
    let stack = try Stack(try TemporaryFolder(), model: model("OpenCoreDataTests.Mood"))
    let context = stack.context()
    let session = NSManagedObject.make(stack.entity, in: context)
    session.setValue(Mood("calm"), forKey: "mood")
    #expect((session.value(forKey: "mood") as? Mood)?.text == "calm")
    try context.save()
    context.refresh(session, mergeChanges: false)
    #expect((session.value(forKey: "mood") as? Mood)?.text == "calm")
    await #expect(processExitsWith: .failure) {
      let stack = try Stack(
        try TemporaryFolder(),
        model: Sessions.model { $0.properties += [Sessions.attribute("mood", .transformableAttributeType)] })
      NSManagedObject.make(stack.entity, in: stack.context()).setValue(Mood("calm"), forKey: "mood")
    }
  }

  @Test(
    "Without a check of versions a store is opened if it has the model's tables, and refused by their names if not",
    .sqliteOnly("About the file"))
  func versioning() throws {
    let folder = try TemporaryFolder()
    let stack = try Stack(folder, kind: .sqlite)
    for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
    let options = [NSIgnorePersistentStoreVersioningOption: true]
    func open(_ model: NSManagedObjectModel) throws {
      try NSPersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file, options: options)
    }
    try open(Sessions.model { $0.versionHashModifier = "2" })
    let error = #expect(throws: NSError.self) {
      try open(Sessions.model { $0.properties += [Sessions.attribute("mood", .stringAttributeType)] })
    }
    #expect(error?.localizedDescription.contains("mood") == true)
  }

  @Test("Apple's names of other store types exist, and stores of them are refused", .sqliteOnly("About types of files"))
  func storeTypes() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    let folder = try TemporaryFolder()
    for type in [NSBinaryStoreType, NSXMLStoreType] {
      let error = #expect(throws: NSError.self) {
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("store"))
      }
      #expect(error?.code == NSPersistentStoreInvalidTypeError)
    }
  }
}
