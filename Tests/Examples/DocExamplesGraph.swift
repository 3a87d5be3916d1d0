import Foundation
import Observation
import OpenCoreData
import SurfJournal

/// The examples in the doc comments of OpenCoreData, compiled. A change to an example changes both places.
private enum DocExamplesGraph {
  final class ListView: NSObject, NSFetchedResultsControllerDelegate {
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) { print("\(snapshot.numberOfItems) entries") }
  }

  final class LoggingPolicy: NSMergePolicy {
    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
      for conflict in list { print("Conflict: \(conflict.sourceObject.objectID)") }
      try super.resolve(optimisticLockingConflicts: list)
    }
  }

  static func containerClass() throws {
    let container = NSPersistentContainer(name: "SurfJournalModel")
    container.loadPersistentStores { description, error in
      if let error { print("\(description.url?.path ?? "The store") was not opened: \(error)") }
    }
    let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
    let entries = try container.viewContext.fetch(request)
    _ = entries
  }

  static func containerInit() {
    let container = NSPersistentContainer(name: "SurfJournalModel")
    let file = container.persistentStoreDescriptions[0].url
    print(file?.lastPathComponent ?? "")  // SurfJournalModel.sqlite
  }

  static func viewContext(container: NSPersistentContainer) throws {
    container.viewContext.automaticallyMergesChangesFromParent = true
    let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
    let newest = try container.viewContext.fetch(request).first
    _ = newest
  }

  static func loadPersistentStores(container: NSPersistentContainer) throws {
    var failures: [any Error] = []
    container.loadPersistentStores { _, error in
      if let error { failures.append(error) }
    }
    if let failure = failures.first { throw failure }
  }

  static func newBackgroundContext(container: NSPersistentContainer) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let entry = JournalEntry(context: context)
      entry.location = "Rincon"
      try context.save()
    }
  }

  static func performBackgroundTask(container: NSPersistentContainer) throws {
    container.performBackgroundTask { context in
      let entry = JournalEntry(context: context)
      entry.location = "Rincon"
      do { try context.save() } catch { print("Not saved: \(error)") }
    }
  }

  static func performBackgroundTaskAsync(container: NSPersistentContainer) async throws {
    let count = try await container.performBackgroundTask { context in
      let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
      return try context.count(for: request)
    }
    _ = count
  }

  static func storeDescription(file: URL, container: NSPersistentContainer) {
    let description = NSPersistentStoreDescription(url: file)
    description.isReadOnly = true
    description.timeout = 10  // seconds
    container.persistentStoreDescriptions = [description]
  }

  static func coordinatorClass(file: URL, model: NSManagedObjectModel) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
  }

  static func addPersistentStore(file: URL, coordinator: NSPersistentStoreCoordinator) throws {
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file,
      options: [NSReadOnlyPersistentStoreOption: true])
    print(store.identifier)
  }

  static func contextClass(coordinator: NSPersistentStoreCoordinator) throws {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      JournalEntry(context: context).location = "Rincon"
      try context.save()
    }
  }

  static func contextInit(parent: NSManagedObjectContext) {
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    child.name = "import"
  }

  static func parent(viewContext: NSManagedObjectContext) throws {
    let draft = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    draft.parent = viewContext
    JournalEntry(context: draft).location = "Rincon"
    try draft.save()  // into viewContext
    try viewContext.save()  // to the store
  }

  static func mergePolicy(context: NSManagedObjectContext) throws {
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try context.save()  // changed values win over those that other contexts have saved
  }

  static func automaticMerging(container: NSPersistentContainer) {
    container.viewContext.automaticallyMergesChangesFromParent = true
    container.performBackgroundTask { context in
      JournalEntry(context: context).location = "Rincon"
      try? context.save()  // viewContext merges it on the main queue
    }
  }

  static func perform(context: NSManagedObjectContext) throws {
    context.perform {
      JournalEntry(context: context).location = "Rincon"
      do { try context.save() } catch { context.rollback() }
    }
  }

  static func performAndWait(context: NSManagedObjectContext) throws {
    let locations = try context.performAndWait {
      let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
      return try context.fetch(request).compactMap(\.location)
    }
    _ = locations
  }

  static func performAsync(context: NSManagedObjectContext) async throws {
    let id = try await context.perform {
      let entry = JournalEntry(context: context)
      entry.location = "Rincon"
      try context.save()
      return entry.objectID
    }
    _ = id
  }

  static func fetch(context: NSManagedObjectContext) throws {
    let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
    request.predicate = NSPredicate(format: "rating >= %d", 4)
    request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
    request.fetchLimit = 10
    for entry in try context.fetch(request) { print(entry.location ?? "") }
  }

  static func count(context: NSManagedObjectContext) throws {
    let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
    request.predicate = NSPredicate(format: "location == %@", "Rincon")
    let sessions = try context.count(for: request)
    _ = sessions
  }

  static func save(context: NSManagedObjectContext) throws {
    do {
      try context.save()
    } catch let error as NSError {
      let failed = error.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID] ?? []
      for id in failed { context.delete(context.object(with: id)) }
    }
  }

  static func undoManager(context: NSManagedObjectContext, entry: JournalEntry) {
    context.undoManager = UndoManager()
    entry.location = "Rincon"
    context.undo()
  }

  static func observation(context: NSManagedObjectContext, entry: JournalEntry) {
    context.supportsObservation = true
    withObservationTracking {
      print(entry.location ?? "")
    } onChange: {
      print("the location is about to change")
    }
  }

  static func changes(entry: JournalEntry) async {
    for await change in entry.changes {
      if case .updated(let keys) = change, keys.contains("rating") { print("rated") }
    }
  }

  static func undo(context: NSManagedObjectContext, entry: JournalEntry) {
    context.undoManager = UndoManager()
    context.delete(entry)
    context.undo()  // the entry and all that the deletion has changed are back
  }

  static func undoManagerClass(container: NSPersistentContainer, entry: JournalEntry) {
    let context = container.viewContext
    context.undoManager = UndoManager()
    entry.location = "Rincon"
    context.undo()  // the former location is back
    context.redo()
  }

  static func rollback(context: NSManagedObjectContext, entry: JournalEntry) {
    entry.location = "Rincon"
    context.rollback()
    print(context.hasChanges)  // false
  }

  static func reset(context: NSManagedObjectContext) throws {
    let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
    for page in 0..<10 {
      request.fetchOffset = page * 1000
      request.fetchLimit = 1000
      for entry in try context.fetch(request) { print(entry.location ?? "") }
      context.reset()  // frees the objects of the page
    }
  }

  static func insert(context: NSManagedObjectContext, entity: NSEntityDescription) {
    let entry = JournalEntry(entity: entity, insertInto: nil)
    entry.location = "Rincon"
    context.insert(entry)
    print(entry.objectID.isTemporaryID)  // true until a save reaches the store
  }

  static func delete(context: NSManagedObjectContext) throws {
    let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
    request.predicate = NSPredicate(format: "rating == 0")
    for entry in try context.fetch(request) { context.delete(entry) }
    try context.save()
  }

  static func objectWith(context: NSManagedObjectContext, id: NSManagedObjectID) {
    let entry = context.object(with: id) as? JournalEntry
    print(entry?.location ?? "")  // loads the fault
  }

  static func existingObject(context: NSManagedObjectContext, id: NSManagedObjectID) throws {
    let entry = try context.existingObject(with: id) as? JournalEntry
    entry?.rating = 5
    try context.save()
  }

  static func refresh(context: NSManagedObjectContext, entry: JournalEntry) {
    context.refresh(entry, mergeChanges: true)
    print(entry.location ?? "")  // read from the store again, unless it was changed here
  }

  static func obtainPermanentIDs(context: NSManagedObjectContext) throws {
    let entry = JournalEntry(context: context)
    try context.obtainPermanentIDs(for: [entry])
    print(entry.objectID.uriRepresentation())  // stays the same after the save
  }

  static func walk(context: NSManagedObjectContext) throws {
    let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
    var count = 0
    try context.walk(request, rowsPerBatch: 10_000) { batch, ids in
      count += batch.count
      return true
    }
    _ = count
  }

  static func managedObject(context: NSManagedObjectContext) throws {
    let entry = JournalEntry(context: context)
    entry.location = "Rincon"
    entry.setValue(4, forKey: "rating")
    print(entry.changedValues(), entry.isInserted)
    try context.save()
  }

  static func fetchRequest(context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<NSDictionary>(entityName: "JournalEntry")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["location", "rating"]
    request.predicate = NSPredicate(format: "rating > %d", 3)
    let rows = try context.fetch(request)
    _ = rows
  }

  static func batchInsert(context: NSManagedObjectContext) throws {
    let request = NSBatchInsertRequest(
      entityName: "JournalEntry", objects: [["location": "Rincon", "rating": 4]])
    request.resultType = .count
    let result = try context.execute(request) as? NSBatchInsertResult
    print(result?.result ?? 0)  // 1
  }

  static func batchUpdate(context: NSManagedObjectContext) throws {
    let request = NSBatchUpdateRequest(entityName: "JournalEntry")
    request.predicate = NSPredicate(format: "location == %@", "Rincon Point")
    request.propertiesToUpdate = ["location": "Rincon"]
    try context.execute(request)
  }

  static func batchDelete(context: NSManagedObjectContext) throws {
    let found = NSFetchRequest<NSManagedObjectID>(entityName: "JournalEntry")
    found.predicate = NSPredicate(format: "rating == 0")
    let request = NSBatchDeleteRequest(fetchRequest: found)
    request.resultType = .resultTypeObjectIDs
    let result = try context.execute(request) as? NSBatchDeleteResult
    let changes: [AnyHashable: Any] = [NSDeletedObjectsKey: result?.result as? [NSManagedObjectID] ?? []]
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
  }

  static func asynchronousFetch(context: NSManagedObjectContext) throws {
    let request = NSAsynchronousFetchRequest(fetchRequest: JournalEntry.fetchRequest()) {
      (result: NSAsynchronousFetchResult<JournalEntry>) in
      print(result.finalResult?.count ?? 0)
    }
    let pending = try context.execute(request) as? NSPersistentStoreAsynchronousResult
    pending?.cancel()  // ends the read
  }

  static func resultsController(context: NSManagedObjectContext) throws {
    let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "location", ascending: true)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "location", cacheName: nil)
    try controller.performFetch()
    for section in controller.sections ?? [] { print(section.name, section.numberOfObjects) }
  }

  static func snapshot(snapshot: NSDiffableDataSourceSnapshotReference) {
    for section in snapshot.sectionIdentifiers {
      print(section, snapshot.numberOfItems(inSection: section))
    }
    let ids = snapshot.itemIdentifiers as? [NSManagedObjectID] ?? []
    _ = ids
  }

  static func historyTransactions() {
    let others = NSPersistentHistoryTransaction.fetchRequest
    others?.predicate = NSPredicate(format: "author != %@", "import")
  }

  static func historyChanges(context: NSManagedObjectContext, after token: NSPersistentHistoryToken?) throws {
    var lastToken = token
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
    let result = try context.execute(request) as? NSPersistentHistoryResult
    for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
      context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
      lastToken = transaction.token
    }
    print(lastToken ?? "nothing was saved")
  }

  static func historyToken(coordinator: NSPersistentStoreCoordinator) throws {
    let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
    let data = try token.map { try NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: true) }
    print(data?.count ?? 0)
  }
}
