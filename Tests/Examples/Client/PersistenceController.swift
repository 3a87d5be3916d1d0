import Foundation
import OpenCoreData

/// The controller of Xcode's template, with the helpers that clients put next to it.
final class PersistenceController: Sendable {
  static let shared = PersistenceController(inMemory: true)
  @MainActor static let preview: PersistenceController = {
    let result = PersistenceController(inMemory: true)
    for number in 0..<10 { Person.insert(into: result.viewContext, name: "Person \(number)", age: number) }
    do { try result.viewContext.save() } catch let error as NSError { print(error, error.userInfo) }
    return result
  }()

  let container: NSPersistentContainer
  var viewContext: NSManagedObjectContext { container.viewContext }

  init(inMemory: Bool = false, url: URL? = nil) {
    container = NSPersistentContainer(name: "People", managedObjectModel: .people)
    let description = container.persistentStoreDescriptions.first
    if inMemory { description?.url = URL(fileURLWithPath: "/dev/null") } else if let url { description?.url = url }
    description?.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description?.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    container.loadPersistentStores { (storeDescription, error) in
      if let error = error as NSError? { print("Unresolved error \(error), \(error.userInfo)", storeDescription) }
    }
    container.viewContext.automaticallyMergesChangesFromParent = true
    container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    container.viewContext.undoManager = nil
  }

  func fetch<T: NSManagedObject>(
    _ type: T.Type, predicate: NSPredicate? = nil, sortedBy sortDescriptors: [NSSortDescriptor]? = nil
  ) throws -> [T] {
    let request = NSFetchRequest<T>(entityName: String(describing: T.self))
    request.predicate = predicate
    request.sortDescriptors = sortDescriptors
    return try viewContext.fetch(request)
  }

  func create<T: NSManagedObject>(_ type: T.Type) -> T { T(context: viewContext) }

  /// Past the objects, which then hear of it.
  func deleteAll(_ type: Person.Type, where predicate: NSPredicate) throws {
    let request: NSFetchRequest<NSFetchRequestResult> = type.fetchRequest()
    request.predicate = predicate
    let deletion = NSBatchDeleteRequest(fetchRequest: request)
    deletion.resultType = .resultTypeObjectIDs
    let result = try container.persistentStoreCoordinator.execute(deletion, with: viewContext) as? NSBatchDeleteResult
    let changes: [AnyHashable: Any] = [NSDeletedObjectsKey: result?.result as? [NSManagedObjectID] ?? []]
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [viewContext])
  }
}

/// Saves in the background from an actor; only identities leave it.
actor PeopleImporter {
  private let context: NSManagedObjectContext

  init(_ container: NSPersistentContainer) { context = container.newBackgroundContext() }

  func add(_ names: [String]) async throws -> [NSManagedObjectID] {
    try await context.perform { [context] in
      let people = names.map { Person.insert(into: context, name: $0) }
      try context.save()
      return people.map(\.objectID)
    }
  }
}
