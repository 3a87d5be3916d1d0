import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Foundation declares a class of this name that can't be created here.
private typealias NSExpression = ManagedObjectModel.NSExpression

// Rules (Apple documentation: NSSortDescriptor, NSPredicate): objects are filtered and sorted in memory as a fetch
// would; a key path to a generated property names its attribute, for there is no KVC to ask.

/// As the build plugin writes it.
final class TypedSession: NSManagedObject {
  override class var lifecycleHooks: LifecycleHooks { [] }
  var date: Date? {
    get { attributeValue(forKey: "date") }
    set { setAttributeValue(newValue, forKey: "date") }
  }
  var location: String? {
    get { attributeValue(forKey: "place") }
    set { setAttributeValue(newValue, forKey: "place") }
  }
  var rating: NSNumber? {
    get { value(forKey: "rating") as? NSNumber }
    set { setValue(newValue, forKey: "rating") }
  }
  var stars: Int16 {
    get { scalarValue(forKey: "rating") }
    set { setScalarValue(newValue, forKey: "rating") }
  }
  /// Computed from two attributes: no attribute is named for it.
  var title: String { "\(location ?? ""), \(stars)" }
}

@Suite("Typed access names attributes", .overBothStores)
struct KeyPathTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  private let context: NSManagedObjectContext

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder, model: Sessions.model(className: "OpenCoreDataTests.TypedSession"))
    context = stack.context()
    let (context, entity) = (context, stack.entity)
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<6, into: context, entity)
      try context.save()
    }
  }

  private func request() -> NSFetchRequest<TypedSession> { NSFetchRequest(entityName: "Session") }

  @Test("Key paths sort a fetch, pending objects among them")
  func sorting() throws {
    try context.performAndWait {
      let new = TypedSession(context: context)
      new.location = "Spot 99"
      new.stars = 3
      let request = request()
      request.sortDescriptors = [
        NSSortDescriptor(keyPath: \TypedSession.rating, ascending: false),
        NSSortDescriptor(keyPath: \TypedSession.location, ascending: false),
      ]
      let byRating = try context.fetch(request).compactMap(\.location)
      #expect(byRating == [4, 3, 99, 2, 1, 5, 0].map { "Spot \($0)" })
      request.sortDescriptors = [NSSortDescriptor(keyPath: \TypedSession.date, ascending: false)]
      request.fetchLimit = 2
      let latest = try context.fetch(request).compactMap(\.location)
      #expect(latest == ["Spot 5", "Spot 4"])
    }
  }

  @Test("Expressions take key paths, and have the names of the model")
  func expressions() throws {
    #expect(NSExpression(forKeyPath: \TypedSession.rating).keyPath == "rating")
    #expect(NSExpression(forKeyPath: \TypedSession.location).keyPath == "place")
    #expect(NSExpression(forKeyPath: \TypedSession.self) == NSExpression.expressionForEvaluatedObject())
    try context.performAndWait {
      let highest = NSExpressionDescription()
      highest.name = "highest"
      let rating = NSExpression(forKeyPath: \TypedSession.rating)
      highest.expression = NSExpression(forFunction: "max:", arguments: [rating])
      let request = NSFetchRequest<NSDictionary>(entityName: "Session")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = [highest]
      let row = try context.fetch(request).first
      #expect(row?["highest"] as? Int == 5)
    }
  }

  @Test("A key path that stands for no one attribute is refused, by name")
  func computed() throws {
    context.performAndWait {
      let request = request()
      for descriptor in [
        NSSortDescriptor(keyPath: \TypedSession.title, ascending: true),
        NSSortDescriptor(keyPath: \TypedSession.location?.count, ascending: true),
        NSSortDescriptor(keyPath: \TypedSession.stars.bitWidth, ascending: true),
      ] {
        request.sortDescriptors = [descriptor]
        let error = #expect(throws: NSError.self) { try context.fetch(request) }
        #expect(error?.code == NSCoreDataError, "\(descriptor.keyPath)")
      }
    }
  }

  @Test("Predicates are evaluated on objects, pending, stored and faults alike")
  func evaluating() throws {
    try context.performAndWait {
      let new = TypedSession(context: context)
      new.location = "Čimná, \"Pláž\""
      let objects = try context.fetch(request())
      let predicates = [
        ("place CONTAINS[cd] %@", "cimna", 1), ("rating > %d", 2 as Any, 3), ("date == nil AND place != %@", "x", 1),
        ("NOT place BEGINSWITH %@", "Spot", 1), ("rating IN %@", [1, 5] as Any, 3),
      ]
      for (format, argument, count) in predicates {
        let predicate = NSPredicate(format: format, argument)
        #expect(objects.count { predicate.evaluate(with: $0) } == count, "\(format)")
        let request = request()
        request.predicate = predicate
        #expect(try context.count(for: request) == count, "\(format)")
      }
    }
  }

  @Test("An object of the class is made by its context alone, and typed and keyed access agree")
  func accessors() throws {
    try context.performAndWait {
      let object = TypedSession(context: context)
      #expect(object.entity === stack.entity && object.stars == 0 && object.rating == 0)
      object.rating = nil
      #expect(object.rating == nil && object.stars == 0 && object.value(forKey: "rating") == nil)
      object.rating = 4
      #expect(object.stars == 4 && object.value(forKey: "rating") as? Int == 4)
      object.date = Date(timeIntervalSinceReferenceDate: 0.1)
      #expect(object.value(forKey: "date") as? Date == Date(timeIntervalSinceReferenceDate: 0.1))
      #expect(NSEntityDescription.entity(forEntityName: "Session", in: context) === stack.entity)
      #expect(NSEntityDescription.entity(forEntityName: "Sesion", in: context) == nil)
      #expect(NSEntityDescription.insertNewObject(forEntityName: "Session", into: context) is TypedSession)
      try context.save()
    }
  }

  @Test("A request for another type of result is an error that says so, not an empty answer")
  func wrongType() throws {
    context.performAndWait {
      let strings = NSFetchRequest<NSNumber>(entityName: "Session")
      let error = #expect(throws: NSError.self) { try context.fetch(strings) }
      #expect(error?.localizedDescription.contains("TypedSession") == true)
      let ids = NSFetchRequest<TypedSession>(entityName: "Session")
      ids.resultType = .managedObjectIDResultType
      _ = #expect(throws: NSError.self) { try context.fetch(ids) }
    }
  }
}
