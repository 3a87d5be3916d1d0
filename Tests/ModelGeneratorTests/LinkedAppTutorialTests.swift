import Foundation
import OpenCoreData
import TestSupport
import Testing

/// What the tutorial "An app with linked entities" does, step by step, with the classes of SampleData's second model.
/// `DocExamplesGraphTests` holds the article's code to this file.
@Suite("The tutorial of an app with linked entities works as it stands")
struct LinkedAppTutorialTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// The stack of the tutorial, in a folder of its own.
  private func makeContainer() throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Surfing")
    container.persistentStoreDescriptions[0].url = folder.file("Surfing.sqlite")
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    container.viewContext.automaticallyMergesChangesFromParent = true
    if let failure { throw failure }
    return container
  }

  // MARK: The article's steps

  private static func addSession(context: NSManagedObjectContext) throws -> Session {
    let spot = Spot(context: context)
    spot.name = "Rincon"
    let board = Board(context: context)
    board.name = "Longboard"

    let session = Session(context: context)
    session.date = Date()
    session.spot = spot  // spot.sessions has the session
    session.addToBoards(board)  // and so has board.sessions
    try context.save()
    return session
  }

  private static func makeList(
    context: NSManagedObjectContext
  ) throws -> NSFetchedResultsController<Session> {
    let request = NSFetchRequest<Session>(entityName: "Session")
    request.sortDescriptors = [
      NSSortDescriptor(key: "spot.name", ascending: true), NSSortDescriptor(key: "date", ascending: false),
    ]
    request.relationshipKeyPathsForPrefetching = ["spot", "boards"]
    let list = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "spot.name", cacheName: nil)
    try list.performFetch()
    return list
  }

  private static func importSessions(_ names: [String], into container: NSPersistentContainer) async throws {
    try await container.performBackgroundTask { context in
      let known = try context.fetch(NSFetchRequest<Spot>(entityName: "Spot"))
      var spots = Dictionary(known.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
      for name in names {
        let spot = spots[name] ?? Spot(context: context)
        (spot.name, spots[name]) = (name, spot)
        let session = Session(context: context)
        (session.date, session.spot) = (Date(), spot)
      }
      try context.save()
    }
  }

  private static func edit(_ session: Session, in container: NSPersistentContainer, keeps: Bool) throws {
    let pad = NSManagedObjectContext(concurrencyType: .mainQueue)
    pad.parent = container.viewContext
    let draft = try pad.existingObject(with: session.objectID) as? Session
    draft?.notes = "Glassy, head high"
    if keeps {
      try pad.save()
      try container.viewContext.save()
    }
  }

  private static func deleteSpot(_ spot: Spot, context: NSManagedObjectContext) throws {
    context.delete(spot)  // its sessions stay, and their spot is nil
    try context.save()
  }

  // MARK: The steps together

  @Test @MainActor func `From the first session to a deleted spot`() async throws {
    let container = try makeContainer()
    let context = container.viewContext
    let session = try Self.addSession(context: context)
    let spot = try #require(session.spot)
    #expect(spot.sessions == NSSet(object: session))
    #expect((session.boards?.anyObject() as? Board)?.name == "Longboard")

    try await Self.importSessions(["Rincon", "Mavericks", "Rincon"], into: container)
    #expect(try context.count(for: NSFetchRequest<Spot>(entityName: "Spot")) == 2)
    let list = try Self.makeList(context: context)
    #expect(list.sections?.map(\.name) == ["Mavericks", "Rincon"])
    #expect(list.sections?.map(\.numberOfObjects) == [1, 3])

    try Self.edit(session, in: container, keeps: false)
    #expect(session.notes == nil)
    try Self.edit(session, in: container, keeps: true)
    #expect(session.notes == "Glassy, head high")

    try Self.deleteSpot(spot, context: context)
    #expect(session.spot == nil && !session.isDeleted)
    #expect(try context.count(for: NSFetchRequest<Session>(entityName: "Session")) == 4)
  }
}

// The article Relationships: classes that are written by hand.

private final class Book: NSManagedObject {}

private final class Author: NSManagedObject {
  var books: Set<Book>? {
    get { relatedObjects(forKey: "books") }
    set { setRelatedObjects(newValue, forKey: "books") }
  }
}
