import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules: what reaches SQLite for common fetches and saves, to the letter and in number. A change of any of these is a
// change of what every program pays.

@Suite("The SQL of common fetches and saves is this and no more", .sqliteOnly("About the text of SQL"))
struct PinnedSQLTests {
  private static let all = "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZDATE, t0.ZPLACE, t0.ZRATING FROM ZSESSION t0"
  private static let insert =
    "INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, ZDATE, ZPLACE, ZRATING) SELECT pk, 1, 1, s0, s1, s2 FROM ocd_batch_Session"
  /// The first of many rows has its key, and SQLite counts on.
  private static let insertMany = [
    "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE LIMIT 1", insert,
    "INSERT INTO ZSESSION(Z_ENT, Z_OPT, ZDATE, ZPLACE, ZRATING) SELECT 1, 1, s0, s1, s2 FROM ocd_batch_Session",
  ]
  private static let takeKeys =
    "SELECT max(coalesce(Z_MAX, 0), coalesce((SELECT max(Z_PK) FROM ZSESSION), 0)) "
    + "FROM Z_PRIMARYKEY WHERE Z_ENT = ?"
  private static let storeKeys = "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?"

  private let folder: TemporaryFolder
  private let stack: Stack

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack.filled(folder, count: 10)
  }

  // MARK: Fetches

  struct Fetch: CustomTestStringConvertible {
    let testDescription: String
    let sql: [String]
    let run: @Sendable (NSManagedObjectContext, NSFetchRequest<NSManagedObject>) throws -> Void
  }

  static let fetchCases: [Fetch] = [
    Fetch(testDescription: "everything", sql: ["\(all) ORDER BY t0.Z_PK"]) { _ = try $0.fetch($1) },
    Fetch(
      testDescription: "predicate, order, limit and offset",
      sql: ["\(all) WHERE t0.ZRATING >= ? ORDER BY t0.ZDATE DESC, t0.Z_PK LIMIT ? OFFSET ?"]
    ) { context, request in
      request.predicate = NSPredicate(format: "rating >= 3")
      request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
      request.fetchLimit = 2
      request.fetchOffset = 1
      _ = try context.fetch(request)
    },
    Fetch(testDescription: "count", sql: ["SELECT count(*) FROM ZSESSION t0 WHERE t0.ZRATING = ?"]) {
      context, request in
      request.predicate = NSPredicate(format: "rating = 3")
      _ = try context.count(for: request)
    },
    Fetch(
      testDescription: "count with a limit", sql: ["SELECT count(*) FROM (SELECT 1 FROM ZSESSION t0 LIMIT ? OFFSET ?)"]
    ) { context, request in
      request.fetchLimit = 3
      _ = try context.count(for: request)
    },
    Fetch(testDescription: "IDs", sql: ["SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT FROM ZSESSION t0 ORDER BY t0.Z_PK"]) {
      context, request in
      request.resultType = .managedObjectIDResultType
      _ = try context.fetch(request.retyped(as: NSManagedObjectID.self))
    },
    Fetch(
      testDescription: "identities without values, then one fault",
      sql: [
        "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT FROM ZSESSION t0 ORDER BY t0.Z_PK",
        "\(all) WHERE t0.Z_PK IN (?) ORDER BY t0.Z_PK",
      ]
    ) { context, request in
      request.includesPropertyValues = false
      let objects = try context.fetch(request)
      #expect(objects[3].place == "Spot 3")
    },
    Fetch(
      testDescription: "a fault of its own, by ID", sql: ["\(all) WHERE t0.Z_PK IN (?) ORDER BY t0.Z_PK"]
    ) { context, request in
      let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
      let entity = try #require(context.model?.entitiesByName["Session"])
      let object = try context.existingObject(with: NSManagedObjectID(entity: entity, store: store.identity, key: 3))
      #expect(object.place == "Spot 2" && context.object(with: object.objectID) === object)
    },
    Fetch(
      testDescription: "faults fired together", sql: ["\(all) WHERE t0.Z_PK IN (?,?,?) ORDER BY t0.Z_PK"]
    ) { context, _ in
      let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
      let entity = try #require(context.model?.entitiesByName["Session"])
      let ids = (1...3).map { NSManagedObjectID(entity: entity, store: store.identity, key: $0) }
      #expect(context.objects(withIDs: ids).map(\.place) == ["Spot 0", "Spot 1", "Spot 2"])
    },
    Fetch(
      testDescription: "values at hand: no fault fires", sql: ["\(all) ORDER BY t0.Z_PK"]
    ) { context, request in
      let objects = try context.fetch(request)
      #expect(objects.map(\.place).count == 10)
    },
  ]

  @Test("A fetch", arguments: fetchCases, [0, 2])
  func fetches(_ fetch: Fetch, depth: Int) throws {
    let context = (0..<depth).reduce(stack.context()) { parent, _ in stack.context(parent) }
    let sql = try Trace.of(stack) {
      try context.performAndWait { try fetch.run(context, stack.request()) }
    }
    #expect(sql == fetch.sql)
  }

  // MARK: Saves

  struct Save: CustomTestStringConvertible {
    let testDescription: String
    let sql: [String]
    let change: @Sendable (NSManagedObjectContext, [NSManagedObject], NSEntityDescription) throws -> Void
  }

  static let saveCases: [Save] = [
    Save(testDescription: "nothing", sql: []) { _, _, _ in },
    Save(testDescription: "one insertion", sql: [takeKeys, insert, storeKeys]) { context, _, entity in
      InsertionWay.single.insert(20..<21, into: context, entity)
    },
    Save(
      testDescription: "a hundred single insertions, in segments of 16, 32 and 64",
      sql: [takeKeys, insert, insert, insert, storeKeys]
    ) {
      context, _, entity in
      InsertionWay.single.insert(20..<120, into: context, entity)
    },
    Save(testDescription: "a bulk insertion", sql: [takeKeys] + insertMany + [storeKeys]) { context, _, entity in
      InsertionWay.bulk.insert(20..<9020, into: context, entity)
    },
    Save(
      testDescription: "one attribute",
      sql: ["UPDATE ZSESSION SET ZPLACE = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ? AND Z_OPT = ?"]
    ) { _, objects, _ in objects[0].setValue("Changed", forKey: "place") },
    Save(testDescription: "a deletion", sql: ["DELETE FROM ZSESSION WHERE Z_PK = ? AND Z_OPT = ?"]) {
      context, objects, _ in
      context.delete(objects[0])
    },
    Save(
      testDescription: "several of each",
      sql: [
        "DELETE FROM ZSESSION WHERE Z_PK IN (?,?) AND Z_OPT = ?",
        "UPDATE ZSESSION SET ZPLACE = ?, ZRATING = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ? AND Z_OPT = ?",
        "UPDATE ZSESSION SET ZRATING = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ? AND Z_OPT = ?", takeKeys, insert, storeKeys,
      ]
    ) { context, objects, entity in
      context.delete(objects[0])
      context.delete(objects[1])
      objects[2].setValue("Changed", forKey: "place")
      for object in objects[2...3] { object.setValue(9, forKey: "rating") }
      InsertionWay.single.insert(20..<22, into: context, entity)
    },
  ]

  @Test("A save, handed down a chain or not: one transaction", arguments: saveCases, [0, 2])
  func saves(_ save: Save, depth: Int) throws {
    // Parents know the objects too: what they have not loaded they would read when they take a change over.
    var (chain, held) = ([NSManagedObjectContext](), [NSManagedObject]())
    for _ in 0...depth {
      let context = stack.context(chain.last)
      chain.append(context)
      held += try context.performAndWait { try context.fetch(stack.request()) }
    }
    let objects = Array(held.suffix(10))
    let context = chain[depth]
    context.performAndWait { #expect(objects.map(\.place).count == 10) }
    let sql = try Trace.of(stack) {
      try context.performAndWait { try save.change(context, objects, stack.entity) }
      for saving in chain.reversed() { try saving.performAndWait { try saving.save() } }
    }
    withExtendedLifetime(held) {}
    #expect(sql == (save.sql.isEmpty ? [] : Trace.write(save.sql)))
  }
}
