import Foundation
import OpenCoreData
import SurfJournal

/// More examples in the doc comments of OpenCoreData, compiled: requests, containers and controllers. A change to an
/// example changes both places.
private enum DocExamplesDeclarations {
  // MARK: Fetch requests

  static func predicate(request: NSFetchRequest<JournalEntry>) {
    request.predicate = NSPredicate(format: "location BEGINSWITH[c] %@ AND rating >= %d", "rin", 4)
  }

  static func sortDescriptors(request: NSFetchRequest<JournalEntry>) {
    request.sortDescriptors = [
      NSSortDescriptor(key: "date", ascending: false), NSSortDescriptor(key: "location", ascending: true),
    ]
  }

  static func resultType(context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: "JournalEntry")
    request.resultType = .managedObjectIDResultType
    let ids = try context.fetch(request)
    _ = ids
  }

  static func entityName(context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<JournalEntry>(entityName: "JournalEntry")
    request.fetchLimit = 1
    let first = try context.fetch(request).first
    _ = first
  }

  // MARK: Containers

  static func descriptions(file: URL, container: NSPersistentContainer) {
    let description = NSPersistentStoreDescription(url: file)
    description.isReadOnly = true
    container.persistentStoreDescriptions = [description]
  }

  static func containerWithModel(model: NSManagedObjectModel) {
    let container = NSPersistentContainer(name: "Journal", managedObjectModel: model)
    container.loadPersistentStores { _, error in
      if let error { print(error.localizedDescription) }
    }
  }

  // MARK: Contexts and objects

  static func keyedSubscript(object: NSManagedObject) {
    object["rating"] = 5
  }

  static func hasChanges(context: NSManagedObjectContext) throws {
    if context.hasChanges { try context.save() }
  }

  static func updatedObjects(context: NSManagedObjectContext) {
    for object in context.updatedObjects { print(object.objectID, object.changedValues()) }
  }

  static func isFault(context: NSManagedObjectContext, id: NSManagedObjectID) throws {
    let entry = try context.existingObject(with: id)
    context.refresh(entry, mergeChanges: false)
    print(entry.isFault)  // true
  }

  static func mergePolicy(context: NSManagedObjectContext) {
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
  }

  // MARK: Results controllers

  static func controllerRequest(controller: NSFetchedResultsController<JournalEntry>) throws {
    controller.fetchRequest.predicate = NSPredicate(format: "rating >= %d", 4)
    try controller.performFetch()
  }

  static func objectAt(controller: NSFetchedResultsController<JournalEntry>) {
    if let section = controller.sections?.first, section.numberOfObjects > 0 {
      print(controller.object(at: IndexPath(indexes: [0, 0])))
    }
  }

  // MARK: Members

  static func errorPolicy(context: NSManagedObjectContext) throws {
    context.mergePolicy = NSErrorMergePolicy
    do {
      try context.save()
    } catch let error as NSError where error.code == NSManagedObjectMergeError {
      print("Others have changed the same objects: \(error.localizedDescription)")
    }
  }

  static func storeTrumps(container: NSPersistentContainer) {
    container.viewContext.mergePolicy = NSMergeByPropertyStoreTrumpMergePolicy
  }

  static func overwrite(context: NSManagedObjectContext) throws {
    context.mergePolicy = NSOverwriteMergePolicy
    try context.save()  // replaces what others have saved in the meantime
  }

  static func rollBack(context: NSManagedObjectContext) throws {
    context.mergePolicy = NSRollbackMergePolicy
    try context.save()  // objects that others have changed stay as the store has them
  }

  static func coordinator(container: NSPersistentContainer) {
    let writer = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    writer.persistentStoreCoordinator = container.persistentStoreCoordinator
  }

  static func insertedObjects(context: NSManagedObjectContext) {
    for object in context.insertedObjects where object.value(forKey: "date") == nil {
      object.setValue(Date(), forKey: "date")
    }
  }

  static func deletedObjects(context: NSManagedObjectContext) throws {
    let count = context.deletedObjects.count
    try context.save()
    print("\(count) entries deleted")
  }

  static func objectWithoutContext(context: NSManagedObjectContext) {
    if let entity = NSEntityDescription.entity(forEntityName: "JournalEntry", in: context) {
      let draft = JournalEntry(entity: entity, insertInto: nil)
      draft.location = "Rincon"
      context.insert(draft)
    }
  }

  static func objectID(entry: JournalEntry, background: NSManagedObjectContext) throws {
    let id = entry.objectID
    let same = try background.performAndWait { try background.existingObject(with: id).objectID }
    print(same == id)  // true
  }

  static func isInserted(context: NSManagedObjectContext) throws {
    let entry = JournalEntry(context: context)
    print(entry.isInserted)  // true
    try context.save()
    print(entry.isInserted)  // false
  }

  static func isUpdated(entry: JournalEntry) {
    entry.rating = 5
    print(entry.isUpdated)  // true, unless the entry is inserted
  }

  static func isDeleted(context: NSManagedObjectContext, entry: JournalEntry) throws {
    context.delete(entry)
    print(entry.isDeleted)  // true
    try context.save()
    print(entry.isDeleted)  // false
  }

  static func objectHasChanges(entries: [JournalEntry]) {
    for entry in entries where entry.hasChanges { print(entry.changedValues()) }
  }

  static func requestEntity(context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<JournalEntry>()
    request.entity = NSEntityDescription.entity(forEntityName: "JournalEntry", in: context)
    let entries = try context.fetch(request)
    _ = entries
  }

  static func fetchLimit(context: NSManagedObjectContext, request: NSFetchRequest<JournalEntry>) throws {
    request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
    request.fetchLimit = 10
    let newest = try context.fetch(request)
    _ = newest
  }

  static func fetchBatchSize(context: NSManagedObjectContext, request: NSFetchRequest<JournalEntry>) throws {
    request.fetchBatchSize = 100  // rows
    for entry in try context.fetch(request) { print(entry.location ?? "") }
  }

  static func includesSubentities(context: NSManagedObjectContext, request: NSFetchRequest<JournalEntry>) throws {
    request.includesSubentities = false
    let count = try context.count(for: request)
    _ = count
  }

  static func controllerInit(context: NSManagedObjectContext) throws {
    let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    try controller.performFetch()
  }

  static func controllerContext(controller: NSFetchedResultsController<JournalEntry>) throws {
    let context = controller.managedObjectContext
    for entry in controller.fetchedObjects ?? [] { context.delete(entry) }
    try context.save()
  }

  static func controllerDelegate(
    controller: NSFetchedResultsController<JournalEntry>,
    listView: any NSFetchedResultsControllerDelegate
  ) throws {
    controller.delegate = listView
    try controller.performFetch()
  }

  static func performFetch(controller: NSFetchedResultsController<JournalEntry>) throws {
    try controller.performFetch()
    print(controller.fetchedObjects?.count ?? 0)
  }

  static func sections(controller: NSFetchedResultsController<JournalEntry>) {
    for section in controller.sections ?? [] { print(section.name, section.numberOfObjects) }
  }

  static func fetchedObjects(controller: NSFetchedResultsController<JournalEntry>) {
    for entry in controller.fetchedObjects ?? [] { print(entry.location ?? "") }
  }
}
