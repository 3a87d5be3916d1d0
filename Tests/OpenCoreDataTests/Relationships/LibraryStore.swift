import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

/// A store with every kind of relationship, filled by the `sqlite3` shell.
///
/// Works (abstract: books and plays) have an author, tags, and an ordered list of chapters; authors have a mentor and
/// friends, and shelves hold books that do not know of it.
struct LibraryStore {
  let folder: TemporaryFolder
  let file: URL
  let model: NSManagedObjectModel

  static let xml = """
    <model>
      <entity name="Author">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="born" optional="YES" attributeType="Date"/>
        <relationship name="works" optional="YES" toMany="YES" destinationEntity="Work" inverseName="author" inverseEntity="Work"/>
        <relationship name="mentor" optional="YES" maxCount="1" destinationEntity="Author" inverseName="pupils" inverseEntity="Author"/>
        <relationship name="pupils" optional="YES" toMany="YES" destinationEntity="Author" inverseName="mentor" inverseEntity="Author"/>
        <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Author" inverseName="friends" inverseEntity="Author"/>
        <relationship name="favourite" optional="YES" maxCount="1" destinationEntity="Work" inverseName="fans" inverseEntity="Work"/>
      </entity>
      <entity name="Work" isAbstract="YES">
        <attribute name="title" optional="YES" attributeType="String"/>
        <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="works" inverseEntity="Author"/>
        <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="works" inverseEntity="Tag"/>
        <relationship name="fans" optional="YES" toMany="YES" destinationEntity="Author" inverseName="favourite" inverseEntity="Author"/>
      </entity>
      <entity name="Book" parentEntity="Work">
        <attribute name="pages" optional="YES" attributeType="Integer 32"/>
        <relationship name="chapters" optional="YES" toMany="YES" ordered="YES" destinationEntity="Chapter" inverseName="book" inverseEntity="Chapter"/>
      </entity>
      <entity name="Play" parentEntity="Work">
        <attribute name="acts" optional="YES" attributeType="Integer 16"/>
      </entity>
      <entity name="Chapter">
        <attribute name="heading" optional="YES" attributeType="String"/>
        <relationship name="book" optional="YES" maxCount="1" destinationEntity="Book" inverseName="chapters" inverseEntity="Book"/>
      </entity>
      <entity name="Tag">
        <attribute name="word" optional="YES" attributeType="String"/>
        <relationship name="works" optional="YES" toMany="YES" ordered="YES" destinationEntity="Work" inverseName="tags" inverseEntity="Work"/>
      </entity>
      <entity name="Shelf">
        <attribute name="number" optional="YES" attributeType="Integer 16"/>
        <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book"/>
      </entity>
    </model>
    """

  init() throws {
    folder = try TemporaryFolder()
    file = folder.file("Library.sqlite")
    model = try NSManagedObjectModel.load(xml: Data(Self.xml.utf8))
    _ = try coordinator()
    try sqlite(file, Self.rows)
  }

  // Numbers: Author 1, Chapter 2, Shelf 3, Tag 4, Work 5, Book 6, Play 7.
  private static let rows = """
    INSERT INTO ZAUTHOR(Z_PK, Z_ENT, Z_OPT, ZNAME, ZBORN, ZMENTOR, ZFAVOURITE, Z5_FAVOURITE) VALUES
      (1, 1, 1, 'Ann', 100, NULL, 1, 6), (2, 1, 1, 'Bob', 200, 1, 3, 7), (3, 1, 1, 'Cleo', 300, 1, NULL, NULL),
      (4, 1, 1, NULL, NULL, 2, NULL, NULL);
    INSERT INTO ZWORK(Z_PK, Z_ENT, Z_OPT, ZTITLE, ZAUTHOR, ZPAGES, ZACTS, Z3BOOKS) VALUES
      (1, 6, 1, 'Reefs', 1, 300, NULL, 1), (2, 6, 1, 'Tides', 2, 120, NULL, 1), (3, 7, 1, 'Storm', 1, NULL, 5, NULL),
      (4, 6, 1, 'Orphan', NULL, 10, NULL, NULL);
    INSERT INTO ZCHAPTER(Z_PK, Z_ENT, Z_OPT, ZHEADING, ZBOOK, Z_FOK_BOOK) VALUES
      (1, 2, 1, 'Last', 1, 3072), (2, 2, 1, 'First', 1, 1024), (3, 2, 1, 'Middle', 1, 2048), (4, 2, 1, 'Only', 2, 1024);
    INSERT INTO ZTAG(Z_PK, Z_ENT, Z_OPT, ZWORD) VALUES (1, 4, 1, 'sea'), (2, 4, 1, 'drama'), (3, 4, 1, 'none');
    INSERT INTO Z_5TAGS(Z_4TAGS, Z_5WORKS, Z_FOK_5WORKS) VALUES (1, 2, 1024), (1, 1, 2048), (1, 3, 512), (2, 3, 1024);
    INSERT INTO Z_1FRIENDS(Z_1FRIENDS, REFLEXIVE) VALUES (1, 2), (3, 1);
    INSERT INTO ZSHELF(Z_PK, Z_ENT, Z_OPT, ZNUMBER) VALUES (1, 3, 1, 7), (2, 3, 1, 8);
    UPDATE Z_PRIMARYKEY SET Z_MAX = 4 WHERE Z_NAME IN ('Author', 'Work', 'Chapter', 'Tag');
    UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_NAME = 'Shelf';
    """

  func coordinator(_ options: [AnyHashable: Any]? = nil) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
    return coordinator
  }

  func context(_ parent: NSManagedObjectContext? = nil) throws -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    if let parent { context.parent = parent } else { context.persistentStoreCoordinator = try coordinator() }
    return context
  }

  /// The object of an entity with the value of an attribute.
  static func object(
    _ entity: String, where key: String, is value: String, in context: NSManagedObjectContext
  ) throws -> NSManagedObject {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = NSPredicate(format: "%K == %@", key, value)
    let found = try context.fetch(request)
    try #require(found.count == 1)
    return found[0]
  }

  static func texts(_ value: Any?, _ key: String) -> [String] {
    let objects = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
    return objects.compactMap { ($0 as? NSManagedObject)?.value(forKey: key) as? String }
  }
}
