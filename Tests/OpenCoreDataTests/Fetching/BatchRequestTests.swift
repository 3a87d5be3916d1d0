import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSBatchInsertRequest, NSBatchUpdateRequest, NSBatchDeleteRequest): batch requests are
// statements on the store, each request one transaction; no validation, no notifications; an update adds one to Z_OPT,
// an insertion takes its keys from Z_PRIMARYKEY; where unique values are taken, the new object is left out or the
// stored one takes its values.

@Suite("Batch requests work on the store itself", .overBothStores)
struct BatchRequestTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func rows(_ stack: Stack) throws -> String {
    try stack.sqlite("SELECT Z_PK, Z_OPT, ZPLACE, ZRATING FROM ZSESSION ORDER BY Z_PK")
  }

  private func execute(_ stack: Stack, _ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    let context = stack.context(stack.context())
    return try context.performAndWait { try context.execute(request) }
  }

  // MARK: Deletion

  @Test("A deletion takes what its fetch finds, limit and order included, in one transaction")
  func deletion() throws {
    let stack = try Stack.filled(folder, count: 6)
    let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Session")
    fetch.predicate = NSPredicate(format: "rating < 4")
    let request = NSBatchDeleteRequest(fetchRequest: fetch)
    request.resultType = .resultTypeCount
    let sql = try Trace.of(stack) {
      let result = try execute(stack, request) as? NSBatchDeleteResult
      #expect(result?.result as? Int == 4)
    }
    if stack.kind == .sqlite {
      #expect(sql == Trace.write(["DELETE FROM ZSESSION AS t0 WHERE t0.ZRATING < ?"]))
    }
    #expect(try rows(stack) == "4|1|Spot 3|4\n5|1|Spot 4|5")
    let last = stack.request()
    last.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: false)]
    last.fetchLimit = 1
    _ = try execute(stack, NSBatchDeleteRequest(fetchRequest: last))
    #expect(try rows(stack) == "4|1|Spot 3|4")
  }

  @Test("A deletion by IDs names what is gone, however many there are")
  func deletionByID() throws {
    let stack = try Stack.filled(folder, count: 1203)
    let context = stack.context()
    let ids = try context.performAndWait { try context.fetch(stack.request()).map(\.objectID) }
    let request = NSBatchDeleteRequest(objectIDs: Array(ids.dropFirst()))
    request.resultType = .resultTypeObjectIDs
    let result = try #require(try execute(stack, request) as? NSBatchDeleteResult)
    #expect(Set(try #require(result.result as? [NSManagedObjectID])) == Set(ids.dropFirst()))
    #expect(try rows(stack) == "1|1|Spot 0|1")
    let plain = try #require(try execute(stack, NSBatchDeleteRequest(objectIDs: [])) as? NSBatchDeleteResult)
    #expect(plain.result as? Bool == true)
  }

  @Test("IDs that no store has are refused")
  func unsaved() throws {
    let stack = try Stack.filled(folder, count: 1)
    let context = stack.context()
    let text = context.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: context)
      return message { try context.execute(NSBatchDeleteRequest(objectIDs: [object.objectID])) }
    }
    #expect(text.contains("never saved"))
  }

  // MARK: Update

  @Test("An update sets attributes, counts versions up and names what it changed")
  func update() throws {
    let stack = try Stack.filled(folder, count: 4)
    let request = NSBatchUpdateRequest(entityName: "Session")
    request.predicate = NSPredicate(format: "rating > 2")
    let place = try #require(stack.entity.attributesByName["place"])
    request.propertiesToUpdate = ["rating": 1, place: NSNull()]
    request.resultType = .updatedObjectIDsResultType
    let sql = try Trace.of(stack) {
      let ids = (try execute(stack, request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID]
      #expect(ids?.compactMap(\.storeKey) == [3, 4])
    }
    if stack.kind == .sqlite {
      #expect(
        sql
          == Trace.write([
            "UPDATE ZSESSION AS t0 SET ZPLACE = ?, ZRATING = ?, Z_OPT = Z_OPT + 1 WHERE t0.ZRATING > ? "
              + "RETURNING Z_PK, Z_ENT"
          ]))
    }
    #expect(try rows(stack) == "1|1|Spot 0|1\n2|1|Spot 1|2\n3|2||1\n4|2||1")
  }

  @Test("A context that still has the old values finds a conflict when it saves")
  func staleContext() throws {
    let stack = try Stack.filled(folder, count: 1)
    let context = stack.context()
    try context.performAndWait {
      let object = try #require(try context.fetch(stack.request()).first)
      #expect(object.place == "Spot 0")
      let request = NSBatchUpdateRequest(entity: stack.entity)
      request.propertiesToUpdate = ["rating": 5]
      try context.execute(request)
      #expect(!context.hasChanges && object.value(forKey: "rating") as? Int == 1)
      object.setValue("Mine", forKey: "place")
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectMergeError)
    }
  }

  @Test(
    "What does not fit says so, and nothing is written",
    arguments: [
      ["stars": 3], ["rating": "many"], [:],
    ] as [[String: any Sendable]])
  func misfits(values: [String: any Sendable]) throws {
    let stack = try Stack.filled(folder, count: 2)
    let before = try rows(stack)
    let update = NSBatchUpdateRequest(entityName: "Session")
    update.propertiesToUpdate = values
    #expect(message { _ = try execute(stack, update) }.contains(values.keys.first ?? "propertiesToUpdate"))
    if !values.isEmpty {
      let insertion = NSBatchInsertRequest(entityName: "Session", objects: [["place": "Fine"], values])
      #expect(message { _ = try execute(stack, insertion) }.hasPrefix("Object 2 of the batch insertion"))
    }
    #expect(try rows(stack) == before)
  }

  // MARK: Insertion

  @Test("An insertion takes keys of the sequence and the model's defaults")
  func insertion() throws {
    let stack = try Stack.filled(folder, count: 1)
    let request = NSBatchInsertRequest(entityName: "Session", objects: [["place": "List", "rating": 3], [:]])
    request.resultType = .objectIDs
    let sql = try Trace.of(stack) {
      let ids = (try execute(stack, request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID]
      #expect(ids?.map(\.storeKey) == [2, 3])
    }
    if stack.kind == .sqlite {
      #expect(
        sql
          == Trace.write([
            "SELECT max(coalesce(Z_MAX, 0), coalesce((SELECT max(Z_PK) FROM ZSESSION), 0)) "
              + "FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
            "INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, ZDATE, ZPLACE, ZRATING) SELECT pk, 1, 1, s0, s1, s2 "
              + "FROM ocd_batch_Session RETURNING Z_PK, Z_ENT", "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?",
          ]))
    }
    #expect(try rows(stack) == "1|1|Spot 0|1\n2|1|List|3\n3|1||0")
  }

  @Test("Handlers are asked until they return true, over many statements", arguments: [0, 1, 5000, 12_001])
  func handlers(count: Int) throws {
    let stack = try Stack(folder)
    var given = 0
    let dictionaries = NSBatchInsertRequest(
      entityName: "Session",
      dictionaryHandler: { dictionary in
        if given == count { return true }
        dictionary["place" as NSString] = "Spot \(given)"
        given += 1
        return false
      })
    dictionaries.resultType = .count
    let counted = try execute(stack, dictionaries) as? NSBatchInsertResult
    #expect(counted?.result as? Int == count)
    var set = 0
    let objects = NSBatchInsertRequest(
      entityName: "Session",
      managedObjectHandler: { object in
        if set == count { return true }
        #expect(object.place == nil && object.value(forKey: "rating") as? Int == 0)
        object.setValue("Spot \(set)", forKey: "place")
        set += 1
        return false
      })
    let plain = try execute(stack, objects) as? NSBatchInsertResult
    #expect(plain?.result as? Bool == true)
    #expect(
      try stack.sqlite(
        "SELECT count(*), count(DISTINCT ZPLACE), ifnull(min(Z_PK), 0), ifnull(max(Z_PK), 0), ifnull(sum(ZRATING), 0) "
          + "FROM ZSESSION; SELECT Z_MAX FROM Z_PRIMARYKEY")
        == "\(2 * count)|\(count)|\(min(count, 1))|\(2 * count)|0\n\(2 * count)")
  }

  @Test("Unique values that are taken: left out, or given to the stored object, as the merge policy has it")
  func uniqueness() throws {
    for (type, wins) in [
      (NSMergePolicyType.errorMergePolicyType, false), (.mergeByPropertyStoreTrumpMergePolicyType, false),
      (.rollbackMergePolicyType, false), (.mergeByPropertyObjectTrumpMergePolicyType, true),
      (.overwriteMergePolicyType, true),
    ] {
      let stack = try Stack.filled(
        folder, count: 2, name: "\(type.rawValue).sqlite", model: Sessions.model(unique: ["place"]))
      let request = NSBatchInsertRequest(
        entityName: "Session",
        objects: [["place": "Spot 1", "rating": 5], ["place": "New", "rating": 4], ["place": "New", "rating": 2]])
      request.resultType = .objectIDs
      let context = stack.context()
      context.mergePolicy = NSMergePolicy(merge: type)
      let result = try context.performAndWait { try context.execute(request) as? NSBatchInsertResult }
      let keys = (result?.result as? [NSManagedObjectID])?.compactMap(\.storeKey)
      #expect(keys == (wins ? [2, 4, 4] : [4]))
      let after = try rows(stack)
      #expect(after == (wins ? "1|1|Spot 0|1\n2|2|Spot 1|5\n4|2|New|2" : "1|1|Spot 0|1\n2|1|Spot 1|2\n4|1|New|4"))
      try context.performAndWait {
        InsertionWay.single.insert(7..<8, into: context, stack.entity)
        try context.save()
      }
      #expect(try rows(stack).hasSuffix("6|1|Spot 7|3"))
    }
  }

  @Test("What was deleted reaches a context through the result's IDs")
  func merging() throws {
    let stack = try Stack.filled(folder, count: 3)
    let context = stack.context()
    try context.performAndWait {
      let objects = try context.fetch(stack.request())
      let fetch = stack.request()
      fetch.predicate = NSPredicate(format: "rating = 2")
      let request = NSBatchDeleteRequest(fetchRequest: fetch)
      request.resultType = .resultTypeObjectIDs
      let result = try #require(try context.execute(request) as? NSBatchDeleteResult)
      let ids = try #require(result.result as? [NSManagedObjectID])
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectIDsKey: ids], into: [context])
      #expect(objects.map { $0.managedObjectContext == nil || $0.isDeleted } == [false, true, false])
    }
  }

  @Test("An update that makes unique values equal is error 133021, and nothing is written")
  func uniquenessOfUpdate() throws {
    let stack = try Stack.filled(folder, count: 2, model: Sessions.model(unique: ["place"]))
    let before = try rows(stack)
    let request = NSBatchUpdateRequest(entityName: "Session")
    request.propertiesToUpdate = ["place": "Same"]
    let error = #expect(throws: NSError.self) { _ = try execute(stack, request) }
    #expect(error?.code == NSManagedObjectConstraintMergeError)
    #expect(try rows(stack) == before)
  }

  @Test("Contexts hear nothing, and a request of another kind is refused")
  func silence() throws {
    let stack = try Stack.filled(folder, count: 2)
    let posted = Counter()
    let context = stack.context()
    let token = NotificationCenter.default.addObserver(forName: nil, object: context, queue: nil) { _ in
      posted.increase()
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try context.performAndWait {
      let objects = try context.fetch(stack.request())
      try context.execute(NSBatchDeleteRequest(fetchRequest: stack.request()))
      #expect(objects.count == 2 && context.deletedObjects.isEmpty)
      #expect(message { try context.execute(stack.request()) }.contains("fetch(_:)"))
    }
    #expect(posted.count == 0)
  }
}
