import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSFetchedPropertyDescription; Core Data Programming Guide, "Weak Relationships (Fetched
// Properties)"): the value is an array in the order of the request. It is fetched when it is asked for, and kept until the
// object becomes a fault or is refreshed. `$FETCH_SOURCE` is the object, `$FETCHED_PROPERTY` the description.

@Suite("Fetched properties", .seeded, .overBothStores)
struct FetchedPropertyTests {
  private static let xml = """
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
      <entity name="Session" representedClassName="NSManagedObject">
        <attribute name="place" optional="YES" attributeType="String"/>
        <attribute name="rating" optional="YES" attributeType="Integer 16" defaultValueString="0"/>
        <relationship name="board" optional="YES" maxCount="1" destinationEntity="Board" inverseName="sessions" inverseEntity="Board"/>
        <fetchedProperty name="better" optional="YES">
          <fetchRequest name="fetchedPropertyFetchRequest" entity="Session" predicateString="rating &gt; $FETCH_SOURCE.rating"/>
        </fetchedProperty>
        <fetchedProperty name="marked" optional="YES">
          <fetchRequest name="fetchedPropertyFetchRequest" entity="Session" predicateString="place == $FETCHED_PROPERTY.userInfo.place OR place == $FETCHED_PROPERTY.name"/>
          <userInfo><entry key="place" value="Spot 1"/></userInfo>
        </fetchedProperty>
        <fetchedProperty name="broken" optional="YES">
          <fetchRequest name="fetchedPropertyFetchRequest" entity="Session" predicateString="rating > $OTHER"/>
        </fetchedProperty>
      </entity>
      <entity name="Board" representedClassName="NSManagedObject">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="sessions" optional="YES" toMany="YES" destinationEntity="Session" inverseName="board" inverseEntity="Session"/>
        <fetchedProperty name="foreign" optional="YES">
          <fetchRequest name="fetchedPropertyFetchRequest" entity="Session" predicateString="board != $FETCH_SOURCE AND NOT SELF IN $FETCH_SOURCE.sessions"/>
        </fetchedProperty>
      </entity>
    </model>
    """

  private let folder: TemporaryFolder
  private let context: NSManagedObjectContext

  init() throws {
    folder = try TemporaryFolder()
    context = try Self.context(try NSManagedObjectModel.load(xml: Data(Self.xml.utf8)), folder)
  }

  private static func context(_ model: NSManagedObjectModel, _ folder: TemporaryFolder) throws -> NSManagedObjectContext
  {
    try Stack(folder, model: model).context()
  }

  private func session(_ number: Int, rating: Int) -> NSManagedObject {
    let session = NSEntityDescription.insertNewObject(forEntityName: "Session", into: context)
    session.setValue("Spot \(number)", forKey: "place")
    session.setValue(rating, forKey: "rating")
    return session
  }

  private func places(_ value: Any?) -> [String] {
    ((value as? [NSManagedObject]) ?? []).compactMap { $0.value(forKey: "place") as? String }.sorted()
  }

  @Test("are fetched once, and again after a refresh")
  func refreshed() throws {
    try context.performAndWait {
      let sessions = (1...4).map { session($0, rating: $0) }
      try context.save()
      #expect(sessions[2].primitiveValue(forKey: "better") == nil)
      #expect(places(sessions[2].value(forKey: "better")) == ["Spot 4"])
      sessions[0].setValue(9, forKey: "rating")
      #expect(places(sessions[2].value(forKey: "better")) == ["Spot 4"])
      #expect(places(sessions[2].primitiveValue(forKey: "better")) == ["Spot 4"])
      context.refresh(sessions[2], mergeChanges: true)
      #expect(places(sessions[2].value(forKey: "better")) == ["Spot 1", "Spot 4"])
      sessions[2].setValue(4, forKey: "rating")
      context.refresh(sessions[2], mergeChanges: true)
      #expect(places(sessions[2].value(forKey: "better")) == ["Spot 1"])
      context.refreshAllObjects()
      #expect(sessions[2].primitiveValue(forKey: "better") == nil)
      #expect(sessions[2].changedValues().keys.sorted() == ["rating"])
      let unsaved = session(5, rating: 5)
      #expect(places(unsaved.value(forKey: "better")) == ["Spot 1"])
      sessions[0].setValue(1, forKey: "rating")
      context.refresh(unsaved, mergeChanges: true)
      #expect(places(unsaved.value(forKey: "better")) == [])
    }
  }

