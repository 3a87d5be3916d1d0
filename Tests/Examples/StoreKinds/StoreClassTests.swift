import Foundation
import OpenCoreData
import TestSupport
import Testing

/// A folder that notes what is asked of it.
// Unchecked: the library calls the store from one thread at a time, and the tests look when it is quiet.
final class RecordingFolderStore: FolderStore, @unchecked Sendable {
  private(set) var calls: [String] = []
  private(set) var hadTemporaryID = false
  private(set) var registered: Set<NSManagedObjectID> = []
  var refusal: NSError?

  override var type: String { "ExampleRecordingFolder" }
  func forgetCalls() { calls = [] }

  override func loadMetadata() throws {
    calls.append("loadMetadata")
    try super.loadMetadata()
    metadata[NSStoreTypeKey] = type
  }
  override func didAdd(to coordinator: NSPersistentStoreCoordinator) { calls.append("didAdd") }
  override func willRemove(from coordinator: NSPersistentStoreCoordinator?) { calls.append("willRemove") }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    if let save = request as? NSSaveChangesRequest {
      let sets = [save.insertedObjects, save.updatedObjects, save.deletedObjects, save.lockedObjects]
      calls.append("save " + sets.map { $0.map { String($0.count) } ?? "-" }.joined(separator: " "))
      hadTemporaryID = hadTemporaryID || sets.contains { $0?.contains(where: \.objectID.isTemporaryID) ?? false }
      if let refusal { throw refusal }
    } else {
      calls.append("fetch")
    }
    return try super.execute(request, with: context)
  }
  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    calls.append("values")
    return try super.newValuesForObject(with: objectID, with: context)
  }
  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    calls.append("obtain \(array.map { $0.value(forKey: "title") as? String ?? "nil" }.joined(separator: " "))")
    return try super.obtainPermanentIDs(for: array)
  }
  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    calls.append("register \(objectIDs.count)")
    registered.formUnion(objectIDs)
  }
  override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
    calls.append("unregister \(objectIDs.count)")
    registered.subtract(objectIDs)
  }
}

/// A CSV file that notes what is asked of it, and can refuse to be written.
// Unchecked: as above.
final class RecordingCSVStore: CSVFileStore, @unchecked Sendable {
  private(set) var calls: [String] = []
  var refusal: NSError?

  override var type: String { "ExampleRecordingCSV" }
  func forgetCalls() { calls = [] }

  override func loadMetadata() throws {
    calls.append("loadMetadata")
    try super.loadMetadata()
    metadata[NSStoreTypeKey] = type
  }
  override func load() throws {
    calls.append("load")
    try super.load()
  }
  override func save() throws {
    calls.append("save \(cacheNodes().count)")
    if let refusal { throw refusal }
    try super.save()
  }
  override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    calls.append("reference")
    return super.newReferenceObject(for: managedObject)
  }
  override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    calls.append("node \(managedObject.objectID.isTemporaryID ? "temporary" : "permanent")")
    return super.newCacheNode(for: managedObject)
  }
  override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    calls.append("update")
    super.updateCacheNode(node, from: managedObject)
  }
  override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    calls.append("remove \(cacheNodes.count)")
  }
}

/// Rules (Apple documentation: NSIncrementalStore, NSAtomicStore, NSPersistentStoreCoordinator): which methods of a
/// store are called, in which order, and with what.
@Suite("The order of calls of a client's store") @MainActor struct StoreClassTests {
  private let folder: TemporaryFolder
  private let folderType = NSPersistentStore.StoreType(rawValue: "ExampleRecordingFolder")
  private let csvType = NSPersistentStore.StoreType(rawValue: "ExampleRecordingCSV")

  init() throws {
    folder = try TemporaryFolder()
    StoreKind.register()
    NSPersistentStoreCoordinator.registerStoreClass(RecordingFolderStore.self, type: folderType)
    NSPersistentStoreCoordinator.registerStoreClass(RecordingCSVStore.self, type: csvType)
  }

