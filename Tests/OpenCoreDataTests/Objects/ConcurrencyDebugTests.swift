import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import Testing

// Rules (Apple documentation: "Core Data Programming Guide", Concurrency): with the launch argument
// -com.apple.CoreData.ConcurrencyDebug 1, or its environment variable, an access to a context or an object off its
// queue
// ends the program, and the message names the type, the member and both queues; on the queue, and on the main thread
// for the main queue, nothing changes.

@Suite("A touch off the queue ends the program, if the switch is on")
struct ConcurrencyDebugTests {
  struct Switch: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var arguments: [String] = []
    var environment: [String: String] = [:]
    let isOn: Bool
  }

  private static let name = "com.apple.CoreData.ConcurrencyDebug"
  static let switches = [
    Switch(testDescription: "nothing", arguments: ["a.out"], isOn: false),
    Switch(testDescription: "argument 1", arguments: ["a.out", "-\(name)", "1"], isOn: true),
    Switch(testDescription: "argument 3", arguments: ["a.out", "-\(name)", "3", "x"], isOn: true),
    Switch(testDescription: "argument YES", arguments: ["-\(name)", "YES"], isOn: true),
    Switch(testDescription: "argument 0", arguments: ["a.out", "-\(name)", "0"], isOn: false),
    Switch(testDescription: "argument without a value", arguments: ["a.out", "-\(name)"], isOn: false),
    Switch(testDescription: "value without its argument", arguments: ["a.out", name, "1"], isOn: false),
    Switch(testDescription: "environment", environment: [name: "1"], isOn: true),
    Switch(
      testDescription: "environment of a shell", environment: [ConcurrencyDebug.debugSwitch.shellName: "1"], isOn: true),
    Switch(testDescription: "environment 0", environment: [name: "0"], isOn: false),
    Switch(
      testDescription: "empty environment", environment: [ConcurrencyDebug.debugSwitch.shellName: ""], isOn: false),
    Switch(
      testDescription: "argument over environment", arguments: ["-\(name)", "0"], environment: [name: "1"], isOn: false),
  ]

  @Test("The switch is an argument with a number, or an environment variable", arguments: switches)
  func asked(one: Switch) {
    #expect(
      (ConcurrencyDebug.debugSwitch.level(arguments: one.arguments, environment: one.environment) > 0) == one.isOn)
  }

  /// Every member that only the queue may touch, by the name that the message has.
  enum Member: String, CaseIterable, Codable, Sendable {
    case save = "save()", fetch = "fetch(_:)", count = "count(for:)", walk =
      "walk(_:keyPaths:attributes:rowsPerBatch:_:)"
    case insert = "insert(_:)", delete = "delete(_:)", refresh = "refresh(_:mergeChanges:)"
    case refreshAll = "refreshAllObjects()", reset = "reset()", rollback = "rollback()"
    case process = "processPendingChanges()", obtain = "obtainPermanentIDs(for:)"
    case object = "object(with:)", registered = "registeredObject(for:)", existing = "existingObject(with:)"
    case hasChanges, insertedObjects, updatedObjects, deletedObjects, registeredObjects
    case place, isFault, isInserted, isUpdated, isDeleted, description, changedValues = "changedValues()"
    case committedValues = "committedValues(forKeys:)", objectHasChanges = "hasChanges of an object"
    case setPlace = "place of an object, set", primitivePlace = "place of an object, as primitive value"
    case willAccess = "willAccessValue(forKey:)", didChange = "didChangeValue(forKey:)"

    var typeName: String {
      switch self {
      case .place, .isFault, .isInserted, .isUpdated, .isDeleted, .description, .changedValues, .committedValues,
        .objectHasChanges, .setPlace, .primitivePlace, .willAccess, .didChange:
        "NSManagedObject"
      default: "NSManagedObjectContext"
      }
    }

    var memberName: String { String(rawValue.prefix(while: { $0 != " " })) }

    func touch(_ context: NSManagedObjectContext, _ object: NSManagedObject) throws {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
      switch self {
      case .save: try context.save()
      case .fetch: _ = try context.fetch(request)
      case .count: _ = try context.count(for: request)
      case .walk: try context.walk(request) { _, _ in true }
      case .insert: _ = NSManagedObject(entity: object.entity, insertInto: context)
      case .delete: context.delete(object)
      case .refresh: context.refresh(object, mergeChanges: true)
      case .refreshAll: context.refreshAllObjects()
      case .reset: context.reset()
      case .rollback: context.rollback()
      case .process: context.processPendingChanges()
      case .obtain: try context.obtainPermanentIDs(for: [object])
      case .object: _ = context.object(with: object.objectID)
      case .registered: _ = context.registeredObject(for: object.objectID)
      case .existing: _ = try context.existingObject(with: object.objectID)
      case .hasChanges: _ = context.hasChanges
      case .insertedObjects: _ = context.insertedObjects
      case .updatedObjects: _ = context.updatedObjects
      case .deletedObjects: _ = context.deletedObjects
      case .registeredObjects: _ = context.registeredObjects
      case .place: _ = object.value(forKey: "place")
      case .setPlace: object.setValue("x", forKey: "place")
      case .primitivePlace: object.setPrimitiveValue("x", forKey: "place")
      case .isFault: _ = object.isFault
      case .isInserted: _ = object.isInserted
      case .isUpdated: _ = object.isUpdated
      case .isDeleted: _ = object.isDeleted
      case .objectHasChanges: _ = object.hasChanges
      case .description: _ = object.description
      case .changedValues: _ = object.changedValues()
      case .committedValues: _ = object.committedValues(forKeys: nil)
      case .willAccess: object.willAccessValue(forKey: nil)
      case .didChange: object.didChangeValue(forKey: "place")
      }
    }
  }

  /// A context with a saved object, made with the switch on.
  static func prepare(
    _ type: NSManagedObjectContext.ConcurrencyType
  ) throws -> (NSManagedObjectContext, NSManagedObject) {
    setenv(ConcurrencyDebug.debugSwitch.shellName, "1", 1)
    // Its folder stays behind: the program ends before anybody could remove it, so the store is in memory.
    let model = Sessions.model()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(type)
    context.persistentStoreCoordinator = coordinator
    context.name = "harbour"
    let object = try context.performAndWait {
      let object = NSManagedObject.make(model.entities[0], in: context)
      object.setValue("Spot", forKey: "place")
      try context.save()
      return object
    }
    return (context, object)
  }

  @Test("Off the queue each member names itself, its type and both queues", arguments: Member.allCases)
  func offQueue(member: Member) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [member = member as Member] in
      let (context, object) = try Self.prepare(.privateQueue)
      try DispatchQueue(label: "of the client").sync { try member.touch(context, object) }
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("\(member.typeName).\(member.memberName) was touched off its queue"))
    #expect(message.contains("It belongs to the queue \"NSManagedObjectContext "))
    #expect(message.contains("of the context \"harbour\""))
    #expect(message.contains("stands on the queue \"of the client\""))
  }

  @Test("The queue of another context is off the queue too, and a main-queue context is not for other threads")
  func otherQueues() async {
    let another = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (context, object) = try Self.prepare(.privateQueue)
      let (other, _) = try Self.prepare(.privateQueue)
      other.performAndWait { context.delete(object) }
    }
    let message = String(decoding: another?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("delete(_:)") && message.contains("stands on the queue \"NSManagedObjectContext 2\""))

    let main = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try await MainActor.run { try Self.prepare(.mainQueue).0 }
      await Task.detached { _ = context.hasChanges }.value
    }
    let mainMessage = String(decoding: main?.standardErrorContent ?? [], as: UTF8.self)
    #expect(mainMessage.contains("hasChanges was touched") && mainMessage.contains("com.apple.main-thread"))
  }

  @Test("On the queue, in a chain, and on the main thread outside of any block nothing is stopped")
  func onQueue() async {
    await #expect(processExitsWith: .success) {
      let (context, object) = try Self.prepare(.privateQueue)
      #expect(ConcurrencyDebug.isOn)
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = context
      let id = object.objectID
      try child.performAndWait {
        let mine = child.object(with: id)
        mine.setValue("Else", forKey: "place")
        try child.save()
        try context.performAndWait { try context.save() }
        _ = mine.description
      }
      try await child.perform { _ = try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Session")) }
      context.performAndWait {
        for member in Member.allCases where member != .reset && member != .delete {
          #expect(throws: Never.self) { try member.touch(context, object) }
        }
      }
      try await MainActor.run {
        let (context, object) = try Self.prepare(.mainQueue)
        object.setValue("main", forKey: "place")
        try context.save()
      }
      // An object of no context has no queue.
      _ = NSManagedObject(entity: object.entity, insertInto: nil).value(forKey: "place")
    }
  }

  @Test("Without the switch nothing is stopped")
  func off() {
    guard !ConcurrencyDebug.isOn else { return }
    let context = NSManagedObjectContext(.privateQueue)
    #expect(!context.hasChanges && context.registeredObjects.isEmpty)
  }
}
