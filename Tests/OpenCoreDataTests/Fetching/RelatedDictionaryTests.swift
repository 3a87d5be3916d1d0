import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Foundation declares a class of this name that can't be created here.
private typealias NSExpression = ManagedObjectModel.NSExpression

// Rule (Apple documentation: NSFetchRequest, propertiesToFetch): properties may be attributes, to-one relationships and
// expressions. A relationship has the ID of its object.

@Suite("Dictionaries have the IDs of related objects", .overBothStores)
struct RelatedDictionaryTests {
  private static let xml = """
    <model>
      <entity name="Beach">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="waves" optional="YES" toMany="YES" destinationEntity="Wave" inverseName="beach" inverseEntity="Wave"/>
      </entity>
      <entity name="Reef" parentEntity="Beach"/>
      <entity name="Wave">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="height" optional="YES" attributeType="Integer 16"/>
        <relationship name="beach" optional="YES" maxCount="1" destinationEntity="Beach" inverseName="waves" inverseEntity="Beach"/>
        <relationship name="next" optional="YES" maxCount="1" destinationEntity="Wave" inverseName="previous" inverseEntity="Wave"/>
        <relationship name="previous" optional="YES" maxCount="1" destinationEntity="Wave" inverseName="next" inverseEntity="Wave"/>
      </entity>
    </model>
    """

  private let folder: TemporaryFolder
  private let stack: Stack
  private let context: NSManagedObjectContext

  /// Rincon, a beach, has the waves a (1), b (2) and c (4); Pipe, a reef, has d (8); e (16) is nowhere. b follows a.
  init() throws {
    folder = try TemporaryFolder()
    let model = try NSManagedObjectModel.load(xml: Data(Self.xml.utf8))
    stack = try Stack(folder, model: model)
    context = stack.context()
    try Self.fill(context, into: nil)
  }

  private static func fill(_ context: NSManagedObjectContext, into store: NSPersistentStore?) throws {
    try context.performAndWait {
      func made(_ entity: String, _ name: String) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        if let store { context.assign(object, to: store) }
        return object
      }
      let (rincon, pipe) = (made("Beach", "Rincon"), made("Reef", "Pipe"))
      let waves = ["a", "b", "c", "d", "e"].map { made("Wave", $0) }
      for (index, wave) in waves.enumerated() {
        wave.setValue(1 << index, forKey: "height")
        if index < 4 { wave.setValue(index < 3 ? rincon : pipe, forKey: "beach") }
      }
      waves[0].setValue(waves[1], forKey: "next")
      try context.save()
    }
  }

  private func fetch(_ change: (NSFetchRequest<NSDictionary>) -> Void) throws -> [NSDictionary] {
    let request = NSFetchRequest<NSDictionary>(entityName: "Wave")
    request.resultType = .dictionaryResultType
    change(request)
    return try context.performAndWait {
      let found = try context.fetch(request)
      #expect(try context.count(for: request) == found.count)
      return found
    }
  }

  /// The name of the object that a dictionary leads to, with its entity; `-` for none.
  private func name(_ value: Any?) throws -> String {
    guard let value else { return "-" }
    let id = try #require(value as? NSManagedObjectID)
    let object = try context.performAndWait { try context.existingObject(with: id) }
    return context.performAndWait { "\(object.entity.name ?? "") \(object.value(forKey: "name") as? String ?? "")" }
  }

  private func computed(_ name: String, _ format: String) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = name
    description.expression = NSExpression(format: format)
    return description
  }

  @Test("By name, by description, over a path and as an expression")
  func names() throws {
    let beach = try #require(
      stack.coordinator.managedObjectModel.entitiesByName["Wave"]?.relationshipsByName["beach"])
    let rows = try fetch {
      $0.propertiesToFetch = ["name", beach, "previous.beach", computed("following", "next")]
      $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    }
    #expect(rows.map { $0["name"] as? String } == ["a", "b", "c", "d", "e"])
    #expect(
      try rows.map { try name($0["beach"]) } == ["Beach Rincon", "Beach Rincon", "Beach Rincon", "Reef Pipe", "-"])
    #expect(try rows.map { try name($0["previous.beach"]) } == ["-", "Beach Rincon", "-", "-", "-"])
    #expect(try rows.map { try name($0["following"]) } == ["Wave b", "-", "-", "-", "-"])
  }

  @Test("Groups of what leads to one object, chosen by it, and different ones")
  func groups() throws {
    let grouping: (NSFetchRequest<NSDictionary>) -> Void = {
      $0.propertiesToFetch = ["beach", computed("waves", "count(SELF)"), computed("sum", "sum(height)")]
      $0.propertiesToGroupBy = ["beach"]
    }
    let described = try fetch(grouping).map { "\(try name($0["beach"])) \($0["waves"] ?? "") \($0["sum"] ?? "")" }
    #expect(described.sorted() == ["- 1 16", "Beach Rincon 3 7", "Reef Pipe 1 8"])
    let pipe = try #require(
      try fetch {
        $0.propertiesToFetch = ["beach"]; $0.predicate = NSPredicate(format: "height == 8")
      }.first)
    let id = try #require(pipe["beach"] as? NSManagedObjectID)
    for (format, sums) in [("beach == %@", [8]), ("beach != nil AND beach != %@", [7])] {
      let rows = try fetch {
        grouping($0)
        $0.havingPredicate = NSPredicate(format: format, id)
      }
      #expect(rows.map { $0["sum"] as? Int } == sums, "\(format)")
    }
    let different = try fetch {
      $0.propertiesToFetch = ["beach"]
      $0.returnsDistinctResults = true
    }
    #expect(try Set(different.map { try name($0["beach"]) }) == ["-", "Beach Rincon", "Reef Pipe"])
    #expect(different.count == 3)
    #expect(
      message {
        _ = try fetch {
          grouping($0); $0.propertiesToFetch = ["next"]
        }
      }.contains("next is not among"))
  }

  @Test("Objects of two stores with the same key are two", .sqliteOnly("A store is chosen for each object"))
  func twoStores() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    for name in ["one.sqlite", "two.sqlite"] {
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file(name), options: nil)
      try Self.fill(context, into: store)
    }
    let request = NSFetchRequest<NSDictionary>(entityName: "Wave")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["beach", computed("sum", "sum(height)")]
    request.propertiesToGroupBy = ["beach"]
    try context.performAndWait {
      let rows = try context.fetch(request)
      #expect(rows.compactMap { $0["sum"] as? Int }.sorted() == [7, 7, 8, 8, 32])
      #expect(Set(rows.compactMap { $0["beach"] as? NSManagedObjectID }).count == 4)
    }
  }

  @Test("An asynchronous fetch has them too")
  func asynchronous() async throws {
    let request = NSFetchRequest<NSDictionary>(entityName: "Wave")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["beach"]
    let context = context
    let count = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int, any Error>) in
      context.performAndWait {
        do {
          let fetch = NSAsynchronousFetchRequest(fetchRequest: request) { result in
            let ids = (result.finalResult ?? []).compactMap { $0["beach"] as? NSManagedObjectID }
            continuation.resume(returning: Set(ids).count)
          }
          _ = try context.execute(fetch)
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
    #expect(count == 2)
  }
}
