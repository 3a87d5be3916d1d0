import Foundation
import OpenCoreData
import TestSupport
import Testing

/// Taking over what other contexts have saved.
///
/// Rules pinned (Apple documentation: mergeChanges(fromContextDidSave:), mergeChanges(fromRemoteContextSave:into:),
/// automaticallyMergesChangesFromParent, didMergeChangesObjectIDsNotification):
/// - updated objects are refreshed and keep their unsaved changes, without a conflict at the next save;
/// - inserted objects are faulted in, deleted ones leave the context;
/// - a context's own notification and one of another coordinator change nothing;
/// - the remote form takes IDs or URIs; contexts merge parents first;
/// - an automatic merge follows saves of neighbours on the coordinator, into the parent, and of the parent;
/// - a merge is announced: ObjectsDidChange with objects, DidMergeChangesObjectIDs with IDs.
@Suite("Merging changes of other contexts", .overBothStores)
struct MergeChangesTests {
  /// How a notification says who changed.
  enum Form: String, CaseIterable, Sendable { case objects, objectIDs, bulkIDs }

  @Test("Updated, inserted and deleted objects", arguments: Form.allCases)
  func allKinds(form: Form) throws {
    let stack = try Stack(try TemporaryFolder())
    let (own, theirs) = (stack.context(), stack.context())
    try own.performAndWait {
      InsertionWay.single.insert(0..<3, into: own, stack.entity)
      try own.save()
    }
    let objects = try own.performAndWait { try Self.sorted(own, stack) }
    own.performAndWait { objects[0].setValue("own", forKey: "place") }
    let note = try Self.notification(of: theirs, form) {
      let same = try Self.sorted(theirs, stack)
      same[0].setValue(9, forKey: "rating")
      same[1].setValue("theirs", forKey: "place")
      theirs.delete(same[2])
      InsertionWay.single.insert(7..<8, into: theirs, stack.entity)
    }
    try own.performAndWait {
      let log = NoteKeeper(own)
      own.mergeChanges(fromContextDidSave: note)
      #expect(objects[0].place == "own" && objects[0].value(forKey: "rating") as? Int == 9)
      #expect(Array(objects[0].changedValues().keys) == ["place"])
      #expect(objects[1].place == "theirs" && !objects[1].hasChanges)
      #expect(objects[2].managedObjectContext == nil)
      #expect(own.updatedObjects == [objects[0]] && own.deletedObjects.isEmpty && own.insertedObjects.isEmpty)
      let change = try #require(log.userInfo(.NSManagedObjectContextObjectsDidChange))
      let inserted = try #require((change[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.first)
      #expect(inserted.place == "Spot 7" && !inserted.isInserted)
      #expect(change[NSRefreshedObjectsKey] as? Set == Set(objects[0...1]))
      #expect(change[NSDeletedObjectsKey] as? Set == [objects[2]])
      let merged = try #require(log.userInfo(.NSManagedObjectContextDidMergeChangesObjectIDs))
      #expect(merged[NSInsertedObjectIDsKey] as? Set == [inserted.objectID])
      #expect(merged[NSUpdatedObjectIDsKey] as? Set == Set(objects[0...1].map(\.objectID)))
      #expect(merged[NSDeletedObjectIDsKey] as? Set == [objects[2].objectID])
      // Based on what was merged, the save meets no conflict.
      try own.save()
    }
    #expect(
      try stack.sqlite("SELECT Z_PK, Z_OPT, ZPLACE, ZRATING FROM ZSESSION ORDER BY 1")
        == "1|3|own|9\n2|2|theirs|2\n4|1|Spot 7|3")
  }

  @Test(
    "A context's own notification and another coordinator's are ignored",
    .sqliteOnly("Two coordinators share the file"))
  func ignored() throws {
    let folder = try TemporaryFolder()
    let stack = try Stack(folder)
    let (own, foreign) = (stack.context(), try Stack(folder).context())
    let ownNote = try Self.notification(of: own, .objects) {
      InsertionWay.single.insert(0..<1, into: own, stack.entity)
    }
    let object = try own.performAndWait { try Self.sorted(own, stack)[0] }
    let foreignNote = try Self.notification(of: foreign, .objects) {
      try #require(try foreign.fetch(stack.request()).first).setValue("foreign", forKey: "place")
    }
    own.performAndWait {
      _ = object.place
      let log = NoteKeeper(own)
      own.mergeChanges(fromContextDidSave: ownNote)
      own.mergeChanges(fromContextDidSave: foreignNote)
      #expect(!object.isFault && object.place == "Spot 0" && log.names.isEmpty)
    }
  }

  @Test("What a child has saved is the parent's to save: its notification changes nothing there", arguments: [1, 2])
  func ofDescendants(levels: Int) throws {
    let stack = try Stack(try TemporaryFolder())
    let parent = stack.context()
    try parent.performAndWait {
      InsertionWay.single.insert(0..<3, into: parent, stack.entity)
      try parent.save()
    }
    var chain = [parent]
    for _ in 0..<levels { chain.append(stack.context(chain[chain.count - 1])) }
    let child = chain[levels]
    let note = try Self.notification(of: child, .objects) {
      let objects = try Self.sorted(child, stack)
      objects[0].setValue("changed", forKey: "place")
      child.delete(objects[1])
    }
    for context in chain.dropFirst().dropLast() { try context.performAndWait { try context.save() } }
    try parent.performAndWait {
      #expect(parent.deletedObjects.count == 1 && parent.updatedObjects.count == 1)
      parent.mergeChanges(fromContextDidSave: note)
      #expect(parent.deletedObjects.count == 1 && parent.updatedObjects.count == 1)
      try parent.save()
    }
    #expect(try stack.sqlite("SELECT ZPLACE FROM ZSESSION ORDER BY Z_PK") == "changed\nSpot 2")
  }

  @Test(
    "The remote form takes IDs and URIs, of another coordinator too",
    .sqliteOnly("Two coordinators share the file"), arguments: ["ids", "uris", "sets"])
  func remote(form: String) throws {
    let folder = try TemporaryFolder()
    let (stack, far) = (try Stack(folder), try Stack(folder))
    let writer = stack.context()
    let child = stack.context(writer)
    try writer.performAndWait {
      InsertionWay.single.insert(0..<2, into: writer, stack.entity)
      try writer.save()
    }
    let seen = try child.performAndWait { try Self.sorted(child, stack) }
    child.performAndWait { _ = seen.map(\.place) }
    let remote = far.context()
    let ids = try remote.performAndWait {
      let objects = try Self.sorted(remote, far)
      objects[0].setValue("remote", forKey: "place")
      remote.delete(objects[1])
      try remote.save()
      return objects.map(\.objectID)
    }
    let values: [any Sendable] =
      switch form {
      case "ids": ids.map { [$0] }
      case "uris": ids.map { [$0.uriRepresentation()] }
      default: ids.map { Set([$0]) }
      }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectsKey: values[0], NSDeletedObjectsKey: values[1]], into: [child, writer])
    try child.performAndWait {
      #expect(seen[0].place == "remote")
      #expect(seen[1].managedObjectContext == nil)
      let count = try child.count(for: stack.request())
      #expect(count == 1)
    }
  }

  @Test("Deleted elsewhere, changed here: the deletion stands")
  func deletedElsewhere() throws {
    let pair = try ConflictingPair(.error)
    pair.own.performAndWait { pair.object.setValue("mine", forKey: "place") }
    let id = pair.own.performAndWait { pair.object.objectID }
    let other = pair.stack.context()
    let note = try Self.notification(of: other, .objects) { other.delete(try other.existingObject(with: id)) }
    pair.own.performAndWait {
      pair.own.mergeChanges(fromContextDidSave: note)
      #expect(!pair.own.hasChanges)
      #expect(throws: NSError.self) { try pair.own.existingObject(with: id) }
    }
  }

  @Test("Merged insertions are loaded with one read when the first is looked at")
  func insertionsLoadTogether() throws {
    let stack = try Stack(try TemporaryFolder())
    let (own, theirs) = (stack.context(), stack.context())
    let note = try Self.notification(of: theirs, .objects) {
      InsertionWay.bulk.insert(0..<200, into: theirs, stack.entity)
    }
    own.performAndWait {
      let log = NoteKeeper(own)
      own.mergeChanges(fromContextDidSave: note)
      let inserted = log.userInfo(.NSManagedObjectContextObjectsDidChange)?[NSInsertedObjectsKey]
      let objects = (inserted as? Set<NSManagedObject>) ?? []
      #expect(objects.count == 200 && objects.allSatisfy(\.isFault))
      // The rows vanish; one look before has brought in all of them.
      _ = objects.first?.place
      _ = try? stack.sqlite("DELETE FROM ZSESSION")
      #expect(objects.allSatisfy { $0.place != nil })
    }
  }

  // MARK: Automatic

  @Test("Saves of neighbours on the coordinator come by themselves; off, they don't")
  func automaticOnCoordinator() async throws {
    let stack = try Stack(try TemporaryFolder())
    let (own, theirs, deaf) = (stack.context(), stack.context(), stack.context())
    own.performAndWait { own.automaticallyMergesChangesFromParent = true }
    let ownID = try Self.insertOne(theirs, stack)
    let (object, other) = try (
      own.performAndWait { try own.existingObject(with: ownID) },
      deaf.performAndWait { try deaf.existingObject(with: ownID) }
    )
    try theirs.performAndWait {
      try theirs.existingObject(with: ownID).setValue("new", forKey: "place")
      try theirs.save()
    }
    // The merge is the first thing on the queue after the save.
    own.performAndWait { #expect(object.place == "new") }
    deaf.performAndWait { #expect(other.place == "Spot 0") }
    own.performAndWait { own.automaticallyMergesChangesFromParent = false }
    try theirs.performAndWait {
      try theirs.existingObject(with: ownID).setValue("newer", forKey: "place")
      try theirs.save()
    }
    own.performAndWait { #expect(object.place == "new") }
  }

  @Test("A child hears of what its siblings save into the parent, and of the parent's own saves")
  func automaticOnParent() throws {
    let stack = try Stack(try TemporaryFolder())
    let parent = stack.context()
    let (own, sibling) = (stack.context(parent), stack.context(parent))
    own.performAndWait { own.automaticallyMergesChangesFromParent = true }
    let id = try Self.insertOne(parent, stack)
    let object = try own.performAndWait { try own.existingObject(with: id) }
    try sibling.performAndWait {
      try sibling.existingObject(with: id).setValue("sibling", forKey: "place")
      try sibling.save()
    }
    own.performAndWait { #expect(object.place == "sibling") }
    try parent.performAndWait {
      try parent.existingObject(with: id).setValue("parent", forKey: "place")
      try parent.save()
    }
    own.performAndWait { #expect(object.place == "parent") }
  }

  @Test("The view context of a container merges what background tasks save", .sqliteOnly("The container opens a file"))
  @MainActor func viewContext() async throws {
    let folder = try TemporaryFolder()
    let container = NSPersistentContainer(name: "Test", managedObjectModel: Sessions.model())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.file("view.sqlite"))]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    #expect(failure == nil)
    let view = container.viewContext
    view.automaticallyMergesChangesFromParent = true
    let merged = AsyncStream<Int> { continuation in
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidMergeChangesObjectIDs, object: view, queue: nil
      ) { note in
        continuation.yield((note.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)?.count ?? 0)
      }
      nonisolated(unsafe) let kept = token
      continuation.onTermination = { _ in NotificationCenter.default.removeObserver(kept) }
    }
    try await container.performBackgroundTask { context in
      let entity = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Session"])
      InsertionWay.bulk.insert(0..<5, into: context, entity)
      try context.save()
    }
    for await count in merged {
      #expect(count == 5)
      break
    }
    #expect(!view.hasChanges)
  }

  @Test("A context that announces IDs makes no objects for a merge")
  func mergeInIDs() throws {
    let stack = try Stack(try TemporaryFolder())
    let (own, theirs) = (stack.context(), stack.context())
    own.performAndWait { own.changeNotificationContents = .objectIDs }
    let note = try Self.notification(of: theirs, .bulkIDs) {
      InsertionWay.bulk.insert(0..<50, into: theirs, stack.entity)
    }
    own.performAndWait {
      let log = NoteKeeper(own)
      own.mergeChanges(fromContextDidSave: note)
      #expect(own.registeredObjects.isEmpty)
      let inserted = log.userInfo(.NSManagedObjectContextObjectsDidChange)?[NSInsertedObjectIDsKey]
      #expect((inserted as? ObjectIDCollection)?.count == 50)
    }
  }

  // MARK: Support

  private static func sorted(_ context: NSManagedObjectContext, _ stack: Stack) throws -> [NSManagedObject] {
    let request = stack.request()
    request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
    return try context.fetch(request)
  }

  private static func insertOne(_ context: NSManagedObjectContext, _ stack: Stack) throws -> NSManagedObjectID {
    try context.performAndWait {
      InsertionWay.single.insert(0..<1, into: context, stack.entity)
      try context.save()
      return try #require(try context.fetch(stack.request()).first).objectID
    }
  }

  /// The notification of the save after `changes`.
  private static func notification(
    of context: NSManagedObjectContext, _ form: Form, _ changes: () throws -> Void
  ) throws -> Notification {
    try context.performAndWait {
      if form == .bulkIDs { context.changeNotificationContents = .objectIDs }
      let log = NoteKeeper(context)
      try changes()
      try context.save()
      let name: Notification.Name =
        form == .objects ? .NSManagedObjectContextDidSave : .NSManagedObjectContextDidSaveObjectIDs
      return try #require(log.notifications.last { $0.name == name })
    }
  }

  @Test("A save does not announce as deleted what another context has inserted and not saved yet")
  func unsavedElsewhere() throws {
    let stack = try Stack(try TemporaryFolder())
    let (writer, reader) = (stack.context(), stack.context())
    let child = stack.context(writer)
    let id = writer.performAndWait { NSManagedObject.make(stack.entity, in: writer).objectID }
    let edited = try child.performAndWait {
      let object = try child.existingObject(with: id)
      object.setValue("edited", forKey: "place")
      return object
    }
    let notes = try reader.performAndWait {
      let early = reader.object(with: id)
      #expect(early.place == nil && early.isDeleted)
      reader.insert(NSManagedObject.make(stack.entity, in: reader))
      let keeper = NoteKeeper(reader)
      try reader.save()
      return keeper.notifications
    }
    try writer.performAndWait { try writer.save() }
    try child.performAndWait {
      for note in notes where note.name == .NSManagedObjectContextDidSave {
        #expect(note.userInfo?[NSDeletedObjectsKey] == nil)
        child.mergeChanges(fromContextDidSave: note)
      }
      #expect(edited.place == "edited" && child.updatedObjects == [edited])
      try child.save()
    }
    try writer.performAndWait { try writer.save() }
    #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION WHERE ZPLACE = 'edited'") == "1")
  }
}
