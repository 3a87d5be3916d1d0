import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (NSManagedObjectContext.walk; not Apple's): a walk reads on a cursor of its own and holds one batch; a batch is
// of one entity; order, predicate, limit and offset count as in a fetch; it sees the store as it was when it began.

@Suite("A walk streams, over subentities too", .overBothStores)
struct WalkTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  private let context: NSManagedObjectContext

  init() throws {
    folder = try TemporaryFolder()
    let model = Sessions.model { session in
      session.isAbstract = true
      let surf = NSEntityDescription()
      surf.name = "Surf"
      surf.properties = [Sessions.attribute("height", .doubleAttributeType)]
      let swim = NSEntityDescription()
      swim.name = "Swim"
      swim.properties = [Sessions.attribute("aaa", .stringAttributeType)]
      session.subentities = [surf, swim]
    }
    let session = try #require(model.entitiesByName["Session"])
    model.entities += session.subentities
    stack = try Stack(folder, model: model)
    context = stack.context()
    let context = context
    try context.performAndWait {
      // Surf 0, 1, 4, 5, …; swims 2, 3, 6, 7, …
      for number in 0..<20 {
        let name = number / 2 % 2 == 0 ? "Surf" : "Swim"
        let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        object.setValue("Spot \(number)", forKey: "place")
        object.setValue(name == "Surf" ? Double(number) : "lap \(number)", forKey: name == "Surf" ? "height" : "aaa")
      }
      try context.save()
    }
  }

  /// What a walk gives: for each batch the entity's name and its places; and how the values of each kind read.
  private func walk(
    _ name: String = "Session", rowsPerBatch: Int, _ change: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }
  ) throws -> [[String]] {
    let request = NSFetchRequest<NSManagedObject>(entityName: name)
    change(request)
    var batches: [[String]] = []
    try context.performAndWait {
      try context.walk(request, rowsPerBatch: rowsPerBatch) { batch, ids in
        #expect(ids.map(\.entity.name) == Array(repeating: batch.entity.name, count: batch.count))
        let places = try (0..<batch.count).map { row -> String in
          let slot = try #require(batch.entity.slot(named: "place"))
          let object = context.object(with: ids[row])
          #expect(batch.values(row: row) == object.entity.attributeSlots.map { stored(object, $0) })
          guard case .text(let text) = batch.value(row: row, slot: slot) else { return "" }
          return text
        }
        batches.append([batch.entity.name ?? ""] + places)
        return true
      }
    }
    return batches
  }

  private func stored(_ object: NSManagedObject, _ attribute: NSAttributeDescription) -> StoredValue {
    attribute.storedValue(from: object.value(forKey: attribute.name)) ?? .null
  }

  @Test("Every object once and in order; batches end where the entity does", arguments: [1, 2, 3, 100])
  func mixed(rowsPerBatch: Int) throws {
    var batches: [[String]] = []
    let sql = try Trace.of(stack) { batches = try walk(rowsPerBatch: rowsPerBatch) }
    #expect(batches.flatMap { $0.dropFirst() } == (0..<20).map { "Spot \($0)" })
    #expect(batches.count == (rowsPerBatch == 1 ? 20 : 10))
    // The rows come on the cursor's own connection; here only the objects are read that the test compares with.
    if stack.kind == .sqlite { #expect(!sql.contains { !$0.contains("Z_PK IN (?)") }) }
  }

  @Test("Sorted by an attribute, runs are as long as they can be")
  func sorted() throws {
    let batches = try walk(rowsPerBatch: 7) {
      $0.predicate = NSPredicate(format: "place != 'Spot 0'")
      $0.sortDescriptors = [
        NSSortDescriptor(key: "rating", ascending: true), NSSortDescriptor(key: "place", ascending: true),
      ]
      $0.fetchOffset = 1
      $0.fetchLimit = 12
    }
    let places = (1..<20).map { "Spot \($0)" }.sorted().dropFirst().prefix(12)
    #expect(batches.flatMap { $0.dropFirst() } == Array(places))
  }

  @Test("One of the subentities alone, and an abstract entity without them")
  func single() throws {
    #expect(try walk("Swim", rowsPerBatch: 4).map(\.count) == [5, 5, 3])
    #expect(try walk(rowsPerBatch: 4) { $0.includesSubentities = false }.isEmpty)
  }

  @Test("A batch that is kept stays as it is while the walk goes on and fills others again")
  func kept() throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Surf")
    var kept: [ObjectBatch] = []
    var count = 0
    try context.performAndWait {
      try context.walk(request, rowsPerBatch: 2) { batch, _ in
        if count % 2 == 0 { kept.append(batch) }
        count += 1
        return true
      }
    }
    let slot = try #require(kept.first?.entity.slot(named: "place"))
    let places = kept.map { batch in (0..<batch.count).map { batch.value(row: $0, slot: slot) } }
    #expect(places == [[0, 1], [8, 9], [16, 17]].map { $0.map { .text("Spot \($0)") } })
  }

  @Test("The walk sees the store as it was when it began")
  func snapshot() throws {
    var seen = 0
    try context.performAndWait {
      try context.walk(NSFetchRequest<NSManagedObject>(entityName: "Session"), rowsPerBatch: 5) { batch, _ in
        if seen == 0 { try stack.sqlite("DELETE FROM ZSESSION WHERE Z_PK > 3") }
        seen += batch.count
        return true
      }
    }
    #expect(seen == 20)
  }
}
