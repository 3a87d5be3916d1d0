import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import SystemSupport
import Synchronization
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectContext, "Notifications"; NotificationCenter): an observer of a
// notification gets the sets of objects. That they are made for observers only shows nowhere else than in what is made.

/// A session that counts how many were made.
final class MadeSession: NSManagedObject {
  private static let made = Atomic<Int>(0)
  static var madeCount: Int { made.load(ordering: .relaxed) }

  override class var lifecycleHooks: LifecycleHooks { [] }

  required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    Self.made.add(1, ordering: .relaxed)
    super.init(entity: entity, insertInto: context)
  }
}

@Suite("A notification makes its sets for observers only", .serialized, .overBothStores)
struct ObservedNotificationTests {
  private static let count = 40
  private let folder: TemporaryFolder
  private let stack: Stack

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder, model: Sessions.model(className: "OpenCoreDataTests.MadeSession"))
  }

  /// What to observe of which sender. No name and no sender stand for any.
  enum Observation: String, CaseIterable, Sendable {
    case nothing, ofSender, ofAnySender, ofAnyName

    /// - Parameter isWanted: Whether to look at a notification: tests run side by side.
    func begin(
      _ name: Notification.Name, of context: NSManagedObjectContext, _ seen: @escaping @Sendable (Notification) -> Void
    ) -> (any NSObjectProtocol)? {
      let center = NotificationCenter.default
      let take: @Sendable (Notification) -> Void = { [unowned context] note in
        if note.name == name, note.object as AnyObject === context { seen(note) }
      }
      return switch self {
      case .nothing: nil
      case .ofSender: center.addObserver(forName: name, object: context, queue: nil, using: take)
      case .ofAnySender: center.addObserver(forName: name, object: nil, queue: nil, using: take)
      case .ofAnyName: center.addObserver(forName: nil, object: context, queue: nil, using: take)
      }
    }
  }

  /// Inserts objects into the child of a chain and saves all of its levels.
  private func insert(_ way: InsertionWay, _ chain: [NSManagedObjectContext]) throws {
    for (level, context) in chain.enumerated() {
      try context.performAndWait {
        if level == 0 { way.insert(0..<Self.count, into: context, stack.entity) }
        try context.save()
      }
    }
  }

  /// For some minutes.
  private static let attemptsMax = 1000

  /// The number of objects that are made while some are inserted and saved.
  private func madeCount(_ way: InsertionWay, _ chain: [NSManagedObjectContext]) throws -> Int {
    let before = MadeSession.madeCount
    try insert(way, chain)
    return MadeSession.madeCount - before
  }

  private func chain() -> [NSManagedObjectContext] {
    let (writer, middle, child) = stack.chain()
    return [child, middle, writer]
  }

  @Test(
    "Rows of a chain get objects where they are observed", arguments: InsertionWay.allCases, Observation.allCases)
  func saves(way: InsertionWay, observation: Observation) async throws {
    let chain = chain()
    let seen = Locked<[Int]>([])
    let tokens = chain.dropFirst().map { context in
      observation.begin(.NSManagedObjectContextDidSave, of: context) { note in
        let objects = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
        let places = Set(objects.compactMap(\.place))
        seen.withLock { $0.append(places.count) }
      }
    }
    let own = way == .single ? Self.count : 0
    var made = try madeCount(way, chain)
    // Tests run side by side, and one that observes the saves of all contexts has objects made here too.
    for _ in 0..<Self.attemptsMax where observation == .nothing && made > own {
      try await Task.sleep(for: .milliseconds(250))
      made = try madeCount(way, chain)
    }
    if observation == .nothing {
      #expect(made == own)
    } else {
      #expect(made >= own + 2 * Self.count)
      #expect(seen.withLock { $0 } == [Self.count, Self.count])
    }
    for case let token? in tokens { NotificationCenter.default.removeObserver(token) }
  }

  @Test("The objects of a save are those that the context finds by their IDs, while it is announced")
  func objectsOfSave() throws {
    let chain = chain()
    let found = Locked<[Bool]>([])
    let token = Observation.ofSender.begin(.NSManagedObjectContextDidSave, of: chain[2]) { note in
      let objects = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
      let again = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
      let areFound = objects.allSatisfy { object in
        object.managedObjectContext?.registeredObject(for: object.objectID) === object
          && !object.objectID.isTemporaryID && !object.hasChanges && !object.isInserted
      }
      found.withLock { $0 += [objects.count == Self.count, areFound, objects == again] }
    }
    try insert(.bulk, chain)
    #expect(found.withLock { $0 } == [true, true, true])
    if let token { NotificationCenter.default.removeObserver(token) }
  }

  @Test("An observer on a queue of its own gets the same while the context waits for it")
  func observerOnQueue() throws {
    let chain = chain()
    let queue = OperationQueue()
    let seen = Locked<[Int]>([])
    let tokens = [Notification.Name.NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs].map {
      name in
      NotificationCenter.default.addObserver(forName: name, object: chain[1], queue: queue) { note in
        let objects = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
        let ids = note.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> ?? []
        seen.withLock { $0.append(objects.count + ids.count) }
      }
    }
    try insert(.bulk, chain)
    #expect(seen.withLock { $0 } == [Self.count, Self.count])
    for token in tokens { NotificationCenter.default.removeObserver(token) }
  }

  @Test("Deleted objects show their values to the observers of a save, and have no context any more")
  func deletions() throws {
    let chain = chain()
    try insert(.bulk, chain)
    let seen = Locked<[[Bool]]>([])
    let token = Observation.ofSender.begin(.NSManagedObjectContextDidSave, of: chain[2]) { note in
      let objects = note.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []
      let places = Set(objects.compactMap(\.place))
      let areGone = objects.allSatisfy { $0.managedObjectContext == nil && !$0.isDeleted }
      seen.withLock { $0.append([places.count == Self.count, areGone]) }
    }
    for (level, context) in chain.enumerated() {
      try context.performAndWait {
        if level == 0 { for object in try context.fetch(stack.request()) { context.delete(object) } }
        try context.save()
      }
    }
    #expect(seen.withLock { $0 } == [[true, true]])
    if let token { NotificationCenter.default.removeObserver(token) }
  }

  @Test("Observers of an insertion see what was set in its event, and later ones don't")
  func changesOfEvent() throws {
    let context = stack.context()
    let seen = Locked<[[String]]>([])
    let token = Observation.ofSender.begin(.NSManagedObjectContextObjectsDidChange, of: context) { note in
      let objects = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
      let updated = note.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []
      for object in objects.union(updated) {
        seen.withLock { $0.append(object.changedValuesForCurrentEvent().keys.sorted()) }
      }
    }
    context.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: context)
      #expect(object.changedValuesForCurrentEvent().isEmpty && object.changedValues().isEmpty)
      object.setValue("Rincon", forKey: "place")
      object.setValue("Malibu", forKey: "place")
      #expect(object.changedValuesForCurrentEvent().mapValues { "\($0)" } == ["place": "<null>"])
      context.processPendingChanges()
      #expect(object.changedValuesForCurrentEvent().isEmpty)
      object.setValue(4, forKey: "rating")
      #expect(object.changedValuesForCurrentEvent().mapValues { "\($0)" } == ["rating": "0"])
      context.processPendingChanges()
      #expect(object.changedValues().keys.sorted() == ["place", "rating"])
      #expect(object.place == "Malibu" && object.value(forKey: "rating") as? Int == 4)
    }
    #expect(seen.withLock { $0 } == [["place"], ["rating"]])
    if let token { NotificationCenter.default.removeObserver(token) }
  }

  @Test("A value that was set silently is saved, and none of the changes of the event")
  func silentValues() throws {
    let context = stack.context()
    try context.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: context)
      object.setPrimitiveValue("Rincon", forKey: "place")
      #expect(object.changedValues().keys.sorted() == ["place"])
      object.setValue(3, forKey: "rating")
      #expect(object.changedValuesForCurrentEvent().keys.sorted() == ["rating"])
      let other = NSManagedObject.make(stack.entity, in: context)
      other.setValue(5, forKey: "rating")
      other.setPrimitiveValue("Malibu", forKey: "place")
      #expect(other.changedValuesForCurrentEvent().keys.sorted() == ["place", "rating"])
      try context.save()
      let reader = stack.context()
      let stored = try reader.performAndWait { try reader.fetch(stack.request()).compactMap(\.place).sorted() }
      #expect(stored == ["Malibu", "Rincon"])
    }
  }
}
