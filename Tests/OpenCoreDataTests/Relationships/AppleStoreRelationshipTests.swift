import Foundation
import OpenCoreData
import TestSupport
import Testing

// Rule: an edit of a relationship in a store of Apple's framework changes the rows of the objects concerned and nothing
// else, in a new store and in one that Apple's framework has migrated.

@Suite(
  "Relationships are edited in stores of Apple's framework",
  .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)))
struct AppleStoreRelationshipTests {
  /// The lines of a dump that the edit adds and removes, without the blobs of the rows.
  private func difference(_ before: String, _ after: String) -> [String] {
    let (old, new) = (before.split(separator: "\n").map(String.init), after.split(separator: "\n").map(String.init))
    return new.filter { !old.contains($0) } + old.filter { !new.contains($0) }.map { "-" + $0 }
  }

  private func edit(
    _ name: String, _ body: (NSManagedObjectContext) throws -> Void, check: (URL) throws -> Void
  ) throws -> [String] {
    let shared = try #require(SharedStore.all.first { $0.name == name })
    return try shared.withCopy { url in
      let model = try StoreModel.find(forStoreAt: url, file: nil, embedded: []).model
      let before = try sqlite(url, ".dump")
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      _ = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
      let context = NSManagedObjectContext(concurrencyType: .privateQueue)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        try body(context)
        try context.save()
      }
      try check(url)
      return difference(before, try sqlite(url, ".dump"))
    }
  }

  @Test(
    "A car that changes its owner changes three rows, each by one version",
    arguments: ["coredataplus-sample1-v1", "coredataplus-sample1-v2-migrated"])
  func newOwner(store: String) throws {
    let lines = try edit(store) { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Car")
      request.predicate = NSPredicate(format: "numberPlate == '170'")
      let car = try #require(try context.fetch(request).first)
      let owner = try #require(car.value(forKey: "owner") as? NSManagedObject)
      let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
      car.setValue(people.first { $0 !== owner }, forKey: "owner")
    } check: { url in
      let people = try sqlite(url, "SELECT count(*) FROM ZPERSON WHERE Z_OPT = 2")
      let cars = try sqlite(url, "SELECT ZNUMBERPLATE FROM ZCAR WHERE Z_OPT = 2")
      #expect(people == "2" && cars == "170")
    }
    #expect(lines.count == 6 && lines.allSatisfy { $0.contains("ZCAR") || $0.contains("ZPERSON") }, "\(lines)")
  }

  @Test("A deleted owner leaves its cars without an owner")
  func deletedOwner() throws {
    let lines = try edit("coredataplus-sample1-v1") { context in
      let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
      context.delete(try #require(people.first { ($0.value(forKey: "cars") as? NSSet)?.count == 100 }))
    } check: { url in
      let cars = try sqlite(url, "SELECT count(*) FROM ZCAR WHERE ZOWNER IS NULL AND Z_OPT = 2")
      #expect(cars == "100")
    }
    #expect(lines.count == 201, "\(lines.count)")
  }
}
