import Foundation
import OpenCoreData
import TestSupport
import Testing

/// The five policies, and what they make of a conflict of versions.
///
/// Rules pinned (Apple documentation: NSMergePolicy, NSMergeConflict; SDK header NSMergePolicy.h):
/// - error: the save fails with 133020, nothing is written, the conflicts are in the error;
/// - mergeByPropertyStoreTrump, …ObjectTrump: property by property, different only where both sides changed one;
/// - overwrite: the whole object as the context has it; rollback: the store's;
/// - a row deleted by others stays deleted where the store wins, and is written anew where the object wins;
/// - a row that the context deletes and others changed comes back where the store wins.
@Suite("Merge policies: conflicts of versions", .overBothStores)
struct MergePolicyTests {
  /// "mine" changed place and rating, "theirs" place and date; both started from ("start", 1, no date).
  @Test(
    "A row that others changed",
    arguments: [
      (Policy.storeTrump, "2|3|theirs|5|100"), (.objectTrump, "2|3|mine|5|100"), (.overwrite, "2|3|mine|5|"),
      (.rollback, "2|2|theirs|1|100"), (.error, "2|2|theirs|1|100"),
    ])
  func changedRow(policy: Policy, row: String) throws {
    let pair = try ConflictingPair(policy)
    try pair.theirs { object in
      object.setValue("theirs", forKey: "place")
      object.setValue(Date(timeIntervalSinceReferenceDate: 100), forKey: "date")
    }
    try pair.own.performAndWait {
      pair.object.setValue("mine", forKey: "place")
      pair.object.setValue(5, forKey: "rating")
      try pair.expectSave(to: policy == .error ? .fail(NSManagedObjectMergeError) : .succeed)
      guard policy != .error else { return }
      #expect(!pair.own.hasChanges && !pair.object.isUpdated)
      // What the context shows is what the store has.
      #expect(
        pair.values == Array(row.split(separator: "|", omittingEmptySubsequences: false).dropFirst(2)).map(String.init))
    }
    // The first object is there in addition to the second to show that only one row is touched.
    #expect(try pair.dump() == "1|1|other|2|\n" + row)
  }

  @Test(
    "A row that others deleted",
    arguments: [
      (Policy.storeTrump, ""), (.objectTrump, "2|1|mine|5|"), (.overwrite, "2|1|mine|5|"), (.rollback, ""),
      (.error, ""),
    ])
  func deletedRow(policy: Policy, row: String) throws {
    let pair = try ConflictingPair(policy)
    try pair.theirs { $0.managedObjectContext?.delete($0) }
    try pair.own.performAndWait {
      pair.object.setValue("mine", forKey: "place")
      pair.object.setValue(5, forKey: "rating")
      try pair.expectSave(to: policy == .error ? .fail(NSManagedObjectMergeError) : .succeed)
      if policy == .error { return }
      #expect(!pair.own.hasChanges)
      #expect((pair.object.managedObjectContext == nil) == row.isEmpty)
      guard !row.isEmpty else { return }
      // It goes on as any saved object.
      pair.object.setValue(4, forKey: "rating")
      try pair.own.save()
    }
    #expect(try pair.dump() == "1|1|other|2|" + (row.isEmpty ? "" : "\n2|2|mine|4|"))
  }

  @Test(
    "A deletion of a row that others changed",
    arguments: [
      (Policy.storeTrump, "2|2|theirs|1|"), (.objectTrump, ""), (.overwrite, ""), (.rollback, "2|2|theirs|1|"),
      (.error, "2|2|theirs|1|"),
    ])
  func deletion(policy: Policy, row: String) throws {
    let pair = try ConflictingPair(policy)
    try pair.theirs { $0.setValue("theirs", forKey: "place") }
    try pair.own.performAndWait {
      pair.own.delete(pair.object)
      try pair.expectSave(to: policy == .error ? .fail(NSManagedObjectMergeError) : .succeed)
      if policy == .error {
        #expect(pair.object.isDeleted, "the deletion still waits")
      } else if !row.isEmpty {
        #expect(!pair.object.isDeleted && pair.object.value(forKey: "place") as? String == "theirs")
      }
    }
    #expect(try pair.dump() == "1|1|other|2|" + (row.isEmpty ? "" : "\n" + row))
  }

  @Test("Both sides deleted it: no conflict", arguments: Policy.allCases)
  func bothDeleted(policy: Policy) throws {
    let pair = try ConflictingPair(policy)
    try pair.theirs { $0.managedObjectContext?.delete($0) }
    try pair.own.performAndWait {
      pair.own.delete(pair.object)
      try pair.own.save()
    }
    #expect(try pair.dump() == "1|1|other|2|")
  }

  @Test("The error policy's error holds the conflict with its snapshots and the IDs")
  func errorContents() throws {
    let pair = try ConflictingPair(.error)
    try pair.theirs { $0.setValue("theirs", forKey: "place") }
    try pair.own.performAndWait {
      pair.object.setValue("mine", forKey: "place")
      let error = try #require(throws: NSError.self) { try pair.own.save() }
      let conflicts = try #require(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
      #expect((error as? CocoaError)?.persistentStoreSaveConflicts == conflicts)
      let conflict = try #require(conflicts.first)
      #expect(conflicts.count == 1 && conflict.sourceObject === pair.object)
      #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
      #expect(conflict.objectSnapshot?["place"] as? String == "mine")
      #expect(conflict.cachedSnapshot?["place"] as? String == "start")
      #expect(conflict.persistedSnapshot?["place"] as? String == "theirs")
      #expect(conflict.persistedSnapshot?["date"] is NSNull)
      #expect(error.userInfo[NSUpdatedObjectsKey] as? [NSManagedObjectID] == [pair.object.objectID])
      #expect(pair.object.changedValues()["place"] as? String == "mine", "the change still waits")
      // Refreshed, it can be saved after all.
      pair.own.refresh(pair.object, mergeChanges: true)
      try pair.own.save()
    }
    #expect(try pair.dump() == "1|1|other|2|\n2|3|mine|1|")
  }

  @Test("A policy of the client's own changes the objects; what it leaves is saved", arguments: [true, false])
  func customPolicy(usesOlderMethod: Bool) throws {
    let pair = try ConflictingPair(.error)
    pair.own.performAndWait {
      pair.own.mergePolicy = usesOlderMethod ? JoiningPolicy() : NewerJoiningPolicy()
    }
    try pair.theirs { $0.setValue("theirs", forKey: "place") }
    try pair.own.performAndWait {
      pair.object.setValue("mine", forKey: "place")
      try pair.own.save()
    }
    #expect(try pair.dump() == "1|1|other|2|\n2|3|theirs and mine|1|")
  }

  @Test("An object marked for conflict detection is looked after though it has no changes", arguments: Policy.allCases)
  func detection(policy: Policy) throws {
    let pair = try ConflictingPair(policy)
    try pair.own.performAndWait {
      pair.own.detectConflicts(for: pair.object)
      // No conflict yet, and the mark goes with the save.
      try pair.change("one")
      pair.own.detectConflicts(for: pair.object)
    }
    try pair.theirs { $0.setValue("theirs", forKey: "place") }
    try pair.own.performAndWait {
      let object = try pair.first()
      object.setValue("two", forKey: "place")
      try pair.expectSave(to: policy == .error ? .fail(NSManagedObjectMergeError) : .succeed)
    }
    let first = policy == .error ? "1|2|one|2|" : "1|3|two|2|"
    let second = policy == .overwrite ? "2|3|start|1|" : "2|2|theirs|1|"
    #expect(try pair.dump() == first + "\n" + second)
  }

  @Test("Another process's change is a conflict too", arguments: Policy.allCases)
  func anotherProcess(policy: Policy) throws {
    let pair = try ConflictingPair(policy)
    try pair.stack.sqlite("UPDATE ZSESSION SET ZPLACE = 'shell', Z_OPT = Z_OPT + 1 WHERE Z_PK = 2")
    try pair.own.performAndWait {
      pair.object.setValue(5, forKey: "rating")
      try pair.expectSave(to: policy == .error ? .fail(NSManagedObjectMergeError) : .succeed)
    }
    let rows = [
      Policy.error: "2|2|shell|1|", .storeTrump: "2|3|shell|5|", .objectTrump: "2|3|shell|5|",
      .overwrite: "2|3|start|5|", .rollback: "2|2|shell|1|",
    ]
    #expect(try pair.dump() == "1|1|other|2|\n" + (try #require(rows[policy])))
  }

  @Test("Many conflicts in one save are resolved together, with one more try")
  func manyConflicts() throws {
    let stack = try Stack(try TemporaryFolder())
    let (own, theirs) = (stack.context(), stack.context())
    try own.performAndWait {
      own.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
      InsertionWay.bulk.insert(0..<300, into: own, stack.entity)
      try own.save()
    }
    try theirs.performAndWait {
      for object in try theirs.fetch(stack.request()) { object.setValue("theirs", forKey: "place") }
    }
    try own.performAndWait {
      for object in try own.fetch(stack.request()) { object.setValue(9, forKey: "rating") }
      try theirs.performAndWait { try theirs.save() }
      try own.save()
    }
    #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION WHERE ZPLACE = 'theirs' AND ZRATING = 9") == "300")
    #expect(try stack.sqlite("SELECT DISTINCT Z_OPT FROM ZSESSION") == "3")
  }
}

/// Joins both sides' places. Overrides the method that all of Apple's versions have.
private final class JoiningPolicy: NSMergePolicy {
  init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

  override func resolve(mergeConflicts list: [Any]) throws {
    let conflicts = list.compactMap { $0 as? NSMergeConflict }
    try super.resolve(mergeConflicts: list)
    for conflict in conflicts { join(conflict) }
  }
}

/// Does the same without a word to its superclass: what it leaves in the objects counts.
private final class NewerJoiningPolicy: NSMergePolicy {
  init() { super.init(merge: .errorMergePolicyType) }

  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws { list.forEach(join) }
}

private func join(_ conflict: NSMergeConflict) {
  let sides = [conflict.persistedSnapshot, conflict.objectSnapshot].compactMap { $0?["place"] as? String }
  conflict.sourceObject.setValue(sides.joined(separator: " and "), forKey: "place")
}
