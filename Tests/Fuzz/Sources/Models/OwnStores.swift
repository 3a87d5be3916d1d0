import Foundation
import ManagedObjectModel
import OpenCoreData
import PersistentStores
import SurfJournal

/// Stores that OpenCoreData makes: of the journal, with every kind of relationship and a history, and with a model cache.
///
/// They have the same bytes in each process, so that an input is the same store there.
enum OwnStores {
  static let all: [Data] = {
    do { return [try journal(), try related(), try cached()] } catch { broken("stores can be made", "\(error)") }
  }()

  private static func journal() throws -> Data {
    try store("journal", StoreModel.find(forStoreAt: nil, file: nil, embedded: [CoreDataStack.modelName]).model) {
      context in
      for number in 0..<3 {
        let entry = NSEntityDescription.insertNewObject(forEntityName: "JournalEntry", into: context)
        entry.setValue("Rincon \(number)", forKey: "location")
        entry.setValue(Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "date")
      }
    }
  }

  private static let relatedModel = """
    <model><entity name="Spot"><attribute name="name" attributeType="String" optional="YES"/><attribute name="id"
    attributeType="UUID" optional="YES"/><attribute name="link" attributeType="URI" optional="YES"/><attribute
    name="depth" attributeType="Decimal" optional="YES"/><attribute name="map" attributeType="Binary" optional="YES"/>
    <relationship name="waves" toMany="YES" optional="YES" destinationEntity="Wave" inverseName="spot"
    inverseEntity="Wave"/><relationship name="near" toMany="YES" optional="YES" destinationEntity="Spot"
    inverseName="far" inverseEntity="Spot"/><relationship name="far" toMany="YES" optional="YES"
    destinationEntity="Spot" inverseName="near" inverseEntity="Spot"/></entity><entity name="Wave"><attribute
    name="height" attributeType="Double" optional="YES"/><attribute name="count" attributeType="Integer 16"
    optional="YES"/><relationship name="spot" maxCount="1" optional="YES" destinationEntity="Spot" inverseName="waves"
    inverseEntity="Spot"/><relationship name="sets" toMany="YES" ordered="YES" optional="YES" destinationEntity="Wave"
    inverseName="partOf" inverseEntity="Wave"/><relationship name="partOf" maxCount="1" optional="YES"
    destinationEntity="Wave" inverseName="sets" inverseEntity="Wave"/></entity><entity name="Barrel"
    parentEntity="Wave"><attribute name="clean" attributeType="Boolean" optional="YES"/></entity></model>
    """

  private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  private static func related() throws -> Data {
    let model = try NSManagedObjectModel.load(xml: Data(relatedModel.utf8))
    return try store("related", model, options: [NSPersistentHistoryTrackingKey: true]) { context in
      func made(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
      }
      let first = made("Spot", ["name": "Rincon", "id": uuid, "depth": NSDecimalNumber(string: "1.5")])
      let second = made("Spot", ["name": "Swamis", "map": Data([1, 2, 3]), "near": NSSet(object: first)])
      let part = made("Barrel", ["clean": true, "height": 2.5, "spot": first])
      _ = made("Wave", ["count": 3, "spot": second, "sets": NSOrderedSet(object: part)])
    }
  }

  /// Its Z_MODELCACHE has what Apple's framework would write there.
  private static func cached() throws -> Data {
    guard let archive = ArchiveSeeds.own.first else { throw CocoaError(.fileReadUnknown) }
    let model = try CompiledModel(archive: archive).model
    let data = try store("cached", model) { context in
      let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
      thing.setValue("Rincon", forKey: "text")
      thing.setValue(Date(timeIntervalSinceReferenceDate: 7), forKey: "date")
    }
    return try changed(data) { connection in
      try connection.execute("DELETE FROM Z_MODELCACHE")
      try connection.run("INSERT INTO Z_MODELCACHE VALUES (?)", [.blob(ChangedStore.deflated(archive))])
    }
  }

  private static func store(
    _ name: String, _ model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil,
    fill: (NSManagedObjectContext) -> Void
  ) throws -> Data {
    let file = ChangedStore.folder.appendingPathComponent("\(name).sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      fill(context)
      try context.save()
    }
    try coordinator.remove(store)
    return try changed(try Data(contentsOf: file)) { connection in
      try connection.run("UPDATE Z_METADATA SET Z_UUID = ?", [.text(uuid.uuidString)])
      if options != nil { try connection.execute("UPDATE ATRANSACTION SET ZTIMESTAMP = 7") }
    }
  }

  private static func changed(_ store: Data, _ change: (SQLiteConnection) throws -> Void) throws -> Data {
    let file = ChangedStore.folder.appendingPathComponent("changed.sqlite")
    try store.write(to: file)
    let connection = try SQLiteConnection(path: file.path, mode: .readWrite)
    try change(connection)
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return try Data(contentsOf: file)
  }
}
