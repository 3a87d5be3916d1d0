import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (docs/coredata-format.md, "Migrated stores"): a store is read and written by the numbers, columns and join
// tables that it has; a store that lacks something that its model needs is refused with the name of the missing part.

@Suite("The schema is that of the tables found")
struct FoundSchemaTests {
  private let library: LibraryStore

  init() throws { library = try LibraryStore() }

  private static let changes: [(name: String, sql: String)] = [
    (
      "a join table made when the entities had other numbers",
      """
      CREATE TABLE Z_9WORKS ( Z_9TAGS INTEGER, Z_12WORKS INTEGER, Z_FOK_12WORKS INTEGER, PRIMARY KEY (Z_9TAGS, Z_12WORKS) );
      INSERT INTO Z_9WORKS SELECT Z_4TAGS, Z_5WORKS, Z_FOK_5WORKS FROM Z_5TAGS; DROP TABLE Z_5TAGS
      """
    ),
    (
      "a join table whose columns have the numbers of clashes",
      """
      CREATE TABLE Z_5TAGS1 ( Z_5WORKS1 INTEGER, Z_4TAGS2 INTEGER, Z_FOK_5WORKS1 INTEGER, PRIMARY KEY (Z_4TAGS2, Z_5WORKS1) );
      INSERT INTO Z_5TAGS1 SELECT Z_5WORKS, Z_4TAGS, Z_FOK_5WORKS FROM Z_5TAGS; DROP TABLE Z_5TAGS
      """
    ),
    (
      "columns in another order, one with the number of a clash that is gone",
      """
      CREATE TABLE W ( ZPAGES1 INTEGER, ZTITLE VARCHAR, Z_PK INTEGER PRIMARY KEY, ZAUTHOR INTEGER, Z_OPT INTEGER,
        ZACTS INTEGER, Z3BOOKS INTEGER, Z_ENT INTEGER );
      INSERT INTO W SELECT ZPAGES, ZTITLE, Z_PK, ZAUTHOR, Z_OPT, ZACTS, Z3BOOKS, Z_ENT FROM ZWORK; DROP TABLE ZWORK;
      ALTER TABLE W RENAME TO ZWORK
      """
    ),
    (
      "entities with other numbers, not in a row",
      """
      UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT * 3 + 100; UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_SUPER * 3 + 100 WHERE Z_SUPER > 0;
      UPDATE ZAUTHOR SET Z_ENT = Z_ENT * 3 + 100, Z5_FAVOURITE = Z5_FAVOURITE * 3 + 100;
      UPDATE ZWORK SET Z_ENT = Z_ENT * 3 + 100; UPDATE ZCHAPTER SET Z_ENT = Z_ENT * 3 + 100;
      UPDATE ZTAG SET Z_ENT = Z_ENT * 3 + 100; UPDATE ZSHELF SET Z_ENT = Z_ENT * 3 + 100
      """
    ),
    ("an entity listed under its former name", "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Drama' WHERE Z_NAME = 'Play'"),
    (
      "a hidden key of another number",
      "ALTER TABLE ZWORK RENAME COLUMN Z3BOOKS TO Z17BOOKS"
    ),
    (
      "names in small letters",
      "ALTER TABLE ZTAG RENAME TO x; ALTER TABLE x RENAME TO ztag; ALTER TABLE ztag RENAME COLUMN ZWORD TO zword"
    ),
  ]

  @Test("what migrations leave is read and written as it is", arguments: changes)
  func changed(name: String, sql: String) throws {
    try sqlite(library.file, sql)
    let context = try library.context()
    try context.performAndWait {
      let sea = try LibraryStore.object("Tag", where: "word", is: "sea", in: context)
      #expect(LibraryStore.texts(sea.value(forKey: "works"), "title") == ["Storm", "Tides", "Reefs"])
      let storm = try LibraryStore.object("Play", where: "title", is: "Storm", in: context)
      #expect(LibraryStore.texts(storm.value(forKey: "tags"), "word").sorted() == ["drama", "sea"])
      #expect((storm.value(forKey: "acts") as? Int) == 5)
      let reefs = try LibraryStore.object("Book", where: "title", is: "Reefs", in: context)
      #expect((reefs.value(forKey: "pages") as? Int) == 300)
      let shelves = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf"))
      #expect(Set(shelves.map { ($0.value(forKey: "books") as? NSSet)?.count }) == [2, 0])
      let bob = try LibraryStore.object("Author", where: "name", is: "Bob", in: context)
      #expect(bob.value(forKey: "favourite") as? NSManagedObject === storm)
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Work")) == 4)
      reefs.setValue(301, forKey: "pages")
      let new = NSEntityDescription.insertNewObject(forEntityName: "Play", into: context)
      new.setValue("New", forKey: "title")
      try context.save()
      #expect(new.objectID.uriRepresentation().lastPathComponent == "p5")
    }
    let fresh = try library.context()
    try fresh.performAndWait {
      let new = try LibraryStore.object("Play", where: "title", is: "New", in: fresh)
      #expect(new.entity.name == "Play")
      let reefs = try LibraryStore.object("Book", where: "title", is: "Reefs", in: fresh)
      #expect(reefs.value(forKey: "pages") as? Int == 301)
    }
  }

