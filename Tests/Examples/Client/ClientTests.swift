import Foundation
import OpenCoreData
import Testing

/// Code as clients of Apple's framework write it, compiled in Swift 6 mode and run.
///
/// Rules (Apple documentation: NSPersistentContainer, NSManagedObject, NSFetchRequest, NSBatchDeleteRequest,
/// CoreDataErrors.h): what these programs expect from each call, without a word that Apple's framework lacks.
@Suite("Code of clients") @MainActor struct ClientTests {
  private let people = PersistenceController(inMemory: true)
  private var context: NSManagedObjectContext { people.viewContext }

  @Test("A preview in memory, apart from the shared controller") func preview() throws {
    #expect(try PersistenceController.preview.fetch(Person.self).count == 10)
    #expect(try PersistenceController.shared.fetch(Person.self).isEmpty)
    #expect(context.undoManager == nil)
    #expect(context.concurrencyType == .mainQueueConcurrencyType)
  }

  @Test("Objects of a class written by hand") func objects() throws {
    let person = people.create(Person.self)
    #expect(person.id != nil && person.createdAt != nil)
    person.name = "Duke"
    #expect(person.initial == "D")
    person.name = "Kelly"
    #expect(person.initial == "K")
    try context.save()
    #expect(!person.hasChanges)
    let uri = person.objectID.uriRepresentation()
    let coordinator = people.container.persistentStoreCoordinator
    let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
    #expect(context.object(with: id) === person)
    #expect(id.persistentStore === coordinator.persistentStores.first)
    let inserted = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context) as? Person
    #expect(inserted?.objectID.persistentStore == nil)
  }

  @Test("Predicates", arguments: PredicateCase.all) func predicates(_ example: PredicateCase) throws {
    for (name, age) in [("Ána", 20), ("bob", 30), ("Carl", 40)] { Person.insert(into: context, name: name, age: age) }
    try context.save()
    let sorted = [NSSortDescriptor(key: "age", ascending: true)]
    #expect(try people.fetch(Person.self, predicate: example.predicate(), sortedBy: sorted).map(\.age) == example.ages)
  }

  @Test("A batch deletion reaches the objects by a merge") func batchDeletion() throws {
    let (young, old) = (
      Person.insert(into: context, name: "a", age: 3), Person.insert(into: context, name: "b", age: 9)
    )
    try context.save()
    try people.deleteAll(Person.self, where: NSPredicate(format: "age < %d", 5))
    #expect(young.managedObjectContext == nil && old.managedObjectContext === context)
    #expect(try context.count(for: Person.fetchRequest()) == 1)
  }

  @Test("Dictionaries, identities and counts") func resultTypes() throws {
    for name in ["a", "b", "a"] { Person.insert(into: context, name: name) }
    try context.save()
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Person")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name"]
    request.returnsDistinctResults = true
    let rows = try context.fetch(request) as? [[String: Any]]
    #expect(Set(rows?.compactMap { $0["name"] as? String } ?? []) == ["a", "b"] && rows?.count == 2)
    let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
    ids.resultType = .managedObjectIDResultType
    #expect(try context.fetch(ids).count == 3)
    let everyone = NSFetchRequest<NSFetchRequestResult>(entityName: "Person")
    #expect((try context.fetch(everyone) as? [Person])?.count == 3)
  }

  @Test("What a failed validation says") func validation() throws {
    Person.insert(into: context, name: nil)
    do { try context.save() } catch let error as NSError {
      #expect(error.domain == NSCocoaErrorDomain && error.code == NSValidationMissingMandatoryPropertyError)
      #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "name")
      #expect(error.userInfo[NSValidationObjectErrorKey] is Person)
      #expect((error as? CocoaError)?.code == .validationMissingMandatoryProperty)
    }
    Person.insert(into: context, name: "Nobody")
    let caught: Bool
    do {
      try context.save()
      caught = false
    } catch CocoaError.validationMultipleErrors {
      caught = true
    }
    #expect(caught)
    do { try context.save() } catch let error as NSError {
      let errors = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
      #expect(Set(errors.map(\.code)) == [NSValidationMissingMandatoryPropertyError, 7])
    }
    context.rollback()
    #expect(!context.hasChanges)
  }

  @Test("Objects that must be unique, and the conflict that says so") func conflict() throws {
    let first = Person.insert(into: context, name: "a")
    try context.save()
    context.mergePolicy = NSErrorMergePolicy
    Person.insert(into: context, name: "b").id = first.id
    let error = #expect(throws: NSError.self) { try context.save() }
    #expect(error?.code == NSManagedObjectConstraintMergeError)
    let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
    #expect(conflicts?.first?.constraint == ["id"])
    context.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    try context.save()
    #expect(try people.fetch(Person.self).map(\.name) == ["b"])
  }

  @Test("The background: actors, tasks, notifications") func background() async throws {
    let list = try PeopleList(context)
    let sender = SenderNames()
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
    ) { notification in
      let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
      let context = notification.object as? NSManagedObjectContext
      if context?.name == "client" { sender.add(inserted.compactMap { ($0 as? Person)?.name }) }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let ids = try await PeopleImporter(people.container).add(["a", "b"])
    await people.container.performBackgroundTask { context in
      context.name = "client"
      Person.insert(into: context, name: "c", age: 5)
      try? context.save()
    }
    await context.perform(schedule: .enqueued) {}
    #expect(sender.names == ["c"])
    #expect(ids.compactMap { (context.object(with: $0) as? Person)?.name } == ["a", "b"])
    #expect(list.names.first == "c" && list.names.count == 3 && list.snapshotCounts.last == 3)
  }
}

