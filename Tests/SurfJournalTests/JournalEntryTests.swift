import Foundation
import OpenCoreData
import SurfJournal
import TestSupport
import Testing

/// The journal's entity: found by name, typed by generated code, written as the app writes it. On the main actor, for
/// view contexts belong to the main queue.
@MainActor @Suite struct JournalEntryTests {
  private static func container(at folder: URL) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "SurfJournalModel")
    let store = NSPersistentStoreDescription(url: folder.appendingPathComponent("Journal.sqlite"))
    container.persistentStoreDescriptions = [store]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  /// Calls `body` with a temporary folder, which is removed afterwards.
  private static func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = try TemporaryFolder()
    return try withExtendedLifetime(folder) { try body(folder.url) }
  }

  @Test func `The embedded model is found by its name, with the version hash that the app's store has`() throws {
    let model = NSPersistentContainer(name: "SurfJournalModel").managedObjectModel
    #expect(model.entitiesByName.keys.sorted() == ["JournalEntry"])
    let hash = try #require(model.entityVersionHashesByName["JournalEntry"])
    #expect(hash.base64EncodedString() == "Tj6pVjI2H01Wp34HCsdGhqINZK/14EnrYaNBIVLu3wc=")
  }

  @Test func `Generated accessors write to the store and read from it`() throws {
    try Self.withFolder { folder in
      let date = Date(timeIntervalSinceReferenceDate: 427_015_800.5)
      do {
        let context = try Self.container(at: folder).viewContext
        let entry = JournalEntry(context: context)
        #expect(entry.rating == 0)
        entry.date = date
        entry.height = "3-5ft"
        entry.location = "C Street, Ventura"
        entry.period = "12 sec"
        entry.rating = 4
        entry.wind = nil
        try context.save()
      }
      let context = try Self.container(at: folder).viewContext
      let entries = try context.fetch(JournalEntry.fetchRequest())
      let entry = try #require(entries.first)
      #expect(entries.count == 1)
      #expect(entry.date == date)
      #expect(entry.height == "3-5ft")
      #expect(entry.location == "C Street, Ventura")
      #expect(entry.period == "12 sec")
      #expect(entry.rating == 4)
      #expect(entry.wind == nil)
    }
  }

  struct Line: CustomTestStringConvertible, Sendable {
    var seconds: Double?
    var texts: [String?] = [nil, nil, nil, nil]
    var rating: Int?
    let day: String
    let csv: String
    var testDescription: String { csv }
  }

  nonisolated static let lines = [
    Line(
      seconds: 427_015_800, texts: ["3.9", "12", "1.9", "C Street"], rating: 4, day: "7/14/14",
      csv: "7/14/14,3.9,12,1.9,C Street,4\n"),
    Line(day: "", csv: ",,,,,\n"),
    Line(seconds: -1, rating: 0, day: "12/31/00", csv: "12/31/00,,,,,0\n"),
    Line(seconds: 0, texts: ["Flat", nil, "", "Malibu, CA"], day: "1/1/01", csv: "1/1/01,Flat,,,Malibu, CA,\n"),
    Line(seconds: .infinity, day: "", csv: ",,,,,\n"),
  ]

  @Test(arguments: lines)
  func `An entry is written as the app writes it`(of line: Line) throws {
    try Self.withFolder { folder in
      let context = try Self.container(at: folder).viewContext
      let entry = JournalEntry(context: context)
      entry.date = line.seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
      (entry.height, entry.period) = (line.texts[0], line.texts[1])
      (entry.wind, entry.location) = (line.texts[2], line.texts[3])
      entry.rating = line.rating.map { NSNumber(value: $0) }
      #expect(entry.stringForDate() == line.day)
      #expect(entry.csv() == line.csv)
    }
  }

  @Test func `Key paths sort and predicates pick, in the store and in memory`() throws {
    try Self.withFolder { folder in
      let context = try Self.container(at: folder).viewContext
      for (day, rating) in [(3, 5), (1, 2), (2, 4)] {
        let entry = JournalEntry(context: context)
        entry.date = Date(timeIntervalSinceReferenceDate: Double(day) * 86_400)
        entry.rating = NSNumber(value: rating)
        entry.location = "Spot \(day)"
      }
      try context.save()
      let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(keyPath: \JournalEntry.date, ascending: true)]
      let sorted = try context.fetch(request)
      #expect(sorted.map(\.location) == ["Spot 1", "Spot 2", "Spot 3"])
      let backwards = NSSortDescriptor(keyPath: \JournalEntry.date, ascending: false)
      #expect(backwards.key == "date")
      #expect(backwards.compare(sorted[0], to: sorted[1]) == .orderedDescending)
      let good = NSPredicate(format: "rating >= %d AND location BEGINSWITH[c] %@", 4, "spot")
      #expect(sorted.map { good.evaluate(with: $0) } == [false, true, true])
      request.predicate = good
      #expect(try context.fetch(request).map(\.rating) == [4, 5])
    }
  }
}
