import Foundation
import OpenCoreData
import SurfJournal
import TestSupport
import Testing

/// The symbols that public projects use most, each used here as they use it. The article Coverage says where each
/// stands; a line there that says "done" is held by a line here.
@Suite("The symbols that projects use most")
@MainActor struct ApiByUseTests {
  private let container: NSPersistentContainer
  private let folder: TemporaryFolder
  private var context: NSManagedObjectContext { container.viewContext }

  init() throws {
    folder = try TemporaryFolder()
    container = NSPersistentContainer(name: "SurfJournalModel")
    let description = NSPersistentStoreDescription(url: folder.file("store.sqlite"))
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }

  private func removeStores() throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }

  @Test("Making, changing, saving and deleting objects") func objects() throws {
    let typed = JournalEntry(context: context)
    typed.location = "Rincon"
    let named = NSEntityDescription.insertNewObject(forEntityName: "JournalEntry", into: context)
    named.setValue("Pipeline", forKey: "location")
    let described = NSManagedObject(entity: JournalEntry.entity(), insertInto: context)
    #expect(context.hasChanges && context.insertedObjects.count == 3 && described.objectID.isTemporaryID)
    try context.obtainPermanentIDs(for: [described])
    #expect(!described.objectID.isTemporaryID && described.managedObjectContext === context)
    try context.save()
    typed.rating = 4
    #expect(context.updatedObjects == [typed])
    context.delete(named)
    #expect(named.isDeleted)
    try context.save()
    context.refresh(typed, mergeChanges: false)
    #expect(typed.isFault && typed.value(forKey: "location") as? String == "Rincon")
    context.refreshAllObjects()
    let uri = typed.objectID.uriRepresentation()
    let id = try #require(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri))
    #expect(context.object(with: id) === typed)
    #expect(try context.existingObject(with: id) === typed)
    context.reset()
    #expect(typed.managedObjectContext == nil)
    try removeStores()
  }

  @Test("Fetch requests and what they yield") func fetching() throws {
    for (place, rating) in [("Rincon", 5), ("Pipeline", 3), ("Rincon", 4)] {
      let entry = JournalEntry(context: context)
      entry.location = place
      entry.rating = NSNumber(value: rating)
    }
    try context.save()
    let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
    request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
      NSPredicate(format: "location == %@", "Rincon"), NSPredicate(format: "rating > 4"),
    ])
    request.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: false)]
    request.fetchLimit = 1
    request.fetchBatchSize = 20
    request.returnsObjectsAsFaults = false
    #expect(try context.fetch(request).map(\.rating) == [5])
    #expect(try context.count(for: request) == 1)
    let dictionaries = NSFetchRequest<NSDictionary>(entityName: "JournalEntry")
    dictionaries.resultType = .dictionaryResultType
    dictionaries.propertiesToFetch = ["location"]
    dictionaries.returnsDistinctResults = true
    #expect(Set(try context.fetch(dictionaries).compactMap { $0["location"] as? String }) == ["Rincon", "Pipeline"])
    let ids = NSFetchRequest<NSManagedObjectID>(entityName: "JournalEntry")
    ids.resultType = .managedObjectIDResultType
    #expect(try context.fetch(ids).count == 3)
    try removeStores()
  }

  @Test("A fetched results controller") func results() throws {
    for place in ["Rincon", "Pipeline", "Rincon"] { JournalEntry(context: context).location = place }
    let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "location", ascending: true)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "location", cacheName: nil)
    let delegate = ChangeCounter()
    controller.delegate = delegate
    try controller.performFetch()
    #expect(controller.sections?.map(\.name) == ["Pipeline", "Rincon"])
    #expect(controller.fetchedObjects?.count == 3)
    let first = controller.object(at: IndexPath(item: 0, section: 0))
    #expect(first.location == "Pipeline" && controller.indexPath(forObject: first) == IndexPath(item: 0, section: 0))
    JournalEntry(context: context).location = "Mavericks"
    context.processPendingChanges()
    #expect(delegate.changes == [.insert])
    try removeStores()
  }

  @Test("Contexts: background, children, merging") func contexts() async throws {
    context.automaticallyMergesChangesFromParent = true
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    context.mergePolicy = NSMergePolicy.overwrite
    context.userInfo["purpose"] = "test"
    let names: [Notification.Name] = [.NSManagedObjectContextDidSave, .NSManagedObjectContextObjectsDidChange]
    let seen = Counter()
    let observers = Observers(
      names.map {
        NotificationCenter.default.addObserver(forName: $0, object: nil, queue: nil) { _ in seen.increase() }
      })
    let background = container.newBackgroundContext()
    background.performAndWait { JournalEntry(context: background).location = "Rincon" }
    try await background.perform { try background.save() }
    try await container.performBackgroundTask { context in
      let request = NSBatchUpdateRequest(entityName: "JournalEntry")
      request.propertiesToUpdate = ["rating": 5]
      request.resultType = .updatedObjectIDsResultType
      let result = try context.execute(request) as? NSBatchUpdateResult
      #expect((result?.result as? [NSManagedObjectID])?.count == 1)
    }
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    let count = try await child.perform { try child.count(for: JournalEntry.fetchRequest()) }
    #expect(count == 1 && seen.count >= 2)
    let deleted: [NSManagedObjectID] = try await background.perform {
      let request = NSBatchDeleteRequest(fetchRequest: JournalEntry.fetchRequest())
      request.resultType = .resultTypeObjectIDs
      return ((try background.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID]) ?? []
    }
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSDeletedObjectsKey: deleted], into: [context])
    #expect(try context.count(for: JournalEntry.fetchRequest()) == 0)
    withExtendedLifetime(observers) {}
    try removeStores()
  }

  @Test("Models, stores and metadata") func modelsAndStores() throws {
    let date = NSAttributeDescription()
    date.name = "date"
    date.attributeType = .dateAttributeType
    date.isOptional = true
    date.defaultValue = Date(timeIntervalSinceReferenceDate: 0)
    let place = NSRelationshipDescription()
    place.name = "place"
    place.deleteRule = .nullifyDeleteRule
    (place.minCount, place.maxCount, place.isOrdered) = (0, 1, false)
    let spot = NSEntityDescription()
    spot.name = "Spot"
    let session = NSEntityDescription()
    session.name = "Session"
    place.destinationEntity = spot
    let photo = NSAttributeDescription()
    photo.name = "photo"
    photo.attributeType = .binaryDataAttributeType
    photo.allowsExternalBinaryDataStorage = true
    session.properties = [date, photo, place]
    session.uniquenessConstraints = [["date"]]
    session.userInfo = ["note": "made by hand"]
    let model = NSManagedObjectModel()
    model.entities = [session, spot]
    #expect(model.entitiesByName["Session"]?.attributesByName["date"] === date)

    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let url = folder.file("other.sqlite")
    let other = NSPersistentStoreCoordinator(managedObjectModel: model)
    try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url, options: nil)
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model)
    #expect(mapping.entityMappings.count == 2)
    try other.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
    try removeStores()
  }
}

private final class ChangeCounter: NSObject, NSFetchedResultsControllerDelegate {
  var changes: [NSFetchedResultsChangeType] = []

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) { changes.append(type) }
}

/// Counts what happens on any queue.
private final class Counter: Sendable {
  private let lock = NSLock()
  // Safe: touched under the lock only.
  nonisolated(unsafe) private var value = 0
  var count: Int { lock.withLock { value } }
  func increase() { lock.withLock { value += 1 } }
}