  @Test("forget what was found when their object is rolled back, rebased or leaves its context")
  func forgotten() throws {
    let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = context.persistentStoreCoordinator
    try context.performAndWait {
      let (source, best) = (session(1, rating: 1), session(2, rating: 2))
      try context.save()
      source.setValue("Here", forKey: "place")
      let pending = session(3, rating: 3)
      #expect(places(source.value(forKey: "better")) == ["Spot 2", "Spot 3"])
      context.rollback()
      #expect(places(source.value(forKey: "better")) == ["Spot 2"])
      #expect(!context.hasChanges && pending.managedObjectContext == nil)

      let unsaved = session(4, rating: 4)
      #expect(places(best.value(forKey: "better")) == ["Spot 4"])
      context.delete(unsaved)
      context.processPendingChanges()
      #expect(places(best.value(forKey: "better")) == [])
      #expect(!context.hasChanges)

      source.setValue("Here", forKey: "place")
      #expect(places(source.value(forKey: "better")) == ["Spot 2"])
      let saves = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: other, queue: nil
      ) { [context] in context.mergeChanges(fromContextDidSave: $0) }
      defer { NotificationCenter.default.removeObserver(saves) }
      let id = source.objectID
      try other.performAndWait {
        try other.existingObject(with: id).setValue(2, forKey: "rating")
        try other.save()
      }
      #expect(source.value(forKey: "rating") as? Int == 2 && source.value(forKey: "place") as? String == "Here")
      #expect(places(source.value(forKey: "better")) == [])
      let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Session"))
      #expect(found.count == 2)
    }
  }

  @Test("Conditions of nested subqueries after ANY are each bound once")
  func nested() throws {
    var format = "TRUEPREDICATE"
    for level in (0..<16).reversed() {
      let list = level == 0 ? "sessions" : "$v\(level - 1).board.sessions"
      format = "ANY length(SUBQUERY(\(list), $v\(level), \(format)).place) > 0"
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Board")
    // Each level that is bound three times makes 43 million conditions of these.
    request.predicate = NSPredicate(format: format)
    try context.performAndWait {
      let board = NSEntityDescription.insertNewObject(forEntityName: "Board", into: context)
      board.setValue(NSSet(object: session(1, rating: 1)), forKey: "sessions")
      try context.save()
      do {
        #expect(try context.fetch(request) == [board])
      } catch {
        #expect((error as NSError).localizedDescription.contains("nesting"))
      }
    }
  }

  @Test("know the object, its relationships and the description")
  func variables() throws {
    try context.performAndWait {
      let sessions = (1...3).map { session($0, rating: $0) }
      let board = NSEntityDescription.insertNewObject(forEntityName: "Board", into: context)
      board.setValue(NSSet(array: [sessions[0], sessions[2]]), forKey: "sessions")
      sessions[1].setValue("marked", forKey: "place")
      #expect(places(board.value(forKey: "foreign")) == ["marked"])
      #expect(places(sessions[2].value(forKey: "marked")) == ["Spot 1", "marked"])
      #expect(places(sessions[2].value(forKeyPath: "board.foreign")) == ["marked"])
      try context.save()
      context.refresh(board, mergeChanges: false)
      #expect(places(board.value(forKey: "foreign")) == ["marked"])
      let found: [NSManagedObject] = board.fetchedObjects(forKey: "foreign")
      #expect(found == [sessions[1]])
    }
  }

  @Test("are read by predicates in memory, behind to-one relationships too")
  func inMemory() throws {
    try context.performAndWait {
      let sessions = (1...3).map { session($0, rating: $0) }
      let board = NSEntityDescription.insertNewObject(forEntityName: "Board", into: context)
      board.setValue(NSSet(object: sessions[0]), forKey: "sessions")
      try context.save()
      func found(_ format: String) -> [Int] {
        sessions.filter { NSPredicate(format: format).evaluate(with: $0) }.compactMap {
          $0.value(forKey: "rating") as? Int
        }
      }
      #expect(found("better.@count == 1") == [2])
      #expect(found("better.@max.rating == 3") == [1, 2])
      #expect(found("ANY better.place == 'Spot 2'") == [1])
      #expect(found("ALL better.rating == 3") == [2, 3])
      #expect(found("SUBQUERY(better, $b, $b.rating == 3).@count == 0") == [3])
      #expect(found("board.foreign.@count == 2") == [1])
      #expect(found("board.foreign.@count == 0") == [2, 3])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
      request.predicate = NSPredicate(format: "better.@count == 1")
      #expect(throws: NSError.self) { try context.fetch(request) }
    }
  }

  @Test("can't be set as primitive values either")
  func primitive() async {
    let refusal = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let folder = try TemporaryFolder()
      let context = try Self.context(try NSManagedObjectModel.load(xml: Data(Self.xml.utf8)), folder)
      context.performAndWait {
        let object = NSEntityDescription.insertNewObject(forEntityName: "Session", into: context)
        object.setPrimitiveValue([], forKey: "better")
      }
    }
    #expect(refusal.message.contains("The fetched property Session.better can't be set"))
  }

  @Test("made in code have the order and the limit of the request, and a copy of the model has them too")
  func inCode() throws {
    let original = try NSManagedObjectModel.load(xml: Data(Self.xml.utf8))
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Session")
    request.predicate = NSPredicate(format: "rating < $FETCH_SOURCE.rating")
    request.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: false)]
    request.fetchLimit = 2
    let property = NSFetchedPropertyDescription()
    property.name = "worse"
    property.fetchRequest = request
    request.fetchLimit = 1
    try #require(original.entitiesByName["Session"]).properties.append(property)
    let model = try #require(original.copy() as? NSManagedObjectModel)
    #expect(model == original)
    let copied = try #require(
      model.entitiesByName["Session"]?.propertiesByName["worse"] as? NSFetchedPropertyDescription)
    #expect(copied.fetchRequest?.entity === model.entitiesByName["Session"] && copied.fetchRequest?.fetchLimit == 2)
    let other = try TemporaryFolder()
    let context = try Self.context(model, other)
    try context.performAndWait {
      let sessions = (1...4).map { number in
        let session = NSEntityDescription.insertNewObject(forEntityName: "Session", into: context)
        session.setValue(number, forKey: "rating")
        return session
      }
      try context.save()
      let worse: [NSManagedObject] = sessions[3].fetchedObjects(forKey: "worse")
      #expect(worse == [sessions[2], sessions[1]])
    }
    let counted = try #require(original.copy() as? NSManagedObjectModel)
    let described = counted.entitiesByName["Session"]?.propertiesByName["worse"] as? NSFetchedPropertyDescription
    let counting = described?.fetchRequest
    counting?.resultType = .countResultType
    described?.fetchRequest = counting
    #expect(counted != original)
    (original.entitiesByName["Session"]?.propertiesByName["worse"] as? NSFetchedPropertyDescription)?.fetchRequest = nil
    #expect(model != original)
  }

  @Test("are not part of version hashes")
  func hashes() throws {
    let with = try NSManagedObjectModel.load(xml: Data(Self.xml.utf8))
    let without = try #require(with.copy() as? NSManagedObjectModel)
    for entity in without.entities { entity.properties.removeAll { $0 is NSFetchedPropertyDescription } }
    #expect(with.entityVersionHashesByName == without.entityVersionHashesByName)
  }

  @Test("with a variable that has no value, or of an entity that is missing, are errors that say so")
  func problems() throws {
    context.performAndWait {
      let one = session(1, rating: 1)
      let error = #expect(throws: NSError.self) { try context.throwingReadFailures { one.value(forKey: "broken") } }
      #expect(error?.localizedDescription.contains("$OTHER has no value") == true)
    }
    let xml = Self.xml.replacingOccurrences(of: "entity=\"Session\" predicate", with: "entity=\"Sesion\" predicate")
    let error = #expect(throws: (any Error).self) { try NSManagedObjectModel.load(xml: Data(xml.utf8)) }
    #expect("\(error.map { "\($0)" } ?? "")".contains("asks for 'Sesion', which does not exist"))
  }

  @Test("have what plain Swift finds, through random changes and refreshes")
  func random() throws {
    var generator = SeededGenerator(seed: Randomness.seed)
    try context.performAndWait {
      var sessions = (1...8).map { session($0, rating: Int.random(in: 0...3, using: &generator)) }
      try context.save()
      var known: [NSManagedObject: Set<NSManagedObject>] = [:]
      func rating(_ object: NSManagedObject) -> Int { object.value(forKey: "rating") as? Int ?? 0 }
      for step in 0..<TestLength.rounds(300, long: 10_000) {
        let one = sessions[Int.random(in: sessions.indices, using: &generator)]
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: one.setValue(Int.random(in: 0...3, using: &generator), forKey: "rating")
        case 1:
          context.refresh(one, mergeChanges: true)
          known[one] = nil
        case 2 where !one.isInserted:
          context.refresh(one, mergeChanges: false)
          known[one] = nil
        case 3 where sessions.count < 20: sessions.append(session(step, rating: 2))
        case 4 where Bool.random(using: &generator): try context.save()
        default: break
        }
        let expected = known[one] ?? Set(sessions.filter { rating($0) > rating(one) })
        known[one] = expected
        #expect(Set((one.value(forKey: "better") as? [NSManagedObject]) ?? []) == expected, "step \(step)")
      }
    }
  }
}
