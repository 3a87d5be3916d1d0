import Foundation
import OpenCoreData
import TestSupport
import Testing

/// A kind of store of a client's own.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
  case folder, csv

  var testDescription: String { rawValue }
  var type: NSPersistentStore.StoreType {
    NSPersistentStore.StoreType(rawValue: self == .folder ? FolderStore.storeType : CSVFileStore.storeType)
  }
  func url(in folder: TemporaryFolder) -> URL { folder.file(self == .folder ? "sessions" : "sessions.csv") }

  static func register() {
    NSPersistentStoreCoordinator.registerStoreClass(FolderStore.self, forStoreType: FolderStore.storeType)
    NSPersistentStoreCoordinator.registerStoreClass(
      CSVFileStore.self, type: NSPersistentStore.StoreType(rawValue: CSVFileStore.storeType))
  }
}

/// A coordinator with one store, and a context on it.
@MainActor struct SessionStack {
  let coordinator: NSPersistentStoreCoordinator
  let store: NSPersistentStore
  let context: NSManagedObjectContext

  init(_ type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: .sessions)
    store = try coordinator.addPersistentStore(type: type, configuration: nil, at: url, options: options)
    context = NSManagedObjectContext(concurrencyType: .mainQueue)
    context.persistentStoreCoordinator = coordinator
  }

  @discardableResult
  func insert(_ title: String?, rating: Int = 0, into other: NSManagedObjectContext? = nil) -> SurfSession {
    let session = SurfSession(context: other ?? context)
    session.title = title
    session.rating = rating
    session.date = Date(timeIntervalSinceReferenceDate: Double(rating) * 86400.5)
    return session
  }

  static func request<Result>(
    _ format: String? = nil, sortedBy key: String? = nil, ascending: Bool = true, _: Result.Type = SurfSession.self
  ) -> NSFetchRequest<Result> {
    let request = NSFetchRequest<Result>(entityName: "Session")
    request.predicate = format.map { NSPredicate(format: $0) }
    request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: ascending)] }
    return request
  }

  func titles(_ format: String? = nil, sortedBy key: String = "title") throws -> [String] {
    try context.fetch(Self.request(format, sortedBy: key)).map { ($0 as SurfSession).title ?? "nil" }
  }
}

