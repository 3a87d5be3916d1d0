import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSFetchRequest, propertiesToFetch, returnsDistinctResults, propertiesToGroupBy,
// havingPredicate, includesPendingChanges): dictionaries hold the requested attributes of what is stored; equal ones are
// put together by SQL; a nil value has no key; unsaved changes don't show.

@Suite("A fetch of dictionaries lets SQL do the work", .overBothStores)
struct DictionaryFetchTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  private let context: NSManagedObjectContext

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack.filled(folder, count: 10)
    context = stack.context()
  }

  private func fetch(_ change: (NSFetchRequest<NSDictionary>) -> Void) throws -> (rows: [NSDictionary], sql: [String]) {
    var rows: [NSDictionary] = []
    let sql = try Trace.of(stack) {
      try context.performAndWait { rows = try context.fetch(stack.dictionaries(change)) }
    }
    return (rows, sql)
  }

  @Test("Only requested columns are read, by name or by description")
  func columns() throws {
    let place = try #require(stack.entity.attributesByName["place"])
    let (rows, sql) = try fetch {
      $0.propertiesToFetch = [place, "rating"]
      $0.predicate = NSPredicate(format: "rating = 5")
    }
    #expect(rows.map { $0["place"] as? String } == ["Spot 4", "Spot 9"])
    #expect(rows.allSatisfy { $0.count == 2 && $0["rating"] as? Int == 5 })
    if stack.kind == .sqlite {
      #expect(sql == ["SELECT t0.ZPLACE, t0.ZRATING FROM ZSESSION t0 WHERE t0.ZRATING = ? ORDER BY t0.Z_PK"])
    }
  }

  @Test("Distinct results are distinguished by SQL, sorted, cut and counted as such")
  func distinct() throws {
    let change: (NSFetchRequest<NSDictionary>) -> Void = {
      $0.propertiesToFetch = ["rating"]
      $0.returnsDistinctResults = true
      $0.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: false)]
      $0.fetchLimit = 3
      $0.fetchOffset = 1
    }
    let (rows, sql) = try fetch(change)
    #expect(rows.map { $0["rating"] as? Int } == [4, 3, 2])
    if stack.kind == .sqlite {
      #expect(sql == ["SELECT DISTINCT t0.ZRATING FROM ZSESSION t0 ORDER BY t0.ZRATING DESC LIMIT ? OFFSET ?"])
    }
    let count = try context.performAndWait { try context.count(for: stack.dictionaries(change)) }
    #expect(count == 3)
  }

  @Test("Groups, and which of them count")
  func groups() throws {
    let (rows, sql) = try fetch {
      $0.propertiesToFetch = ["rating"]
      $0.propertiesToGroupBy = ["rating"]
      $0.havingPredicate = NSPredicate(format: "rating > 3")
    }
    #expect(rows.map { $0["rating"] as? Int } == [4, 5])
    if stack.kind == .sqlite {
      #expect(
        sql == [
          "SELECT t0.ZRATING FROM ZSESSION t0 GROUP BY t0.ZRATING HAVING t0.ZRATING > ? ORDER BY t0.ZRATING"
        ])
    }
  }

  @Test("\"objectID\" stands for the identity")
  func objectIDs() throws {
    let (rows, _) = try fetch { $0.propertiesToFetch = ["objectID", "place"] }
    let ids = rows.compactMap { $0["objectID"] as? NSManagedObjectID }
    #expect(ids.count == 10)
    let places = context.performAndWait { ids.map { context.object(with: $0).place } }
    #expect(places == rows.map { $0["place"] as? String })
  }

  @Test("Unsaved changes of the chain don't show, and nil has no key")
  func storeOnly() throws {
    try stack.sqlite("UPDATE ZSESSION SET ZPLACE = NULL WHERE Z_PK = 1")
    let child = stack.context(context)
    let rows = try child.performAndWait {
      InsertionWay.single.insert(20..<21, into: child, stack.entity)
      return try child.fetch(stack.dictionaries { _ in })
    }
    #expect(rows.count == 10 && rows[0].count == 2 && rows[1].count == 3)
    #expect(rows[0]["place"] == nil && rows[1]["place"] as? String == "Spot 1")
  }

  @Test("What can't be answered says why")
  func misfits() throws {
    func failure(_ change: (NSFetchRequest<NSDictionary>) -> Void) -> String { message { _ = try fetch(change) } }
    #expect(failure { $0.propertiesToFetch = ["stars"] }.contains("keypath stars not found"))
    #expect(failure { $0.propertiesToFetch = [] }.contains("leave it nil"))
    #expect(failure { $0.havingPredicate = NSPredicate(format: "rating > 3") }.contains("propertiesToGroupBy"))
    let ungrouped = failure {
      $0.propertiesToFetch = ["rating", "place"]
      $0.propertiesToGroupBy = ["rating"]
    }
    #expect(ungrouped.contains("place is not among propertiesToGroupBy (rating)"))
  }
}
