import Foundation
import OpenCoreData
import SurfJournal
import TestSupport
import Testing

/// The stack shapes that Core Data's tutorials teach, run. The programs next to this file use no name that Apple's
/// framework lacks.
@Suite("Stack shapes of the tutorials")
struct ExampleTests {
  private let folder: TemporaryFolder
  private var store: URL { folder.file("journal.sqlite") }
  init() throws { folder = try TemporaryFolder() }

  @Test("One context on the coordinator") @MainActor func oneContext() throws {
    let journal = try OneContext(storeURL: store)
    for (number, place) in ["Rincon", "Pipeline", "Rincon"].enumerated() {
      try journal.addSession(
        at: place, rating: number + 3, on: Date(timeIntervalSinceReferenceDate: Double(number) * 86400))
    }
    #expect(try journal.best(atLeast: 4).map(\.location) == ["Rincon", "Pipeline"])
    #expect(
      try stored("SELECT ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK") == "Rincon|3\nPipeline|4\nRincon|5")
  }

  @Test("Several contexts joined by didSave notifications: own saves and other coordinators' are ignored")
  @MainActor func mergedContexts() async throws {
    let contexts = try MergedContexts(storeURL: store)
    let stranger = try MergedContexts(storeURL: store)
    let (main, background) = (contexts.mainContext, contexts.backgroundContext)
    let id = try await background.perform {
      let entry = JournalEntry(context: background)
      entry.location = "Rincon"
      try background.save()
      return entry.objectID
    }
    await waitUntilIdle(main, background)
    let seen = try #require(try main.existingObject(with: id) as? JournalEntry)
    #expect(seen.location == "Rincon")
    try await background.perform {
      let entry = try background.existingObject(with: id) as? JournalEntry
      entry?.location = "Mavericks"
      try background.save()
    }
    await waitUntilIdle(main, background)
    #expect(seen.location == "Mavericks")
    // The other way round.
    seen.rating = 5
    try main.save()
    await waitUntilIdle(main, background)
    let rating = try await background.perform {
      let entry = try background.existingObject(with: id) as? JournalEntry
      return entry?.rating?.intValue
    }
    #expect(rating == 5)
    // The same file through another coordinator: its save says nothing to these contexts.
    try await stranger.backgroundContext.perform { [context = stranger.backgroundContext] in
      for entry in try context.fetch(JournalEntry.fetchRequest()) as [JournalEntry] { entry.location = "Elsewhere" }
      try context.save()
    }
    await waitUntilIdle(main, background)
    #expect(seen.location == "Mavericks")
  }

  @Test("Children of a main-queue context") @MainActor func mainContextChildren() async throws {
    let stack = try MainContextChildren(storeURL: store)
    for place in ["Rincon", "Pipeline", "Rincon"] { JournalEntry(context: stack.mainContext).location = place }
    #expect(try await stack.rate("Rincon", 5) == 2, "the child sees what the main context has not saved yet")
    #expect(try stored("SELECT count(*) FROM ZJOURNALENTRY WHERE ZRATING = 5") == "2")
    #expect(!stack.mainContext.hasChanges)
  }

  @Test("Private writer, main, temporary private children") @MainActor func writerMainImport() async throws {
    let stack = try WriterMainImport(storeURL: store)
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for batch in 0..<4 {
        group.addTask {
          try await withCheckedThrowingContinuation { continuation in
            stack.importSessions((0..<25).map { "Spot \(batch)-\($0)" }) { continuation.resume(with: $0) }
          }
        }
      }
      var sum = 0
      for try await count in group { sum += count }
      return sum
    }
    #expect(counts == 100)
    #expect(try stored("SELECT count(DISTINCT ZLOCATION) FROM ZJOURNALENTRY") == "100")
    #expect(try stack.mainContext.count(for: JournalEntry.fetchRequest() as NSFetchRequest<JournalEntry>) == 100)
  }

  @Test("A context per thread, saved up to the root, with permanent IDs before the save")
  func contextPerThread() async throws {
    let stack = try ContextPerThread(storeURL: store)
    let results = try await withThrowingTaskGroup(of: ThreadResult.self) { group in
      for number in 0..<6 { group.addTask { try await Self.insertOnThread(stack, number) } }
      var all: [ThreadResult] = []
      for try await result in group { all.append(result) }
      return all
    }
    #expect(results.allSatisfy { $0.isSameContextAgain })
    #expect(results.allSatisfy { !$0.id.isTemporaryID })
    #expect(Set(results.map(\.contextNumber)).count == 6, "every thread has a context of its own")
    #expect(Set(results.map { $0.id.uriRepresentation() }).count == 6)
    #expect(try stored("SELECT count(*) FROM ZJOURNALENTRY") == "6")
  }

  @Test("Background export") @MainActor func backgroundExport() async throws {
    let journal = try OneContext(storeURL: store)
    for day in 0..<45 {
      try journal.addSession(
        at: "Spot \(day)", rating: day % 5, on: Date(timeIntervalSinceReferenceDate: Double(day) * 86400))
    }
    let file = folder.file("journal.csv")
    let export = try BackgroundExport(storeURL: store)
    #expect(try await export.export(to: file) == 45)
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 45)
    #expect(lines.first == "1/1/01,,,,Spot 0,0" && lines.last == "2/14/01,,,,Spot 44,4")
  }

  @Test("Scratch-pad edit: saved up the chain, or discarded") @MainActor func scratchPad() throws {
    let journal = try OneContext(storeURL: store)
    try journal.addSession(at: "Rincon", rating: 3, on: Date(timeIntervalSinceReferenceDate: 0))
    let entry = try #require(try journal.best(atLeast: 0).first)
    var edit: ScratchPadEdit? = ScratchPadEdit(entry, in: journal.context)
    edit?.entry.location = "Cancelled"
    #expect(entry.location == "Rincon" && !journal.context.hasChanges)
    edit = ScratchPadEdit(nil, in: journal.context)
    edit?.entry.location = "Never saved"
    edit = nil
    #expect(try journal.best(atLeast: 0).count == 1)
    edit = ScratchPadEdit(entry, in: journal.context)
    edit?.entry.location = "Pipeline"
    try edit?.save()
    #expect(entry.location == "Pipeline")
    #expect(try stored("SELECT ZLOCATION, Z_OPT FROM ZJOURNALENTRY") == "Pipeline|2")
  }

  // MARK: Support

  private struct ThreadResult: Sendable {
    let id: NSManagedObjectID
    let contextNumber: Int
    let isSameContextAgain: Bool
  }

  private static func insertOnThread(_ stack: ContextPerThread, _ number: Int) async throws -> ThreadResult {
    try await withCheckedThrowingContinuation { continuation in
      let thread = Thread {
        continuation.resume(
          with: Result {
            let context = stack.contextForCurrentThread()
            let entry = JournalEntry(context: context)
            entry.location = "Thread \(number)"
            try context.saveToRoot()
            let again = stack.contextForCurrentThread()
            let result = ThreadResult(
              id: entry.objectID, contextNumber: ObjectIdentifier(context).hashValue,
              isSameContextAgain: again === context)
            // Held until all threads have theirs, so that no two can lie at the same address.
            Thread.sleep(forTimeInterval: 0.2)
            stack.forgetContextForCurrentThread()
            return result
          })
      }
      thread.start()
    }
  }

  /// Waits until the contexts have done what was begun on their queues.
  private func waitUntilIdle(_ contexts: NSManagedObjectContext...) async {
    for context in contexts { await context.perform(schedule: .enqueued) {} }
  }

  private func stored(_ sql: String) throws -> String {
    try sqlite(store, sql)
  }
}
