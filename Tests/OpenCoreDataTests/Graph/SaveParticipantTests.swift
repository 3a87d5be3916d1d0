import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import Synchronization
import TestSupport
import Testing

// Rules (SaveParticipant; docs/invariants.md): a chunk and its checkpoint are one transaction. A participant writes in
// the transaction of each save that reaches the store, sees what the save wrote, and can stop it.

@Suite("A participant is part of the transaction of a save", .sqliteOnly("A participant executes SQL"))
struct SaveParticipantTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder)
    try sqlite(stack.file, "CREATE TABLE SJ_LOG(a, b, c, d, e, f, g)")
  }

  /// Runs a closure at each save.
  final class Participant: SaveParticipant {
    private let body: @Sendable (SaveTransaction) throws -> Void
    init(_ body: @escaping @Sendable (SaveTransaction) throws -> Void) { self.body = body }
    func write(to transaction: SaveTransaction) throws { try body(transaction) }
  }

  /// Runs closures at the beginning and at the end of each save.
  private final class Watcher: SaveParticipant {
    private let beginning: @Sendable (SaveTransaction) throws -> Void
    private let end: @Sendable (SaveTransaction) throws -> Void
    init(
      begin: @escaping @Sendable (SaveTransaction) throws -> Void,
      write: @escaping @Sendable (SaveTransaction) throws -> Void = { _ in }
    ) {
      (beginning, end) = (begin, write)
    }
    func begin(_ transaction: SaveTransaction) throws { try beginning(transaction) }
    func write(to transaction: SaveTransaction) throws { try end(transaction) }
  }

  @Test("It is called before the changes are written, and learns afterwards which keys the store gave")
  func beginning() throws {
    let seen = Noted<[String]>()
    @Sendable func note(_ transaction: SaveTransaction) throws {
      let count = try transaction.rows("SELECT count(*) FROM ZSESSION")[0][0] as? Int64
      seen.set((seen.value ?? []) + ["\(count ?? -1) \(transaction.insertedKeys(ofRoot: "Session"))"])
    }
    stack.coordinator.addSaveParticipant(Watcher(begin: note, write: note))
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<4, into: context, stack.entity)
      context.delete(try #require(context.insertedObjects.first))
      try context.save()
      InsertionWay.single.insert(4..<7, into: context, stack.entity)
      try context.obtainPermanentIDs(for: [try #require(context.insertedObjects.first)])
      try context.save()
    }
    #expect(seen.value == ["0 []", "3 [ClosedRange(1...3)]", "3 []", "6 [ClosedRange(4...6)]"])
  }

  @Test("An error at the beginning ends the save, and nothing is written")
  func endedAtBeginning() throws {
    struct Refusal: Error {}
    stack.coordinator.addSaveParticipant(
      Watcher(begin: { transaction in
        try transaction.execute("INSERT INTO SJ_LOG(a) VALUES (1)")
        throw Refusal()
      }))
    let context = stack.context()
    context.performAndWait {
      InsertionWay.bulk.insert(0..<4, into: context, stack.entity)
      #expect(throws: Refusal.self) { try context.save() }
    }
    #expect(try sqlite(stack.file, "SELECT (SELECT count(*) FROM ZSESSION) + (SELECT count(*) FROM SJ_LOG)") == "0")
  }

  @Test("It is called once for each save that reaches the store, with the numbers of what changed")
  func counts() throws {
    let seen = Noted<[[Int]]>()
    stack.coordinator.addSaveParticipant(
      Participant { seen.set((seen.value ?? []) + [[$0.insertedCount, $0.updatedCount, $0.deletedCount]]) })
    let writer = stack.context()
    let child = stack.context(writer)
    try child.performAndWait {
      InsertionWay.bulk.insert(0..<5, into: child, stack.entity)
      let doomed = try #require(child.insertedObjects.first)
      child.delete(doomed)
      try child.save()
    }
    #expect(seen.value == nil)
    try writer.performAndWait {
      try writer.save()
      try writer.save()
      let objects = try writer.fetch(stack.request())
      objects[0].setValue("x", forKey: "place")
      objects[1].setValue("y", forKey: "place")
      writer.delete(objects[2])
      try writer.save()
    }
    #expect(seen.value == [[4, 0, 0], [0, 2, 1]])
  }

  @Test("It sees what the save wrote, and its values come back as they were bound")
  func values() throws {
    let seen = Noted<[String]>()
    stack.coordinator.addSaveParticipant(
      Participant { transaction in
        let changed = try transaction.execute(
          "INSERT INTO SJ_LOG VALUES (?, ?, ?, ?, ?, ?, ?)",
          [nil, true, UInt8(200), 0.5, "ʻ\"'", Data([0, 255]), Date(timeIntervalSinceReferenceDate: 1.5)])
        let rows = try transaction.rows("SELECT * FROM SJ_LOG WHERE d = ?", [0.5])
        let sessions = try transaction.rows("SELECT Z_PK, ZPLACE FROM ZSESSION")
        seen.set(["\(changed)"] + (rows + sessions).map { $0.map { "\($0 ?? "nil")" }.joined(separator: "|") })
      })
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(0..<1, into: context, stack.entity)
      try context.save()
    }
    #expect(seen.value == ["1", "nil|1|200|0.5|ʻ\"'|2 bytes|1.5", "1|Spot 0"])
  }

  @Test("A participant that fails takes the whole save with it; the next save goes on where the last good one ended")
  func failing() throws {
    let refuses = Atomic<Bool>(true)
    let first = Participant { _ = try $0.execute("INSERT INTO SJ_LOG(a) VALUES (1)") }
    struct Refusal: Error {}
    let second = Participant { _ in if refuses.load(ordering: .relaxed) { throw Refusal() } }
    stack.coordinator.addSaveParticipant(first)
    stack.coordinator.addSaveParticipant(second)
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<3, into: context, stack.entity)
      #expect(throws: Refusal.self) { try context.save() }
      #expect(context.insertedObjects.count == 3)
      #expect(context.insertedObjects.allSatisfy { $0.objectID.isTemporaryID })
      #expect(try sqlite(stack.file, "SELECT count(*) FROM SJ_LOG; SELECT count(*) FROM ZSESSION") == "0\n0")
      refuses.store(false, ordering: .relaxed)
      try context.save()
      stack.coordinator.removeSaveParticipant(first)
      InsertionWay.bulk.insert(3..<4, into: context, stack.entity)
      try context.save()
    }
    #expect(try sqlite(stack.file, "SELECT count(*) FROM SJ_LOG; SELECT max(Z_PK) FROM ZSESSION") == "1\n4")
  }

  @Test("SQL that SQLite refuses, and values that it can't hold, are errors of Core Data's; nothing is saved")
  func mistakes() throws {
    let mistakes: [(Int, @Sendable (SaveTransaction) throws -> Void)] = [
      (NSSQLiteError, { _ = try $0.execute("INSERT INTO NOWHERE VALUES (1)") }),
      (NSSQLiteError, { _ = try $0.rows("SELEC 1") }),
      (NSPersistentStoreOperationError, { _ = try $0.execute("INSERT INTO SJ_LOG(a) VALUES (?)", [[1, 2]]) }),
    ]
    let context = stack.context()
    for (code, mistake) in mistakes {
      let participant = Participant(mistake)
      stack.coordinator.addSaveParticipant(participant)
      context.performAndWait {
        InsertionWay.bulk.insert(0..<1, into: context, stack.entity)
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == code)
        context.rollback()
      }
      stack.coordinator.removeSaveParticipant(participant)
    }
    #expect(try sqlite(stack.file, "SELECT count(*) FROM ZSESSION") == "0")
  }
}