  private func folderStack(_ name: String = "sessions") throws -> (SessionStack, RecordingFolderStore) {
    let stack = try SessionStack(folderType, at: folder.file(name))
    return (stack, try #require(stack.store as? RecordingFolderStore))
  }

  @Test("An incremental store: IDs, then the save request, then the registration") func incrementalOrder() throws {
    let (stack, store) = try folderStack()
    #expect(store.calls == ["loadMetadata", "didAdd"])
    store.forgetCalls()
    let (first, second) = (stack.insert("a"), stack.insert("b"))
    try stack.context.save()
    #expect(store.calls == ["obtain a b", "save 2 0 0 0", "register 2"])
    #expect(store.registered == [first.objectID, second.objectID])
    store.forgetCalls()
    first.title = "c"
    stack.context.delete(second)
    try stack.context.save()
    // The values have the relationships, which the delete rules need.
    #expect(store.calls == ["values", "save 0 1 1 0", "unregister 1"])
    store.forgetCalls()
    stack.context.refresh(first, mergeChanges: false)
    #expect(first.title == "c")
    #expect(store.calls == ["values"])
    store.forgetCalls()
    stack.coordinator.setMetadata(["a": "b"], for: store)
    try stack.context.save()
    #expect(store.calls == ["save - - - -"], "metadata alone are a request without sets")
    store.forgetCalls()
    try stack.coordinator.remove(store)
    #expect(store.calls == ["willRemove", "unregister 1"])
    #expect(!store.hadTemporaryID)
  }

  @Test("IDs that were obtained before the save are not asked for again") func obtainedIDs() throws {
    let (stack, store) = try folderStack()
    store.forgetCalls()
    let session = stack.insert("a")
    try stack.context.obtainPermanentIDs(for: [session])
    #expect(!session.objectID.isTemporaryID && session.isInserted)
    stack.insert("b")
    try stack.context.save()
    #expect(store.calls == ["obtain a", "obtain b", "save 2 0 0 0", "register 2"])
    #expect(try stack.titles() == ["a", "b"])
  }

  @Test("What the store throws is what the save throws, and nothing is lost") func refusal() throws {
    let (stack, store) = try folderStack()
    store.refusal = NSError(domain: "Example", code: 7)
    let session = stack.insert("a")
    let error = #expect(throws: NSError.self) { try stack.context.save() }
    #expect(error?.domain == "Example" && error?.code == 7)
    #expect(session.isInserted && stack.context.hasChanges)
    store.refusal = nil
    try stack.context.save()
    #expect(!session.isInserted)
    #expect(try stack.titles() == ["a"])
  }

  @Test("Objects to be locked are part of the save request") func lockedObjects() throws {
    let (stack, store) = try folderStack()
    let (first, second) = (stack.insert("a"), stack.insert("b"))
    try stack.context.save()
    store.forgetCalls()
    stack.context.detectConflicts(for: first)
    second.title = "c"
    try stack.context.save()
    #expect(store.calls == ["save 0 1 0 1"])
  }

  @Test("Two coordinators on one folder: the store's refusal is a conflict that policies resolve")
  func conflict() throws {
    let (mine, _) = try folderStack()
    let session = mine.insert("original", rating: 1)
    try mine.context.save()
    let (theirs, _) = try folderStack()
    let twin = try #require(try theirs.context.fetch(SessionStack.request(nil, SurfSession.self)).first)
    twin.title = "theirs"
    try theirs.context.save()
    session.title = "mine"
    session.rating = 3
    let error = #expect(throws: NSError.self) { try mine.context.save() }
    #expect(error?.code == NSManagedObjectMergeError)
    let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
    #expect(conflicts?.map(\.sourceObject) == [session])
    #expect(conflicts?.first?.persistedSnapshot?["title"] as? String == "theirs")
    #expect(conflicts?.first?.oldVersionNumber == 1 && conflicts?.first?.newVersionNumber == 2)
    mine.context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    try mine.context.save()
    theirs.context.refreshAllObjects()
    #expect(twin.title == "mine" && twin.rating == 3)
    // A row that the others deleted is written anew under its ID.
    theirs.context.delete(twin)
    try theirs.context.save()
    session.title = "back again"
    try mine.context.save()
    #expect(try theirs.titles() == ["back again"])
    #expect(try mine.titles() == ["back again"])
  }

  @Test("A damaged file is an error of each fetch that needs it, and no object is deleted") func damagedFile() throws {
    let (stack, _) = try folderStack()
    stack.insert("whole")
    let damaged = stack.insert("damaged")
    try stack.context.save()
    let reference = try #require(stack.store as? FolderStore).referenceObject(for: damaged.objectID)
    let file = folder.file("sessions").appendingPathComponent("Session/\(reference).json")
    let original = try Data(contentsOf: file)
    try Data("{".utf8).write(to: file)
    stack.context.reset()
    #expect(throws: NSError.self) { try stack.titles("title == 'whole'") }
    #expect(throws: NSError.self) { try stack.titles() }
    #expect(!stack.context.hasChanges)
    try original.write(to: file)
    #expect(try stack.titles() == ["damaged", "whole"])
  }

  @Test("Reference objects stand in URIs, whatever their characters") func references() throws {
    let (stack, store) = try folderStack()
    let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Session"])
    let uuid = UUID()
    let references: [any Hashable] = ["plain", "a/b c%ü", 17, Int64(18), uuid, "", URL(fileURLWithPath: "/a/b")]
    for reference in references {
      let id = store.newObjectID(for: entity, referenceObject: reference)
      #expect(id == store.newObjectID(for: entity, referenceObject: reference))
      #expect(AnyHashable(reference) == store.referenceObject(for: id) as? AnyHashable)
      #expect(stack.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
    }
    let plain = store.newObjectID(for: entity, referenceObject: "plain")
    #expect(plain.uriRepresentation().absoluteString == "x-coredata://\(store.identifier)/Session/pplain")
    #expect(
      store.newObjectID(for: entity, referenceObject: "17") == store.newObjectID(for: entity, referenceObject: 17))
    let spot = try #require(stack.coordinator.managedObjectModel.entitiesByName["Spot"])
    #expect(store.newObjectID(for: spot, referenceObject: "plain") != plain)
    // A URI of an earlier launch is known before the store has made the ID.
    let early = try #require(URL(string: "x-coredata://\(store.identifier)/Session/pfrom%2Fbefore"))
    let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: early))
    #expect(store.referenceObject(for: id) as? String == "from/before")
    #expect(throws: NSError.self) { try stack.context.existingObject(with: id) }
  }

  @Test("An atomic store: references and nodes, changes, removals, and the save at the end") func atomicOrder() throws {
    let stack = try SessionStack(csvType, at: folder.file("sessions.csv"))
    let store = try #require(stack.store as? RecordingCSVStore)
    #expect(store.calls == ["loadMetadata", "load"])
    store.forgetCalls()
    let (first, second) = (stack.insert("a"), stack.insert("b"))
    try stack.context.save()
    #expect(
      store.calls == ["reference", "reference", "node permanent", "update", "node permanent", "update", "save 2"])
    #expect(store.referenceObject(for: first.objectID) as? Int == 1)
    #expect(first.objectID.uriRepresentation().lastPathComponent == "p1")
    store.forgetCalls()
    first.title = "c"
    stack.context.delete(second)
    try stack.context.save()
    #expect(store.calls == ["update", "remove 1", "save 1"])
    store.forgetCalls()
    #expect(try stack.titles() == ["c"] && store.calls.isEmpty, "fetches are answered from the nodes")
  }

  @Test("A save that an atomic store can't write leaves its nodes as they were") func atomicFailure() throws {
    let stack = try SessionStack(csvType, at: folder.file("sessions.csv"))
    let store = try #require(stack.store as? RecordingCSVStore)
    let (first, second) = (stack.insert("a"), stack.insert("b"))
    try stack.context.save()
    store.refusal = NSError(domain: "Example", code: 7)
    first.title = "changed"
    stack.context.delete(second)
    stack.insert("new")
    #expect(throws: NSError.self) { try stack.context.save() }
    let request = SessionStack.request(sortedBy: "title", SurfSession.self)
    request.includesPendingChanges = false
    let others = NSManagedObjectContext(concurrencyType: .mainQueue)
    others.persistentStoreCoordinator = stack.coordinator
    #expect(try others.fetch(request).map(\.title) == ["a", "b"])
    store.refusal = nil
    try stack.context.save()
    others.refreshAllObjects()
    #expect(try others.fetch(request).map(\.title) == ["changed", "new"])
  }

  @Test("Registered classes are listed; a type that is not registered is refused") func registration() throws {
    #expect(NSPersistentStoreCoordinator.registeredStoreTypes[FolderStore.storeType] == FolderStore.self)
    #expect(NSPersistentStoreCoordinator.registeredStoreTypes[NSSQLiteStoreType] != nil)
    NSPersistentStoreCoordinator.registerStoreClass(FolderStore.self, forStoreType: "ExampleShort")
    NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "ExampleShort")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .sessions)
    let error = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(
        ofType: "ExampleShort", configurationName: nil, at: folder.file("a"), options: nil)
    }
    #expect(error?.code == NSPersistentStoreInvalidTypeError)
  }
}
