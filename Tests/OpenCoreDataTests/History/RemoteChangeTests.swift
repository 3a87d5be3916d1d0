import Foundation
import OpenCoreData
import TestSupport
import Testing

// Rules (Apple documentation: NSPersistentStoreRemoteChangeNotificationPostOptionKey): a store that was added with the
// option announces each write to it, by any process, with its UUID, its URL and the token of its history.

@Suite("Writes of other processes are announced")
struct RemoteChangeTests {
  private let folder: TemporaryFolder
  private var file: URL { folder.file("Sessions.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  private func coordinator(_ options: [AnyHashable: Any]) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
    return coordinator
  }

  private static var options: [AnyHashable: Any] {
    [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true, NSPersistentHistoryTrackingKey: true]
  }

  /// What is posted for `coordinator` while `body` runs and for three seconds after it, or until the first.
  private func posted(
    _ coordinator: NSPersistentStoreCoordinator, _ body: () async throws -> Void
  ) async throws -> Notification? {
    let found = FoundNotification()
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
    ) { found.set($0) }
    defer { NotificationCenter.default.removeObserver(observer) }
    try await body()
    for _ in 0..<60 where found.value == nil { try await Task.sleep(for: .milliseconds(50)) }
    return found.value
  }

  @Test("The save of another process is announced, with the token of its transaction")
  func otherProcess() async throws {
    let coordinator = try coordinator(Self.options)
    let note = try await posted(coordinator) {
      await #expect(processExitsWith: .success) { [path = file.path as String] in
        try RemoteChangeTests.insert(into: path)
      }
    }
    let info = try #require(note?.userInfo)
    #expect(info[NSStoreUUIDKey] as? String == coordinator.persistentStores.first?.identifier)
    #expect((info[NSPersistentStoreURLKey] as? URL)?.path == file.path)
    let token = try #require(info[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken)
    #expect(token == coordinator.currentPersistentHistoryToken(fromStores: nil))
  }

  @Test("So is a save of this coordinator, and of another one in this process")
  func ownProcess() async throws {
    let (coordinator, other) = (try coordinator(Self.options), try coordinator(Self.options))
    for writer in [coordinator, other] {
      let note = try await posted(coordinator) { try Self.insert(into: writer) }
      #expect(note != nil)
    }
  }

  @Test("Nothing is announced without a write, without the option, or after the store is removed")
  func silence() async throws {
    let watching = try coordinator(Self.options)
    #expect(try await posted(watching) {} == nil)
    let silent = try coordinator([NSPersistentHistoryTrackingKey: true])
    #expect(try await posted(silent) { try Self.insert(into: watching) } == nil)
    let store = try #require(watching.persistentStores.first)
    try watching.remove(store)
    #expect(try await posted(watching) { try Self.insert(into: silent) } == nil)
  }

  private static func insert(into path: String) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path))
    try insert(into: coordinator)
  }

  private static func insert(into coordinator: NSPersistentStoreCoordinator) throws {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Session", into: context).setValue("Rincon", forKey: "place")
      try context.save()
    }
  }
}

// Unchecked: `lock` guards the notification.
private final class FoundNotification: @unchecked Sendable {
  private let lock = NSLock()
  private var found: Notification?

  var value: Notification? { lock.withLock { found } }
  func set(_ notification: Notification) { lock.withLock { found = found ?? notification } }
}
