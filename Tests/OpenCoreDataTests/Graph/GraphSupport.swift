import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

/// An entity with a text, a number and a date.
enum Sessions {
  static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    return attribute
  }

  static func model(
    className: String = "NSManagedObject", unique: [String] = [],
    change: (NSEntityDescription) -> Void = { _ in }
  ) -> NSManagedObjectModel {
    let entity = NSEntityDescription()
    entity.name = "Session"
    entity.managedObjectClassName = className
    let rating = attribute("rating", .integer16AttributeType)
    rating.defaultValue = 0
    entity.properties = [attribute("date", .dateAttributeType), attribute("place", .stringAttributeType), rating]
    if !unique.isEmpty { entity.uniquenessConstraints = [unique] }
    change(entity)
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }
}

/// A coordinator with one store of the kind that the test runs on, and chains of contexts on it.
final class Stack: Sendable {
  let kind: StoreKind
  let coordinator: NSPersistentStoreCoordinator
  /// The coordinator of a SQLite store.
  let file: URL
  let entity: NSEntityDescription
  /// The file's folder lives as long as its user.
  private let folder: TemporaryFolder

  init(
    _ folder: TemporaryFolder, _ name: String = "store.sqlite", model: NSManagedObjectModel = Sessions.model(),
    kind: StoreKind = .current, plantedError: BruteForceStore.PlantedError? = nil, options: [AnyHashable: Any]? = nil
  ) throws {
    self.folder = folder
    self.kind = kind
    file = folder.file(name)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    switch kind {
    case .sqlite:
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
    case .bruteForce: try coordinator.addPersistentStore(BruteForceStore(model: model, plantedError: plantedError))
    case .server:
      try coordinator.addPersistentStore(
        ofType: NSPostgreSQLStoreType, configurationName: nil, at: try ServerStores.newAddress(), options: options)
    }
    entity = try #require(model.entitiesByName["Session"] ?? model.entities.first)
  }

  /// A private context on the coordinator, or on `parent`.
  func context(_ parent: NSManagedObjectContext? = nil) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    if let parent { context.parent = parent } else { context.persistentStoreCoordinator = coordinator }
    return context
  }

  /// Writer, middle and import context, from the bottom up.
  func chain() -> (writer: NSManagedObjectContext, middle: NSManagedObjectContext, child: NSManagedObjectContext) {
    let writer = context()
    let middle = context(writer)
    return (writer, middle, context(middle))
  }

  func request() -> NSFetchRequest<NSManagedObject> { NSFetchRequest(entityName: "Session") }
}

/// The two ways of inserting: whatever a test does after them must come out the same.
enum InsertionWay: String, CaseIterable, Sendable {
  case bulk
  case single

  /// Inserts sessions numbered `numbers`: place, rating and date follow from the number.
  func insert(_ numbers: Range<Int>, into context: NSManagedObjectContext, _ entity: NSEntityDescription) {
    switch self {
    case .bulk:
      var batch = ObjectBatch(entity: entity, rowCapacity: numbers.count)
      for number in numbers {
        batch.appendRow()
        batch.setReal(Double(number) * 3600, at: 0)
        batch.setText("Spot \(number)", at: 1)
        batch.setInteger(Int64(number % 5 + 1), at: 2)
      }
      context.insert(batch)
    case .single:
      for number in numbers {
        let object = NSManagedObject.make(entity, in: context)
        object.setValue(Date(timeIntervalSinceReferenceDate: Double(number) * 3600), forKey: "date")
        object.setValue("Spot \(number)", forKey: "place")
        object.setValue(number % 5 + 1, forKey: "rating")
      }
    }
  }
}

extension NSManagedObject {
  /// An object of the class that the entity names.
  static func make(_ entity: NSEntityDescription, in context: NSManagedObjectContext) -> NSManagedObject {
    entity.objectClass.init(entity: entity, insertInto: context)
  }

  var place: String? { value(forKey: "place") as? String }
}

/// Runs `body` once for each way, each on a store of its own, and demands that what it returns and the stores agree.
func onBothWays<Result: Equatable>(
  model: () -> NSManagedObjectModel = { Sessions.model() },
  _ body: (InsertionWay, Stack) throws -> Result
) throws -> Result {
  let folder = try TemporaryFolder()
  let results = try InsertionWay.allCases.map { way in
    let stack = try Stack(folder, "\(way.rawValue).sqlite", model: model())
    let result = try body(way, stack)
    return (result, try stack.dump())
  }
  #expect(results[0].0 == results[1].0, "bulk and single insertion answer differently")
  #expect(results[0].1 == results[1].1, "bulk and single insertion left different stores")
  return results[0].0
}

extension NSPersistentStoreCoordinator {
  /// The connection of the first store that can be written.
  func sqliteConnection() throws -> SQLiteConnection {
    try withStore { try #require($0 as? SQLiteStore).connection() }
  }
}
