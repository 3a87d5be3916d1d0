import Foundation
import TestSupport
import Testing

@testable import OpenCoreData

// Rule: an object's address identifies it only as long as it is there.

@Suite("What a context remembers of the object that was changed last", .overBothStores)
struct ChangeEventTests {
  @Test("An insertion that is taken back is forgotten", arguments: [false, true])
  func insertion(isUndone: Bool) throws {
    let stack = try Stack(try TemporaryFolder())
    let context = stack.context()
    context.performAndWait {
      if isUndone { context.undoManager = UndoManager() }
      let object = NSEntityDescription.insertNewObject(forEntityName: stack.entity.name ?? "", into: context)
      object.setValue(3, forKey: "rating")
      #expect(context.graph.lastInserted == ObjectIdentifier(object))
      if isUndone { context.rollback() } else { context.delete(object) }
      #expect(context.graph.lastInserted == nil)
    }
  }
}
