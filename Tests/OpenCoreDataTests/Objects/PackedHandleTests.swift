import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (PackedObjects.md, "objects are handles on packed values"; Apple documentation: NSManagedObject): an object
// whose values are still packed behaves as any other, whatever has happened to its row in the meantime; a reference to
// one object keeps none of the others.

@Suite("A handle that has not been read yet is an object like any other")
struct PackedHandleTests {
  /// The object at `place` among those inserted, which has not been read before.
  private func unread(_ way: InsertionWay, in context: NSManagedObjectContext, stack: Stack) -> NSManagedObject {
    way.insert(0..<5, into: context, stack.entity)
    return context.graph.handle(in: context.graph.insertions.segments[0], row: 3)
  }

  private func text(_ object: NSManagedObject) -> String {
    let values = stack(object).map { "\($0)" }.joined(separator: " ")
    let state = [object.isInserted, object.isUpdated, object.isDeleted, object.isFault, object.hasChanges]
    return "\(values) \(state.map { $0 ? "1" : "0" }.joined()) \(object.managedObjectContext == nil ? "loose" : "held")"
  }

  private func stack(_ object: NSManagedObject) -> [Any] {
    ["place", "rating"].map { object.value(forKey: $0) ?? "nil" } + [object.changedValues().keys.sorted()]
  }

  @Test("Held over the saves of a chain, it is the object of its row at every level, and has its values")
  func heldOverSaves() throws {
    let lines = try onBothWays { way, stack in
      let (parent, child) = (stack.context(), NSManagedObjectContext(.privateQueue))
      child.parent = parent
      var lines: [String] = []
      let object = try child.performAndWait {
        let object = unread(way, in: child, stack: stack)
        try child.save()
        #expect(object.objectID.isTemporaryID && child.registeredObject(for: object.objectID) === object)
        #expect(child.registeredObjects == [object])
        return object
      }
      try parent.performAndWait {
        let own = try #require(parent.registeredObject(for: object.objectID))
        try parent.save()
        lines += [text(own), "\(own.committedValues(forKeys: ["place"]))"]
        #expect(parent.object(with: object.objectID) === own && own.version == 1)
      }
      try child.performAndWait {
        #expect(!object.objectID.isTemporaryID && child.object(with: object.objectID) === object)
        lines.append(text(object))
        object.setValue("moved", forKey: "place")
        lines += [text(object), "\(object.committedValues(forKeys: ["place"]))"]
        try child.save()
      }
      try parent.performAndWait { try parent.save() }
      return lines
    }
    #expect(lines[..<2] == ["Spot 3 4 [] 00000 held", "[\"place\": \"Spot 3\"]"])
    #expect(lines[2...] == ["Spot 3 4 [] 00000 held", "moved 4 [\"place\"] 01001 held", "[\"place\": \"Spot 3\"]"])
  }

  @Test("Held over a rollback or the end of its context, it keeps its values")
  func heldOverTheEnd() throws {
    for end in ["rollback", "announced rollback", "release"] {
      let line = try onBothWays { way, stack in
        var context: NSManagedObjectContext? = stack.context()
        var object: NSManagedObject?
        context?.performAndWait {
          guard let context else { return }
          object = unread(way, in: context, stack: stack)
          if end != "rollback" { context.processPendingChanges() }
          if end.hasSuffix("rollback") { context.rollback() }
        }
        if end == "release" { context = nil }
        #expect(context == nil || context?.registeredObjects == [])
        return try ["place", "rating"].map { "\(try #require(object?.value(forKey: $0)))" }
      }
      #expect(line == ["Spot 3", "4"], "\(end)")
    }
  }

  @Test("Deleted while it waits, or after its save, it keeps its values, and its row is not or no more in the store")
  func deleted() throws {
    for isSaved in [false, true] {
      let lines = try onBothWays { way, stack in
        let context = stack.context()
        return try context.performAndWait {
          let object = unread(way, in: context, stack: stack)
          if isSaved { try context.save() }
          context.delete(object)
          let before = "\(object.isDeleted) \(object.place ?? "")"
          try context.save()
          return [before, text(object), try sqlite(stack.file, "SELECT ZPLACE FROM ZSESSION ORDER BY Z_PK")]
        }
      }
      #expect(lines[0] == "true Spot 3")
      #expect(lines[1].hasPrefix("Spot 3 4 ") && lines[1].hasSuffix(" loose"), "\(lines[1])")
      #expect(lines[2] == "Spot 0\nSpot 1\nSpot 2\nSpot 4")
    }
  }

