import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import SystemSupport
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObject, "Lifecycle", "Validation"): awakeFromInsert may set values; willSave may
// change, insert and delete; validation may replace a value or throw an error of its own; every method is called at
// every level that saves. Both ways of inserting make the same calls.

/// A class whose behaviour follows from its place.
final class WilfulSession: NSManagedObject {
  struct Refusal: Error, Equatable { var place: String }
  static let calls = Locked<[String]>([])

  private func note(_ name: String) { Self.calls.withLock { $0.append("\(name) \(place ?? "nil")") } }

  override func awakeFromInsert() {
    if value(forKey: "rating") as? Int ?? 0 == 0 { setPrimitiveValue(1, forKey: "rating") }
  }

  override func willSave() {
    guard isInserted, let context = managedObjectContext else { return }
    switch place {
    case "inserts":
      setValue("inserted another", forKey: "place")
      InsertionWay.single.insert(70..<71, into: context, entity)
    case "deletes":
      setValue("deleted others", forKey: "place")
      for other in context.insertedObjects where other.place?.hasPrefix("doomed") == true { context.delete(other) }
    case "leaves": context.delete(self)
    default: break
    }
  }

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    if key == "place", let text = value as? String {
      if text == "refused" { throw Refusal(place: text) }
      value = text.trimmingCharacters(in: .whitespaces)
    }
    try super.validateValue(&value, forKey: key)
  }

  override func validateForUpdate() throws {
    note("update")
    try super.validateForUpdate()
  }

  override func validateForDelete() throws {
    note("delete")
    if place == "eternal" {
      throw NSError(domain: NSCocoaErrorDomain, code: 1600, userInfo: [NSLocalizedDescriptionKey: "stays"])
    }
  }

  override func prepareForDeletion() { note("prepare") }
  override func didSave() { note("saved \(isInserted || isUpdated || isDeleted ? "dirty" : "clean")") }
}

@Suite("Classes take part in the life of their objects", .overBothStores, .serialized)
struct LifecycleTests {
  private func model() -> NSManagedObjectModel { Sessions.model(className: "OpenCoreDataTests.WilfulSession") }

  private var calls: [String] {
    WilfulSession.calls.withLock { calls in
      defer { calls = [] }
      return calls
    }
  }

  private func insert(_ places: [String], by way: InsertionWay, into context: NSManagedObjectContext, stack: Stack) {
    switch way {
    case .single:
      for place in places { NSManagedObject.make(stack.entity, in: context).setValue(place, forKey: "place") }
    case .bulk:
      var batch = ObjectBatch(entity: stack.entity)
      for place in places {
        batch.appendRow()
        batch.setText(place, at: 1)
      }
      context.insert(batch)
    }
  }

  @Test("willSave may change, insert and delete, its own object too; values validation replaced are the ones saved")
  func wilful() throws {
    let places = try onBothWays(model: model) { way, stack -> String in
      let (writer, middle, child) = stack.chain()
      child.performAndWait {
        insert(
          ["doomed 1", " padded ", "inserts", "deletes", "leaves", "doomed 2"], by: way, into: child, stack: stack)
      }
      for context in [child, middle, writer] { try context.performAndWait { try context.save() } }
      return try stack.sqlite("SELECT Z_PK, ZPLACE, ZRATING FROM ZSESSION")
    }
    #expect(places == "1|padded|1\n2|inserted another|1\n3|deleted others|1\n4|Spot 70|1")
    _ = calls
  }

  @Test("An error of a class's own reaches the save's caller, alone or among others", arguments: InsertionWay.allCases)
  func ownError(way: InsertionWay) throws {
    let folder = try TemporaryFolder()
    let stack = try Stack(folder, model: model())
    let context = stack.context()
    context.performAndWait {
      insert(["fine", "refused"], by: way, into: context, stack: stack)
      #expect(throws: WilfulSession.Refusal(place: "refused")) { try context.save() }
      insert(["refused"], by: way, into: context, stack: stack)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSValidationMultipleErrorsError)
      #expect((error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID])?.count == 2)
      let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
      let own = details.map { $0.userInfo[NSUnderlyingErrorKey] as? WilfulSession.Refusal }
      #expect(own == Array(repeating: WilfulSession.Refusal(place: "refused"), count: 2))
      #expect(context.insertedObjects.count == 3)
    }
    _ = calls
  }

  @Test("Updates and deletions are validated and announced at every level")
  func updatesAndDeletions() throws {
    let folder = try TemporaryFolder()
    let stack = try Stack(folder, model: model())
    let writer = stack.context()
    let child = stack.context(writer)
    try writer.performAndWait {
      insert(["a", "b", "eternal"], by: .bulk, into: writer, stack: stack)
      try writer.save()
    }
    _ = calls
    try child.performAndWait {
      let objects = try child.fetch(stack.request())
      objects[0].setValue("A", forKey: "place")
      child.delete(objects[1])
      try child.save()
      #expect(objects[1].managedObjectContext == nil && !objects[1].isDeleted)
    }
    #expect(calls == ["prepare b", "update A", "delete b", "prepare b", "saved clean A", "saved clean b"])
    try writer.performAndWait { try writer.save() }
    #expect(calls == ["update A", "delete b", "saved clean A", "saved clean b"])
    try child.performAndWait {
      let eternal = try #require(try child.fetch(stack.request()).last)
      child.delete(eternal)
      let error = #expect(throws: NSError.self) { try child.save() }
      #expect(error?.code == 1600)
      #expect(error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID] == [eternal.objectID])
      #expect(eternal.isDeleted)
      child.rollback()
      #expect(!eternal.isDeleted && !child.hasChanges)
    }
    _ = calls
  }

  @Test("Classes that say they override nothing are not made into objects by a save")
  func nothingMade() throws {
    let folder = try TemporaryFolder()
    let stack = try Stack(folder)
    let context = stack.context()
    context.changeNotificationContents = .objectIDs
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<100, into: context, stack.entity)
      context.processPendingChanges()
      let segment = try #require(context.graph.insertions.segments.first)
      try context.save()
      #expect(segment.handles.isEmpty)
    }
    #expect(NSManagedObject.lifecycleHooks.isEmpty && WilfulSession.lifecycleHooks == .all)
  }
}
