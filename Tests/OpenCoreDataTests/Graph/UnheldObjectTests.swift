import Dispatch
import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (docs/invariants.md O1, O7; decision 31): a lookup finds an object that someone holds, and no other, also while
// another thread releases it; a slot that is given to another object is not taken away by the former one.

@Suite("Objects are found without being held", .withoutStore("All but one test are about the table"))
struct UnheldObjectTests {
  /// Says where it is, and leaves when it goes.
  private final class Thing: Sendable {
    let number: Int
    let table: UnheldObjects
    private let slot = Locked(Int32(-1))

    init(_ number: Int, in table: UnheldObjects) {
      (self.number, self.table) = (number, table)
      enter()
    }

    func enter() {
      let former = at
      let new = table.add(self, at: former)
      slot.withLock { $0 = new }
    }

    var at: Int32 { slot.withLock { $0 } }

    deinit { table.forget(self, at: at) }
  }

  @Test("An object that goes is not found, and leaves what has its slot now")
  func slots() throws {
    let table = UnheldObjects()
    var first: Thing? = Thing(1, in: table)
    let slot = try #require(first?.at)
    #expect(table.object(at: slot) === first)
    table.free(CollectionOfOne(slot))
    #expect(table.object(at: slot) == nil)
    let second = Thing(2, in: table)
    #expect(second.at == slot)
    first = nil
    #expect(table.object(at: slot) === second)
    second.enter()
    #expect(second.at != slot && table.object(at: slot) == nil && table.object(at: second.at) === second)
    #expect(table.isTaken == [false, true])
  }

  @Test("A thread that looks objects up and one that releases them do not meet")
  func threads() {
    let table = UnheldObjects()
    let shared = Locked<[Thing?]>((0..<8).map { Thing($0, in: table) })
    let slots = shared.withLock { $0.map { $0?.at ?? -1 } }
    let found = Locked(0)
    DispatchQueue.concurrentPerform(iterations: 3) { thread in
      for round in 0..<20_000 {
        let index = round % 8
        if thread == 0 {
          // The last reference goes outside of the lock, as a client's does.
          let gone = shared.withLock { things -> Thing? in
            defer { things[index] = nil }
            return things[index]
          }
          _ = gone
          table.free(CollectionOfOne(slots[index]))
          let new = Thing(index, in: table)
          shared.withLock { $0[index] = new }
        } else if let thing = table.object(at: slots[index]) as? Thing {
          precondition((0..<8).contains(thing.number))
          found.withLock { $0 += 1 }
        }
      }
    }
    #expect(found.withLock { $0 } > 0)
  }

  @Test("A context has one object for each ID while another thread releases it", .overBothStores)
  func context() throws {
    let folder = try TemporaryFolder()
    let stack = try Stack(folder)
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(0..<4, into: context, stack.entity)
      try context.save()
    }
    let request = NSFetchRequest<NSManagedObjectID>(entityName: stack.entity.name ?? "")
    request.resultType = .managedObjectIDResultType
    let ids = try context.performAndWait { try context.fetch(request) }
    let releasing = DispatchQueue(label: "releasing", attributes: .concurrent)
    for round in 0..<5000 {
      context.performAndWait {
        let id = ids[round % ids.count]
        let object = context.object(with: id)
        #expect(context.object(with: id) === object && object.objectID == id)
        nonisolated(unsafe) let held = object
        releasing.async { withExtendedLifetime(held) {} }
      }
    }
    releasing.sync(flags: .barrier) {}
    context.performAndWait { #expect(context.registeredObjects.isEmpty) }
  }
}
