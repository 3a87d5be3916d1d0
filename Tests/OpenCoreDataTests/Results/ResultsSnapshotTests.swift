import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import Testing

// Rules (NSFetchedResultsController.h): a delegate that implements the snapshot form gets no other call; one that
// implements the difference form gets it if there are no sections, and no other call then.

@Suite("Delegates that take a change as a whole", .overBothStores)
struct ResultsSnapshotTests {
  private static let sessions: [(String, String?, Int)] = [("a", "Bells", 3), ("b", "Bells", 2), ("c", "Jaws", 1)]

  @Test("A snapshot comes with performFetch and with each change, and nothing else does")
  func snapshots() throws {
    let fixture = try ResultsFixture(Self.sessions)
    let taker = SnapshotTaker()
    fixture.controller.delegate = taker
    try fixture.context.performAndWait {
      try fixture.controller.performFetch()
      let b = try fixture.session("b")
      Results.insert("d", place: "Cloud 9", rating: 1, in: fixture.context, fixture.stack.entity)
      b.setValue("Jaws", forKey: "place")
      fixture.context.processPendingChanges()
    }
    #expect(taker.log == ["Bells 2, Jaws 1 ()", "Bells 1, Cloud 9 1, Jaws 2 (b)"])
    let snapshot = try #require(taker.last)
    let ids = fixture.controller.fetchedObjects?.map(\.objectID) ?? []
    #expect(snapshot.itemIdentifiers as? [NSManagedObjectID] == ids)
    #expect(snapshot.numberOfItems == 4 && snapshot.numberOfSections == 3)
    #expect(snapshot.index(ofItemIdentifier: ids[2]) == 2 && snapshot.index(ofSectionIdentifier: "Jaws") == 2)
    #expect(snapshot.index(ofItemIdentifier: "b") == NSNotFound && snapshot.index(ofSectionIdentifier: 3) == NSNotFound)
    #expect(snapshot.sectionIdentifier(forSectionContainingItemIdentifier: ids[1]) as? String == "Cloud 9")
    #expect(snapshot.numberOfItems(inSection: "Jaws") == 2)
    #expect(snapshot.itemIdentifiersInSection(withIdentifier: "Bells") as? [NSManagedObjectID] == [ids[0]])
  }

  @Test("A difference leads from one list to the next; without sections nothing else comes")
  func differences() throws {
    let fixture = try ResultsFixture(Self.sessions, keys: ["title"], section: nil)
    let taker = DifferenceTaker(fixture.titles)
    fixture.controller.delegate = taker
    try fixture.context.performAndWait {
      Results.insert("d", place: "Cloud 9", rating: 1, in: fixture.context, fixture.stack.entity)
      fixture.context.delete(try fixture.session("c"))
      try fixture.session("a").setValue("e", forKey: "title")
      try fixture.session("b").setValue(5, forKey: "rating")
      fixture.context.processPendingChanges()
    }
    #expect(fixture.titles == ["b", "d", "e"])
    #expect(taker.titles == ["b", "d", "e"])
    // Both halves of a move or an update know of each other.
    #expect(taker.pairCount == 2 && taker.callbackCount == 0)
  }

  @Test("With sections, a delegate that takes differences gets callbacks")
  func differencesWithSections() throws {
    let fixture = try ResultsFixture(Self.sessions)
    let taker = DifferenceTaker([])
    fixture.controller.delegate = taker
    fixture.context.performAndWait {
      Results.insert("d", place: "Bells", rating: 1, in: fixture.context, fixture.stack.entity)
      fixture.context.processPendingChanges()
    }
    #expect(taker.titles.isEmpty && taker.callbackCount == 1)
  }
}

private final class SnapshotTaker: NSObject, NSFetchedResultsControllerDelegate {
  private(set) var log: [String] = []
  private(set) var last: NSDiffableDataSourceSnapshotReference?

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) {
    last = snapshot
    let context = controller.managedObjectContext
    let sections = snapshot.sectionIdentifiers.map { "\($0) \(snapshot.numberOfItems(inSection: $0))" }
    let reloaded = snapshot.reloadedItemIdentifiers.compactMap { $0 as? NSManagedObjectID }
    let titles = reloaded.map { context.object(with: $0).sessionTitle }
    log.append("\(sections.joined(separator: ", ")) (\(titles.joined(separator: " ")))")
  }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    log.append("will")
  }
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    log.append("did")
  }
}

private final class DifferenceTaker: NSObject, NSFetchedResultsControllerDelegate {
  private(set) var titles: [String]
  private(set) var pairCount = 0
  private(set) var callbackCount = 0
  init(_ titles: [String]) { self.titles = titles }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {
    let context = controller.managedObjectContext
    for change in diff {
      switch change {
      case .remove(let offset, _, _): titles.remove(at: offset)
      case .insert(let offset, let id, let partner):
        titles.insert(context.object(with: id).sessionTitle, at: offset)
        if partner != nil { pairCount += 1 }
      }
    }
  }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    callbackCount += 1
  }
}
