import Foundation
import OpenCoreData
import Testing

/// Generated properties and methods of relationships have the names and types that Xcode gives them, and change both
/// ends.
@Suite struct GeneratedRelationshipTests {
  private let context: NSManagedObjectContext

  init() throws {
    let model = try #require(NSManagedObjectModel.embedded(named: "Harbour"))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  @Test func `A to-one property is set, and the other end has the object`() {
    context.performAndWait {
      let (boat, barge) = (Shuttle(context: context), Barge(context: context))
      barge.tug = boat
      #expect(barge.tug === boat && boat.barges == NSSet(object: barge))
      barge.tug = nil
      #expect(boat.barges?.count == 0)
    }
  }

  @Test func `A fetched property has the objects that its request finds`() throws {
    try context.performAndWait {
      let boats = (1...3).map { crew in
        let boat = Shuttle(context: context)
        (boat.name, boat.crew) = ("\(crew)", Int16(crew))
        return boat
      }
      let others: [Boat] = boats[1].others
      #expect(others.map(\.name) == ["3"])
      try context.save()
      #expect(Set(boats[0].others.map(\.name)) == ["2", "3"] && boats[2].others.isEmpty)
    }
  }

  @Test func `Members are added and removed one by one and as a set`() {
    context.performAndWait {
      let (boat, barges) = (Shuttle(context: context), (0..<3).map { _ in Barge(context: context) })
      boat.addToBarges(barges[0])
      boat.addToBarges(NSSet(array: barges))
      boat.removeFromBarges(barges[1])
      #expect(boat.barges == NSSet(array: [barges[0], barges[2]]))
      boat.removeFromBarges(NSSet(object: barges[0]))
      boat.barges = NSSet(object: barges[1])
      #expect(barges.map { $0.tug === boat } == [false, true, false])
    }
  }

  @Test func `Where the model asks for it, members are a Set of their class`() throws {
    try context.performAndWait {
      let (boat, barges) = (Shuttle(context: context), (0..<3).map { _ in Barge(context: context) })
      boat.addToEscorts([barges[0], barges[1]])
      boat.addToEscorts(barges[2])
      let before: Set<Barge>? = boat.escorts
      boat.removeFromEscorts([barges[1]])
      #expect(before == Set(barges) && boat.escorts == [barges[0], barges[2]])
      boat.escorts = [barges[1]]
      #expect(barges.map { $0.escort === boat } == [false, true, false])
      boat.name = "Tern"
      try context.save()
      context.delete(barges[1])
      #expect(boat.escorts == [])
      boat.escorts = [barges[0]]
      boat.escorts = nil
      #expect(barges[0].escort == nil)
      #expect((boat.value(forKey: "escorts") as? NSSet)?.count == 0)
    }
  }

  @Test func `A Set of another class than that of the objects stops the program with the reason`() async throws {
    await #expect(processExitsWith: .failure) {
      let context = try GeneratedRelationshipTests().context
      context.performAndWait {
        let boat = Shuttle(context: context)
        boat.addToEscorts(Barge(context: context))
        let crates: Set<Crate>? = boat.relatedObjects(forKey: "escorts")
        print(crates ?? [])
      }
    }
  }

  @Test func `Ordered members are inserted, replaced and removed at their places`() {
    context.performAndWait {
      let (barge, crates) = (Barge(context: context), (0..<6).map { _ in Crate(context: context) })
      func places() -> [Int?] {
        (barge.crates?.array ?? []).map { crate in crates.firstIndex { $0 === crate as? Crate } }
      }
      barge.addToCrates(NSOrderedSet(array: Array(crates[0..<2])))
      barge.addToCrates(crates[2])
      barge.insertIntoCrates(crates[3], at: 0)
      #expect(places() == [3, 0, 1, 2])
      barge.insertIntoCrates([crates[4], crates[5]], at: NSIndexSet(indexesIn: NSRange(location: 1, length: 2)))
      #expect(places() == [3, 4, 5, 0, 1, 2])
      barge.removeFromCrates(at: 0)
      barge.removeFromCrates(at: NSIndexSet(index: 4))
      #expect(places() == [4, 5, 0, 1])
      barge.replaceCrates(at: 1, with: crates[3])
      barge.replaceCrates(at: NSIndexSet(index: 0), with: [crates[2]])
      #expect(places() == [2, 3, 0, 1])
      barge.removeFromCrates(crates[3])
      barge.removeFromCrates(NSOrderedSet(object: crates[2]))
      #expect(places() == [0, 1] && crates[2].barge == nil && crates[0].barge === barge)
    }
  }
}
