import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSFetchRequest): pending changes of the whole chain count by default; limit and offset
// apply to the result as the context shows it; with a batch size identities are read first and rows batch by batch;
// dictionaries show the store only. SQL is pinned: text and number of statements.

@Suite("A fetch finds what the context shows", .overBothStores)
struct FetchTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  private let context: NSManagedObjectContext

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder)
    context = stack.context()
    let (context, entity) = (context, stack.entity)
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<10, into: context, entity)
      try context.save()
    }
  }

  /// The places that a request finds in `context`.
  private func places(
    _ context: NSManagedObjectContext, _ change: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }
  ) throws -> [String] {
    try context.performAndWait {
      let request = stack.request()
      change(request)
      return try context.fetch(request).map { $0.place ?? "nil" }
    }
  }

  @Test("Without an order objects come by key; with one, stably by it")
  func order() throws {
    #expect(try places(context) == (0..<10).map { "Spot \($0)" })
    let sorted = try places(context) {
      $0.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: false)]
    }
    #expect(sorted == [4, 9, 3, 8, 2, 7, 1, 6, 0, 5].map { "Spot \($0)" })
  }

  @Test("Limit and offset count after pending changes", arguments: [(0, 0), (3, 0), (3, 2), (20, 5), (2, 9)])
  func slices(limit: Int, offset: Int) throws {
    try context.performAndWait {
      let all = try context.fetch(stack.request())
      context.delete(all[1])
      all[4].setValue("Changed", forKey: "place")
      InsertionWay.single.insert(20..<22, into: context, stack.entity)
    }
    let whole = [
      "Spot 0", "Spot 2", "Spot 3", "Changed", "Spot 5", "Spot 6", "Spot 7", "Spot 8", "Spot 9", "Spot 20", "Spot 21",
    ]
    let expected = Array(limit == 0 ? whole.dropFirst(offset) : whole.dropFirst(offset).prefix(limit))
    let found = try places(context) {
      $0.fetchLimit = limit
      $0.fetchOffset = offset
    }
    #expect(found == expected)
    let count = try context.performAndWait {
      let request = stack.request()
      request.fetchLimit = limit
      request.fetchOffset = offset
      return try context.count(for: request)
    }
    #expect(count == expected.count)
  }

  @Test("Pending changes count through the whole chain, unless the request says otherwise")
  func pendingThroughChain() throws {
    let middle = stack.context(context)
    let child = stack.context(middle)
    try context.performAndWait {
      let object = try #require(try context.fetch(stack.request()).first)
      object.setValue("Below", forKey: "place")
    }
    try middle.performAndWait {
      let object = try #require(try middle.fetch(stack.request()).last)
      middle.delete(object)
    }
    child.performAndWait { InsertionWay.single.insert(50..<51, into: child, stack.entity) }
    let found = try places(child) { $0.predicate = NSPredicate(format: "NOT place BEGINSWITH 'Spot'") }
    #expect(found == ["Below"])
    #expect(try places(child).count == 10)
    let stored = try places(stack.context()) { $0.includesPendingChanges = false }
    #expect(stored == (0..<10).map { "Spot \($0)" })
  }

  @Test("IDs, counts and dictionaries")
  func resultTypes() throws {
    try context.performAndWait {
      InsertionWay.single.insert(30..<31, into: context, stack.entity)
      let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Session")
      ids.resultType = .managedObjectIDResultType
      let found = try context.fetch(ids)
      #expect(found.count == 11 && found.count(where: \.isTemporaryID) == 1)
      let counts = NSFetchRequest<NSNumber>(entityName: "Session")
      counts.resultType = .countResultType
      #expect(try context.fetch(counts) == [11])
      let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Session")
      dictionaries.resultType = .dictionaryResultType
      dictionaries.propertiesToFetch = ["place", "rating"]
      dictionaries.predicate = NSPredicate(format: "rating = 5")
      let rows = try context.fetch(dictionaries)
      #expect(rows.map { $0["place"] as? String } == ["Spot 4", "Spot 9"])
      #expect(rows.map { $0["rating"] as? Int } == [5, 5] && rows.allSatisfy { $0.count == 2 })
    }
  }

  @Test("One fetch is one statement, and its text is this", .sqliteOnly("About the text of SQL"))
  func statements() throws {
    let seen = try Trace.of(stack) {
      _ = try places(context) {
        $0.predicate = NSPredicate(format: "rating >= %d", 3)
        $0.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
        $0.fetchLimit = 2
      }
    }
    #expect(
      seen == [
        "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZDATE, t0.ZPLACE, t0.ZRATING FROM ZSESSION t0 "
          + "WHERE t0.ZRATING >= ? ORDER BY t0.ZDATE DESC, t0.Z_PK LIMIT ? OFFSET ?"
      ])
  }

  @Test("With a batch size, touching an object loads its batch and no other")
  func batches() throws {
    let other = stack.context()
    var objects: [NSManagedObject] = []
    let first = try Trace.of(stack) {
      try other.performAndWait {
        let request = stack.request()
        request.fetchBatchSize = 4
        objects = try other.fetch(request)
      }
    }
    if stack.kind == .sqlite {
      #expect(first == ["SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT FROM ZSESSION t0 ORDER BY t0.Z_PK"])
    }
    #expect(!objects.contains { !$0.isFault })
    let second = try Trace.of(stack) {
      other.performAndWait {
        #expect(objects[1].place == "Spot 1")
        #expect(objects[0].place == "Spot 0" && objects[3].place == "Spot 3")
      }
    }
    if stack.kind == .sqlite { #expect(second.count == 1 && second[0].contains("Z_PK IN (?,?,?,?)")) }
    #expect(other.performAndWait { objects[9].place } == "Spot 9")
  }

  @Test("Fetched objects are faults with their values at hand: no second read")
  func loadedFaults() throws {
    let other = stack.context()
    var seen: [String] = []
    try other.performAndWait {
      let objects = try other.fetch(stack.request())
      #expect(!objects.contains { !$0.isFault })
      seen = try Trace.of(stack) {
        let places = objects.compactMap(\.place)
        #expect(places.count == 10)
      }
      #expect(!objects.contains { $0.isFault })
    }
    #expect(seen.isEmpty)
  }

  @Test("A context holds unchanged objects weakly, and one object per identity")
  func uniquing() throws {
    let other = stack.context()
    try other.performAndWait {
      let one = try other.fetch(stack.request())
      let two = try other.fetch(stack.request())
      #expect(zip(one, two).allSatisfy { $0 === $1 })
    }
    other.performAndWait { #expect(other.registeredObjects.isEmpty) }
  }

  @Test("A request that does not fit the model says what does")
  func misfits() throws {
    func message(_ request: NSFetchRequest<NSManagedObject>) -> String {
      context.performAndWait {
        let error = #expect(throws: NSError.self) { try context.fetch(request) }
        return error?.localizedDescription ?? ""
      }
    }
    #expect(message(NSFetchRequest(entityName: "Sesion")).contains("Session"))
    let key = stack.request()
    key.predicate = NSPredicate(format: "stars > 3")
    #expect(message(key).contains("keypath stars not found in entity Session"))
    let sort = stack.request()
    sort.sortDescriptors = [NSSortDescriptor(key: "stars", ascending: true)]
    #expect(message(sort).contains("stars"))
  }

  @Test("A walk gives every row once, in batches, pending changes included", arguments: [1, 3, 100])
  func walk(rowsPerBatch: Int) throws {
    func walked() throws -> [String] {
      var seen: [String] = []
      try context.walk(stack.request(), rowsPerBatch: rowsPerBatch) { batch, ids in
        #expect(batch.count <= rowsPerBatch && batch.count == ids.count)
        for row in 0..<batch.count {
          if case .text(let place) = batch.value(row: row, slot: 1) { seen.append(place) }
        }
        return true
      }
      return seen
    }
    try context.performAndWait {
      let stored = try walked()
      #expect(stored == (0..<10).map { "Spot \($0)" })
      InsertionWay.single.insert(90..<91, into: context, stack.entity)
      let withPending = try walked()
      #expect(withPending == stored + ["Spot 90"])
    }
  }
}
