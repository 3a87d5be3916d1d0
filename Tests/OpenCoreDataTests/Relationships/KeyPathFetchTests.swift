import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: Predicate Programming Guide, "Using Predicates with Core Data"; NSFetchRequest,
// `sortDescriptors`, `propertiesToFetch`): predicates, sort descriptors and properties to fetch may follow to-one
// relationships; a path that breaks off has nil at its end; objects are compared by identity, as objects or as IDs. The
// answer is the same whether SQL or a context with pending changes gives it.

@Suite("Fetches follow to-one relationships")
struct KeyPathFetchTests {
  private let library: LibraryStore

  init() throws { library = try LibraryStore() }

  private func titles(
    _ format: String, _ arguments: [Any] = [], sort: [NSSortDescriptor] = [], in context: NSManagedObjectContext
  ) throws -> [String] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Work")
    request.predicate = NSPredicate(format: format, argumentArray: arguments)
    request.sortDescriptors = sort
    let found = try context.fetch(request).compactMap { $0.value(forKey: "title") as? String }
    return sort.isEmpty ? found.sorted() : found
  }

  private static let predicateCases: [(String, [String])] = [
    ("author.name == 'Ann'", ["Reefs", "Storm"]),
    ("author.name != 'Ann'", ["Orphan", "Tides"]),
    ("author.name == nil", ["Orphan"]),
    ("author == nil", ["Orphan"]),
    ("author != nil", ["Reefs", "Storm", "Tides"]),
    ("author.mentor.name == 'Ann'", ["Tides"]),
    ("author.mentor == nil AND author != nil", ["Reefs", "Storm"]),
    ("author.favourite.title BEGINSWITH 'St'", ["Tides"]),
    ("author.born > %@", ["Tides"]),
    ("title IN {'Tides', 'Orphan'} AND NOT author.name CONTAINS[c] 'B'", ["Orphan"]),
    ("author.name > title", []),
  ]

  @Test("predicates", arguments: predicateCases)
  func predicates(format: String, expected: [String]) throws {
    let date = Date(timeIntervalSinceReferenceDate: 150)
    let arguments: [Any] = format.contains("%@") ? [date] : []
    let context = try library.context()
    try context.performAndWait {
      #expect(try titles(format, arguments, in: context) == expected)
      // In memory: each object as it is, and as a pending change of something else.
      for work in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Work")) {
        let title = work.value(forKey: "title") as? String ?? ""
        let predicate = NSPredicate(format: format, argumentArray: arguments)
        #expect(predicate.evaluate(with: work) == expected.contains(title), "\(title)")
        work.setValue(title, forKey: "title")
        work.willChangeValue(forKey: "title")
        work.didChangeValue(forKey: "title")
      }
      #expect(try titles(format, arguments, in: context) == expected)
    }
  }

  @Test("objects are compared by identity: as objects, as IDs, in lists, and themselves")
  func objects() throws {
    let context = try library.context()
    try context.performAndWait {
      let ann = try LibraryStore.object("Author", where: "name", is: "Ann", in: context)
      let bob = try LibraryStore.object("Author", where: "name", is: "Bob", in: context)
      let tides = try LibraryStore.object("Work", where: "title", is: "Tides", in: context)
      #expect(try titles("author == %@", [ann], in: context) == ["Reefs", "Storm"])
      #expect(try titles("author == %@", [ann.objectID], in: context) == ["Reefs", "Storm"])
      #expect(try titles("author IN %@", [[ann, bob]], in: context) == ["Reefs", "Storm", "Tides"])
      #expect(try titles("author != %@", [ann], in: context) == ["Orphan", "Tides"])
      #expect(try titles("SELF == %@", [tides], in: context) == ["Tides"])
      #expect(try titles("SELF IN %@", [[tides.objectID]], in: context) == ["Tides"])
      #expect(try titles("objectID == %@", [tides.objectID], in: context) == ["Tides"])
      #expect(try titles("author.mentor == %@", [ann], in: context) == ["Tides"])
      // An author with the same key as a work is another object.
      #expect(try titles("SELF == %@", [bob], in: context) == [])
      #expect(try titles("author.favourite.author == author", in: context) == ["Orphan", "Reefs", "Storm"])
      let new = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      new.setValue("New", forKey: "title")
      #expect(try titles("SELF == %@", [new], in: context) == ["New"])
      #expect(try titles("author == nil", in: context) == ["New", "Orphan"])
    }
  }

  @Test("rows of two tables with one key are two objects, in SQL and in memory")
  func keysOfTwoTables() throws {
    try sqlite(library.file, "UPDATE ZAUTHOR SET ZFAVOURITE = 1, Z5_FAVOURITE = 6 WHERE ZNAME = 'Bob'")
    let context = try library.context()
    try context.performAndWait {
      let authors = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
      for (format, count) in [
        ("favourite == mentor", 0), ("favourite != mentor", 4), ("SELF == favourite", 0), ("NOT SELF == favourite", 4),
        ("mentor == mentor.mentor", 1), ("mentor.SELF == favourite.author", 1),
        ("favourite.objectID == mentor.SELF", 0),
      ] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.predicate = NSPredicate(format: format)
        #expect(try context.count(for: request) == count, "\(format)")
        #expect(authors.count { request.predicate?.evaluate(with: $0) == true } == count, "\(format) in memory")
      }
    }
  }

  @Test("what has no order or leads to many is refused with the reason")
  func refusals() throws {
    let context = try library.context()
    context.performAndWait {
      for (format, part) in [
        ("author < %@", "objects have no order"), ("tags.word == 'sea'", "leads through tags"),
        ("author.nick == 'x'", "author.nick not found in entity Work"), ("author == 'Ann'", "author is an object"),
      ] {
        let error = #expect(throws: NSError.self) { try titles(format, ["Ann"], in: context) }
        #expect(error?.localizedDescription.contains(part) == true, "\(format)")
      }
      let byAuthor = [NSSortDescriptor(key: "author", ascending: true)]
      #expect(throws: NSError.self) { try titles("TRUEPREDICATE", sort: byAuthor, in: context) }
    }
  }

  @Test("an order over a relationship, with and without pending changes")
  func sorting() throws {
    let context = try library.context()
    let order = [
      NSSortDescriptor(key: "author.name", ascending: false), NSSortDescriptor(key: "title", ascending: true),
    ]
    try context.performAndWait {
      #expect(try titles("TRUEPREDICATE", sort: order, in: context) == ["Tides", "Reefs", "Storm", "Orphan"])
      let new = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      new.setValue("New", forKey: "title")
      try LibraryStore.object("Work", where: "title", is: "Reefs", in: context).setValue("Waves", forKey: "title")
      #expect(try titles("TRUEPREDICATE", sort: order, in: context) == ["Tides", "Storm", "Waves", "New", "Orphan"])
      let child = try library.context(context)
      let shown = try child.performAndWait { try titles("TRUEPREDICATE", sort: order, in: child) }
      #expect(shown == ["Tides", "Storm", "Waves", "New", "Orphan"])
    }
  }

  @Test("dictionaries with values over a relationship, grouped by one too")
  func dictionaries() throws {
    let context = try library.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSDictionary>(entityName: "Work")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["title", "author.name"]
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let names = try context.fetch(request).map { $0["author.name"] as? String }
      #expect(names == [nil, "Ann", "Ann", "Bob"])
      request.propertiesToFetch = ["author.name"]
      request.propertiesToGroupBy = ["author.name"]
      request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true)]
      #expect(try context.fetch(request).map { $0["author.name"] as? String } == [nil, "Ann", "Bob"])
    }
  }

  @Test("a walk brings values over relationships along, in the order asked for", arguments: [false, true])
  func walk(withPendingChange: Bool) throws {
    let context = try library.context()
    try context.performAndWait {
      if withPendingChange {
        try LibraryStore.object("Work", where: "title", is: "Reefs", in: context).setValue("Waves", forKey: "title")
      }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Work")
      request.sortDescriptors = [NSSortDescriptor(key: "author.mentor.name", ascending: true)]
      request.predicate = NSPredicate(format: "author != nil")
      var lines: [String] = []
      try context.walk(request, keyPaths: ["author.name", "author.born"], rowsPerBatch: 2) { batch, _ in
        for row in 0..<batch.count {
          let (name, born) = (batch.extraCell(row: row, 0), batch.extraCell(row: row, 1))
          lines.append(String(decoding: batch.bytes(of: name), as: UTF8.self) + " \(born.real)")
        }
        return true
      }
      #expect(lines == ["Ann 100.0", "Ann 100.0", "Bob 200.0"])
    }
  }

  @Test("batch requests take predicates over relationships")
  func batchRequests() throws {
    let context = try library.context()
    try context.performAndWait {
      let request = NSBatchUpdateRequest(entityName: "Work")
      request.predicate = NSPredicate(format: "author.name == 'Ann'")
      request.propertiesToUpdate = ["title": "Ann's"]
      try context.execute(request)
      #expect(try sqlite(library.file, "SELECT count(*) FROM ZWORK WHERE ZTITLE = 'Ann''s'") == "2")
    }
  }

  @Test("sections of a results controller are named over a relationship")
  func sections() throws {
    let context = try library.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Work")
      request.predicate = NSPredicate(format: "author != nil")
      request.sortDescriptors = [
        NSSortDescriptor(key: "author.name", ascending: true), NSSortDescriptor(key: "title", ascending: true),
      ]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "author.name", cacheName: nil)
      try controller.performFetch()
      #expect(controller.sections?.map(\.name) == ["Ann", "Bob"])
    }
  }
}
