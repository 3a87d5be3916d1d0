import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSFetchedResultsController): one section of everything without a sectionNameKeyPath; the
// first sort descriptor keeps sections together, else performFetch throws; sort descriptors are a must; index titles
// are capital first letters unless a delegate or a subclass says otherwise. (NSFetchedResultsController.h.)

@Suite("A controller shows its request's objects in sections", .overBothStores)
struct ResultsContentTests {
  private static let sessions: [(String, String?, Int)] = [
    ("a", "jaws", 3), ("b", "bells", 2), ("c", nil, 2), ("d", "Bells", 1), ("e", "bells", 5),
  ]

  @Test("Before performFetch there is nothing")
  func before() throws {
    let context = try Stack(TemporaryFolder(), model: Results.model()).context()
    let controller = NSFetchedResultsController(
      fetchRequest: Results.request(["title"]), managedObjectContext: context, sectionNameKeyPath: nil,
      cacheName: "Master")
    #expect(controller.fetchedObjects == nil && controller.sections == nil && controller.sectionIndexTitles.isEmpty)
    #expect(controller.cacheName == "Master" && controller.managedObjectContext === context)
    NSFetchedResultsController<NSManagedObject>.deleteCache(withName: "Master")
    try context.performAndWait {
      try controller.performFetch()
      #expect(controller.fetchedObjects == [] && controller.sections?.map(\.numberOfObjects) == [0])
    }
  }

  @Test("Objects by section and place, and the way back")
  func lookup() throws {
    let fixture = try ResultsFixture(Self.sessions)
    let controller = fixture.controller
    fixture.context.performAndWait {
      #expect(controller.sections?.map(\.name) == ["", "Bells", "bells", "jaws"])
      #expect(controller.sections?.map(\.numberOfObjects) == [1, 1, 2, 1])
      #expect(controller.sections?[2].objects?.count == 2)
      #expect(controller.object(at: IndexPath(row: 1, section: 2)).sessionTitle == "e")
      for object in controller.fetchedObjects ?? [] {
        let path = controller.indexPath(forObject: object)
        #expect(path.map(controller.object) === object)
      }
      let stranger = Results.insert("x", place: "bells", rating: 1, in: fixture.context, fixture.stack.entity)
      #expect(controller.indexPath(forObject: stranger) == nil)
    }
  }

  @Test("Index paths have UIKit's names")
  func indexPaths() {
    var path = IndexPath(item: 3, section: 1)
    #expect(path == IndexPath(row: 3, section: 1) && path == [1, 3])
    path.row += 1
    path.section = 0
    #expect(path == [0, 4] && path.item == 4)
  }

  @Test("Index titles are first letters, each once, and lead to the first section")
  func indexTitles() throws {
    let fixture = try ResultsFixture(Self.sessions)
    let controller = fixture.controller
    #expect(controller.sections?.map(\.indexTitle) == [nil, "B", "B", "J"])
    #expect(controller.sectionIndexTitles == ["B", "J"])
    #expect(controller.section(forSectionIndexTitle: "B", at: 0) == 1)
    #expect(controller.section(forSectionIndexTitle: "J", at: 1) == 3)
    let titles = Titles()
    controller.delegate = titles
    #expect(controller.sectionIndexTitles == ["0", "5", "4"])
  }

