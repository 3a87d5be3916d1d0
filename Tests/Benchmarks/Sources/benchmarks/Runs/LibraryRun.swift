import Foundation
import OpenCoreData

/// What an app does with objects of two entities, authors and their books. Each runs in a process of its own,
/// `benchmarks insert-books STORE ROWS`, and prints what `limit` prints for the same work.
enum LibraryRun: String, CaseIterable {
  /// Makes an empty store with authors.
  case makeAuthors = "make-authors"
  /// Inserts books one by one with six attributes, and saves every thousand through three contexts.
  case insertBooks = "insert-books"
  /// The same, and each book gets an author: the books of one follow each other.
  case insertLinkedBooks = "insert-linked-books"
  /// Fetches all authors, prefetches their books and reads every attribute.
  case walk = "walk-library"
  /// Counts the authors of whose books more than two have over 900 pages.
  case countBySubquery = "count-by-subquery"
  /// Migrates a library to a version whose books have one more attribute, which a policy sets.
  case migrate = "migrate-library"
  /// Makes an empty journal whose history has an insertion and a deletion.
  case makeTracked = "make-tracked"
  /// Deletes all authors; the delete rule takes their books along.
  case deleteAuthors = "delete-authors"

  static let chunk = 1000

  func run(_ arguments: [String]) throws -> Never {
    if self == .migrate {
      guard arguments.count == 2 else { throw Options.Misuse(description: "\(rawValue) takes two stores") }
      try LibraryMigration.run(from: URL(filePath: arguments[0]), to: URL(filePath: arguments[1]))
      exit(0)
    }
    guard let path = arguments.first, let count = Int(arguments.dropFirst().first ?? "0"), arguments.count <= 2 else {
      throw Options.Misuse(description: "\(rawValue) takes a store and a number of objects")
    }
    try play(URL(filePath: path), count)
    exit(0)
  }

  /// The stack is gone at the end, so that the store is one file.
  private func play(_ store: URL, _ count: Int) throws {
    if self == .makeTracked { return try Self.makeTracked(store) }
    let chain = try Chain(store: store)
    switch self {
    case .makeAuthors: try chain.makeAuthors(count)
    case .insertBooks: try chain.insertBooks(count, isLinked: false)
    case .insertLinkedBooks: try chain.insertBooks(count, isLinked: true)
    case .walk: print(try chain.walk())
    case .countBySubquery: print(try chain.countBySubquery())
    case .migrate, .makeTracked: break
    case .deleteAuthors: try chain.deleteAuthors()
    }
  }
}

extension LibraryRun {
  fileprivate static func makeTracked(_ store: URL) throws {
    guard let model = NSManagedObjectModel.embedded(named: "SurfJournalModel") else {
      throw BenchmarkFailure("the model of the journal is not embedded")
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: [NSPersistentHistoryTrackingKey: true])
    // A store whose history is empty does not show that it is tracked.
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let entry = NSEntityDescription.insertNewObject(forEntityName: "JournalEntry", into: context)
      try context.save()
      context.delete(entry)
      try context.save()
    }
  }
}

/// A private context on a view context on a writer context.
private struct Chain {
  let writer = NSManagedObjectContext(concurrencyType: .privateQueue)
  let view = NSManagedObjectContext(concurrencyType: .mainQueue)
  let own = NSManagedObjectContext(concurrencyType: .privateQueue)

  init(store: URL) throws {
    guard let model = NSManagedObjectModel.embedded(named: "Library") else {
      throw BenchmarkFailure("the model Library is not embedded; 'make bench' builds the program with it")
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: store)
    writer.persistentStoreCoordinator = coordinator
    (view.parent, own.parent) = (writer, view)
  }

  private func save() throws {
    for context in [own, view, writer] { try context.performAndWait { try context.save() } }
  }

  func makeAuthors(_ count: Int) throws {
    own.performAndWait {
      for number in 0..<count { Author(context: own).name = "Author \(number)" }
    }
    try save()
  }

  func insertBooks(_ count: Int, isLinked: Bool) throws {
    let authors = try own.performAndWait {
      let request: NSFetchRequest<Author> = Author.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      return isLinked ? try own.fetch(request) : []
    }
    for start in stride(from: 0, to: count, by: LibraryRun.chunk) {
      own.performAndWait {
        for number in start..<min(count, start + LibraryRun.chunk) {
          let book = Book(context: own)
          book.published = Date(timeIntervalSinceReferenceDate: Double(number) * 60)
          book.title = Self.titles[number % 16]
          book.genre = Self.genres[number % 8]
          book.binding = Self.bindings[number % 4]
          book.place = Self.places[number % 16]
          book.pages = NSNumber(value: Int16(number % 1000))
          if isLinked { book.author = authors[number * authors.count / count] }
        }
      }
      try save()
    }
  }

  func walk() throws -> String {
    try own.performAndWait {
      let request: NSFetchRequest<Author> = Author.fetchRequest()
      request.relationshipKeyPathsForPrefetching = ["books"]
      var (authors, books, bytes, pages, seconds) = (0, 0, 0, 0, 0)
      for author in try own.fetch(request) {
        authors += 1
        bytes += author.name?.utf8.count ?? 0
        for book in author.books ?? [] {
          books += 1
          bytes += (book.title?.utf8.count ?? 0) + (book.genre?.utf8.count ?? 0)
          bytes += (book.binding?.utf8.count ?? 0) + (book.place?.utf8.count ?? 0)
          pages += book.pages?.intValue ?? 0
          seconds += Int(book.published?.timeIntervalSinceReferenceDate ?? 0)
        }
      }
      return "authors \(authors), books \(books), text bytes \(bytes), pages \(pages), seconds \(seconds)"
    }
  }

  func countBySubquery() throws -> Int {
    try own.performAndWait {
      let request: NSFetchRequest<Author> = Author.fetchRequest()
      request.predicate = NSPredicate(format: "SUBQUERY(books, $b, $b.pages > 900).@count > 2")
      return try own.count(for: request)
    }
  }

  func deleteAuthors() throws {
    try own.performAndWait {
      for author in try own.fetch(Author.fetchRequest() as NSFetchRequest<Author>) { own.delete(author) }
    }
    try save()
  }

  private static let titles = (0..<16).map { "The waves of the coast, part \($0)" }
  private static let genres = (0..<8).map { "genre \($0)" }
  private static let bindings = ["paper", "cloth", "leather", "none"]
  private static let places = (0..<16).map { "Harbour number \($0)" }
}
