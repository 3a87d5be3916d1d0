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
}
