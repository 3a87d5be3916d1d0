import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (NSManagedObjectContext.walkObjects; not Apple's): the objects are those that a fetch would give, in its order
// (Apple documentation: NSFetchRequest); the context keeps none of a batch but those that are held elsewhere or that
// have changes; the walk goes over the store as it was when it began.

/// A session that knows how often it awoke.
final class StirringSession: NSManagedObject {
  var awakeCount = 0
  override func awakeFromFetch() { awakeCount += 1 }
}

@Suite("A walk over objects gives what a fetch gives, a batch at a time", .overBothStores)
struct ObjectWalkTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  private let context: NSManagedObjectContext

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder, model: Sessions.model(className: "OpenCoreDataTests.StirringSession"))
    context = stack.context()
    let (context, stack) = (context, stack)
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<20, into: context, stack.entity)
      try context.save()
    }
  }

  private func places(
    _ size: Int, in context: NSManagedObjectContext, _ change: (NSFetchRequest<NSManagedObject>) -> Void = { _ in }
  ) throws -> [[String]] {
    let request = stack.request()
    change(request)
    var batches: [[String]] = []
    try context.walkObjects(request, objectsPerBatch: size) { objects in
      batches.append(objects.map { $0.place ?? "" })
      return true
    }
    let fetched = try context.fetch(request).map { $0.place ?? "" }
    #expect(batches.flatMap(\.self) == fetched)
    return batches
  }

  @Test("Every object once, in the order of the request", arguments: [1, 7, 20, 100])
  func order(size: Int) throws {
    try context.performAndWait {
      let batches = try places(size, in: context)
      #expect(batches.map(\.count) == stride(from: 0, to: 20, by: size).map { min(size, 20 - $0) })
      let some = try places(size, in: context) { request in
        request.sortDescriptors = [
          NSSortDescriptor(key: "rating", ascending: false), NSSortDescriptor(key: "place", ascending: true),
        ]
        request.predicate = NSPredicate(format: "rating > 2")
        (request.fetchOffset, request.fetchLimit) = (2, 7)
      }
      #expect(some.flatMap(\.self).count == 7)
      #expect(context.registeredObjects.isEmpty)
    }
  }

  @Test("Registered objects are those that are given, with their changes; new and deleted ones count")
  func pending() throws {
    try context.performAndWait {
      let held = try #require(try context.fetch(stack.request()).first { $0.place == "Spot 3" })
      try context.walkObjects(stack.request(), objectsPerBatch: 6) { objects in
        #expect(objects.filter { $0 === held }.count == objects.count { $0.objectID == held.objectID })
        return true
      }
      held.setValue("changed", forKey: "place")
      context.delete(try #require(try context.fetch(stack.request()).first { $0.place == "Spot 4" }))
      NSManagedObject.make(stack.entity, in: context).setValue("new", forKey: "place")
      let all = try places(6, in: context).flatMap(\.self)
      #expect(all.contains("changed") && all.contains("new") && !all.contains("Spot 4") && all.count == 20)
      let stored = try places(6, in: context) { $0.includesPendingChanges = false }.flatMap(\.self)
      #expect(stored.count == 20 && stored.contains("changed"))
    }
  }

  @Test("They are faults until they are touched, unless the request says otherwise, and awake once")
  func faults() throws {
    try context.performAndWait {
      let request = NSFetchRequest<StirringSession>(entityName: "Session")
      for asFaults in [true, false] {
        request.returnsObjectsAsFaults = asFaults
        try context.walkObjects(request, objectsPerBatch: 8) { objects in
          #expect(objects.allSatisfy { $0.isFault == asFaults && $0.awakeCount == (asFaults ? 0 : 1) })
          let sql = try Trace.of(stack) { #expect(objects.allSatisfy { $0.place != nil && $0.place != nil }) }
          #expect(sql.isEmpty)
          return objects.allSatisfy { !$0.isFault && $0.awakeCount == 1 && !$0.hasChanges }
        }
      }
      request.includesPropertyValues = false
      try context.walkObjects(request, objectsPerBatch: 8) { objects in
        #expect(objects.allSatisfy { $0.isFault && $0.loaded?.isEmpty == true } && objects[0].place != nil)
        return false
      }
    }
  }

  @Test("What is held or changed outlives its batch, alone; the rest is gone with it")
  func held() throws {
    try context.performAndWait {
      var held: [NSManagedObject] = []
      try context.walkObjects(stack.request(), objectsPerBatch: 5) { objects in
        held.append(objects[1])
        objects[2].setValue("edited", forKey: "place")
        #expect(context.object(with: objects[3].objectID) === objects[3])
        return true
      }
      #expect(context.registeredObjects.count == 8 && context.updatedObjects.count == 4)
      #expect(held.map { $0.place ?? "" } == ["Spot 1", "Spot 6", "Spot 11", "Spot 16"])
      #expect(held.allSatisfy { $0.batchStorage?.batch.count == 0 && context.object(with: $0.objectID) === $0 })
      try context.save()
    }
    #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION WHERE ZPLACE = 'edited' AND Z_OPT = 2") == "4")
  }

  @Test("The body may save, reset, end the walk or throw; afterwards the context is as these leave it")
  func endings() throws {
    struct Enough: Error {}
    try context.performAndWait {
      var seen = 0
      try context.walkObjects(stack.request(), objectsPerBatch: 5) { objects in
        objects[0].setValue("saved", forKey: "place")
        NSManagedObject.make(stack.entity, in: context).setValue("later", forKey: "place")
        try context.save()
        seen += objects.count
        return true
      }
      // What the walk adds, it does not meet.
      #expect(seen == 20 && context.registeredObjects.isEmpty)
      var kept: NSManagedObject?
      try context.walkObjects(stack.request(), objectsPerBatch: 5) { objects in
        kept = objects[4]
        _ = kept?.place
        context.reset()
        return kept == nil
      }
      #expect(kept?.managedObjectContext == nil && kept?.isFault == true)
      #expect(throws: Enough.self) { try context.walkObjects(stack.request()) { _ in throw Enough() } }
      #expect(context.registeredObjects.isEmpty)
    }
  }

  @Test("A child context walks like its parent, and what others saved since shows as a conflict")
  func chainAndConflict() throws {
    let child = stack.context(context)
    try child.performAndWait {
      let before = try places(9, in: child).flatMap(\.self)
      context.performAndWait { NSManagedObject.make(stack.entity, in: context).setValue("up", forKey: "place") }
      let after = try places(9, in: child).flatMap(\.self)
      #expect(before.count == 20 && after == before + ["up"])
    }
    context.performAndWait { context.rollback() }
    try context.performAndWait {
      var kept: NSManagedObject?
      try context.walkObjects(stack.request()) { objects in
        kept = objects[0]
        return false
      }
      try stack.sqlite("UPDATE ZSESSION SET ZPLACE = 'other', Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
      kept?.setValue("own", forKey: "place")
      #expect(throws: (any Error).self) { try context.save() }
      context.rollback()
      if let kept { context.refresh(kept, mergeChanges: false) }
      #expect(kept?.place == "other")
    }
  }

  @Test("A class that the model does not name is refused as by a fetch")
  func misfit() throws {
    context.performAndWait {
      let request = NSFetchRequest<CountedSession>(entityName: "Session")
      #expect(throws: NSError.self) { try context.walkObjects(request) { _ in true } }
      #expect(throws: NSError.self) { try context.fetch(request) }
    }
  }
}