/// What an observer heard on whatever thread.
// Unchecked: the names are touched under the lock only.
private final class SenderNames: @unchecked Sendable {
  private let lock = NSLock()
  private var kept: [String] = []
  var names: [String] { lock.withLock { kept } }
  func add(_ names: [String]) { lock.withLock { kept += names } }
}

struct PredicateCase: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let ages: [Int16]
  let predicate: @Sendable () -> NSPredicate

  init(_ name: String, ages: [Int16], _ predicate: @escaping @Sendable () -> NSPredicate) {
    testDescription = name
    self.ages = ages
    self.predicate = predicate
  }

  static let all = [
    PredicateCase("equal", ages: [30]) { NSPredicate(format: "%K == %@", "name", "bob") },
    PredicateCase("begins, whatever case and accents", ages: [20]) {
      NSPredicate(format: "name BEGINSWITH[cd] %@", "an")
    },
    PredicateCase("contains, case matters", ages: [40]) { NSPredicate(format: "name CONTAINS %@", "C") },
    PredicateCase("two bounds", ages: [30, 40]) { NSPredicate(format: "age >= %d AND age < %i", 30, Int32(50)) },
    PredicateCase("between", ages: [20, 30]) {
      NSPredicate(format: "age BETWEEN {%@, %@}", 20 as NSNumber, 30 as NSNumber)
    },
    PredicateCase("one of", ages: [20, 40]) { NSPredicate(format: "name IN %@", ["Ána", "Carl"]) },
    PredicateCase("none of", ages: [30]) { NSPredicate(format: "NOT (name IN %@)", ["Ána", "Carl"]) },
    PredicateCase("nil", ages: []) { NSPredicate(format: "name == nil") },
    PredicateCase("date", ages: [20, 30, 40]) { NSPredicate(format: "createdAt <= %@", Date() as NSDate) },
    PredicateCase("arguments in an array", ages: [40]) { NSPredicate(format: "%K > %@", argumentArray: ["age", 30]) },
    PredicateCase("always", ages: [20, 30, 40]) { NSPredicate(value: true) },
    PredicateCase("put together", ages: [20, 30]) {
      NSCompoundPredicate(orPredicateWithSubpredicates: [
        NSPredicate(format: "name LIKE[c] %@", "B*"),
        NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "age > 25")),
      ])
    },
  ]
}
