import CSQLite
import Dispatch
import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectContext, perform; NSPersistentStoreCoordinator, remove(_:);
// NotificationCenter, removeObserver; SQLite documentation: "Write-Ahead Logging", the last connection removes the
// log): a context goes with the last who holds it, its blocks included; a coordinator closes its store when it goes;
// walks close what they opened, however they end.

@Suite("Contexts, stores and walks are released", .overBothStores)
struct ReleaseTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private struct Stopped: Error {}

  /// What is done on other threads takes a moment to end.
  private func waitUntil(
    isolation: isolated (any Actor)? = #isolation, _ isDone: () -> Bool
  ) async throws {
    for _ in 0..<1000 where !isDone() { try await Task.sleep(for: .milliseconds(5)) }
  }

  private func hasWAL(_ file: URL) -> Bool { FileManager.default.fileExists(atPath: file.path + "-wal") }

  /// Statements that SQLite has for a connection and that are in the middle of their rows.
  private func runningStatements(_ connection: SQLiteConnection) -> Int {
    var (count, statement) = (0, sqlite3_next_stmt(connection.handle, nil))
    while let found = statement {
      if sqlite3_stmt_busy(found) != 0 { count += 1 }
      statement = sqlite3_next_stmt(connection.handle, found)
    }
    return count
  }

  // MARK: Stores

  @Test(
    "A coordinator without references closes its files, and the WAL is in the store", .sqliteOnly("About open files"))
  func coordinator() throws {
    var stack: Stack? = try Stack(folder)
    let file = try #require(stack?.file)
    var context: NSManagedObjectContext? = stack?.context()
    let traces = [
      LifeTrace(stack?.coordinator), LifeTrace(context), LifeTrace(stack?.coordinator.persistentStores.first),
      LifeTrace(try stack?.coordinator.sqliteConnection()),
    ]
    try context?.performAndWait {
      let (context, stack) = (try #require(context), try #require(stack))
      InsertionWay.single.insert(0..<10, into: context, stack.entity)
      try context.save()
      #expect(try context.fetch(stack.request()).count == 10)
    }
    #expect(!openFiles(below: folder).isEmpty && hasWAL(file))
    // The context alone keeps the store.
    stack = nil
    #expect(!openFiles(below: folder).isEmpty && traces.liveCount == 4)
    context = nil
    #expect(openFiles(below: folder).isEmpty && !hasWAL(file) && traces.liveCount == 0)
    #expect(try sqlite(file, "SELECT count(*) FROM ZSESSION") == "10")
  }

  @Test("A store that is removed is closed at once, even if its objects are held", .sqliteOnly("About open files"))
  func removed() throws {
    let stack = try Stack(folder)
    let context = stack.context()
    let objects = try context.performAndWait {
      InsertionWay.single.insert(0..<3, into: context, stack.entity)
      try context.save()
      return try context.fetch(stack.request())
    }
    try stack.coordinator.persistentStores.forEach(stack.coordinator.remove)
    #expect(openFiles(below: folder).isEmpty && !hasWAL(stack.file) && objects.count == 3)
  }

  @Test("A store that can't be opened leaves nothing open", .sqliteOnly("About open files"))
  func refused() throws {
    let file = folder.file("other.sqlite")
    try sqlite(file, "CREATE TABLE other(a)")
    for _ in 0..<3 {
      #expect(throws: NSError.self) { _ = try Stack(folder, "other.sqlite") }
    }
    _ = try Stack(folder, "mine.sqlite")
    #expect(throws: NSError.self) {
      _ = try Stack(folder, "mine.sqlite", model: Sessions.model { $0.name = "Another" })
    }
    #expect(openFiles(below: folder).isEmpty)
  }

  @Test("Many stores opened and dropped leave no file, no thread and no temporary folder", .timeLimit(.minutes(2)))
  func manyStores() async {
    // In a process of its own: the counts are of the whole process.
    await #expect(processExitsWith: .success) {
      func count(_ folder: String) -> Int { (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0 }
      func round() throws {
        let folder = try TemporaryFolder()
        let stack = try Stack(folder)
        let (writer, middle, child) = stack.chain()
        try child.performAndWait {
          InsertionWay.bulk.insert(0..<50, into: child, stack.entity)
          for context in [child, middle, writer] { try context.performAndWait { try context.save() } }
          try child.walk(stack.request(), rowsPerBatch: 10) { _, _ in false }
        }
      }
      for _ in 0..<5 { try round() }
      let (files, threads) = (count("/proc/self/fd"), count("/proc/self/task"))
      for _ in 0..<40 { try round() }
      #expect(count("/proc/self/fd") <= files)
      // The pool may take some more, but not one for each context.
      #expect(count("/proc/self/task") <= threads + 16)
    }
  }

  // MARK: Walks

  enum WalkEnd: CaseIterable { case stopped, thrown, through }

  @Test(
    "A walk closes its connection, however it ends", .sqliteOnly("About connections"), arguments: WalkEnd.allCases,
    [false, true])
  func walks(end: WalkEnd, isInMemory: Bool) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    try coordinator.addPersistentStore(
      ofType: isInMemory ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil,
      at: isInMemory ? nil : folder.file("store.sqlite"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let entity = try #require(coordinator.managedObjectModel.entitiesByName["Session"])
    let connection = try coordinator.sqliteConnection()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<100, into: context, entity)
      try context.save()
      let open = try (0..<5).map { _ in
        var calls = 0
        do {
          try context.walk(NSFetchRequest<NSManagedObject>(entityName: "Session"), rowsPerBatch: 10) { _, _ in
            calls += 1
            if calls == 3, end == .thrown { throw Stopped() }
            return calls < 3 || end == .through
          }
        } catch is Stopped {}
        #expect(calls == (end == .through ? 10 : 3) && runningStatements(connection) == 0)
        return openFiles(below: folder).count
      }
      // SQLite keeps the first walk's descriptor for the next connection, as long as another has the file.
      #expect(Set(open).count == 1)
      // Nothing stands in the way of a writer.
      InsertionWay.bulk.insert(100..<110, into: context, entity)
      try context.save()
    }
  }

  // MARK: Contexts

  @Test("Blocks hold their context until they have run, and no longer")
  func blocks() async throws {
    let stack = try Stack(folder)
    let ran = Locked(0)
    let traces = (0..<20).map { number in
      let context = stack.context()
      context.perform {
        InsertionWay.single.insert(number..<(number + 1), into: context, stack.entity)
        ran.withLock { $0 += 1 }
      }
      return LifeTrace(context)
    }
    try await waitUntil { traces.liveCount == 0 }
    #expect(ran.withLock { $0 } == 20 && traces.liveCount == 0)
  }

  @Test("The asynchronous form releases its context when it returns or throws")
  func asynchronous() async throws {
    let stack = try Stack(folder)
    var context: NSManagedObjectContext? = stack.context()
    let trace = LifeTrace(context)
    if let context {
      #expect(await context.perform { context.name == nil })
      await #expect(throws: Stopped.self) { try await context.perform { throw Stopped() } }
    }
    context = nil
    try await waitUntil { trace.object == nil }
    #expect(trace.object == nil)
  }

  @Test("A context on the main queue goes once its changes are announced") @MainActor
  func mainQueue() async throws {
    let stack = try Stack(folder)
    var context: NSManagedObjectContext? = NSManagedObjectContext(.mainQueue)
    let trace = LifeTrace(context)
    context?.persistentStoreCoordinator = stack.coordinator
    if let context { InsertionWay.single.insert(0..<2, into: context, stack.entity) }
    context = nil
    try await waitUntil { trace.object == nil }
    #expect(trace.object == nil)
  }

  @Test("Observers that are removed hold neither the context nor what it announced")
  func observers() throws {
    let stack = try Stack(folder, model: Sessions.model())
    var traces: [LifeTrace] = []
    for contents in [ChangeNotificationContents.objects, .objectIDs] {
      let parent = stack.context()
      let context = stack.context(parent)
      context.changeNotificationContents = contents
      let log = NotificationLog([context, parent])
      try context.performAndWait {
        InsertionWay.single.insert(0..<5, into: context, stack.entity)
        traces += context.insertedObjects.map { LifeTrace($0) } + context.traces
        try context.save()
      }
      #expect(log.lines.count >= 4)
      traces += [LifeTrace(context), LifeTrace(parent)]
    }
    #expect(traces.liveCount == 0)
  }
}