  private final class Titles: NSObject, NSFetchedResultsControllerDelegate {
    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>, sectionIndexTitleForSectionName name: String
    ) -> String? { "\(name.count)" }
  }

  @Test("A subclass names its sections in the index")
  func subclass() throws {
    let fixture = try ResultsFixture(Self.sessions)
    let controller = Shouting(
      fetchRequest: Results.request(["place", "title"]), managedObjectContext: fixture.context,
      sectionNameKeyPath: "place", cacheName: nil)
    try fixture.context.performAndWait { try controller.performFetch() }
    #expect(controller.sections?.map(\.indexTitle) == ["", "BELLS", "BELLS", "JAWS"])
  }

  private final class Shouting: NSFetchedResultsController<NSManagedObject> {
    override func sectionIndexTitle(forSectionName sectionName: String) -> String? { sectionName.uppercased() }
  }

  @Test("Numbers name sections by their digits", arguments: [0, 2])
  func numbers(batchSize: Int) throws {
    let fixture = try ResultsFixture(Self.sessions, keys: ["-rating"], section: "rating") {
      $0.fetchBatchSize = batchSize
    }
    #expect(fixture.controller.sections?.map(\.name) == ["5", "3", "2", "1"])
  }

  @Test("An order that tears sections apart is refused as Apple's framework does", arguments: [0, 2])
  func outOfOrder(batchSize: Int) throws {
    let fixture = try ResultsFixture(Self.sessions)
    let request = Results.request(["title"])
    request.fetchBatchSize = batchSize
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: fixture.context, sectionNameKeyPath: "place", cacheName: nil)
    let error = fixture.context.performAndWait {
      #expect(throws: NSError.self) { try controller.performFetch() }
    }
    #expect(error?.code == NSCoreDataError)
    #expect(
      error?.localizedDescription.hasPrefix("The fetched object at index 4 has an out of order section name 'bells'")
        == true)
  }

  @Test("A request without sort descriptors is a mistake of the program")
  func noSortDescriptors() async {
    await #expect(processExitsWith: .failure) {
      _ = NSFetchedResultsController(
        fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Session"),
        managedObjectContext: NSManagedObjectContext(concurrencyType: .privateQueue), sectionNameKeyPath: nil,
        cacheName: nil)
    }
  }

  @Test("The request may change between fetches")
  func changedRequest() throws {
    let fixture = try ResultsFixture(Self.sessions)
    fixture.controller.fetchRequest.predicate = NSPredicate(format: "rating > 2")
    try fixture.context.performAndWait { try fixture.controller.performFetch() }
    #expect(fixture.titles == ["e", "a"])
    let table = fixture.table
    fixture.context.performAndWait { table.load(fixture.controller) }
    let log = try fixture.reported { Results.insert("n", place: "bells", rating: 1, in: $0, fixture.stack.entity) }
    #expect(log == [])
  }

  @Test("The controller that a delegate is handed is equal to the client's and shows the same")
  func erased() throws {
    let fixture = try ResultsFixture(Self.sessions)
    let handed = fixture.controller.erased
    #expect(handed == fixture.controller && handed.hash == fixture.controller.hash)
    #expect(handed !== fixture.controller && handed === fixture.controller.erased)
    #expect(handed.fetchedObjects?.count == 5 && handed.sectionIndexTitles == ["B", "J"])
    #expect(handed.fetchRequest.sortDescriptors?.count == 2)
    let other = try ResultsFixture(Self.sessions).controller
    #expect(handed != other)
    let plain = NSFetchedResultsController<NSFetchRequestResult>(
      fetchRequest: handed.fetchRequest, managedObjectContext: fixture.context, sectionNameKeyPath: nil, cacheName: nil)
    #expect(plain.erased === plain)
  }

  @Test("Dictionaries can be shown, in sections too, and are not followed")
  func dictionaries() throws {
    let fixture = try ResultsFixture(Self.sessions)
    let request = NSFetchRequest<NSDictionary>(entityName: "Session")
    request.resultType = .dictionaryResultType
    request.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: true)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: fixture.context, sectionNameKeyPath: "rating", cacheName: nil)
    controller.delegate = fixture.table
    try fixture.context.performAndWait {
      try controller.performFetch()
      #expect(controller.sections?.map(\.numberOfObjects) == [1, 2, 1, 1])
      fixture.context.delete(try fixture.session("a"))
      fixture.context.processPendingChanges()
      #expect(controller.fetchedObjects?.count == 5)
      let first = controller.object(at: IndexPath(row: 0, section: 0))
      #expect(controller.indexPath(forObject: first) == IndexPath(row: 0, section: 0))
    }
  }

  @Test("A controller without references is gone, and is not called")
  func lifetime() throws {
    let fixture = try ResultsFixture(Self.sessions)
    weak var gone: NSFetchedResultsController<NSManagedObject>?
    weak var core: ResultsCore?
    try fixture.context.performAndWait {
      let controller = NSFetchedResultsController(
        fetchRequest: Results.request(["title"]), managedObjectContext: fixture.context, sectionNameKeyPath: nil,
        cacheName: nil)
      controller.delegate = fixture.table
      try controller.performFetch()
      (gone, core) = (controller, controller.core)
      #expect(controller.erased.core === core)
    }
    #expect(gone == nil && core == nil)
  }
}