/// Rules (Apple documentation: "Incremental Store Programming Guide", "Atomic Store Programming Topics"): contexts work
/// on a store of a client's own as on the library's.
@Suite("Stores of a client's own") @MainActor struct StoreKindTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    StoreKind.register()
  }

  private func stack(_ kind: StoreKind, options: [AnyHashable: Any]? = nil) throws -> SessionStack {
    try SessionStack(kind.type, at: kind.url(in: folder), options: options)
  }

  @Test("What is saved is there after the store is opened again", arguments: StoreKind.allCases)
  func reopen(_ kind: StoreKind) throws {
    let first = try stack(kind)
    let session = first.insert("Rincon, \"the Queen\"\nof the coast", rating: 5)
    first.insert(nil)
    #expect(session.objectID.isTemporaryID)
    try first.context.save()
    #expect(!session.objectID.isTemporaryID && !session.hasChanges)
    #expect(session.objectID.persistentStore === first.store)
    let uri = session.objectID.uriRepresentation()
    let uuid = first.store.identifier
    try first.coordinator.remove(first.store)

    let second = try stack(kind)
    #expect(second.store.identifier == uuid)
    #expect(second.store.type == kind.type.rawValue)
    let id = try #require(second.coordinator.managedObjectID(forURIRepresentation: uri))
    #expect(id.uriRepresentation() == uri)
    let found = try #require(try second.context.existingObject(with: id) as? SurfSession)
    #expect(found.title == "Rincon, \"the Queen\"\nof the coast" && found.rating == 5)
    #expect(found.date == Date(timeIntervalSinceReferenceDate: 5 * 86400.5))
    #expect(try second.titles() == ["nil", "Rincon, \"the Queen\"\nof the coast"])
  }

  @Test("Predicates, order, limit and offset", arguments: StoreKind.allCases) func fetches(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    for (index, title) in ["Ánchor", "bay", "Cove", "Drift"].enumerated() { stack.insert(title, rating: index + 1) }
    try stack.context.save()
    stack.context.reset()
    #expect(try stack.titles("rating > 2") == ["Cove", "Drift"])
    #expect(
      try stack.titles("title BEGINSWITH[cd] 'a' OR title CONTAINS 'ay'", sortedBy: "rating") == ["Ánchor", "bay"])
    #expect(try stack.titles("NOT (rating IN {1, 4})", sortedBy: "rating") == ["bay", "Cove"])
    #expect(try stack.titles("date < CAST(200000, 'NSDate')", sortedBy: "rating") == ["Ánchor", "bay"])
    let page = SessionStack.request(sortedBy: "rating", ascending: false, SurfSession.self)
    (page.fetchLimit, page.fetchOffset) = (2, 1)
    #expect(try stack.context.fetch(page).map(\.rating) == [3, 2])
    #expect(try stack.context.count(for: page) == 2)
    #expect(try stack.context.count(for: SessionStack.request("rating >= 2", SurfSession.self)) == 3)
  }

  @Test("Identities, dictionaries and counts", arguments: StoreKind.allCases) func resultTypes(_ kind: StoreKind) throws
  {
    let stack = try stack(kind)
    let ids = [("a", 1), ("b", 2), ("a", 3)].map { stack.insert($0, rating: $1) }
    try stack.context.save()
    let identities = SessionStack.request(sortedBy: "rating", NSManagedObjectID.self)
    identities.resultType = .managedObjectIDResultType
    #expect(try stack.context.fetch(identities) == ids.map(\.objectID))
    let rows = SessionStack.request(sortedBy: "title", NSDictionary.self)
    rows.resultType = .dictionaryResultType
    rows.propertiesToFetch = ["title"]
    rows.returnsDistinctResults = true
    #expect(try stack.context.fetch(rows).map { ($0 as? [String: Any])?["title"] as? String } == ["a", "b"])
    rows.returnsDistinctResults = false
    rows.propertiesToFetch = ["title", "rating", "objectID"]
    let last = try #require(try stack.context.fetch(rows).last as? [String: Any])
    #expect(last["rating"] as? Int == 2 && last["objectID"] as? NSManagedObjectID == ids[1].objectID)
    let count = SessionStack.request("title == 'a'", NSNumber.self)
    count.resultType = .countResultType
    #expect(try stack.context.fetch(count).map(\.intValue) == [2])
  }

  @Test("Faults, changes and deletions", arguments: StoreKind.allCases) func changes(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let (first, second) = (stack.insert("first", rating: 1), stack.insert("second", rating: 2))
    try stack.context.save()
    stack.context.refresh(first, mergeChanges: false)
    #expect(first.isFault && first.title == "first" && !first.isFault)
    first.title = "changed"
    #expect(try stack.titles("title == 'changed'") == ["changed"], "unsaved changes count")
    try stack.context.save()
    first.title = "changed again"
    try stack.context.save()
    stack.context.delete(second)
    #expect(try stack.titles() == ["changed again"])
    try stack.context.save()
    #expect(second.managedObjectContext == nil)
    try stack.coordinator.remove(stack.store)
    #expect(try self.stack(kind).titles() == ["changed again"])
  }

  @Test("Unsaved changes are discarded by a rollback", arguments: StoreKind.allCases)
  func rollback(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let session = stack.insert("kept", rating: 1)
    try stack.context.save()
    session.title = "dropped"
    stack.insert("never saved")
    stack.context.rollback()
    #expect(try stack.titles() == ["kept"])
  }

  @Test("A chain of contexts: each save goes one level up", arguments: StoreKind.allCases)
  func chain(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    stack.insert("stored", rating: 1)
    try stack.context.save()
    let child = NSManagedObjectContext(concurrencyType: .mainQueue)
    child.parent = stack.context
    let inserted = stack.insert("from the child", rating: 2, into: child)
    let seen = try #require(try child.fetch(SessionStack.request("rating == 1", SurfSession.self)).first)
    seen.title = "changed by the child"
    try child.save()
    #expect(try self.count(in: stack) == 1, "nothing new is in the store yet")
    #expect(inserted.objectID.isTemporaryID)
    try stack.context.save()
    #expect(try self.count(in: stack) == 2)
    #expect(!inserted.objectID.isTemporaryID)
    seen.title = "changed twice"
    try child.save()
    try stack.context.save()
    #expect(try stack.titles() == ["changed twice", "from the child"])
  }

  /// What the store has, whatever contexts have not saved.
  private func count(in stack: SessionStack) throws -> Int {
    let request = SessionStack.request(nil, SurfSession.self)
    request.includesPendingChanges = false
    return try stack.context.count(for: request)
  }

  @Test(
    "Two contexts that change one row conflict; the policy of the second one resolves it", arguments: StoreKind.allCases
  )
  func conflictInOneCoordinator(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let session = stack.insert("original", rating: 1)
    try stack.context.save()
    let other = NSManagedObjectContext(concurrencyType: .mainQueue)
    other.persistentStoreCoordinator = stack.coordinator
    let twin = try #require(try other.existingObject(with: session.objectID) as? SurfSession)
    twin.title = "of the other"
    try other.save()
    session.title = "mine"
    session.rating = 4
    let error = #expect(throws: NSError.self) { try stack.context.save() }
    #expect(error?.code == NSManagedObjectMergeError)
    let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first
    #expect(conflict?.persistedSnapshot?["title"] as? String == "of the other")
    stack.context.mergePolicy = NSMergeByPropertyStoreTrumpMergePolicy
    try stack.context.save()
    #expect(session.title == "of the other" && session.rating == 4)
    other.refreshAllObjects()
    #expect(twin.title == "of the other" && twin.rating == 4)
  }

  @Test("Metadata of the client are kept", arguments: StoreKind.allCases) func metadata(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    #expect(stack.store.metadata[NSStoreTypeKey] as? String == kind.type.rawValue)
    #expect(
      (stack.store.metadata[NSStoreModelVersionHashesKey] as? [String: Data])?.keys.sorted() == ["Session", "Spot"])
    stack.coordinator.setMetadata(["season": "winter"], for: stack.store)
    #expect(stack.store.metadata[NSStoreUUIDKey] as? String == stack.store.identifier)
    try stack.context.save()
    let url = kind.url(in: folder)
    let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: kind.type, at: url)
    #expect(found["season"] as? String == "winter" && found[NSStoreUUIDKey] as? String == stack.store.identifier)
    try NSPersistentStoreCoordinator.setMetadata(
      found.merging(["season": "summer"]) { $1 }, forPersistentStoreOfType: kind.type.rawValue, at: url)
    try stack.coordinator.remove(stack.store)
    #expect(try self.stack(kind).store.metadata["season"] as? String == "summer")
  }

  @Test("A store of another model is refused", arguments: StoreKind.allCases) func otherModel(_ kind: StoreKind) throws
  {
    let stack = try stack(kind)
    stack.insert("a")
    stack.coordinator.setMetadata([:], for: stack.store)
    try stack.context.save()
    try stack.coordinator.remove(stack.store)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .people)
    let error = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(type: kind.type, at: kind.url(in: folder))
    }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test("A store that was removed is not asked any more", arguments: StoreKind.allCases)
  func removal(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let session = stack.insert("a")
    try stack.context.save()
    stack.context.refresh(session, mergeChanges: false)
    try stack.coordinator.remove(stack.store)
    #expect(stack.store.persistentStoreCoordinator == nil && stack.coordinator.persistentStores.isEmpty)
    #expect(session.title == nil && session.isDeleted)
  }

  @Test("A store that is added for reading takes no changes", arguments: StoreKind.allCases)
  func readOnly(_ kind: StoreKind) throws {
    let writing = try stack(kind)
    writing.insert("a")
    try writing.context.save()
    try writing.coordinator.remove(writing.store)
    let reading = try stack(kind, options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
    #expect(reading.store.isReadOnly)
    #expect(try reading.titles() == ["a"])
    reading.insert("b")
    let error = #expect(throws: NSError.self) { try reading.context.save() }
    #expect(error?.code == NSPersistentStoreSaveError)
  }

  @Test("Batch requests are refused", arguments: StoreKind.allCases) func batchRequests(_ kind: StoreKind) throws {
    let stack = try stack(kind)
    let error = #expect(throws: NSError.self) {
      try stack.context.execute(NSBatchDeleteRequest(fetchRequest: SessionStack.request(nil, SurfSession.self)))
    }
    #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
  }
}
