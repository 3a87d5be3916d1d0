import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules: every managed object has the key `entity` (Apple documentation: NSManagedObject, entity), which predicates can
// name like an attribute, in memory and in a store; a request that was made with a name has its entity once it was
// executed (Apple documentation: NSFetchRequest, entity).

@Suite("Predicates know the entity of an object", .overBothStores)
struct EntityKeyTests {
  private let graph: LinkedGraph
  private let context: NSManagedObjectContext

  /// Nodes 1 and 2 and leaves 3 and 4; 2's parent is 1 and 4's parent is 3. The last two are not saved.
  init() throws {
    graph = try LinkedGraph(kind: .current)
    context = graph.context()
    for number in 1...4 {
      let object = LinkedGraph.make(number < 3 ? "Node" : "Leaf", number, in: context)
      if number % 2 == 0 { object.setValue(try LinkedGraph.find("Node", number - 1, in: context), forKey: "parent") }
      if number == 2 { try context.save() }
    }
  }

  private var leaf: NSEntityDescription { graph.model.entitiesByName["Leaf"] ?? NSEntityDescription() }

  private func expect(_ predicate: NSPredicate, _ numbers: [Int]) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    let all = try context.fetch(request)
    request.predicate = predicate
    func found(_ objects: [NSManagedObject]) -> [Int] { objects.compactMap { $0.value(forKey: "number") as? Int } }
    #expect(found(try context.fetch(request)) == numbers, "\(predicate.description) over pending objects")
    #expect(found(all.filter { predicate.evaluate(with: $0) }) == numbers, "\(predicate.description) in memory")
    try context.save()
    #expect(found(try context.fetch(request)) == numbers, "\(predicate.description) in the store")
  }

  @Test("By the description, its name, a list, and over a relationship")
  func keys() throws {
    try expect(NSPredicate(format: "entity == %@", leaf), [3, 4])
    try expect(NSPredicate(format: "entity != %@", leaf), [1, 2])
    try expect(NSPredicate(format: "entity.name == 'Leaf'"), [3, 4])
    try expect(NSPredicate(format: "entity.name BEGINSWITH 'N' AND number > 1"), [2])
    try expect(NSPredicate(format: "entity IN %@", [leaf]), [3, 4])
    try expect(NSPredicate(format: "parent.entity == %@", leaf), [4])
    try expect(NSPredicate(format: "parent.entity.name == 'Node'"), [2])
  }

  @Test("An attribute of that name stays an attribute")
  func attribute() throws {
    let folder = try TemporaryFolder()
    let model = Sessions.model { $0.properties += [Sessions.attribute("entity", .stringAttributeType)] }
    let stack = try Stack(folder, model: model)
    let context = stack.context()
    NSManagedObject.make(stack.entity, in: context).setValue("mine", forKey: "entity")
    try context.save()
    let request = stack.request()
    request.predicate = NSPredicate(format: "entity == 'mine'")
    #expect(try context.count(for: request) == 1)
  }

  @Test("A request that was made with a name has the entity of the context that executes it")
  func request() throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
    #expect(request.entity == nil && request.entityName == "Node")
    _ = try context.fetch(request)
    #expect(request.entity === graph.model.entitiesByName["Node"])
    let other = try LinkedGraph(kind: .current)
    #expect(try other.context().fetch(request).isEmpty)
    #expect(request.entity === other.model.entitiesByName["Node"])
  }
}