  @Test("columns of one name are distinguished by their types, and one is never that of two attributes")
  func clashes() throws {
    let folder = try TemporaryFolder()
    let model = try NSManagedObjectModel.load(
      xml: Data(
        """
        <model><entity name="Base" isAbstract="YES"/>
        <entity name="Cat" parentEntity="Base"><attribute name="mark" optional="YES" attributeType="String"/></entity>
        <entity name="Dog" parentEntity="Base"><attribute name="mark" optional="YES" attributeType="Integer 32"/></entity>
        </model>
        """.utf8))
    let file = folder.file("Pets.sqlite")
    func coordinator() throws -> NSPersistentStoreCoordinator {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
      return coordinator
    }
    _ = try coordinator()
    try sqlite(
      file,
      """
      ALTER TABLE ZBASE RENAME COLUMN ZMARK TO x; ALTER TABLE ZBASE RENAME COLUMN ZMARK1 TO ZMARK;
      ALTER TABLE ZBASE RENAME COLUMN x TO ZMARK1;
      INSERT INTO ZBASE(Z_PK, Z_ENT, Z_OPT, ZMARK, ZMARK1) VALUES (1, 2, 1, NULL, 'torn ear'), (2, 3, 1, 77, NULL)
      """)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = try coordinator()
    try context.performAndWait {
      let pets = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Base"))
      #expect(
        pets.map { "\($0.entity.name ?? "") \($0.value(forKey: "mark") ?? "")" }.sorted() == ["Cat torn ear", "Dog 77"])
    }
    try sqlite(
      file, "ALTER TABLE ZBASE DROP COLUMN ZMARK1; ALTER TABLE ZBASE RENAME COLUMN ZMARK TO ZMARK7")
    let error = #expect(throws: NSError.self) { try coordinator() }
    #expect(error?.localizedDescription.contains("one column, ZMARK7, for Cat.mark and Dog.mark") == true)
  }

  private static let gaps: [(sql: String, part: String)] = [
    ("ALTER TABLE ZAUTHOR DROP COLUMN ZBORN", "no column ZBORN for Author.born"),
    ("DROP TABLE ZSHELF", "no table ZSHELF for the entity Shelf"),
    ("DROP TABLE Z_5TAGS", "no table Z_5TAGS"),
    (
      "CREATE TABLE Z_8WORKS (Z_8TAGS, Z_9WORKS); CREATE TABLE Z_7WORKS (Z_7TAGS, Z_9WORKS); DROP TABLE Z_5TAGS",
      "it may be any of Z_8WORKS, Z_7WORKS"
    ),
    (
      "DROP INDEX ZWORK_Z3BOOKS_INDEX; ALTER TABLE ZWORK DROP COLUMN Z3BOOKS",
      "no column Z3BOOKS for the relationship Shelf.books"
    ),
    ("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'", "has no row for the entity Tag"),
    ("UPDATE Z_PRIMARYKEY SET Z_SUPER = 1 WHERE Z_NAME = 'Play'", "1 as the superentity (Z_SUPER) of Play"),
  ]

  @Test("what the model needs and the store lacks is named", arguments: gaps)
  func missing(sql: String, part: String) throws {
    try sqlite(library.file, sql)
    let error = #expect(throws: NSError.self) { try library.coordinator() }
    #expect(error?.code == NSPersistentStoreOpenError)
    #expect(error?.localizedDescription.contains(part) == true, "\(error?.localizedDescription ?? "")")
  }
}
