import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSFetchRequest, `includesPendingChanges`; NSFetchedResultsController; NSBatchUpdateRequest):
// a fetch takes unsaved changes into account, also those of the objects that its predicate reads through relationships.

@Suite("Predicates over to-many relationships and changes")
struct ElementChangeTests {
  private let library: LibraryStore

  init() throws { library = try LibraryStore() }

  private func names(_ format: String, in context: NSManagedObjectContext, limit: Int = 0) throws -> [String] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.predicate = NSPredicate(format: format)
    request.fetchLimit = limit
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let found = try context.fetch(request).map { $0.value(forKey: "name") as? String ?? "" }
    if limit == 0 { #expect(try context.count(for: request) == found.count, "\(format)") }
    return found
  }

  @Test("an element's changed value counts, in the context and in its child", arguments: [false, true])
  func changedElement(inChild: Bool) throws {
    let context = try library.context()
    let child = try library.context(context)
    let asked = inChild ? child : context
    try context.performAndWait {
      try LibraryStore.object("Work", where: "title", is: "Tides", in: context).setValue("Storm", forKey: "title")
    }
    try asked.performAndWait { () throws in
      #expect(try names("ANY works.title == 'Storm'", in: asked) == ["Ann", "Bob"])
      #expect(try names("ANY works.title == 'Storm'", in: asked, limit: 1) == ["Ann"])
      #expect(try names("ANY works.title == 'Tides'", in: asked) == [])
      #expect(try names("SUBQUERY(works, $w, $w.title == 'Storm').@count == 1", in: asked) == ["Ann", "Bob"])
      #expect(try names("mentor.favourite.title == 'Storm'", in: asked) == [""])
    }
  }

  @Test("elements that were added, moved and deleted count")
  func changedCollections() throws {
    let context = try library.context()
    try context.performAndWait {
      let cleo = try LibraryStore.object("Author", where: "name", is: "Cleo", in: context)
      let new = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      new.setValue("New", forKey: "title")
      new.setValue(cleo, forKey: "author")
      #expect(try names("ANY works.title == 'New'", in: context) == ["Cleo"])
      #expect(try names("works.@count == 1", in: context) == ["Bob", "Cleo"])
      let reefs = try LibraryStore.object("Work", where: "title", is: "Reefs", in: context)
      reefs.setValue(cleo, forKey: "author")
      #expect(try names("works.@count == 2", in: context) == ["Cleo"])
      #expect(try names("ANY works.title == 'Reefs'", in: context) == ["Cleo"])
      context.delete(try LibraryStore.object("Work", where: "title", is: "Tides", in: context))
      #expect(try names("works.@count == 0", in: context) == ["", "Bob"])
      #expect(try names("ALL works.title == 'Storm'", in: context) == ["", "Ann", "Bob"])
      try context.save()
      #expect(try names("ALL works.title == 'Storm'", in: context) == ["", "Ann", "Bob"])
      #expect(try names("works.@count == 2", in: context) == ["Cleo"])
    }
  }

  @Test("a change two relationships away counts")
  func distantChange() throws {
    let context = try library.context()
    try context.performAndWait {
      let sea = try LibraryStore.object("Tag", where: "word", is: "sea", in: context)
      sea.setValue("ocean", forKey: "word")
      let nested = "SUBQUERY(works, $w, ANY $w.tags.word == 'ocean').@count > 0"
      #expect(try names(nested, in: context) == ["Ann", "Bob"])
      #expect(try names("ANY mentor.works.title == 'Flood'", in: context) == [])
      try LibraryStore.object("Work", where: "title", is: "Storm", in: context).setValue("Flood", forKey: "title")
      #expect(try names("ANY mentor.works.title == 'Flood'", in: context) == ["Bob", "Cleo"])
      #expect(try names("mentor.name == 'Ann' AND NOT ANY mentor.works.title == 'Flood'", in: context) == [])
    }
  }

  @Test("an asynchronous fetch and a walk agree with a fetch")
  func otherFetches() async throws {
    let context = try library.context()
    try await context.perform {
      try LibraryStore.object("Work", where: "title", is: "Tides", in: context).setValue("Storm", forKey: "title")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.predicate = NSPredicate(format: "ANY works.title == 'Storm'")
      var count = 0
      try context.walk(request, rowsPerBatch: 1) { batch, _ in
        count += batch.count
        return true
      }
      #expect(count == 2)
    }
  }

