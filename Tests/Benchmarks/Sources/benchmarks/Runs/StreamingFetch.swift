import Foundation
import OpenCoreData
import SurfJournal

/// Ways to see every entry of a store, none of which the command has: each runs in a process of its own, `benchmarks
/// walk-objects STORE`, and prints what it saw as `limit step` does.
enum StreamingFetch: String, CaseIterable {
  /// Every object, with every value read through the generated properties.
  case objects = "walk-objects"
  /// Every packed batch. Their values are there; code outside the framework's package can't look at them.
  case batches = "walk-batches"

  func run(_ arguments: [String]) throws -> Never {
    guard let store = arguments.first, arguments.count == 1 else {
      throw Options.Misuse(description: "\(rawValue) takes a store")
    }
    let stack = CoreDataStack(store: URL(filePath: store), isReadOnly: true)
    try stack.open()
    let context = stack.storeContainer.newBackgroundContext()
    let request = NSFetchRequest<JournalEntry>(entityName: "JournalEntry")
    print(
      try context.performAndWait {
        try self == .objects ? Self.objects(context, request) : Self.batches(context, request)
      })
    exit(0)
  }

  private static func objects(
    _ context: NSManagedObjectContext, _ request: NSFetchRequest<JournalEntry>
  ) throws -> String {
    var sums = Sums()
    try context.walkObjects(request) { entries in
      for entry in entries { sums.add(entry) }
      return true
    }
    return sums.text
  }

  private static func batches(
    _ context: NSManagedObjectContext, _ request: NSFetchRequest<JournalEntry>
  ) throws -> String {
    var rows = 0
    try context.walk(request) { batch, _ in
      rows += batch.count
      return true
    }
    return "rows \(rows)"
  }
}

/// What shows that every value was looked at.
private struct Sums {
  private var rows = 0
  private var seconds = 0
  private var bytes = 0
  private var ratings = 0

  var text: String { "rows \(rows), seconds \(seconds), text bytes \(bytes), ratings \(ratings)" }

  mutating func add(_ entry: JournalEntry) {
    rows += 1
    seconds += Int(entry.date?.timeIntervalSinceReferenceDate ?? 0)
    bytes += (entry.height?.utf8.count ?? 0) + (entry.period?.utf8.count ?? 0)
    bytes += (entry.wind?.utf8.count ?? 0) + (entry.location?.utf8.count ?? 0)
    ratings += entry.rating?.intValue ?? 0
  }
}
