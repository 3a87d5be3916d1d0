import Foundation
import OpenCoreData
import TestSupport
import Testing

/// What is left in a context after a conflict was resolved, or the save failed nevertheless.
///
/// Rules pinned (Apple documentation: NSMergePolicy, "subclasses"; NSManagedObjectContext.rollback(), "last committed
/// values"; mergeChanges(fromContextDidSave:)): where a policy leaves an object alone, its changes are saved on top of the
/// row; a rollback takes back what a policy decided; only what can be seen from a context is merged into it.
@Suite("After conflicts contexts and store agree", .overBothStores)
struct MergeAftermathTests {
  @Test("The changes of an object that a policy leaves alone are saved on top of the row")
  func untouched() throws {
    let pair = try ConflictingPair(.error)
    pair.own.performAndWait { pair.own.mergePolicy = LeavingPolicy() }
    try pair.theirs { $0.setValue(7, forKey: "rating") }
    try pair.own.performAndWait {
      pair.object.setValue("mine", forKey: "place")
      try pair.own.save()
      #expect(pair.values == ["mine", "7", ""])
    }
    #expect(try pair.dump() == "1|1|other|2|\n2|3|mine|7|")
  }

  /// An object whose row is gone, which the policy asked to be written again, and whose place was taken then.
  private func refusedRecreation(_ body: (ConflictingPair) throws -> Void) throws {
    let pair = try ConflictingPair(.error, model: Sessions.model(unique: ["place"]))
    pair.own.performAndWait { pair.own.mergePolicy = LeavingPolicy() }
    try pair.theirs { $0.managedObjectContext?.delete($0) }
    try pair.own.performAndWait {
      pair.object.setValue("other", forKey: "place")
      try pair.expectSave(to: .fail(NSManagedObjectConstraintMergeError))
    }
    try body(pair)
  }

  @Test("A rollback takes back that an object is to be written anew")
  func rollback() throws {
    try refusedRecreation { pair in
      try pair.own.performAndWait {
        pair.own.rollback()
        pair.own.mergePolicy = NSMergePolicy.error
        pair.object.setValue("later", forKey: "place")
        try pair.expectSave(to: .fail(NSManagedObjectMergeError))
      }
      #expect(try pair.dump() == "1|1|other|2|")
    }
  }

  @Test("A rollback of a deletion shows what others have saved and the context has merged")
  func rolledBackDeletion() throws {
    let stack = try Stack(try TemporaryFolder())
    let (own, other) = (stack.context(), stack.context())
    let object = try own.performAndWait {
      InsertionWay.single.insert(0..<1, into: own, stack.entity)
      try own.save()
      let object = try #require(try own.fetch(stack.request()).first)
      #expect(object.place == "Spot 0")
      object.setValue(9, forKey: "rating")
      own.delete(object)
      return object
    }
    let note: Notification? = try other.performAndWait {
      try #require(try other.fetch(stack.request()).first).setValue("theirs", forKey: "place")
      let keeper = NoteKeeper(other)
      try other.save()
      return keeper.notifications.last { $0.name == .NSManagedObjectContextDidSave }
    }
    let saved = try #require(note)
    try own.performAndWait {
      own.mergeChanges(fromContextDidSave: saved)
      #expect(object.isDeleted && own.deletedObjects == [object])
      own.rollback()
      #expect(!object.isDeleted && object.place == "theirs" && object.value(forKey: "rating") as? Int == 1)
      // It is based on the row as it is now.
      object.setValue(4, forKey: "rating")
      try own.save()
    }
    #expect(try stack.dump().contains("theirs"))
  }

  @Test("An object that others have written anew in the meantime is in conflict with that row")
  func recreatedTwice() throws {
    try refusedRecreation { pair in
      try pair.stack.sqlite("INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, ZPLACE, ZRATING) VALUES(2, 1, 4, 'back', 3)")
      try pair.own.performAndWait {
        pair.object.setValue("free", forKey: "place")
        try pair.own.save()
        #expect(pair.values == ["free", "3", ""])
        pair.object.setValue("again", forKey: "place")
        try pair.own.save()
      }
      #expect(try pair.dump() == "1|1|other|2|\n2|6|again|3|")
    }
  }

  @Test("What a child has saved to another context's chain alone is not merged yet")
  func otherChains() throws {
    let stack = try Stack(try TemporaryFolder())
    let (own, writer) = (stack.context(), stack.context())
    let object = try own.performAndWait {
      InsertionWay.single.insert(0..<1, into: own, stack.entity)
      try own.save()
      return try #require(try own.fetch(stack.request()).first)
    }
    let child = stack.context(writer)
    let note: Notification? = try child.performAndWait {
      child.delete(try #require(try child.fetch(stack.request()).first))
      InsertionWay.single.insert(1..<2, into: child, stack.entity)
      let keeper = NoteKeeper(child)
      try child.save()
      return keeper.notifications.last { $0.name == .NSManagedObjectContextDidSave }
    }
    let saved = try #require(note)
    try own.performAndWait {
      let keeper = NoteKeeper(own)
      own.mergeChanges(fromContextDidSave: saved)
      #expect(object.managedObjectContext === own && !object.isDeleted && keeper.names.isEmpty)
      writer.performAndWait { writer.rollback() }
      let found = try own.fetch(stack.request())
      #expect(found == [object])
    }
  }
}

/// Resolves conflicts of versions by doing nothing, and none of uniqueness.
private final class LeavingPolicy: NSMergePolicy {
  init() { super.init(merge: .errorMergePolicyType) }

  override func resolve(mergeConflicts list: [Any]) throws {}
}
