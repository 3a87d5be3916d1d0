import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rule (Apple documentation: NSManagedObjectContext, stalenessInterval): a fault takes what the store has. The rows
// that a chain of contexts asks for again are read once, and never shown once the store has others.

@Suite("Rows that were read a moment ago are shown only while the store still has them", .overBothStores)
struct RecentRowsTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  private let writer: NSManagedObjectContext

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack.filled(folder, count: 10)
    writer = stack.context()
  }

  private func id(_ key: Int64) throws -> NSManagedObjectID {
    let store = try #require(stack.coordinator.persistentStores.first)
    let entity = try #require(writer.model?.entitiesByName["Session"])
    return NSManagedObjectID(entity: entity, store: store.identity, key: key)
  }

  /// What a fault of a fresh child shows.
  private func place(_ key: Int64) throws -> String? {
    let reader = stack.context(writer)
    return try reader.performAndWait { try reader.existingObject(with: id(key)).place }
  }

  @Test("What the child has read, the parent reads no second time")
  func once() throws {
    let child = stack.context(writer)
    let sql = try Trace.of(stack) {
      try child.performAndWait {
        let objects = child.objects(withIDs: try (1...3).map(id))
        for object in objects { object.setValue("Rincon", forKey: "place") }
        try child.save()
      }
      writer.performAndWait { #expect(writer.updatedObjects.count == 3) }
    }
    if stack.kind == .sqlite { #expect(sql.count { $0.hasPrefix("SELECT") } == 1) }
    try writer.performAndWait { try writer.save() }
    #expect(try stack.sqlite("SELECT count(*), sum(Z_OPT) FROM ZSESSION WHERE ZPLACE = 'Rincon'") == "3|6")
  }

  enum Change: String, CaseIterable, CustomTestStringConvertible {
    case ownSave, batchUpdate, otherProcess, otherCoordinator
    var testDescription: String { rawValue }
  }

  @Test("A change of another coordinator shows", .sqliteOnly("Two coordinators share the file"))
  func otherCoordinator() throws { try changes(.otherCoordinator) }

  @Test("A change by any client shows", arguments: [Change.ownSave, .batchUpdate, .otherProcess])
  func changes(_ change: Change) throws {
    // Twice, so that the second is one that could be answered without reading.
    #expect(try place(4) == "Spot 3")
    #expect(try place(4) == "Spot 3")
    switch change {
    case .ownSave:
      let neighbour = stack.context()
      try neighbour.performAndWait {
        try neighbour.existingObject(with: id(4)).setValue("Trestles", forKey: "place")
        try neighbour.save()
      }
    case .batchUpdate:
      let request = NSBatchUpdateRequest(entityName: "Session")
      request.predicate = NSPredicate(format: "place == %@", "Spot 3")
      request.propertiesToUpdate = ["place": "Trestles"]
      try writer.performAndWait { _ = try writer.execute(request) }
    case .otherProcess:
      try stack.sqlite("UPDATE ZSESSION SET ZPLACE = 'Trestles' WHERE Z_PK = 4")
    case .otherCoordinator:
      let other = try Stack(folder)
      let context = other.context()
      try context.performAndWait {
        let found = try context.fetch(other.request()).first { $0.place == "Spot 3" }
        try #require(found).setValue("Trestles", forKey: "place")
        try context.save()
      }
    }
    #expect(try place(4) == "Trestles")
  }

  @Test("A row that was deleted is gone")
  func deletion() throws {
    #expect(try place(5) == "Spot 4")
    try stack.sqlite("DELETE FROM ZSESSION WHERE Z_PK = 5")
    #expect(throws: NSError.self) { try place(5) }
  }

  @Test("What a transaction took back is not shown", .sqliteOnly("The transaction is one of the connection"))
  func rolledBack() throws {
    let store = try #require(stack.coordinator.persistentStores.first?.rowStore as? SQLiteStore)
    let connection = try store.connection()
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try connection.transaction {
        try connection.run("UPDATE ZSESSION SET ZPLACE = 'Swamis' WHERE Z_PK = 6")
        #expect(try store.read(nil) { try $0.rows(for: [id(6)]) }[0]?.values.contains(.text("Swamis")) == true)
        throw Stop()
      }
    }
    #expect(try place(6) == "Spot 5")
  }

  @Test("A pinned generation shows its own rows, before and after others were read")
  func generation() throws {
    let pinned = stack.context()
    try pinned.performAndWait {
      try pinned.setQueryGenerationFrom(.current)
      _ = try pinned.count(for: stack.request())
    }
    try stack.sqlite("UPDATE ZSESSION SET ZPLACE = 'Trestles' WHERE Z_PK = 7")
    #expect(try place(7) == "Trestles")
    let seen = try pinned.performAndWait { try pinned.existingObject(with: id(7)).place }
    #expect(seen == "Spot 6")
    #expect(try place(7) == "Trestles")
  }

  @Test("A conflict is noticed although the row was read a moment ago")
  func conflict() throws {
    writer.mergePolicy = NSErrorMergePolicy
    let object = try writer.performAndWait { try writer.existingObject(with: id(8)) }
    #expect(try place(8) == "Spot 7")
    try stack.sqlite("UPDATE ZSESSION SET ZPLACE = 'Trestles', Z_OPT = Z_OPT + 1 WHERE Z_PK = 8")
    writer.performAndWait { object.setValue("Swamis", forKey: "place") }
    let error = #expect(throws: NSError.self) { try writer.performAndWait { try writer.save() } }
    #expect(error?.code == 133020)
  }

  @Test("Long values are read again, and are the same")
  func long() throws {
    let text = String(repeating: "wave ", count: 1000)
    try stack.sqlite("UPDATE ZSESSION SET ZPLACE = '\(text)' WHERE Z_PK = 9")
    var places: [String?] = []
    let sql = try Trace.of(stack) { for _ in 0..<2 { places.append(try place(9)) } }
    #expect(places == [text, text])
    if stack.kind == .sqlite { #expect(sql.count { $0.hasPrefix("SELECT") } == 2) }
  }
}
