import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rule (docs/coredata-format.md, "Derived attributes"): a derivation for which a file has no triggers is computed by those
// of the connection that writes. The sqlite3 shell, which has no functions of this library, judges each value.

/// Derived attributes of each form: own, over one and two to-one relationships, counts and sums, in a hierarchy.
struct ComputedLibrary {
  static let xml = """
    <model>
      <entity name="Author">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="bookCount" optional="YES" derived="YES" derivationExpression="books.@count" attributeType="Integer 64"/>
        <attribute name="pageSum" optional="YES" derived="YES" derivationExpression="sum:(books.pages)" attributeType="Integer 64"/>
        <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
        <relationship name="home" optional="YES" maxCount="1" destinationEntity="Place" inverseName="authors" inverseEntity="Place"/>
      </entity>
      <entity name="Book">
        <attribute name="title" optional="YES" attributeType="String"/>
        <attribute name="pages" optional="YES" attributeType="Integer 32"/>
        <attribute name="titleCopy" optional="YES" derived="YES" derivationExpression="title" attributeType="String"/>
        <attribute name="titleKey" optional="YES" derived="YES" derivationExpression="canonical:(title)" attributeType="String"/>
        <attribute name="loudAuthor" optional="YES" derived="YES" derivationExpression="uppercase:(author.name)" attributeType="String"/>
        <attribute name="place" optional="YES" derived="YES" derivationExpression="author.home.name" attributeType="String"/>
        <attribute name="changed" optional="YES" derived="YES" derivationExpression="now()" attributeType="Date"/>
        <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
        <relationship name="shelves" optional="YES" toMany="YES" destinationEntity="Shelf" inverseName="books" inverseEntity="Shelf"/>
      </entity>
      <entity name="Novel" parentEntity="Book">
        <attribute name="authorName" optional="YES" derived="YES" derivationExpression="author.name" attributeType="String"/>
      </entity>
      <entity name="Place">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="authors" optional="YES" toMany="YES" destinationEntity="Author" inverseName="home" inverseEntity="Author"/>
      </entity>
      <entity name="Shelf">
        <attribute name="bookCount" optional="YES" derived="YES" derivationExpression="books.@count" attributeType="Integer 64"/>
        <attribute name="pageSum" optional="YES" derived="YES" derivationExpression="books.@sum.pages" attributeType="Integer 64"/>
        <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="shelves" inverseEntity="Book"/>
      </entity>
    </model>
    """

  let model: NSManagedObjectModel
  let file: URL

  init(_ folder: TemporaryFolder) throws {
    model = try .load(xml: Data(Self.xml.utf8))
    file = folder.file("Library.sqlite")
  }

  func context(options: [String: Any] = [OCDIncompleteSchemaOption: true]) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// How many values differ from what their derivations give. Novels are the entity 3.
  static let wrong = """
    SELECT (SELECT count(*) FROM ZBOOK b LEFT JOIN ZAUTHOR a ON a.Z_PK = b.ZAUTHOR LEFT JOIN ZPLACE p ON p.Z_PK = a.ZHOME
        WHERE b.ZTITLECOPY IS NOT b.ZTITLE OR b.ZTITLEKEY IS NOT lower(b.ZTITLE) OR b.ZLOUDAUTHOR IS NOT upper(a.ZNAME)
          OR b.ZPLACE IS NOT p.ZNAME OR b.ZCHANGED IS NULL
          OR b.ZAUTHORNAME IS NOT CASE b.Z_ENT WHEN 3 THEN a.ZNAME END)
      + (SELECT count(*) FROM ZAUTHOR a WHERE ZBOOKCOUNT IS NOT (SELECT count(*) FROM ZBOOK WHERE ZAUTHOR = a.Z_PK)
        OR ZPAGESUM IS NOT (SELECT coalesce(sum(ZPAGES), 0) FROM ZBOOK WHERE ZAUTHOR = a.Z_PK))
      + (SELECT count(*) FROM ZSHELF s WHERE ZBOOKCOUNT IS NOT (SELECT count(*) FROM Z_2SHELVES WHERE Z_5SHELVES = s.Z_PK)
        OR ZPAGESUM IS NOT (SELECT coalesce(sum(ZPAGES), 0) FROM ZBOOK b JOIN Z_2SHELVES j ON j.Z_2BOOKS = b.Z_PK
          WHERE j.Z_5SHELVES = s.Z_PK))
    """
}

