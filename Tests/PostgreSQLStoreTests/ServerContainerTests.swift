import Foundation
import TestSupport
import Testing

@testable import OpenCoreData
@testable import PostgreSQLStore

// Rules (Apple documentation: NSPersistentContainer, NSPersistentStoreDescription): a description names the store, its
// options and how it is added; the container's contexts use it.

@Suite("A container opens a store in PostgreSQL", .enabled(if: PostgreSQLServer.isThere, serverComment))
struct ServerContainerTests {
  private let store: ServerStore
  init() throws { store = try ServerStore() }

  private func container(
    _ describe: (NSPersistentStoreDescription) -> Void = { _ in }
  ) async throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Sessions", managedObjectModel: store.model)
    let description = NSPersistentStoreDescription(url: store.address)
    describe(description)
    container.persistentStoreDescriptions = [description]
    try await withCheckedThrowingContinuation { (loaded: CheckedContinuation<Void, any Error>) in
      container.loadPersistentStores { _, error in loaded.resume(with: error.map(Result.failure) ?? .success(())) }
    }
    return container
  }

  private static func count(_ container: NSPersistentContainer) async throws -> Int {
    try await container.performBackgroundTask { context in
      try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Session"))
    }
  }

  @Test("Its address says the type, and background tasks save into it", arguments: [false, true])
  func contexts(isAddedAsynchronously: Bool) async throws {
    #expect(NSPersistentStoreDescription(url: store.address).type == NSPostgreSQLStoreType)
    #expect(NSPersistentStoreDescription(url: URL(fileURLWithPath: "a.sqlite")).type == NSSQLiteStoreType)
    let first = try await container { $0.shouldAddStoreAsynchronously = isAddedAsynchronously }
    try await first.performBackgroundTask { context in
      for place in ["Rincon", "Trestles"] {
        NSEntityDescription.insertNewObject(forEntityName: "Session", into: context).setValue(place, forKey: "place")
      }
      try context.save()
    }
    #expect(try await Self.count(first) == 2)
    #expect(try store.psql("SELECT count(*) FROM \"ZSESSION\"") == "2")
    #expect(try await Self.count(container()) == 2)
  }

  @Test("A description for reading only saves nothing")
  func readOnly() async throws {
    _ = try await container()
    let reader = try await container { $0.isReadOnly = true }
    await #expect(throws: NSError.self) {
      try await reader.performBackgroundTask { context in
        NSEntityDescription.insertNewObject(forEntityName: "Session", into: context).setValue("a", forKey: "place")
        try context.save()
      }
    }
    #expect(try await Self.count(reader) == 0)
  }
}
