import Foundation
import TestSupport
import Testing

@testable import OpenCoreData

// Rules (Apple documentation: NSMergePolicy; optimistic locking by Z_OPT): a child's change builds on the row that the
// child has read, also where its parent never had the object; what others wrote since is a conflict, and what the chain
// itself wrote is none.

@Suite("A child's changes build on what the child has read", .overBothStores)
struct ChildConflictTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  private let parent: NSManagedObjectContext
  private let child: NSManagedObjectContext

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack.filled(folder, count: 2)
    parent = stack.context()
    child = stack.context(parent)
  }

  private func first(in context: NSManagedObjectContext) throws -> NSManagedObject {
    let request = stack.request()
    request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
    return try #require(try context.fetch(request).first)
  }

  private var row: String {
    get throws { try stack.sqlite("SELECT Z_OPT, ZPLACE, ZRATING FROM ZSESSION WHERE Z_PK = 1") }
  }

  @Test(
    "Another process's change of a row that only the child has read is a conflict in the parent",
    arguments: [(Policy.error, "2|theirs|9"), (.objectTrump, "3|mine|9"), (.storeTrump, "2|theirs|9")])
  func otherProcess(policy: Policy, expected: String) throws {
    parent.mergePolicy = policy.value
    let id = try child.performAndWait {
      let object = try first(in: child)
      #expect(object.place == "Spot 0")
      try stack.sqlite("UPDATE ZSESSION SET ZPLACE = 'theirs', ZRATING = 9, Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
      object.setValue("mine", forKey: "place")
      try child.save()
      return object.objectID
    }
    try parent.performAndWait {
      #expect(parent.updatedObjects.map(\.objectID) == [id])
      if policy == .error {
        let error = try #require(throws: NSError.self) { try parent.save() }
        #expect(error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectMergeError)
        #expect(error.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID] == [id])
      } else {
        try parent.save()
        #expect(!parent.hasChanges)
      }
    }
    #expect(try row == expected)
  }

  /// What happens to the parent's object between two saves of the child.
  enum Meanwhile: String, CaseIterable, Sendable { case nothing, fault, release, reset, refreshAll }

  @Test("An object that was saved through the parent can be changed and saved again", arguments: Meanwhile.allCases)
  func again(meanwhile: Meanwhile) throws {
    parent.mergePolicy = Policy.error.value
    let object = try child.performAndWait { try first(in: child) }
    for round in 1...3 {
      try child.performAndWait {
        object.setValue("round \(round)", forKey: "place")
        try child.save()
      }
      try parent.performAndWait {
        try parent.save()
        switch meanwhile {
        case .nothing: _ = try first(in: parent).place
        case .fault: parent.refresh(try first(in: parent), mergeChanges: false)
        case .release: #expect(parent.registeredObjects.isEmpty)
        case .reset: parent.reset()
        case .refreshAll: parent.refreshAllObjects()
        }
      }
    }
    #expect(try row == "4|round 3|1")
  }

  @Test(
    "An object whose unsaved changes in the parent the child has read, saved before or after", arguments: [false, true])
  func unsavedInParent(savesParentFirst: Bool) throws {
    parent.mergePolicy = Policy.error.value
    let held = try parent.performAndWait {
      let object = try first(in: parent)
      object.setValue(5, forKey: "rating")
      return object
    }
    let object = try child.performAndWait {
      let object = try first(in: child)
      #expect(object.value(forKey: "rating") as? Int == 5)
      return object
    }
    if savesParentFirst { try parent.performAndWait { try parent.save() } }
    for round in 1...2 {
      try child.performAndWait {
        object.setValue("round \(round)", forKey: "place")
        try child.save()
      }
      try parent.performAndWait {
        try parent.save()
        parent.refresh(held, mergeChanges: false)
      }
    }
    #expect(try row == (savesParentFirst ? "4|round 2|5" : "3|round 2|5"))
  }

  @Test("An object that the child inserted can be changed through the parent before and after it is in the store")
  func inserted() throws {
    parent.mergePolicy = Policy.error.value
    let object = try child.performAndWait {
      let object = NSManagedObject.make(stack.entity, in: child)
      object.setValue("new", forKey: "place")
      try child.save()
      object.setValue("newer", forKey: "place")
      try child.save()
      return object
    }
    try parent.performAndWait {
      try parent.save()
      parent.reset()
    }
    try child.performAndWait {
      object.setValue("newest", forKey: "place")
      try child.save()
    }
    try parent.performAndWait { try parent.save() }
    #expect(try stack.sqlite("SELECT Z_OPT, ZPLACE FROM ZSESSION WHERE Z_PK = 3") == "2|newest")
  }
}