  @Test("Changed before anything was read of it, it saves the change and what it was inserted with")
  func changed() throws {
    let lines = try onBothWays { way, stack in
      let context = stack.context()
      return try context.performAndWait {
        let object = unread(way, in: context, stack: stack)
        context.processPendingChanges()
        object.setValue(9, forKey: "rating")
        let during = "\(object.changedValuesForCurrentEvent())"
        try context.save()
        object.setValue("again", forKey: "place")
        try context.save()
        return [during, "\(object.version)", text(object)]
      }
    }
    #expect(lines[0] == "[\"rating\": 4]" && lines[1] == "2")
  }

  @Test("One that breaks a rule of the model is named by the failed save, can be read, corrected and saved")
  func invalid() throws {
    let lines = try onBothWays { way, stack in
      let context = stack.context()
      return try context.performAndWait {
        way.insert(0..<5, into: context, stack.entity)
        let object = context.graph.handle(in: context.graph.insertions.segments[0], row: 2)
        object.setPrimitiveValue(70_000, forKey: "rating")
        var lines: [String] = []
        do {
          try context.save()
        } catch {
          let failed = (error as NSError).userInfo[NSValidationObjectErrorKey] as? NSManagedObject
          lines.append("\((error as NSError).code) \(failed === object) \(object.place ?? "")")
        }
        object.setValue(1, forKey: "rating")
        try context.save()
        return lines + [text(object)]
      }
    }
    #expect(lines[0].hasSuffix("true Spot 2"))
  }

  @Test("While a save is announced its objects are the context's own, and a change made then is kept")
  func observed() throws {
    let lines = try onBothWays { way, stack in
      let context = stack.context()
      let seen = Noted<[Bool]>()
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: context, queue: nil
      ) { [unowned context] note in
        let objects = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
        seen.set(
          objects.map { object in
            !object.objectID.isTemporaryID && context.object(with: object.objectID) === object && !object.hasChanges
              && context.registeredObjects.contains(object)
          })
        objects.first { $0.place == "Spot 3" }?.setValue("seen", forKey: "place")
      }
      defer { NotificationCenter.default.removeObserver(token) }
      try context.performAndWait {
        way.insert(0..<5, into: context, stack.entity)
        try context.save()
        #expect(context.registeredObjects.count == 1 && context.updatedObjects.first?.place == "seen")
        #expect(context.registeredObjects == context.updatedObjects)
      }
      NotificationCenter.default.removeObserver(token)
      try context.performAndWait { try context.save() }
      return seen.value ?? []
    }
    #expect(lines == Array(repeating: true, count: 5))
  }

  @Test("An observer may throw everything away while a save is announced")
  func resetByObserver() throws {
    let lines = try onBothWays { way, stack in
      let context = stack.context()
      let kept = Noted<[String]>()
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: context, queue: nil
      ) { [unowned context] note in
        let objects = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
        context.reset()
        kept.set(objects.map { "\($0.isFault) \($0.managedObjectContext == nil)" })
      }
      defer { NotificationCenter.default.removeObserver(token) }
      try context.performAndWait {
        way.insert(0..<2, into: context, stack.entity)
        try context.save()
        #expect(context.registeredObjects.isEmpty)
      }
      return kept.value ?? []
    }
    #expect(lines == ["true true", "true true"])
  }

  @Test("One object that is held does not hold the rows that were inserted with it")
  func holdsNoNeighbours() throws {
    let stack = try Stack(try TemporaryFolder())
    let context = stack.context()
    try context.performAndWait {
      let object = unread(.bulk, in: context, stack: stack)
      #expect(object.batchStorage?.batch.count == 5)
      try context.save()
      #expect(object.batchStorage?.batch.count == 0 && object.place == "Spot 3")
    }
  }
}
