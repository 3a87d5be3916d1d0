import CSQLite
import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (SQLite: "Atomic Commit", sqlite3_commit_hook; docs/invariants.md, external files): a COMMIT that fails may be
// whole in the log and count once the log is read again. Its files stay until an opening knows; a transaction that SQLite
// has rolled back is never half saved.

@Suite("Large values where a commit fails or SQLite rolls back")
struct FailedCommitTests {
  private let store: PhotoStore
  private let context: NSManagedObjectContext

  init() throws {
    store = try PhotoStore()
    context = store.stack.context()
  }

  private func connection() throws -> SQLiteConnection { try store.stack.coordinator.sqliteConnection() }

  /// While `body` runs every COMMIT fails, after which SQLite has no transaction.
  private func withoutCommits(_ body: () throws -> Void) throws {
    let connection = try connection()
    sqlite3_commit_hook(connection.handle, { _ in 1 }, nil)
    defer { sqlite3_commit_hook(connection.handle, nil, nil) }
    try body()
  }

  private func openAgain() throws {
    try store.close()
    let coordinator = try store.newStack()
    for one in coordinator.persistentStores { try coordinator.remove(one) }
  }

  enum Way: CaseIterable, Sendable { case save, transaction, batch }

  @Test(
    "The files of a failed commit stay with their marks; the next opening removes what no row has",
    arguments: Way.allCases)
  func failedCommit(way: Way) throws {
    try context.performAndWait {
      let object = store.insert(PhotoStore.photo(1), context)
      try context.save()
      let old = store.files
      try withoutCommits {
        switch way {
        case .save:
          object.setValue(PhotoStore.photo(2), forKey: "photo")
          #expect(throws: NSError.self) { try context.save() }
        case .transaction:
          try store.stack.coordinator.beginTransaction()
          object.setValue(PhotoStore.photo(2), forKey: "photo")
          try context.save()
          #expect(throws: NSError.self) { try store.stack.coordinator.commitTransaction() }
          try store.stack.coordinator.rollBackTransaction()
        case .batch:
          let update = NSBatchUpdateRequest(entityName: "Session")
          update.propertiesToUpdate = ["photo": PhotoStore.photo(2)]
          #expect(throws: NSError.self) { try context.execute(update) }
        }
      }
      #expect(store.files.count == 2 && Set(store.files).isSuperset(of: old))
      #expect(store.marked == store.files)
      #expect(try store.photos() == [1: PhotoStore.photo(1)])
      context.reset()
      // What follows is saved, and does not touch what is uncertain.
      store.insert(PhotoStore.photo(3), context)
      try context.save()
      #expect(store.files.count == 3)
    }
    try openAgain()
    #expect(try Array(store.photos().values).count == 2)
    try store.expectWhole()
  }

  @Test("After SQLite's own rollback the transaction can't be saved or committed, and leaves no file")
  func lostTransaction() throws {
    let coordinator = store.stack.coordinator
    try context.performAndWait {
      try coordinator.beginTransaction()
      store.insert(PhotoStore.photo(1), context)
      try context.save()
      #expect(store.files.count == 1)
      // As after a full disk.
      try connection().execute("ROLLBACK")
      store.insert(PhotoStore.photo(2), context)
      let refusals: [() throws -> Void] = [
        { try context.save() },
        { try context.execute(NSBatchInsertRequest(entityName: "Session", objects: [["place": "Pipe"]])) },
        { try context.obtainPermanentIDs(for: Array(context.insertedObjects)) },
        { try coordinator.commitTransaction() },
      ]
      for refusal in refusals {
        let error = #expect(throws: NSError.self) { try refusal() }
        #expect(
          error?.localizedDescription.contains("rolled back the transaction") == true, "\(String(describing: error))")
      }
      #expect(try sqlite(store.stack.file, "SELECT count(*) FROM ZSESSION") == "0")
      try coordinator.rollBackTransaction()
      #expect(store.files.isEmpty)
      context.reset()
      store.insert(PhotoStore.photo(3), context)
      try context.save()
    }
    #expect(try store.photos().count == 1)
    try store.expectWhole()
  }

  @Test("What an opening finds in use is unmarked before others can save, and what is not in use is removed")
  func settling() throws {
    try context.performAndWait {
      store.insert(PhotoStore.photo(1), context)
      try context.save()
    }
    let used = try #require(store.files.first)
    let unused = UUID().uuidString
    try FileManager.default.createDirectory(at: store.marks, withIntermediateDirectories: true)
    for name in [used, unused] { try Data().write(to: store.marks.appendingPathComponent(name)) }
    try Data([1]).write(to: store.values.appendingPathComponent(unused))
    let row = try #require(store.stack.coordinator.rowStores.first as? SQLiteStore)
    let connection = try connection()
    var marksAtEnd: [String]?
    connection.traceHandler = { sql in if sql == "ROLLBACK" { marksAtEnd = store.marked } }
    defer { connection.traceHandler = nil }
    try row.removeUnusedFiles(connection)
    #expect(marksAtEnd == [unused])
    #expect(store.files == [used])
    try store.expectWhole()
  }
}
