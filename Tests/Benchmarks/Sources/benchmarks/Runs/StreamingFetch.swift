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
  /// Nothing: makes an empty store on a server.
  case makeServer = "make-server"

  func run(_ arguments: [String]) throws -> Never {
    guard let store = arguments.first, arguments.count == 1 else {
      throw Options.Misuse(description: "\(rawValue) takes a store")
    }
    let container = try self.container(store)
    if self == .makeServer { exit(0) }
    let context = container.newBackgroundContext()
    let request = NSFetchRequest<JournalEntry>(entityName: "JournalEntry")
    print(
      try context.performAndWait {
        try self == .objects ? Self.objects(context, request) : Self.batches(context, request)
      })
    exit(0)
  }

  /// The journal's stack in a file, or a container with a store on a server.
  private func container(_ store: String) throws -> NSPersistentContainer {
    guard store.hasPrefix("postgresql:"), let address = URL(string: store) else {
      let stack = CoreDataStack(store: URL(filePath: store), isReadOnly: true)
      try stack.open()
      return stack.storeContainer
    }
    let container = NSPersistentContainer(name: CoreDataStack.modelName)
    let description = NSPersistentStoreDescription(url: address)
    description.isReadOnly = self != .makeServer
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
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
