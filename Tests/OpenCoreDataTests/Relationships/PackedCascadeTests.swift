import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import Synchronization
import TestSupport
import Testing

// Rules (Apple documentation: NSDeleteRule, NSManagedObjectContext): what a cascade deletes is announced, found and saved
// as if each object had been deleted. Random sequences run on plain dictionaries, and on contexts that make an object for
// each row.

@Suite("Cascades over rows without objects", .seeded, .overBothStores)
struct PackedCascadeTests {
  @Test("The chain, its rows and the reference agree", arguments: Randomness.seeds(3, long: 400))
  func agreement(seed: UInt64) throws {
    for leavesValues in [false, true] {
      let found = try CascadePlayer(seed: seed, packs: true, leavesValues: leavesValues).play(rounds: 3)
      #expect(found == nil, "seed \(seed): \(found ?? "")")
    }
  }

  @Test("The reference can fail: an inner box that stays is noticed")
  func canary() throws {
    let isFound = try (UInt64(1)...6).contains { seed in
      try CascadePlayer(seed: seed, packs: true, keepsInnerBoxes: true).play(rounds: 2) != nil
    }
    #expect(isFound)
  }
}

/// The values of more rows than a context keeps stay in the store, as they were when the rows were read.
@Suite("Cascades over very many rows", .withoutStore("they are about rows whose values stay in a SQLite store"))
struct LargeCascadeTests {
  private let folder: TemporaryFolder
  private let graph: LinkedGraph
  private static let count = 1200

  init() throws {
    folder = try TemporaryFolder()
    graph = try LinkedGraph(xml: CascadePlayer.xml, kind: .sqlite)
    try graph.coordinator.withStore { ($0 as? SQLiteStore)?.deletedRowsKeptMax.store(100, ordering: .relaxed) }
    let context = graph.context()
    try context.performAndWait {
      let box = NSEntityDescription.insertNewObject(forEntityName: "Box", into: context)
      for number in 0..<Self.count {
        let name = number % 3 == 0 ? "Screw" : "Part"
        let part = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        part.setValue(number, forKey: "number")
        part.setValue("part \(number)", forKey: "label")
        part.setValue(box, forKey: "box")
      }
      try context.save()
    }
  }

  private func deleteBox(in context: NSManagedObjectContext) throws {
    for box in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Box")) { context.delete(box) }
    context.processPendingChanges()
    #expect(context.graph.packedDeletions.count == Self.count)
  }

  @Test("Observers of the save see the values, although others have deleted some rows meanwhile")
  func valuesOfSave() throws {
    let context = graph.context()
    let labels = Locked<Set<String>>([])
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { note in
      let objects = note.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []
      labels.withLock { $0 = Set(objects.compactMap { $0.value(forKey: "label") as? String }) }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try context.performAndWait {
      try deleteBox(in: context)
      try graph.coordinator.sqliteConnection().execute("DELETE FROM ZPART WHERE ZNUMBER % 3 = 0")
      try context.save()
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Part")) == 0)
    }
    #expect(labels.withLock { $0 } == Set((0..<Self.count).map { "part \($0)" }))
  }

  @Test("A rollback brings the rows back, and an object of one has its values before and afterwards")
  func rollback() throws {
    let context = graph.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Screw")
      request.predicate = NSPredicate(format: "number == 300")
      let id = try #require(try context.fetch(request).first?.objectID)
      context.reset()
      try deleteBox(in: context)
      let screw = context.object(with: id)
      #expect(screw.isDeleted && screw.value(forKey: "label") as? String == "part 300")
      context.rollback()
      #expect(!screw.isDeleted && screw.value(forKey: "label") as? String == "part 300")
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Part")) == Self.count)
    }
  }
}

/// A chain is as long as the rows of a store allow: its levels take no stack.
@Suite("Cascades over long chains", .withoutStore("they are about rows without objects, which only SQLite packs"))
struct LongCascadeTests {
  private static func model() -> NSManagedObjectModel {
    let (note, replies, parent) = (NSEntityDescription(), NSRelationshipDescription(), NSRelationshipDescription())
    note.name = "Note"
    for (relationship, name) in [(replies, "replies"), (parent, "parent")] {
      relationship.name = name
      relationship.destinationEntity = note
      relationship.isOptional = true
    }
    (replies.maxCount, replies.deleteRule, replies.inverseRelationship) = (0, .cascadeDeleteRule, parent)
    (parent.maxCount, parent.deleteRule, parent.inverseRelationship) = (1, .nullifyDeleteRule, replies)
    note.properties = [replies, parent]
    let model = NSManagedObjectModel()
    model.entities = [note]
    return model
  }

  @Test("A thread of 4,000 replies to replies is deleted with its first note")
  func longThread() async throws {
    let folder = try TemporaryFolder()
    let container = NSPersistentContainer(name: "Notes", managedObjectModel: Self.model())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.file("notes.sqlite"))]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    #expect(failure == nil)
    let context = container.newBackgroundContext()
    let counts = try await context.perform {
      var last: NSManagedObject?
      for _ in 0..<4000 {
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        note.setValue(last, forKey: "parent")
        last = note
      }
      try context.save()
      context.reset()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      let before = try context.count(for: request)
      request.predicate = NSPredicate(format: "parent == nil")
      for root in try context.fetch(request) { context.delete(root) }
      context.processPendingChanges()
      let packed = context.graph.packedDeletions.count
      try context.save()
      request.predicate = nil
      return (before, packed, try context.count(for: request), context.hasChanges)
    }
    #expect(counts == (4000, 3999, 0, false))
  }
}

@Suite("Deletions with objects and without, side by side", .seeded)
struct PackedDeletionTests {
  @Test(
    "Clients see the same, and the rows are the same, whatever others change meanwhile",
    arguments: Randomness.seeds(3, long: 400))
  func agreement(seed: UInt64) throws {
    for hasRivals in [false, true] {
      let packed = try CascadePlayer(seed: seed, packs: true, hasRivals: hasRivals)
      let left = try CascadePlayer(seed: seed, packs: true, leavesValues: true, hasRivals: hasRivals)
      let single = try CascadePlayer(seed: seed, packs: false, hasRivals: hasRivals)
      let found = try [packed.play(rounds: 3), left.play(rounds: 3), single.play(rounds: 3)]
      #expect(found == [nil, nil, nil], "seed \(seed)")
      #expect(single.diary.packedCount == 0)
      for other in [packed, left] {
        let difference = zip(other.diary.seen, single.diary.seen).first { $0 != $1 }
        #expect(difference == nil && other.diary.seen.count == single.diary.seen.count, "seed \(seed)")
        #expect(try other.dump() == single.dump(), "seed \(seed)")
      }
    }
  }

  @Test("The sequences reach rows without objects")
  func coverage() throws {
    let counts = try (UInt64(1)...6).map { seed in
      let player = try CascadePlayer(seed: seed, packs: true)
      _ = try player.play(rounds: 2)
      return player.diary.packedCount
    }
    #expect(counts.count { $0 > 0 } > 2, "\(counts)")
  }
}
