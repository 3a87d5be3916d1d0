import Foundation
import OpenCoreData
import SurfJournal
import TestSupport
import Testing

/// The app's stack: writer (private) → main (main queue) → scratch pads (NSManagedObjectContext `parent`: a save goes
/// one level up).
@MainActor @Suite struct CoreDataStackTests {
  private let folder: TemporaryFolder
  private let stack: CoreDataStack

  init() throws {
    folder = try TemporaryFolder()
    stack = try CoreDataStack(directory: folder.url, seed: nil)
  }

  private func storedCount() throws -> Int { try Seeds.places(stack).values.reduce(0, +) }

  @Test func `The main context is on the main queue, its parent on one of its own`() {
    #expect(stack.mainContext.concurrencyType == .mainQueue)
    #expect(stack.mainContext.parent?.concurrencyType == .privateQueue)
    #expect(stack.mainContext.parent?.parent == nil)
    #expect(stack.storeContainer.name == "SurfJournalModel")
    #expect(stack.store == folder.url.appendingPathComponent("SurfJournalModel.sqlite"))
  }

  @Test func `A save of the main context alone does not reach the store; saveContext does`() throws {
    _ = JournalEntry(context: stack.mainContext)
    try stack.mainContext.save()
    #expect(try storedCount() == 0)
    try stack.saveContext()
    #expect(try storedCount() == 1)
    #expect(!stack.mainContext.hasChanges)
  }

  @Test func `What is on a scratch pad is not seen elsewhere until it is saved`() throws {
    let scratch = stack.newScratchContext()
    let entry = JournalEntry(context: scratch)
    entry.location = "Rincon"
    try stack.saveContext()
    #expect(try stack.mainContext.count(for: JournalEntry.fetchRequest()) == 0)
    try scratch.save()
    #expect(try stack.mainContext.fetch(JournalEntry.fetchRequest()).map(\.location) == ["Rincon"])
    #expect(try storedCount() == 0)
    try stack.saveContext()
    #expect(try storedCount() == 1)
  }

  @Test func `A scratch pad that is released takes its changes along`() throws {
    do { _ = JournalEntry(context: stack.newScratchContext()) }
    try stack.saveContext()
    #expect(try storedCount() == 0)
  }

  @Test func `Opening is once; a store that is not a store is an error with Core Data's own`() throws {
    try stack.open()
    #expect(stack.isOpen)
    try folder.write("date,rating\n", to: "log.csv")
    let other = CoreDataStack(store: URL(fileURLWithPath: folder.path("log.csv")))
    let error = #expect(throws: CoreDataStackError.self) { try other.open() }
    #expect(error?.code == .storeUnusable)
    #expect((error?.underlying as NSError?)?.code == NSPersistentStoreOpenError)
    #expect(!other.isOpen)
  }
}
