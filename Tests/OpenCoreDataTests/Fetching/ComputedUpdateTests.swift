import Foundation
import TestSupport
import Testing

@testable import OpenCoreData

// Rules (Apple documentation: NSBatchUpdateRequest, propertiesToUpdate): a value may be an expression, which the store
// computes of each row as it was before the update.

@Suite("A batch update computes values of each row", .overBothStores)
struct ComputedUpdateTests {
  private let folder: TemporaryFolder
  private let stack: Stack

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack.filled(folder, count: 6)
  }

  private func update(_ values: [String: String], _ predicate: String? = nil) throws -> Int? {
    let request = NSBatchUpdateRequest(entityName: "Session")
    request.propertiesToUpdate = values.mapValues { NSExpression(format: $0) }
    request.predicate = predicate.map { NSPredicate(format: $0) }
    request.resultType = .updatedObjectsCountResultType
    let context = stack.context()
    return try context.performAndWait { (try context.execute(request) as? NSBatchUpdateResult)?.result as? Int }
  }

  private func values(_ key: String) throws -> [String] {
    let context = stack.context()
    return try context.performAndWait {
      let request = stack.request()
      request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
      return try context.fetch(request).map { "\($0.value(forKey: key) ?? "nil")" }
    }
  }

  @Test("Each row has the value of its own values")
  func computed() throws {
    let before = try values("rating").compactMap(Int.init)
    #expect(
      try update(["rating": "rating * 10 + 1", "place": "uppercase(place)"], "rating > 1") == before.count { $0 > 1 })
    #expect(try values("rating").compactMap(Int.init) == before.map { $0 > 1 ? $0 * 10 + 1 : $0 })
    #expect(try values("place").contains { $0.hasPrefix("SPOT") })
  }

  @Test("Two attributes that are exchanged have each other's value of before")
  func exchanged() throws {
    let (places, ratings) = (try values("place"), try values("rating"))
    #expect(try update(["place": "CAST(rating, 'NSString')", "rating": "length(place)"]) == 6)
    #expect(try values("rating").compactMap(Int.init) == places.map(\.count))
    #expect(try values("place") == ratings)
  }

  @Test("nil is computed too")
  func null() throws {
    #expect(try update(["place": "NULL", "rating": "TERNARY(rating > 2, rating, NULL)"]) == 6)
    #expect(try values("place").allSatisfy { $0 == "nil" })
    #expect(try values("rating").contains("nil"))
  }

  @Test(
    "A number that the attribute does not store changes nothing, and the message names the object",
    arguments: ["rating / 2.0", "rating * 10000", "-40000", "1.5"])
  func misfit(expression: String) throws {
    let before = try values("rating")
    let said = message { _ = try update(["rating": expression]) }
    #expect(said.contains("for the attribute rating of x-coredata://") && said.contains("Nothing was updated"))
    #expect(try values("rating") == before)
  }

  @Test("An expression of another type is refused, with what to do")
  func refusals() throws {
    #expect(message { _ = try update(["rating": "place"]) }.contains("gives text, and the attribute rating of Session"))
    #expect(message { _ = try update(["stars": "rating"]) }.contains("stars not found"))
    #expect(message { _ = try update(["rating": "stars + 1"]) }.contains("stars not found"))
  }

  @Test("A value at the end of a relationship is read")
  func relationships() throws {
    let library = try LibraryStore()
    let context = try library.context()
    let request = NSBatchUpdateRequest(entityName: "Work")
    request.propertiesToUpdate = ["title": NSExpression(format: "author.name")]
    request.predicate = NSPredicate(format: "author.name != nil")
    request.resultType = .updatedObjectsCountResultType
    try context.performAndWait {
      #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 3)
      let works = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Work"))
      #expect(works.compactMap { $0.value(forKey: "title") as? String }.sorted() == ["Ann", "Ann", "Bob", "Orphan"])
      request.propertiesToUpdate = ["author": NSNull()]
      #expect(message { _ = try context.execute(request) }.contains("author of Work is a relationship"))
    }
  }

  @Test("Rows that read each other have the values of before", arguments: [false, true])
  func chain(tracksHistory: Bool) throws {
    let library = try LibraryStore()
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = try library.coordinator([NSPersistentHistoryTrackingKey: tracksHistory])
    try context.performAndWait {
      // Ann is the mentor of Bob, who is that of Cleo.
      let authors = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
      let names = ["Ann": "Bob", "Bob": "Cleo"]
      for author in authors {
        let name = author.value(forKey: "name") as? String
        author.setValue(Date(timeIntervalSinceReferenceDate: 10), forKey: "born")
        let mentor = names.first { $0.value == name }?.key
        author.setValue(
          authors.first { mentor != nil && $0.value(forKey: "name") as? String == mentor }, forKey: "mentor")
      }
      try context.save()
      let request = NSBatchUpdateRequest(entityName: "Author")
      request.propertiesToUpdate = ["born": NSExpression(format: "mentor.born + 1")]
      request.predicate = NSPredicate(format: "mentor != nil")
      try context.execute(request)
      context.refreshAllObjects()
      let born = authors.map { ($0.value(forKey: "name") as? String ?? "", $0.value(forKey: "born") as? Date) }
      #expect(born.filter { ["Bob", "Cleo"].contains($0.0) }.allSatisfy { $0.1?.timeIntervalSinceReferenceDate == 11 })
    }
  }

  @Test("A random number that is checked is the one that is stored")
  func random() throws {
    for _ in 0..<20 {
      let before = try values("rating")
      do {
        _ = try update(["rating": "randomn:(40000)"], "randomn:(2) == 0")
      } catch {
        #expect(error.localizedDescription.contains("Nothing was updated"))
        #expect(try values("rating") == before)
      }
      #expect(try values("rating").compactMap(Int.init).allSatisfy { (0...32767).contains($0) })
    }
  }
}
