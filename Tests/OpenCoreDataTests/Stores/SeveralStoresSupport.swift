import Foundation
import OpenCoreData
import TestSupport
import Testing

/// A coordinator with the stores `a.sqlite` and `b.sqlite`, which both keep sessions; notes are kept in `b` alone.
struct TwoStores {
  let coordinator: NSPersistentStoreCoordinator
  let (a, b): (NSPersistentStore, NSPersistentStore)
  let (fileA, fileB): (URL, URL)
  let session: NSEntityDescription
  let note: NSEntityDescription

  static func model(unique: [String] = []) -> NSManagedObjectModel {
    let model = Sessions.model(unique: unique)
    let note = NSEntityDescription()
    note.name = "Note"
    note.managedObjectClassName = "NSManagedObject"
    note.properties = [Sessions.attribute("text", .stringAttributeType)]
    model.entities += [note]
    model.setEntities(model.entities.filter { $0.name == "Session" }, forConfigurationName: "Journal")
    return model
  }

  init(_ folder: TemporaryFolder, unique: [String] = [], optionsOfA: [AnyHashable: Any]? = nil) throws {
    let model = Self.model(unique: unique)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    fileA = folder.file("a.sqlite")
    fileB = folder.file("b.sqlite")
    a = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: "Journal", at: fileA, options: optionsOfA)
    b = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: fileB)
    session = try #require(model.entitiesByName["Session"])
    note = try #require(model.entitiesByName["Note"])
  }

  func context(_ parent: NSManagedObjectContext? = nil) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    if let parent { context.parent = parent } else { context.persistentStoreCoordinator = coordinator }
    return context
  }

  func request(_ entity: String = "Session") -> NSFetchRequest<NSManagedObject> { NSFetchRequest(entityName: entity) }

  @discardableResult
  func insert(
    _ place: String, rating: Int = 0, into store: NSPersistentStore? = nil, _ context: NSManagedObjectContext
  ) -> NSManagedObject {
    let object = NSManagedObject.make(session, in: context)
    object.setValue(place, forKey: "place")
    object.setValue(rating, forKey: "rating")
    if let store { context.assign(object, to: store) }
    return object
  }

  /// What the sqlite3 shell finds in each file.
  func places() throws -> [String] {
    try [fileA, fileB].map {
      try sqlite($0, "SELECT group_concat(ZPLACE, ',') FROM (SELECT * FROM ZSESSION ORDER BY 1)")
    }
  }
}
