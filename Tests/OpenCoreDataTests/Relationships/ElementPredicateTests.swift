import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: Predicate Format String Syntax, "Aggregate Operations"; Predicate Programming Guide,
// "Using Predicates with Core Data"; Key-Value Coding Programming Guide, "Using Collection Operators"; NSExpression,
// "Subquery"): ANY holds if the comparison holds for one value, ALL for every one, NONE for none of them; without values
// ANY is false, ALL and NONE are true. In a subquery's condition keys belong to the evaluated object. The answer is the
// same for objects in memory, for rows in SQL, and with pending changes.

@Suite("Predicates over to-many relationships")
struct ElementPredicateTests {
  private let library: LibraryStore

  init() throws { library = try LibraryStore() }

  /// A predicate about authors or works, and the names or titles that it finds. Ann wrote Reefs and Storm, Bob Tides,
  /// Cleo and an author without a name wrote nothing; Orphan has no author and no tags.
  private static let cases: [(entity: String, format: String, expected: [String])] = [
    ("Author", "ANY works.title == 'Storm'", ["Ann"]),
    ("Author", "SOME works.title BEGINSWITH[c] 't'", ["Bob"]),
    ("Author", "ALL works.title == 'Tides'", ["", "Bob", "Cleo"]),
    ("Author", "ALL works.title BETWEEN {'R', 'T'}", ["", "Ann", "Cleo"]),
    ("Author", "NONE works.title == 'Storm'", ["", "Bob", "Cleo"]),
    ("Author", "NOT ANY works.title == 'Storm'", ["", "Bob", "Cleo"]),
    ("Author", "NOT ALL works.title == 'Tides'", ["Ann"]),
    ("Author", "ANY works.title IN {'Reefs', 'Tides'}", ["Ann", "Bob"]),
    ("Author", "ANY works.title == nil", []),
    ("Author", "ANY pupils.name == nil", ["Bob"]),
    ("Author", "ANY pupils.name != nil", ["Ann"]),
    ("Author", "ALL pupils.born < %@", ["", "Cleo"]),
    ("Author", "ANY pupils.born > born", ["Ann"]),
    ("Author", "ANY works.author.name == name", ["Ann", "Bob"]),
    ("Author", "ANY works.entity.name == 'Play'", ["Ann"]),
    ("Author", "ANY mentor.works.title == 'Reefs'", ["Bob", "Cleo"]),
    ("Author", "ALL mentor.works.title == 'Tides'", ["", "Ann"]),
    ("Author", "ANY friends.name == 'Ann'", ["Bob", "Cleo"]),
    ("Author", "ANY friends.name == 'Cleo'", ["Ann"]),
    ("Author", "'Storm' IN works.title", ["Ann"]),
    ("Author", "works.title CONTAINS 'Storm'", ["Ann"]),
    ("Author", "works.title CONTAINS[c] 'sTORM'", ["Ann"]),
    ("Author", "NOT 'Storm' IN works.title", ["", "Bob", "Cleo"]),
    ("Author", "favourite IN works", ["Ann"]),
    ("Author", "works CONTAINS favourite", ["Ann"]),
    ("Author", "SELF IN mentor.friends", ["Bob", "Cleo"]),
    ("Author", "ANY works == favourite", ["Ann"]),
    ("Author", "ANY works != favourite", ["Ann", "Bob"]),
    ("Author", "ANY {'Ann', 'Bob'} == name", ["Ann", "Bob"]),
    ("Author", "ANY {'Storm', 'Tides'} IN works.title", ["Ann", "Bob"]),
    ("Author", "ALL {'Storm', 'Reefs'} IN works.title", ["Ann"]),
    ("Author", "works.@count == 2", ["Ann"]),
    ("Author", "works.@count > 0", ["Ann", "Bob"]),
    ("Author", "works.@count == 0", ["", "Cleo"]),
    ("Author", "works.@count != 0 AND friends.@count > 1", ["Ann"]),
    ("Author", "works.@count == friends.@count", ["", "Ann", "Bob"]),
    ("Author", "mentor.works.@count >= 2", ["Bob", "Cleo"]),
    ("Author", "works.@count IN {0, 2}", ["", "Ann", "Cleo"]),
    ("Author", "works.@count BETWEEN {1, 2}", ["Ann", "Bob"]),
    ("Work", "ANY tags.word == 'sea'", ["Reefs", "Storm", "Tides"]),
    ("Work", "ANY tags.word == 'drama' AND ANY tags.word == 'sea'", ["Storm"]),
    ("Work", "NONE tags.word IN {'sea'}", ["Orphan"]),
    ("Work", "ALL tags.word == 'sea'", ["Orphan", "Reefs", "Tides"]),
    ("Work", "tags.@count > 1 OR ANY fans.name == 'Ann'", ["Reefs", "Storm"]),
    ("Work", "ANY author.works.tags.@count > 1", ["Reefs", "Storm"]),
    ("Work", "ANY author.pupils.name == 'Bob'", ["Reefs", "Storm"]),
    ("Work", "author.works.@count == 1", ["Tides"]),
    ("Work", "author.works.@count == 0", ["Orphan"]),
    ("Book", "ANY chapters.heading == 'Only'", ["Tides"]),
    ("Book", "chapters.@count == 3", ["Reefs"]),
    ("Author", "ANY uppercase(works.title) == 'STORM'", ["Ann"]),
    ("Author", "ALL length(works.title) == 5", ["", "Ann", "Bob", "Cleo"]),
    ("Author", "NONE length(works.title) > 4 + 0", ["", "Cleo"]),
    ("Author", "ANY length(mentor.works.title) > 4", ["", "Bob", "Cleo"]),
    ("Author", "ANY {1, 2} + works.@count == 3", ["Ann", "Bob"]),
    ("Author", "ANY lowercase(SUBQUERY(works, $w, $w.title BEGINSWITH 'S').title) == 'storm'", ["Ann"]),
    ("Author", "ANY TERNARY(name == 'Ann', works.title, name) == 'Storm'", ["Ann"]),
    ("Author", "count(works.@distinctUnionOfObjects.author) == 1", ["Ann", "Bob"]),
    ("Author", "count(works.@unionOfObjects.author) == 2", ["Ann"]),
    ("Author", "ANY pupils.@unionOfObjects.name == nil", []),
    ("Author", "count(pupils.@unionOfObjects.name) == 0", ["", "Bob", "Cleo"]),
    ("Author", "ANY (SUBQUERY(pupils, $p, TRUE == TRUE).@unionOfObjects.mentor).mentor == nil", ["Ann"]),
    ("Author", "ANY (SUBQUERY(pupils, $p, TRUE == TRUE).@unionOfObjects.mentor).mentor.name == 'Ann'", ["Bob"]),
    ("Author", "ANY (SUBQUERY(pupils, $p, TRUE == TRUE).@unionOfObjects.favourite).author == nil", []),
    ("Author", "count((SUBQUERY(pupils, $p, TRUE == TRUE).@unionOfObjects.favourite).author) == 1", ["Ann"]),
    ("Author", "'Storm' IN works.@distinctUnionOfObjects.title", ["Ann"]),
    ("Author", "count(SUBQUERY(works, $w, TRUE == TRUE).@distinctUnionOfObjects.author) == 1", ["Ann", "Bob"]),
    ("Author", "ANY works.title <[l] 'rZ'", ["Ann"]),
    ("Author", "name.length == 3", ["Ann", "Bob"]),
    ("Author", "ANY works.title.length == 5", ["Ann", "Bob"]),
    ("Author", "SUBQUERY(works, $w, $w.title.lowercaseString == 'storm').@count == 1", ["Ann"]),
    ("Work", "author.name.uppercaseString == 'ANN'", ["Reefs", "Storm"]),
    ("Tag", "works.@count == 1", ["drama"]),
    ("Tag", "ANY works.author.name == 'Bob'", ["sea"]),
  ]

