import Foundation
import OpenCoreData
import TestSupport
import Testing

// Rules (Apple documentation: NSMergePolicy; optimistic locking by Z_OPT, for any change of the row): processes that
// share a store lose no change of each other's, whether a conflict is an error to be tried again or the policy resolves
// it.

@Suite("Conflicts between processes", .sqliteOnly("The processes share a file"))
struct ProcessConflictTests {
  private static let rounds = 40

  @Test("Processes that count in one row under the error policy, and try again, lose no step")
  func counting() async throws {
    let folder = try TemporaryFolder()
    let stack = try Stack(folder)
    let id = try Self.insert("counter", into: stack)
    let (path, uri) = (stack.file.path, id.uriRepresentation().absoluteString)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          await #expect(processExitsWith: .success) { [path = path as String, uri = uri as String] in
            try ProcessConflictTests.count(path, uri, rounds: 40)
          }
        }
      }
    }
    #expect(
      try sqlite(stack.file, "SELECT ZRATING, Z_OPT FROM ZSESSION") == "\(3 * Self.rounds)|\(1 + 3 * Self.rounds)")
  }

  @Test(
    "Processes that insert the same unique values leave each once", arguments: Policy.allCases.filter { $0 != .error })
  func uniqueness(policy: Policy) async throws {
    let folder = try TemporaryFolder()
    let stack = try Stack(folder, model: Sessions.model(unique: ["place"]))
    let path = stack.file.path
    await withTaskGroup(of: Void.self) { group in
      for number in 1...3 {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, number = number as Int, name = policy.rawValue as String] in
            try ProcessConflictTests.insertAll(into: path, number: number, policy: try #require(Policy(rawValue: name)))
          }
        }
      }
    }
    #expect(
      try sqlite(stack.file, "SELECT count(*), count(DISTINCT ZPLACE), max(Z_PK) <= Z_MAX FROM ZSESSION, Z_PRIMARYKEY")
        == "40|40|1")
    // Where the context wins, the last one's number stands in the row that the first one made.
    let versions = try sqlite(stack.file, "SELECT DISTINCT Z_OPT FROM ZSESSION")
    #expect(versions == (policy.contextWins ? "3" : "1"))
  }

  // MARK: What the processes do

  private static func open(_ path: String, unique: [String] = []) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model(unique: unique))
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path),
      options: [NSPersistentStoreTimeoutOption: 60])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func count(_ path: String, _ uri: String, rounds: Int) throws {
    let context = try open(path)
    try context.performAndWait {
      let url = try #require(URL(string: uri))
      let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url))
      let counter = try context.existingObject(with: id)
      var steps = 0
      while steps < rounds {
        let reached = try #require(counter.value(forKey: "rating") as? Int)
        counter.setValue(reached + 1, forKey: "rating")
        do {
          try context.save()
          steps += 1
        } catch let error as NSError where error.code == NSManagedObjectMergeError {
          context.refresh(counter, mergeChanges: false)
        }
      }
    }
  }

  private static func insertAll(into path: String, number: Int, policy: Policy) throws {
    let context = try open(path, unique: ["place"])
    try context.performAndWait {
      context.mergePolicy = policy.value
      let entity = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Session"])
      for start in stride(from: 0, to: 40, by: 10) {
        for place in start..<(start + 10) {
          let object = NSManagedObject.make(entity, in: context)
          object.setValue("Spot \(place)", forKey: "place")
          object.setValue(number, forKey: "rating")
        }
        try context.save()
      }
    }
  }

  private static func insert(_ place: String, into stack: Stack) throws -> NSManagedObjectID {
    let context = stack.context()
    return try context.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: context)
      object.setValue(place, forKey: "place")
      try context.save()
      return object.objectID
    }
  }
}
