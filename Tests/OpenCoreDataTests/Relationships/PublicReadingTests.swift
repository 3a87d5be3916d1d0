import Foundation
import OpenCoreData
import TestSupport
import Testing

// Contract: a program that has only what is public reads a store of another program's without its model file, as the
// article "Looking at stores" shows.

@Suite(
  "A store is read by what is public",
  .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)))
struct PublicReadingTests {
  @Test("The model is found, objects are fetched over a key path, and relationships are walked both ways")
  func walk() throws {
    let shared = try #require(SharedStore.all.first { $0.name == "coredataplus-sample1-v1" })
    let expected = try shared.query(
      """
      SELECT c.ZNUMBERPLATE, p.ZFIRSTNAME, (SELECT count(*) FROM ZCAR o WHERE o.ZOWNER = p.Z_PK)
      FROM ZCAR c JOIN ZPERSON p ON p.Z_PK = c.ZOWNER WHERE p.ZLASTNAME = 'Stone' ORDER BY c.ZNUMBERPLATE
      """)
    try shared.withCopy { url in
      let before = try Data(contentsOf: url)
      let found = try StoreModel.find(forStoreAt: url, file: nil, embedded: [])
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: found.model)
      _ = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url,
        options: [
          NSReadOnlyPersistentStoreOption: NSNumber(value: true),
          NSIgnorePersistentStoreVersioningOption: NSNumber(value: found.origin == .tables),
        ])
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      let lines = try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Car")
        request.predicate = NSPredicate(format: "owner.lastName == %@", "Stone")
        request.sortDescriptors = [NSSortDescriptor(key: "numberPlate", ascending: true)]
        return try context.fetch(request).map { car in
          let owner = try #require(car.value(forKey: "owner") as? NSManagedObject)
          let cars = try #require(owner.value(forKey: "cars") as? Set<NSManagedObject>)
          #expect(cars.contains(car))
          let plate = car.value(forKey: "numberPlate") as? String ?? ""
          return "\(plate)|\(owner.value(forKey: "firstName") as? String ?? "")|\(cars.count)\n"
        }
      }
      #expect(lines.count > 3 && lines.joined() == expected)
      #expect(try Data(contentsOf: url) == before)
    }
  }
}