  private static let names = ["Author": "name", "Tag": "word"]

  private static func name(_ object: NSManagedObject) -> String {
    object.value(forKey: names[object.entity.name ?? ""] ?? "title") as? String ?? ""
  }

  private static func predicate(_ format: String) -> NSPredicate {
    let arguments: [Any] = format.contains("%@") ? [Date(timeIntervalSinceReferenceDate: 250)] : []
    return NSPredicate(format: format, argumentArray: arguments)
  }

  private func found(_ entity: String, _ predicate: NSPredicate, in context: NSManagedObjectContext) throws -> [String]
  {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate
    return try context.fetch(request).map(Self.name).sorted()
  }

  @Test("in SQL, in memory, with pending changes, and after printing", arguments: cases)
  func predicates(entity: String, format: String, expected: [String]) throws {
    let context = try library.context()
    try context.performAndWait {
      let predicate = Self.predicate(format)
      #expect(try found(entity, predicate, in: context) == expected)
      let printed = try NSPredicate.parse(format: predicate.formatDescription)
      #expect(printed.formatDescription == predicate.formatDescription)
      #expect(try found(entity, printed, in: context) == expected, "\(predicate.formatDescription)")
      let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.predicate = predicate
      let query = try request.query(model: context.model)
      for object in all {
        let isExpected = expected.contains(Self.name(object))
        #expect(predicate.evaluate(with: object) == isExpected, "\(Self.name(object)) alone")
        #expect(try query.matches(object) == isExpected, "\(Self.name(object)) as a pending change")
        object.willChangeValue(forKey: "works")
        object.didChangeValue(forKey: "works")
      }
      #expect(try found(entity, predicate, in: context) == expected)
      #expect(try context.count(for: request) == expected.count)
    }
  }

