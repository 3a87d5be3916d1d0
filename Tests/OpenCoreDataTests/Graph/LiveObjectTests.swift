import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectContext, retainsRegisteredObjects, reset; NSManagedObject,
// managedObjectContext; docs/invariants.md): a context holds the objects that have changes and no others, unless it is
// asked to; objects that are saved, reset or out of use are released, with everything that was kept for them.

@Suite("No object outlives its use", .overBothStores, .serialized)
struct LiveObjectTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder, model: CountedSession.model())
  }

  @Test("Chunks through three levels leave nothing behind but their rows", arguments: InsertionWay.allCases)
  func chunks(way: InsertionWay) throws {
    let (writer, middle, child) = stack.chain()
    var traces: [LifeTrace] = []
    for chunk in 0..<12 {
      try child.performAndWait {
        way.insert((chunk * 300)..<(chunk * 300 + 300), into: child, stack.entity)
        traces += child.traces
        try child.save()
      }
      for context in [middle, writer] {
        traces += context.performAndWait { context.traces }
        try context.performAndWait { try context.save() }
      }
      // The next lookup or save would do it: what a notification showed waits for its permanent ID.
      for context in [child, middle] { context.performAndWait { context.graph.adoptPermanentIDs() } }
      #expect(CountedSession.liveCount == 0 && traces.allGo())
    }
    #expect(traces.count >= 12 * 6)
    for context in [child, middle, writer] {
      context.performAndWait {
        #expect(context.graph.registry.entryCount <= 1024 && context.registeredObjects.isEmpty)
        #expect(context.graph.unresolvedIDs.isEmpty)
      }
    }
    #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION") == "3600")
  }

  @Test("The table of registered objects does not grow with what was fetched and let go")
  func registry() throws {
    let context = stack.context()
    try context.performAndWait {
      let request = stack.request()
      for round in 0..<10 {
        InsertionWay.bulk.insert((round * 500)..<(round * 500 + 500), into: context, stack.entity)
        try context.save()
        // Rows that were never seen before: each makes an entry.
        request.fetchOffset = round * 500
        #expect(try context.fetch(request).count == 500)
        #expect(CountedSession.liveCount == 0)
      }
      #expect(context.graph.registry.entryCount <= 1024 + 500)
    }
  }

  @Test("A context that merges what others save keeps nothing of it", arguments: [false, true])
  func merges(isAutomatic: Bool) throws {
    let (own, other) = (stack.context(), stack.context())
    own.performAndWait { own.automaticallyMergesChangesFromParent = isAutomatic }
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: other, queue: nil
    ) { note in
      if !isAutomatic { own.performAndWait { own.mergeChanges(fromContextDidSave: note) } }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    for round in 0..<10 {
      try other.performAndWait {
        InsertionWay.single.insert((round * 200)..<(round * 200 + 200), into: other, stack.entity)
        try other.save()
        for (index, object) in try other.fetch(stack.request()).enumerated() where index % 3 > 0 {
          if index % 3 == 1 { object.setValue(9, forKey: "rating") } else { other.delete(object) }
        }
        try other.save()
      }
      own.performAndWait { #expect(own.registeredObjects.isEmpty && own.graph.registry.entryCount <= 1024 + 200) }
      #expect(CountedSession.liveCount == 0)
    }
  }

  enum Ending: CaseIterable { case rollback, reset, dropping }

  @Test("What is discarded is gone, with what was changed and deleted", arguments: Ending.allCases)
  func thrownAway(ending: Ending) throws {
    var context: NSManagedObjectContext? = stack.context()
    let made = LifeTrace(context)
    var traces: [LifeTrace] = []
    try context?.performAndWait {
      let context = try #require(context)
      InsertionWay.bulk.insert(0..<20, into: context, stack.entity)
      try context.save()
      let objects = try context.fetch(stack.request())
      for object in objects[..<5] { object.setValue("changed", forKey: "place") }
      for object in objects[5..<9] { context.delete(object) }
      InsertionWay.single.insert(20..<30, into: context, stack.entity)
      InsertionWay.bulk.insert(30..<40, into: context, stack.entity)
      traces = context.traces
      #expect(context.insertedObjects.count == 20 && traces.liveCount == 4)
    }
    #expect(CountedSession.liveCount == 29)
    switch ending {
    case .rollback: context?.performAndWait { context?.rollback() }
    case .reset: context?.performAndWait { context?.reset() }
    case .dropping: context = nil
    }
    #expect(CountedSession.liveCount == 0 && traces.liveCount == 0)
    #expect((made.object == nil) == (ending == .dropping))
  }

  @Test("A child that is dropped takes what was pending in it along, and nothing of its parent's")
  func droppedChild() throws {
    let parent = stack.context()
    parent.performAndWait { InsertionWay.single.insert(0..<3, into: parent, stack.entity) }
    var child: NSManagedObjectContext? = stack.context(parent)
    let made = LifeTrace(child)
    try child?.performAndWait {
      let child = try #require(child)
      InsertionWay.single.insert(3..<8, into: child, stack.entity)
      for object in try child.fetch(stack.request()) { object.setValue(5, forKey: "rating") }
      #expect(CountedSession.liveCount == 11)
    }
    child = nil
    #expect(made.object == nil && CountedSession.liveCount == 3)
    #expect(parent.performAndWait { parent.insertedObjects.count } == 3)
  }

  @Test("Faults that share their reading go one by one, read or not")
  func faultGroups() throws {
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<60, into: context, stack.entity)
      try context.save()
      let request = stack.request()
      request.fetchBatchSize = 20
      var objects = try context.fetch(request)
      let groups = objects.map { LifeTrace($0.faultGroup) }
      #expect(groups.liveCount == 60 && objects[3].place == "Spot 3")
      // The first twenty have their values: what brought them is done with.
      #expect(groups[..<20].allSatisfy { $0.object == nil } && groups.liveCount == 40)
      objects = Array(objects[..<30])
      #expect(CountedSession.liveCount == 30)
      objects = []
      #expect(CountedSession.liveCount == 0 && groups.liveCount == 0)
    }
  }

  @Test("A context that retains keeps what is there, not what was deleted or turned out to be gone")
  func retaining() throws {
    let context = stack.context()
    context.retainsRegisteredObjects = true
    try context.performAndWait {
      InsertionWay.single.insert(0..<5, into: context, stack.entity)
      try context.save()
      #expect(CountedSession.liveCount == 5)
      for object in try context.fetch(stack.request()).prefix(2) { context.delete(object) }
      try context.save()
      #expect(CountedSession.liveCount == 3)
      InsertionWay.single.insert(5..<7, into: context, stack.entity)
      context.rollback()
      #expect(CountedSession.liveCount == 3)
      context.retainsRegisteredObjects = false
      #expect(CountedSession.liveCount == 0)
      // From then on it retains what it comes to know.
      let held = try context.fetch(stack.request())
      context.retainsRegisteredObjects = true
      #expect(held.count == 3)
    }
    #expect(CountedSession.liveCount == 3)
  }

  @Test("A save that was refused keeps nothing once its changes are discarded", arguments: [Ending.rollback, .reset])
  func refusedSave(ending: Ending) throws {
    let model = CountedSession.model()
    model.entitiesByName["Session"]?.attributesByName["place"]?.isOptional = false
    let strict = try Stack(folder, "strict.sqlite", model: model)
    let context = strict.context()
    context.performAndWait {
      for _ in 0..<3 { _ = NSManagedObject.make(strict.entity, in: context) }
      #expect(throws: NSError.self) { try context.save() }
      #expect(CountedSession.liveCount == 3 && context.validationFailures.count == 3)
      if ending == .reset { context.reset() } else { context.rollback() }
      #expect(CountedSession.liveCount == 0)
    }
  }

  @Test("A save that lost to another keeps nothing once its object is refreshed")
  func lostSave() throws {
    let (one, other) = (stack.context(), stack.context())
    try one.performAndWait {
      InsertionWay.single.insert(0..<1, into: one, stack.entity)
      try one.save()
    }
    for context in [one, other] {
      try context.performAndWait {
        var object: NSManagedObject? = try context.fetch(stack.request()).first
        object?.setValue(context === one ? "one" : "other", forKey: "place")
        guard context === one else { return }
        // The other changes the row before this one's change is saved.
        try other.performAndWait {
          try other.fetch(stack.request()).first?.setValue("first", forKey: "place")
          try other.save()
        }
        #expect(throws: NSError.self) { try one.save() }
        object.map { one.refresh($0, mergeChanges: false) }
        object = nil
        one.processPendingChanges()
        #expect(CountedSession.liveCount == 0 && !one.hasChanges)
      }
    }
    other.performAndWait { other.rollback() }
    #expect(CountedSession.liveCount == 0)
  }

  @Test("Objects that outlive their context keep their values, belong to none, and can't load more")
  func outliving() async throws {
    var context: NSManagedObjectContext? = stack.context()
    let made = LifeTrace(context)
    let objects = try context?.performAndWait { () -> [NSManagedObject] in
      let context = try #require(context)
      InsertionWay.single.insert(0..<2, into: context, stack.entity)
      let held = context.insertedObjects.sorted { ($0.place ?? "") < ($1.place ?? "") }
      try context.save()
      context.refresh(held[1], mergeChanges: false)
      return held
    }
    context = nil
    #expect(made.object == nil)
    #expect(objects?[0].managedObjectContext == nil && objects?[0].place == "Spot 0")
    #expect(objects?[1].isFault == true)
    await #expect(processExitsWith: .failure) {
      let stack = try Stack(try TemporaryFolder(), model: CountedSession.model())
      let fault = try {
        let context = stack.context()
        return try context.performAndWait {
          InsertionWay.single.insert(0..<1, into: context, stack.entity)
          try context.save()
          context.refreshAllObjects()
          return try #require(context.fetch(stack.request()).first)
        }
      }()
      _ = fault.place
    }
  }
}
