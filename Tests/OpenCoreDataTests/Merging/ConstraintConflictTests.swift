import Foundation
import OpenCoreData
import TestSupport
import Testing

/// What the policies make of values that must be unique and are not.
///
/// Rules pinned (Apple documentation: NSMergePolicy.resolve(constraintConflicts:), NSConstraintConflict, error 133021):
/// - error: the save fails with 133021, nothing is written, the conflicts are in the error;
/// - between a saved and an inserted object the saved one remains, under its ID: unchanged where the store wins, with
///   what was set in the inserted one (object trump) or all of it (overwrite) where the context wins;
/// - among inserted objects one remains: the first where the store wins, the last where the context wins.
@Suite("Merge policies: conflicts of uniqueness", .overBothStores)
struct ConstraintConflictTests {
  /// A stored session ("start", 1, date 7), and one inserted with the same place, rating 5 and no date.
  @Test(
    "An inserted object and a stored one",
    arguments: Policy.allCases.flatMap { policy in InsertionWay.allCases.map { (policy, $0) } })
  func insertedAgainstStored(policy: Policy, way: InsertionWay) throws {
    let (stack, own) = try Self.stack(policy)
    try own.performAndWait {
      Self.insert([("start", 5), ("new", 4)], by: way, into: own, stack: stack)
      try Self.save(own, fails: policy == .error)
      if policy == .error { return }
      #expect(!own.hasChanges)
      #expect(try own.count(for: stack.request()) == 2)
    }
    let kept = "1|1|start|1|7"
    let rows = [
      Policy.error: kept, .storeTrump: kept + "\n2|1|new|4|", .rollback: kept + "\n2|1|new|4|",
      .objectTrump: "1|2|start|5|7\n2|1|new|4|", .overwrite: "1|2|start|5|\n2|1|new|4|",
    ]
    #expect(try Self.dump(stack) == rows[policy])
  }