  @Test("a list of objects and a single object are looked for among the elements")
  func objects() throws {
    let context = try library.context()
    try context.performAndWait {
      let storm = try LibraryStore.object("Work", where: "title", is: "Storm", in: context)
      let tides = try LibraryStore.object("Work", where: "title", is: "Tides", in: context)
      for (format, arguments, expected): (String, [Any], [String]) in [
        ("ANY works == %@", [storm], ["Ann"]), ("%@ IN works", [storm], ["Ann"]),
        ("works CONTAINS %@", [tides], ["Bob"]),
        ("%@ IN works", [storm.objectID], ["Ann"]), ("ANY works IN %@", [[storm, tides]], ["Ann", "Bob"]),
        ("NONE works IN %@", [NSSet(array: [storm, tides])], ["", "Cleo"]),
        ("ANY %K.%K == %@", ["works", "title", "Tides"], ["Bob"]), ("%K.@count == 2", ["works"], ["Ann"]),
        ("%K == 2", ["works.@count"], ["Ann"]), ("ALL %@ IN works", [[storm]], ["Ann"]),
      ] {
        let predicate = NSPredicate(format: format, argumentArray: arguments)
        #expect(try found("Author", predicate, in: context) == expected, "\(format)")
        let authors = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
        #expect(authors.filter { predicate.evaluate(with: $0) }.map(Self.name).sorted() == expected, "\(format)")
      }
    }
  }

  @Test("what Apple's store refuses is refused with the reason and what to write")
  func refusals() throws {
    let context = try library.context()
    context.performAndWait {
      for (format, part) in [
        ("works.title == 'Storm'", "Write ANY, ALL or NONE"), ("works == nil", "has no single value"),
        ("works[0].title == 'Storm'", "no SQL for an element at a position"), ("name.width == 3", "not found"),
        ("ANY name == 'Ann'", "Leave ANY out"), ("ALL favourite.title == 'x'", "to-many relationship on its left"),
        ("ANY works.tags.word == 'sea'", "more than one to-many relationship"),
        ("works.tags.@count == 1", "Write ANY"), ("name.@count == 1", "follows a to-many"),
        ("works.@sum.title > 1", "only numbers are added up"), ("works.@min.author == nil", "objects have no order"),
        ("works.@count.title == 1", "follows a to-many"), ("works.@unionOfObjects == nil", "needs a key after it"),
        ("works.@unionOfObjects.title == 'Storm'", "Write ANY, ALL or NONE"),
        ("works.@unionOfObjects.@count == 1", "follows a to-many"),
        ("ANY works.@unionOfObjects.tags.word == 'a'", "more than one to-many"),
        (
          "ANY (SUBQUERY(works, $w, TRUE == TRUE).@distinctUnionOfObjects.author).name == 'x'",
          "can't follow the values"
        ),
        ("ANY works.title + works.title == 1", "more than one position"),
        ("ANY uppercase(name) == 'ANN'", "Leave ANY out"), ("ANY works.title + 1 == 3", "can't be calculated"),
        ("ANY works < %@", "objects have no order"),
        ("ANY works.nick == 1", "nick not found in entity Work"), ("ANY works.title > 3", "and 3 is not"),
        ("SUBQUERY(name, $x, $x == 1).@count > 0", "SUBQUERY needs a to-many"),
      ] {
        let error = #expect(throws: NSError.self, "\(format)") {
          try found("Author", NSPredicate(format: format, argumentArray: ["Ann"]), in: context)
        }
        #expect(error?.localizedDescription.contains(part) == true, "\(format): \(error?.localizedDescription ?? "")")
      }
    }
  }

  @Test("dictionaries and collections in memory")
  func dictionaries() {
    let object: [String: Any] = [
      "name": "Ann", "pages": [3, 5], "empty": [Int](),
      "works": [["title": "Reefs", "pages": 300], ["title": "Storm"], ["pages": 7.5]],
    ]
    for (format, expected) in [
      ("ANY works.title == 'Storm'", true), ("ALL works.title == 'Storm'", false), ("ANY works.title == nil", true),
      ("works.@count == 3", true), ("works.@sum.pages == 307.5", true), ("works.@avg.pages == 153.75", true),
      ("works.@max.title == 'Storm'", true), ("works.@min.pages == 7.5", true), ("ANY pages == 5", true),
      ("pages.@sum.SELF == 8", true), ("empty.@sum.SELF == 0", true), ("empty.@avg.SELF == nil", true),
      ("missing.@count == 0", true), ("ALL missing.x == 1", true), ("5 IN pages", true), ("pages CONTAINS 4", false),
      ("ANY length(works.title) == 5", true), ("ALL works.pages * 2 > 14", false), ("ANY 2 * pages == 10", true),
      ("ANY length(missing.title) == 5", false), ("ALL length(missing.title) == 5", true),
      ("count(works.@unionOfObjects.pages) == 2", true), ("ALL works.@unionOfObjects.pages > 7", true),
      ("count(works.@distinctUnionOfObjects.pages) == 2", true),
      ("SUBQUERY(works, $w, $w.pages > 100 AND name == 'Ann').@count == 1", true),
      ("ANY SUBQUERY(works, $w, $w.pages > 1).title == 'Reefs'", true),
    ] {
      #expect(NSPredicate(format: format).evaluate(with: object) == expected, "\(format)")
    }
    #expect(NSPredicate(format: "SELF.@count == 2").evaluate(with: [1, 2]))
    #expect(NSPredicate(format: "ANY SELF > 1").evaluate(with: Set([1, 2])))
  }
}