@Suite("Derived attributes without triggers in the file are computed")
struct ComputedColumnTests {
  private let folder: TemporaryFolder
  private let library: ComputedLibrary

  init() throws {
    folder = try TemporaryFolder()
    library = try ComputedLibrary(folder)
  }

  /// Inserts, changes, links and deletes at random.
  private func play(_ context: NSManagedObjectContext, using random: inout SeededGenerator) throws {
    func all(_ name: String) throws -> [NSManagedObject] {
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)).sorted {
        "\($0.objectID)" < "\($1.objectID)"
      }
    }
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...2:
        let names = ["Author", "Book", "Book", "Novel", "Place", "Shelf"]
        let entity = names.randomElement(using: &random) ?? ""
        NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      case 3...5:
        let (entity, key) =
          [("Author", "name"), ("Book", "title"), ("Place", "name"), ("Book", "pages")]
          .randomElement(using: &random) ?? ("", "")
        let value: Any? = key == "pages" ? Int.random(in: 0...9, using: &random) : "Word\(random.next() % 5)"
        try all(entity).randomElement(using: &random)?
          .setValue(Bool.random(using: &random) ? value : nil, forKey: key)
      case 6, 7:
        let (from, key, to) =
          [("Book", "author", "Author"), ("Author", "home", "Place")]
          .randomElement(using: &random) ?? ("", "", "")
        try all(from).randomElement(using: &random)?
          .setValue(try all(to).randomElement(using: &random), forKey: key)
      case 8:
        let books = try all("Book").shuffled(using: &random).prefix(3)
        try all("Shelf").randomElement(using: &random)?.setValue(NSSet(array: Array(books)), forKey: "books")
      default:
        let entity = ["Author", "Book", "Shelf", "Place"].randomElement(using: &random) ?? ""
        if let object = try all(entity).randomElement(using: &random) { context.delete(object) }
      }
    }
    try context.save()
  }

  @Test("After any save each value is what its derivation gives", .seeded)
  func play() throws {
    var random = Randomness.generator()
    for round in 0..<3 {
      // A store that is opened again computes too.
      let context = try library.context()
      try context.performAndWait {
        for step in 0..<15 {
          try play(context, using: &random)
          #expect(try sqlite(library.file, ComputedLibrary.wrong) == "0", "round \(round), step \(step)")
        }
      }
    }
  }

  @Test("Batch requests and packed rows are computed, and a value that is set for a derived attribute is not kept")
  func batches() throws {
    let context = try library.context()
    try context.performAndWait {
      let insertion = NSBatchInsertRequest(
        entityName: "Book", objects: (1...300).map { ["title": "Title\($0)", "pages": $0, "titleCopy": "x"] })
      try context.execute(insertion)
      #expect(try sqlite(library.file, ComputedLibrary.wrong) == "0")
      let update = NSBatchUpdateRequest(entityName: "Book")
      update.propertiesToUpdate = ["title": "Same"]
      update.predicate = NSPredicate(format: "pages > 100")
      try context.execute(update)
      let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
      author.setValue("Ann", forKey: "name")
      author.setValue(7, forKey: "bookCount")
      let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
      for book in books.prefix(200) { book.setValue(author, forKey: "author") }
      try context.save()
      try context.execute(
        NSBatchDeleteRequest(
          fetchRequest: {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            request.predicate = NSPredicate(format: "pages < 50")
            return request
          }()))
      #expect(try sqlite(library.file, ComputedLibrary.wrong) == "0")
      context.refresh(author, mergeChanges: false)
      #expect(author.value(forKey: "bookCount") as? Int == 151)
      update.propertiesToUpdate = ["titleKey": "x"]
      let error = #expect(throws: NSError.self) { try context.execute(update) }
      #expect(error?.localizedDescription.contains("titleKey of Book is derived") == true)
    }
  }

  @Test("Texts are folded as predicates fold them, and a time follows each save")
  func texts() throws {
    let context = try library.context()
    try context.performAndWait {
      let book = NSEntityDescription.insertNewObject(forEntityName: "Novel", into: context)
      book.setValue("Été à Nazaré", forKey: "title")
      let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
      author.setValue("Émile", forKey: "name")
      book.setValue(author, forKey: "author")
      var last = Date().addingTimeInterval(-0.001)
      for pages in 1...3 {
        book.setValue(pages, forKey: "pages")
        try context.save()
        context.refreshAllObjects()
        let changed = try #require(book.value(forKey: "changed") as? Date)
        #expect(changed >= last && changed <= Date().addingTimeInterval(0.001))
        last = changed
      }
      #expect(book.value(forKey: "titleKey") as? String == "ete a nazare")
      #expect(book.value(forKey: "loudAuthor") as? String == "ÉMILE")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.predicate = NSPredicate(format: "titleKey CONTAINS 'nazare'")
      #expect(try context.count(for: request) == 1)
    }
  }

  @Test("A store in memory computes without an option; a new file needs the option")
  func stores() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: library.model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      book.setValue("ABC", forKey: "title")
      try context.save()
      context.refresh(book, mergeChanges: false)
      #expect(book.value(forKey: "titleKey") as? String == "abc")
    }
    #expect(throws: NSError.self) { try library.context(options: [:]) }
  }

  @Test("A migration computes new derivations, and keeps the times of saves")
  func migration() throws {
    let lines = ComputedLibrary.xml.split(separator: "\n")
    let old = try NSManagedObjectModel.load(
      xml: Data(lines.filter { !$0.contains("derived") || $0.contains("now()") }.joined(separator: "\n").utf8))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: library.file,
      options: [OCDIncompleteSchemaOption: true])
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    var random = SeededGenerator(seed: 20)
    try context.performAndWait { for _ in 0..<30 { try play(context, using: &random) } }
    let times = try sqlite(library.file, "SELECT Z_PK, ZCHANGED FROM ZBOOK ORDER BY 1")
    try coordinator.remove(store)
    var options = MigrationBench.options([old])
    options[OCDIncompleteSchemaOption] = true
    let target = NSPersistentStoreCoordinator(managedObjectModel: library.model)
    try target.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: library.file, options: options)
    #expect(try sqlite(library.file, ComputedLibrary.wrong) == "0")
    #expect(try sqlite(library.file, "SELECT Z_PK, ZCHANGED FROM ZBOOK ORDER BY 1") == times && !times.isEmpty)
  }

  // MARK: Triggers of a file that call functions whose texts are not published

  private func makeTrigger(_ attribute: String, _ function: String) throws {
    _ = try library.context()
    let column = "Z\(attribute.uppercased())"
    try sqlite(
      library.file,
      """
      CREATE TRIGGER Z_DA_ZBOOK_Book_\(attribute)_INSERT AFTER INSERT ON ZBOOK FOR EACH ROW BEGIN
        UPDATE ZBOOK SET \(column) = \(function)(NEW.ZTITLE) || '!' WHERE Z_PK = NEW.Z_PK;
        SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, '\(attribute)', \(column)) FROM ZBOOK
          WHERE Z_PK = NEW.Z_PK; END
      """)
  }

  @Test(
    "What a function computes follows from the derivation of the trigger's attribute, and the trigger stays in charge")
  func unknownFunction() throws {
    try makeTrigger("titleKey", "NSCoreDataFoldSomehow")
    let context = try library.context(options: [:])
    try context.performAndWait {
      let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      book.setValue("Été", forKey: "title")
      try context.save()
      #expect(try sqlite(library.file, "SELECT ZTITLEKEY, ZTITLECOPY FROM ZBOOK") == "ete!|Été")
    }
  }

  @Test("A function of two derivations, or of one without a function, keeps the store from being written to")
  func ambiguous() throws {
    try makeTrigger("titleCopy", "NSCoreDataCopySomehow")
    let error = #expect(throws: NSError.self) { try library.context() }
    #expect(error?.localizedDescription.contains("NSCoreDataCopySomehow") == true)
    try makeOther()
  }

  private func makeOther() throws {
    let folder = try TemporaryFolder()
    let other = try ComputedLibrary(folder)
    _ = try other.context()
    for attribute in ["titleKey", "loudAuthor"] {
      try sqlite(
        other.file,
        "CREATE TRIGGER Z_DA_ZBOOK_Book_\(attribute)_INSERT AFTER INSERT ON ZBOOK FOR EACH ROW BEGIN "
          + "UPDATE ZBOOK SET Z\(attribute.uppercased()) = NSCoreDataBoth(NEW.ZTITLE) WHERE Z_PK = NEW.Z_PK; END")
    }
    let error = #expect(throws: NSError.self) { try other.context() }
    #expect(error?.localizedDescription.contains("NSCoreDataBoth") == true)
  }
}
