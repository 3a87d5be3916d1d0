import Foundation
import OpenCoreData
import TestSupport
import Testing

/// What the documentation of contexts and objects says about cases that few programs meet.
///
/// Rules pinned (Apple documentation of each member): `save()` without changes posts its notifications;
/// `refresh(_:mergeChanges:)` discards an insertion too; `reset()` announces the IDs of the objects; a transient
/// attribute has its default after a fetch and a refresh; `committedValues(forKeys:)` leaves out what was never committed;
/// `setQueryGenerationFrom(_:)` falls back to the newest state; `delete(_:)` prepares each time it is called; a child's
/// save is announced by its parent before it returns.
@Suite("Contexts behave as documented in rare cases", .overBothStores)
struct DocumentedBehaviourTests {
  @Test("A save without changes posts WillSave and DidSave")
  func emptySave() throws {
    let stack = try Stack(try TemporaryFolder())
    let context = stack.context()
    try context.performAndWait {
      let log = NoteKeeper(context)
      try context.save()
      #expect(
        log.names == [
          .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs,
        ])
      #expect(log.userInfo(.NSManagedObjectContextDidSave)?.isEmpty == true)
    }
  }

  @Test("What an observer of WillSave inserts is saved, even if nothing had changed")
  func changeBeforeSave() throws {
    let stack = try Stack(try TemporaryFolder())
    let context = stack.context()
    try context.performAndWait {
      let observer = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextWillSave, object: context, queue: nil
      ) { _ in InsertionWay.single.insert(0..<1, into: context, stack.entity) }
      try context.save()
      NotificationCenter.default.removeObserver(observer)
      #expect(!context.hasChanges)
    }
    let other = stack.context()
    #expect(try other.performAndWait { try other.count(for: stack.request()) } == 1)
  }

  @Test("A refresh without changes discards an insertion", arguments: [false, true])
  func refreshedInsertion(isAnnounced: Bool) throws {
    let stack = try Stack(try TemporaryFolder())
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(0..<2, into: context, stack.entity)
      if isAnnounced { context.processPendingChanges() }
      let log = NoteKeeper(context)
      let object = try #require(context.insertedObjects.first { $0.place == "Spot 0" })
      context.refresh(object, mergeChanges: true)
      #expect(object.place == "Spot 0" && object.isInserted)
      context.refresh(object, mergeChanges: false)
      #expect(object.isFault && !object.isInserted && object.managedObjectContext === context)
      #expect(context.insertedObjects.count == 1)
      context.processPendingChanges()
      let info = log.userInfo(.NSManagedObjectContextObjectsDidChange)
      #expect(info?[NSDeletedObjectsKey] as? Set<NSManagedObject> == (isAnnounced ? [object] : nil))
      try context.save()
      #expect(object.place == nil && object.isDeleted)
      try context.save()
    }
    let other = stack.context()
    #expect(try other.performAndWait { try other.fetch(stack.request()).map(\.place) } == ["Spot 1"])
  }

  @Test(
    "A text equals a whole number by its digits, in a store and in memory",
    arguments: [("IN {9, 10}", true), ("IN {19, 10}", false), ("== 9", true), ("!= 9", false), ("!= 8", true)])
  func textAndNumber(_ condition: String, isMet: Bool) throws {
    let stack = try Stack(try TemporaryFolder())
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(0..<1, into: context, stack.entity)
      let object = try #require(context.insertedObjects.first)
      object.setValue("9", forKey: "place")
      try context.save()
      let request = stack.request()
      request.predicate = NSPredicate(format: "place \(condition)")
      #expect(try context.fetch(request).count == (isMet ? 1 : 0))
      #expect(request.predicate?.evaluate(with: object) == isMet)
    }
  }

  @Test("NSManagedObject is the class of no entity")
  func entityOfTheBaseClass() async {
    await #expect(processExitsWith: .failure) {
      let attribute = Sessions.attribute("mood", .stringAttributeType)
      let entity = NSEntityDescription()
      entity.name = "Mood"
      entity.properties = [attribute]
      let model = NSManagedObjectModel()
      model.entities = [entity]
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      withExtendedLifetime(coordinator) { _ = NSManagedObject.entity() }
    }
  }

  @Test("The notification of a reset has the IDs of all objects")
  func reset() throws {
    let stack = try Stack(try TemporaryFolder())
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(0..<1, into: context, stack.entity)
      try context.save()
      InsertionWay.single.insert(1..<2, into: context, stack.entity)
      let objects = try context.fetch(stack.request())
      #expect(Set(objects.map(\.place)) == ["Spot 0", "Spot 1"])
      let ids = Set(objects.map(\.objectID))
      let log = NoteKeeper(context)
      context.reset()
      let info = try #require(log.userInfo(.NSManagedObjectContextObjectsDidChange))
      #expect(Set(info[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID] ?? []) == ids)
      #expect(objects.allSatisfy { $0.managedObjectContext == nil && !$0.hasChanges })
      #expect(!context.hasChanges && context.registeredObjects.isEmpty)
    }
  }

  @Test("A required transient attribute has its default after a fetch, a refresh, and in a child")
  func transientDefault() throws {
    let model = Sessions.model { entity in
      let mood = Sessions.attribute("mood", .stringAttributeType)
      mood.isTransient = true
      mood.isOptional = false
      mood.defaultValue = "calm"
      entity.properties.append(mood)
    }
    let stack = try Stack(try TemporaryFolder(), model: model)
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(0..<1, into: context, stack.entity)
      let object = try #require(context.insertedObjects.first)
      object.setValue("wild", forKey: "mood")
      try context.save()
      #expect(object.value(forKey: "mood") as? String == "wild")
      context.refresh(object, mergeChanges: false)
      #expect(object.value(forKey: "mood") as? String == "calm")
      object.setValue("wild", forKey: "mood")
      object.setValue(5, forKey: "rating")
      let child = stack.context(context)
      try child.performAndWait {
        let same = try #require(try child.fetch(stack.request()).first)
        #expect(same.value(forKey: "mood") as? String == "calm")
      }
      try context.save()
    }
    let other = stack.context()
    try other.performAndWait {
      let object = try #require(try other.fetch(stack.request()).first)
      #expect(object.value(forKey: "mood") as? String == "calm" && object.changedValues().isEmpty)
      object.setValue(6, forKey: "rating")
      try other.save()
    }
  }

  @Test("An inserted object has no committed values")
  func committedValues() throws {
    let stack = try Stack(try TemporaryFolder())
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(0..<1, into: context, stack.entity)
      let object = try #require(context.insertedObjects.first)
      #expect(object.committedValues(forKeys: ["place", "rating"]).isEmpty)
      #expect(object.committedValues(forKeys: nil).isEmpty)
      try context.save()
      object.setValue("elsewhere", forKey: "place")
      #expect(object.committedValues(forKeys: ["place"]) as? [String: String] == ["place": "Spot 0"])
    }
  }

  @Test("A store without generations is read in its newest state")
  func unsupportedGeneration() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let (context, writer) = (
      NSManagedObjectContext(concurrencyType: .privateQueue), NSManagedObjectContext(concurrencyType: .privateQueue)
    )
    for one in [context, writer] { one.persistentStoreCoordinator = coordinator }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
    try context.performAndWait {
      try context.setQueryGenerationFrom(.current)
      #expect(try context.count(for: request) == 0)
    }
    try writer.performAndWait {
      let entity = try #require(coordinator.managedObjectModel.entitiesByName["Session"])
      InsertionWay.single.insert(0..<1, into: writer, entity)
      try writer.save()
    }
    #expect(try context.performAndWait { try context.count(for: request) } == 1)
  }

  @Test("A parent on the main queue announces what its child has saved before the save returns")
  @MainActor
  func announcementOfTheParent() throws {
    let stack = try Stack(try TemporaryFolder())
    let parent = NSManagedObjectContext(concurrencyType: .mainQueue)
    parent.persistentStoreCoordinator = stack.coordinator
    let child = stack.context(parent)
    let log = NoteKeeper(parent)
    try child.performAndWait {
      InsertionWay.single.insert(0..<1, into: child, stack.entity)
      try child.save()
    }
    let info = log.userInfo(.NSManagedObjectContextObjectsDidChange)
    #expect((info?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.first?.place == "Spot 0")
  }

  @Test("A merge announces the IDs that were refreshed")
  func refreshedIDs() throws {
    let stack = try Stack(try TemporaryFolder())
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(0..<1, into: context, stack.entity)
      try context.save()
      let object = try #require(try context.fetch(stack.request()).first)
      let log = NoteKeeper(context)
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSRefreshedObjectIDsKey: [object.objectID]], into: [context])
      let info = try #require(log.userInfo(.NSManagedObjectContextDidMergeChangesObjectIDs))
      #expect(info[NSRefreshedObjectIDsKey] as? Set == [object.objectID] && info[NSUpdatedObjectIDsKey] == nil)
    }
  }
}