  @Test("a results controller follows objects with such a predicate")
  func resultsController() throws {
    let context = try library.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.predicate = NSPredicate(format: "works.@count > 0")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let recorder = Recorder()
      controller.delegate = recorder
      try controller.performFetch()
      func shown() -> [String] { controller.fetchedObjects?.map { $0.value(forKey: "name") as? String ?? "" } ?? [] }
      #expect(shown() == ["Ann", "Bob"])
      let cleo = try LibraryStore.object("Author", where: "name", is: "Cleo", in: context)
      try LibraryStore.object("Work", where: "title", is: "Tides", in: context).setValue(cleo, forKey: "author")
      context.processPendingChanges()
      #expect(shown() == ["Ann", "Cleo"])
    }
  }

  private final class Recorder: NSObject, NSFetchedResultsControllerDelegate {
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
  }

  @Test("batch requests and dictionaries take such predicates")
  func batchRequests() throws {
    let context = try library.context()
    try context.performAndWait {
      let update = NSBatchUpdateRequest(entityName: "Work")
      update.predicate = NSPredicate(format: "ANY tags.word == 'drama' OR tags.@count == 0")
      update.propertiesToUpdate = ["title": "Changed"]
      try context.execute(update)
      #expect(try sqlite(library.file, "SELECT group_concat(Z_PK) FROM ZWORK WHERE ZTITLE = 'Changed'") == "3,4")
      let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Author")
      dictionaries.resultType = .dictionaryResultType
      dictionaries.propertiesToFetch = ["name"]
      dictionaries.predicate = NSPredicate(format: "ANY works.title == 'Changed'")
      #expect(try context.fetch(dictionaries).map { $0["name"] as? String } == ["Ann"])
      let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
      fetch.predicate = NSPredicate(
        format: "ALL friends.name == 'nobody' AND NONE pupils.name != nil AND works.@count == 0")
      try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
      #expect(try sqlite(library.file, "SELECT group_concat(Z_PK) FROM ZAUTHOR") == "1,2,3")
    }
  }

  @Test("a fetch is one statement of sub-selects")
  func statement() throws {
    let context = try library.context()
    try context.performAndWait { () throws in
      func sql(_ format: String, _ entity: String = "Author") throws -> String {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: format)
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first?.rowStore as? SQLiteStore)
        var query = try request.query(model: context.model)
        query.includesValues = false
        return try SelectPlan(query, in: store).select.text.replacing(" ORDER BY t0.Z_PK", with: "")
      }
      #expect(
        try sql("ANY works.title == 'x'")
          == "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT FROM ZAUTHOR t0 WHERE EXISTS (SELECT 1 FROM ZWORK t1 "
          + "WHERE t1.ZAUTHOR = t0.Z_PK AND (t1.ZTITLE = ?))")
      #expect(
        try sql("NONE works.author.name == 'x'")
          == "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT FROM ZAUTHOR t0 WHERE NOT EXISTS (SELECT 1 FROM ZWORK t1 "
          + "LEFT JOIN ZAUTHOR t2 ON t2.Z_PK = t1.ZAUTHOR WHERE t1.ZAUTHOR = t0.Z_PK AND (t2.ZNAME = ?))")
      #expect(
        try sql("SUBQUERY(works, $w, $w.title == name).@count > 2")
          == "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT FROM ZAUTHOR t0 WHERE (SELECT count(*) FROM ZWORK t1 "
          + "WHERE t1.ZAUTHOR = t0.Z_PK AND (t1.ZTITLE IS t0.ZNAME)) > ?")
      #expect(
        try sql("works.@count == 0", "Tag")
          == "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT FROM ZTAG t0 WHERE NOT EXISTS (SELECT 1 FROM Z_5TAGS t2 "
          + "JOIN ZWORK t1 ON t1.Z_PK = t2.Z_5WORKS WHERE t2.Z_4TAGS = t0.Z_PK)")
    }
  }
}