  @Test(
    "Inserted objects among themselves",
    arguments: Policy.allCases.flatMap { policy in InsertionWay.allCases.map { (policy, $0) } })
  func insertedAgainstInserted(policy: Policy, way: InsertionWay) throws {
    let (stack, own) = try Self.stack(policy)
    try own.performAndWait {
      Self.insert([("twin", 2), ("single", 3), ("twin", 4), ("twin", 5)], by: way, into: own, stack: stack)
      try Self.save(own, fails: policy == .error)
    }
    let saved = try stack.sqlite("SELECT ZPLACE, ZRATING FROM ZSESSION WHERE Z_PK > 1 ORDER BY ZPLACE")
    #expect(saved == (policy == .error ? "" : "single|3\ntwin|" + (policy.contextWins ? "5" : "2")))
    #expect(
      try stack.sqlite("SELECT count(*), max(Z_PK) <= (SELECT max(Z_MAX) FROM Z_PRIMARYKEY) FROM ZSESSION")
        == (policy == .error ? "1|1" : "3|1"))
  }

  @Test("A changed object and a stored one", arguments: Policy.allCases)
  func changedAgainstStored(policy: Policy) throws {
    let (stack, own) = try Self.stack(policy)
    try own.performAndWait {
      Self.insert([("second", 2)], by: .single, into: own, stack: stack)
      try own.save()
      let request = stack.request()
      request.predicate = NSPredicate(format: "place == 'second'")
      let second = try #require(try own.fetch(request).first)
      second.setValue("start", forKey: "place")
      second.setValue(9, forKey: "rating")
      try Self.save(own, fails: policy == .error)
    }
    let rows = [
      Policy.error: "1|1|start|1|7\n2|1|second|2|", .storeTrump: "1|1|start|1|7\n2|2|second|9|",
      .rollback: "1|1|start|1|7\n2|1|second|2|", .objectTrump: "2|2|start|9|", .overwrite: "2|2|start|9|",
    ]
    #expect(try Self.dump(stack) == rows[policy])
  }

  @Test("An inserted object and one changed to its value in the same save", arguments: Policy.allCases)
  func insertedAgainstChanged(policy: Policy) throws {
    let (stack, own) = try Self.stack(policy)
    try own.performAndWait {
      let stored = try #require(try own.fetch(stack.request()).first)
      stored.setValue("moved", forKey: "place")
      Self.insert([("moved", 3)], by: .single, into: own, stack: stack)
      try Self.save(own, fails: policy == .error)
    }
    let rows = [
      Policy.error: "1|1|start|1|7", .storeTrump: "1|2|moved|1|7", .rollback: "1|2|moved|1|7",
      .objectTrump: "1|2|moved|3|7", .overwrite: "1|2|moved|3|",
    ]
    #expect(try Self.dump(stack) == rows[policy])
  }

  @Test("The error policy's error names constraint, values and both sides")
  func errorContents() throws {
    let (stack, own) = try Self.stack(.error)
    try own.performAndWait {
      Self.insert([("start", 5)], by: .bulk, into: own, stack: stack)
      let error = try #require(throws: NSError.self) { try own.save() }
      let conflicts = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])
      let conflict = try #require(conflicts.first)
      #expect(error.code == NSManagedObjectConstraintMergeError && conflicts.count == 1)
      #expect(conflict.constraint == ["place"])
      #expect(conflict.constraintValues["place"] as? String == "start")
      #expect(conflict.databaseSnapshot?["rating"] as? Int == 1)
      #expect(conflict.databaseObject?.objectID.isTemporaryID == false)
      #expect(conflict.conflictingObjects == Array(own.insertedObjects))
      #expect(error.userInfo[NSInsertedObjectsKey] as? [NSManagedObjectID] == own.insertedObjects.map(\.objectID))
    }
  }

  @Test("A policy of the client's own may give way by another value")
  func customPolicy() throws {
    let (stack, own) = try Self.stack(.error)
    try own.performAndWait {
      own.mergePolicy = RenamingPolicy(merge: .errorMergePolicyType)
      Self.insert([("start", 5)], by: .single, into: own, stack: stack)
      try own.save()
    }
    #expect(try Self.dump(stack) == "1|1|start|1|7\n2|1|start again|5|")
  }

  @Test("Values of two attributes together; NULL is never the same as NULL", arguments: Policy.allCases)
  func compoundConstraint(policy: Policy) throws {
    let stack = try Stack(try TemporaryFolder(), model: Sessions.model(unique: ["place", "rating"]))
    let own = stack.context()
    try own.performAndWait {
      own.mergePolicy = policy.value
      Self.insert([("a", 1), ("a", 2), ("b", 1)], by: .bulk, into: own, stack: stack)
      for _ in 0..<2 { NSManagedObject.make(stack.entity, in: own).setValue(3, forKey: "rating") }
      try own.save()
      Self.insert([("a", 2)], by: .single, into: own, stack: stack)
      try Self.save(own, fails: policy == .error)
    }
    #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION") == "5")
  }

  @Test("A save through a chain meets the constraint at the root, with the root's policy")
  func chain() throws {
    let (stack, own) = try Self.stack(.storeTrump)
    let child = stack.context(own)
    try child.performAndWait {
      Self.insert([("start", 5), ("new", 4)], by: .bulk, into: child, stack: stack)
      try child.save()
    }
    try own.performAndWait { try own.save() }
    #expect(try Self.dump(stack) == "1|1|start|1|7\n2|1|new|4|")
  }

  // MARK: Support

  private static func stack(_ policy: Policy) throws -> (Stack, NSManagedObjectContext) {
    let stack = try Stack(try TemporaryFolder(), model: Sessions.model(unique: ["place"]))
    let own = stack.context()
    try own.performAndWait {
      own.mergePolicy = policy.value
      let object = NSManagedObject.make(stack.entity, in: own)
      object.setValue("start", forKey: "place")
      object.setValue(1, forKey: "rating")
      object.setValue(Date(timeIntervalSinceReferenceDate: 7), forKey: "date")
      try own.save()
    }
    return (stack, own)
  }

  private static func insert(
    _ sessions: [(String, Int)], by way: InsertionWay, into context: NSManagedObjectContext, stack: Stack
  ) {
    switch way {
    case .bulk:
      var batch = ObjectBatch(entity: stack.entity)
      for (place, rating) in sessions {
        batch.appendRow()
        batch.setText(place, at: 1)
        batch.setInteger(Int64(rating), at: 2)
      }
      context.insert(batch)
    case .single:
      for (place, rating) in sessions {
        let object = NSManagedObject.make(stack.entity, in: context)
        object.setValue(place, forKey: "place")
        object.setValue(rating, forKey: "rating")
      }
    }
  }

  private static func save(_ context: NSManagedObjectContext, fails: Bool) throws {
    guard fails else { return try context.save() }
    let error = try #require(throws: NSError.self) { try context.save() }
    #expect(error.code == NSManagedObjectConstraintMergeError)
    #expect(context.hasChanges, "the changes still wait")
  }

  private static func dump(_ stack: Stack) throws -> String {
    try stack.sqlite("SELECT Z_PK, Z_OPT, ZPLACE, ZRATING, ZDATE FROM ZSESSION ORDER BY Z_PK")
  }
}

private final class RenamingPolicy: NSMergePolicy {
  override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    for conflict in list where conflict.databaseObject != nil {
      for object in conflict.conflictingObjects { object.setValue("\(object.place ?? "") again", forKey: "place") }
    }
  }
}
