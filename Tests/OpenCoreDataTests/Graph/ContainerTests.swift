import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSPersistentContainer, NSPersistentStoreDescription; XDG Base Directory Specification):
// stores lie in the user's data directory unless a description says otherwise; loading reports on each store; tasks run
// on contexts of their own.

@Suite("A container loads its stores and hands out contexts", .sqliteOnly("A container's stores are files"))
struct ContainerTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func container(_ url: URL?, type: String = NSSQLiteStoreType) -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Log", managedObjectModel: Sessions.model())
    let description = NSPersistentStoreDescription()
    description.url = url
    description.type = type
    container.persistentStoreDescriptions = [description]
    return container
  }

  private func load(_ container: NSPersistentContainer) -> [NSError?] {
    var errors: [NSError?] = []
    container.loadPersistentStores { _, error in errors.append(error.map { $0 as NSError }) }
    return errors
  }

  struct Home: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let variables: [String: String]
    let expected: @Sendable (String) -> String
  }

  static let homes = [
    Home(testDescription: "XDG_DATA_HOME", variables: ["XDG_DATA_HOME": "/data/of/ann"]) { "/data/of/ann/\($0)" },
    Home(testDescription: "relative, so ignored", variables: ["XDG_DATA_HOME": "data", "HOME": "/ann"]) {
      "/ann/.local/share/\($0)"
    },
    Home(testDescription: "empty, so ignored", variables: ["XDG_DATA_HOME": "", "HOME": "/ann"]) {
      "/ann/.local/share/\($0)"
    },
    Home(testDescription: "not set", variables: ["HOME": "/ann"]) { "/ann/.local/share/\($0)" },
  ]

  @Test("The default directory follows the XDG specification", arguments: homes)
  func defaultDirectory(home: Home) {
    let found = NSPersistentContainer.defaultDirectoryURL(environment: home.variables)
    #expect(found.path == home.expected(ProcessInfo.processInfo.processName))
    #expect(NSPersistentContainer.defaultDirectoryURL().path.hasSuffix(ProcessInfo.processInfo.processName))
    let container = NSPersistentContainer(name: "Log", managedObjectModel: Sessions.model())
    #expect(container.persistentStoreDescriptions[0].url?.lastPathComponent == "Log.sqlite")
  }

  @Test("Loading makes the folders that are missing, and the view context works on the main queue")
  func loading() async throws {
    let url = folder.file("a/b/log.sqlite")
    let container = container(url)
    #expect(load(container) == [nil])
    #expect(FileManager.default.fileExists(atPath: url.path))
    #expect(container.viewContext.concurrencyType == .mainQueue)
    let view = container.viewContext
    try await view.perform {
      _ = NSManagedObject.make(try #require(container.managedObjectModel.entitiesByName["Session"]), in: view)
      try view.save()
    }
    #expect(try sqlite(url, "SELECT count(*) FROM ZSESSION") == "1")
  }

  @Test("A store that can't be loaded is reported with its description, and the others are loaded")
  func failing() throws {
    let file = folder.file("text.sqlite")
    try Data("no database".utf8).write(to: file)
    let container = container(file)
    let good = NSPersistentStoreDescription(url: folder.file("good.sqlite"))
    container.persistentStoreDescriptions.append(good)
    var reports: [(URL?, Int?)] = []
    container.loadPersistentStores { description, error in reports.append((description.url, (error as NSError?)?.code))
    }
    #expect(reports.map(\.0) == [file, good.url] && reports.map(\.1) == [NSPersistentStoreOpenError, nil])
  }

  @Test("Every description gets its store, and one that is loaded already is refused")
  func secondStore() throws {
    let container = container(folder.file("one.sqlite"))
    container.persistentStoreDescriptions.append(NSPersistentStoreDescription(url: folder.file("two.sqlite")))
    #expect(load(container) == [nil, nil])
    #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
    let again = load(container)
    #expect(again.map(\.?.code) == [NSPersistentStoreOpenError, NSPersistentStoreOpenError])
    #expect(again[0]?.localizedDescription.contains("one.sqlite") == true)
    #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
  }

  @Test(
    "Stores in memory, by type or by the customary path, leave no file",
    arguments: [NSInMemoryStoreType, NSSQLiteStoreType])
  func inMemory(type: String) throws {
    let url = type == NSInMemoryStoreType ? nil : URL(fileURLWithPath: "/dev/null")
    let container = container(url, type: type)
    #expect(load(container) == [nil])
    let context = container.newBackgroundContext()
    let entity = try #require(container.managedObjectModel.entitiesByName["Session"])
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<20, into: context, entity)
      try context.save()
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Session")) == 20)
      var walked = 0
      try context.walk(NSFetchRequest<NSManagedObject>(entityName: "Session"), rowsPerBatch: 7) { batch, _ in
        walked += batch.count
        return true
      }
      #expect(walked == 20)
    }
    let other = container.newBackgroundContext()
    let count = try other.performAndWait {
      try other.count(for: NSFetchRequest<NSManagedObject>(entityName: "Session"))
    }
    #expect(count == 20)
    #expect(load(self.container(nil)).first??.code == NSPersistentStoreOpenError, "a SQLite store without a file")
  }

  @Test("Stores load on another queue where asked to", .timeLimit(.minutes(1)))
  func asynchronously() async throws {
    let container = container(folder.file("later.sqlite"))
    container.persistentStoreDescriptions[0].shouldAddStoreAsynchronously = true
    let error = await withCheckedContinuation { answer in
      container.loadPersistentStores { _, error in answer.resume(returning: error == nil) }
    }
    #expect(error && container.persistentStoreCoordinator.persistentStores.count == 1)
  }

  @Test("Background tasks get contexts of their own, and give values and errors back", .timeLimit(.minutes(1)))
  func tasks() async throws {
    let container = container(folder.file("tasks.sqlite"))
    #expect(load(container) == [nil])
    let entity = try #require(container.managedObjectModel.entitiesByName["Session"])
    let count = try await container.performBackgroundTask { context in
      InsertionWay.single.insert(0..<3, into: context, entity)
      try context.save()
      return try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Session"))
    }
    #expect(count == 3)
    struct Odd: Error {}
    await #expect(throws: Odd.self) { try await container.performBackgroundTask { _ in throw Odd() } }
    let wasPrivate = await withCheckedContinuation { answer in
      container.performBackgroundTask { context in
        answer.resume(returning: context.concurrencyType == .privateQueue && context !== container.viewContext)
      }
    }
    #expect(wasPrivate)
  }

  @Test("Options of a description reach the store, and a copy has them all")
  func options() throws {
    let description = NSPersistentStoreDescription(url: folder.file("options.sqlite"))
    description.setValue(NSNumber(value: 77), forPragmaNamed: "cache_size")
    description.setValue(NSString(string: "FULL"), forPragmaNamed: "synchronous")
    description.timeout = 1.5
    let copy = try #require(description.copy() as? NSPersistentStoreDescription)
    #expect(copy.url == description.url && copy.timeout == 1.5 && copy.sqlitePragmas.count == 2 && !copy.isReadOnly)
    let container = container(nil)
    container.persistentStoreDescriptions = [copy]
    #expect(load(container) == [nil])
    let added = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let store = try #require(added.rowStore as? SQLiteStore)
    #expect(try store.connection().integer("PRAGMA cache_size") == 77)
    #expect(try store.connection().integer("PRAGMA synchronous") == 2)
    #expect(try store.connection().integer("PRAGMA busy_timeout") == 1500)
    copy.setValue(NSString(string: "1; DROP TABLE x"), forPragmaNamed: "cache_size")
    container.persistentStoreDescriptions = [copy]
    try container.persistentStoreCoordinator.remove(added)
    #expect(load(container).first??.code == NSPersistentStoreOpenError)
  }
}
