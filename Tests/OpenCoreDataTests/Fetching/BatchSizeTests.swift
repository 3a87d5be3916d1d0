import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSFetchRequest, fetchBatchSize): all identities are read with the fetch, rows when an
// object of their batch is used. In child contexts too, and with pending changes: there Apple's framework is known to
// read everything.

@Suite("A batch size batches", .overBothStores)
struct BatchSizeTests {
  private static let identities = "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT FROM ZSESSION t0 ORDER BY t0.Z_PK"
  private static func rows(_ count: Int) -> String {
    let marks = Array(repeating: "?", count: count).joined(separator: ",")
    return "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZDATE, t0.ZPLACE, t0.ZRATING FROM ZSESSION t0 "
      + "WHERE t0.Z_PK IN (\(marks)) ORDER BY t0.Z_PK"
  }

  private let folder: TemporaryFolder
  private let stack: Stack

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack.filled(folder, count: 10)
  }

  private func request(_ change: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }) -> NSFetchRequest<
    NSManagedObject
  > {
    let request = stack.request()
    request.fetchBatchSize = 4
    change(request)
    return request
  }

  /// Contexts on the coordinator and one, two and three levels above.
  private func context(depth: Int) -> NSManagedObjectContext {
    (0..<depth).reduce(stack.context()) { parent, _ in stack.context(parent) }
  }

  @Test("Identities at once, rows by batch, at every level of a chain", arguments: [0, 1, 2])
  func levels(depth: Int) throws {
    let context = context(depth: depth)
    let sql = try Trace.of(stack) {
      try context.performAndWait {
        let objects = try context.fetch(request())
        #expect(objects.count == 10 && !objects.contains { !$0.isFault })
        #expect(objects[5].place == "Spot 5")
        #expect(objects[4...7].map(\.place) == (4...7).map { "Spot \($0)" })
        #expect(objects[9].place == "Spot 9")
        #expect(objects[0].isFault)
      }
    }
    if stack.kind == .sqlite { #expect(sql == [Self.identities, Self.rows(4), Self.rows(2)]) }
  }

  @Test("With pending changes of every level too")
  func pending() throws {
    let parent = stack.context()
    let child = stack.context(parent)
    try parent.performAndWait {
      let objects = try parent.fetch(stack.request())
      objects[1].setValue("Changed", forKey: "place")
      parent.delete(objects[2])
    }
    let sql = try Trace.of(stack) {
      try child.performAndWait {
        InsertionWay.single.insert(20..<22, into: child, stack.entity)
        let objects = try child.fetch(request())
        #expect(objects.map(\.objectID.isTemporaryID) == Array(repeating: false, count: 9) + [true, true])
        #expect(objects[3].isFault)
        #expect(
          objects.map(\.place)
            == ["Spot 0", "Changed"] + (3..<10).map { "Spot \($0)" } + ["Spot 20", "Spot 21"])
      }
    }
    // The changed object is the parent's, which need not read it.
    if stack.kind == .sqlite { #expect(sql == [Self.identities, Self.rows(3), Self.rows(4), Self.rows(1)]) }
  }

  @Test("Where pending objects have to be sorted in, identities come with the sort key alone")
  func sorted() throws {
    let context = stack.context()
    let sql = try Trace.of(stack) {
      try context.performAndWait {
        InsertionWay.single.insert(4..<5, into: context, stack.entity)
        let objects = try context.fetch(
          request { $0.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: false)] })
        #expect(objects.filter(\.isFault).count == 10)
        #expect(objects.prefix(4).map(\.place) == ["Spot 4", "Spot 9", "Spot 4", "Spot 3"])
      }
    }
    if stack.kind == .sqlite {
      #expect(
        sql == [
          "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZRATING FROM ZSESSION t0 ORDER BY t0.ZRATING DESC, t0.Z_PK",
          Self.rows(3),
        ])
    }
  }

  @Test("Limit and offset choose among identities")
  func slices() throws {
    let context = stack.context()
    let sql = try Trace.of(stack) {
      try context.performAndWait {
        let objects = try context.fetch(
          request {
            $0.fetchLimit = 5
            $0.fetchOffset = 2
          })
        #expect(objects.map(\.place) == (2..<7).map { "Spot \($0)" })
      }
    }
    if stack.kind == .sqlite { #expect(sql == [Self.identities + " LIMIT ? OFFSET ?", Self.rows(4), Self.rows(1)]) }
  }

  @Test("A batch leaves out what is loaded already, and what was deleted meanwhile reads as nil")
  func gaps() throws {
    let context = stack.context()
    try context.performAndWait {
      let objects = try context.fetch(request())
      _ = try context.existingObject(with: objects[1].objectID)
      try stack.sqlite("DELETE FROM ZSESSION WHERE Z_PK = 3")
      let sql = try Trace.of(stack) {
        #expect(objects[0].place == "Spot 0" && objects[3].place == "Spot 3")
        #expect(objects[2].place == nil && objects[2].isDeleted)
      }
      if stack.kind == .sqlite { #expect(sql == [Self.rows(3), Self.rows(1)]) }
    }
  }

  @Test(
    "shouldRefreshRefetchedObjects lets known objects take what the store has, with batches by being faults again",
    arguments: [0, 4])
  func refreshing(batchSize: Int) throws {
    let context = stack.context()
    try context.performAndWait {
      let objects = try context.fetch(stack.request())
      #expect(objects.map(\.place).count == 10)
      objects[2].setValue("Mine", forKey: "place")
      try stack.sqlite("UPDATE ZSESSION SET ZPLACE = 'Theirs', Z_OPT = Z_OPT + 1 WHERE Z_PK < 4")
      _ = try context.fetch(stack.request())
      #expect(objects[0].place == "Spot 0")
      _ = try context.fetch(
        request {
          $0.shouldRefreshRefetchedObjects = true
          $0.fetchBatchSize = batchSize
        })
      #expect(objects.prefix(4).map(\.place) == ["Theirs", "Theirs", "Mine", "Spot 3"])
    }
  }
}
