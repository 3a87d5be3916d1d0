import Foundation
import TestSupport
import Testing

@testable import OpenCoreData

// Rules (Apple's headers: NSEntityMigrationPolicy.h, NSMigrationManager.h; Apple's Core Data Model Versioning and Data
// Migration Programming Guide, "Three-Stage Migration"): three passes over the entity mappings, each with its methods.

/// Notes its calls in the manager's user info.
final class RecordingPolicy: NSEntityMigrationPolicy {
  final class Calls {
    var list: [String] = []
    var progress: [Float] = []
  }

  private func note(_ call: String, _ mapping: NSEntityMapping, in manager: NSMigrationManager) {
    let calls = manager.userInfo?["calls"] as? Calls
    calls?.list.append("\(mapping.name) \(call)")
    calls?.progress.append(manager.migrationProgress)
    #expect(manager.currentEntityMapping === mapping)
  }

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    note("begin", mapping, in: manager)
  }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("create \(sInstance.value(forKey: "name") ?? "")", mapping, in: manager)
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
  }

  override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("created", mapping, in: manager)
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("relate \(dInstance.value(forKey: "name") ?? "")", mapping, in: manager)
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
  }

  override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("related", mapping, in: manager)
  }

  override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("validate", mapping, in: manager)
    if let error = manager.userInfo?["error"] as? NSError { throw error }
  }

  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("end", mapping, in: manager)
  }
}

/// The tutorial's case: values of one entity that repeat become objects of another.
final class SplitPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let rider = NSEntityDescription.insertNewObject(
      forEntityName: mapping.destinationEntityName ?? "", into: manager.destinationContext)
    for attribute in mapping.attributeMappings ?? [] {
      guard let name = attribute.name, let expression = attribute.valueExpression else { continue }
      let context: NSMutableDictionary = [NSMigrationSourceObjectKey: sInstance]
      rider.setValue(expression.expressionValue(with: sInstance, context: context), forKey: name)
    }
    if let name = sInstance.value(forKey: "spot") as? String {
      var spots = manager.userInfo?["spots"] as? [String: NSManagedObject] ?? [:]
      let spot =
        spots[name]
        ?? NSEntityDescription.insertNewObject(forEntityName: "Spot", into: manager.destinationContext)
      spot.setValue(name, forKey: "name")
      spots[name] = spot
      manager.userInfo = ["spots": spots]
      rider.setValue(spot, forKey: "spot")
    }
    manager.associate(sourceInstance: sInstance, withDestinationInstance: rider, for: mapping)
  }

  override func value(ofMethod name: String, arguments: [Any?]) throws -> Any? {
    switch name {
    case "shout:": (arguments[0] as? NSManagedObject).map { "\($0.value(forKey: "name") ?? "")!" }
    default: try super.value(ofMethod: name, arguments: arguments)
    }
  }
}

/// Makes two objects of one, deletes others, and leaves some out.
final class SelectingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let name = sInstance.value(forKey: "name") as? String ?? ""
    if name.hasPrefix("C") { return }
    for _ in 0..<(name.hasPrefix("B") ? 2 : 1) {
      try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let twins = manager.destinationInstances(
      forEntityMappingName: mapping.name,
      sourceInstances: manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance]))
    #expect(twins.contains(dInstance))
    if dInstance.value(forKey: "name") as? String == "Ann" { manager.destinationContext.delete(dInstance) }
  }
}

@Suite("Policies are called in Apple's order, and what they make is in the store")
struct MigrationPolicyTests {
  private static let old = """
    <entity name="Rider"><attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="spot" optional="YES" attributeType="String"/></entity>
    <entity name="Wave"><attribute name="name" optional="YES" attributeType="String"/></entity>
    """
  private static let new = """
    <entity name="Rider"><attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="call" optional="YES" attributeType="String"/>
      <relationship name="spot" optional="YES" maxCount="1" destinationEntity="Spot" inverseName="riders"
        inverseEntity="Spot"/></entity>
    <entity name="Spot"><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="riders" optional="YES" toMany="YES" destinationEntity="Rider" inverseName="spot"
        inverseEntity="Rider"/></entity>
    <entity name="Wave"><attribute name="name" optional="YES" attributeType="String"/></entity>
    """
  private static let rows = """
    INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT, ZNAME, ZSPOT) VALUES(1, 1, 1, 'Ann', 'Pipe'), (2, 1, 1, 'Bob', 'Jaws'),
      (3, 1, 1, 'Cy', 'Pipe'), (4, 1, 1, 'Di', NULL);
    INSERT INTO ZWAVE(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(1, 2, 1, 'big');
    UPDATE Z_PRIMARYKEY SET Z_MAX = 4;
    """

  private func bench() throws -> MappingBench { try MappingBench(old: Self.old, new: Self.new, rows: Self.rows) }

  private static let name = ["name": "$source.name"]

  private static func recording() -> (NSMappingModel, RecordingPolicy.Calls) {
    let model = NSMappingModel()
    model.entityMappings = [
      entityMapping("W", from: "Wave", to: "Wave", policy: RecordingPolicy.self, attributes: name),
      entityMapping("R", from: "Rider", to: "Rider", policy: RecordingPolicy.self, attributes: name),
      entityMapping("S", from: nil, to: "Spot", policy: RecordingPolicy.self),
    ]
    return (model, RecordingPolicy.Calls())
  }

  @Test("Create, relate, validate: each pass goes over all mappings in their order, with growing progress")
  func order() throws {
    let bench = try bench()
    let (model, calls) = Self.recording()
    let manager = bench.manager()
    manager.userInfo = ["calls": calls]
    try bench.migrate(model, manager)
    #expect(
      calls.list == [
        "W begin", "W create big", "W created", "R begin", "R create Ann", "R create Bob", "R create Cy", "R create Di",
        "R created", "S begin", "S created", "W relate big", "W related", "R relate Ann", "R relate Bob", "R relate Cy",
        "R relate Di", "R related", "S related", "W validate", "W end", "R validate", "R end", "S validate", "S end",
      ])
    #expect(calls.progress == calls.progress.sorted() && calls.progress.first == 0)
    #expect(manager.migrationProgress == 1 && manager.currentEntityMapping == nil && manager.mappingModel === model)
    #expect(try bench.found("SELECT ZNAME FROM ZRIDER ORDER BY 1") == "Ann\nBob\nCy\nDi")
  }

  @Test("A cancelled migration, and one whose policy throws, leave no new file")
  func ended() throws {
    let expected = NSError(domain: "Ours", code: 7)
    for isCancelled in [true, false] {
      let bench = try bench()
      let before = try bench.bench.dump()
      let (model, calls) = Self.recording()
      let manager = bench.manager()
      manager.userInfo = ["calls": calls, "error": expected]
      if isCancelled {
        model.entityMappings[0].sourceExpression = NSExpression(
          block: { _, _, variables in
            (variables?["manager"] as? NSMigrationManager)?.cancelMigrationWithError(expected)
            return [NSManagedObject]()
          }, arguments: nil)
      }
      let error = #expect(throws: NSError.self) { try bench.migrate(model, manager) }
      #expect(error == expected)
      #expect(calls.list.last == (isCancelled ? "W created" : "W validate"))
      try bench.expectOnlyOld(before)
      // The manager can be used again.
      model.entityMappings[0].sourceExpression = nil
      manager.userInfo = nil
      try bench.migrate(model, manager)
      #expect(try bench.found("SELECT count(*) FROM ZRIDER") == "4")
    }
  }

  @Test("A policy makes one entity of the repeated values of another, and gives expressions its methods")
  func split() throws {
    let bench = try bench()
    try bench.migrate([
      entityMapping(
        "R", from: "Rider", to: "Rider", policy: SplitPolicy.self, attributes: Self.name),
      entityMapping(
        "Twice", from: "Rider", to: "Rider", attributes: ["name": "$source.name", "call": "$propertyMapping.name"]),
    ])
    #expect(
      try bench.found(
        """
        SELECT s.ZNAME, count(r.Z_PK) FROM ZSPOT s JOIN ZRIDER r ON r.ZSPOT = s.Z_PK GROUP BY 1 ORDER BY 1;
        SELECT ZCALL, count(*) FROM ZRIDER GROUP BY 1
        """) == "Jaws|1\nPipe|2\n|4\ncall|4")
    let other = try self.bench()
    let calling = entityMapping(
      "R", from: "Rider", to: "Rider", policy: ShoutingPolicy.self,
      attributes: ["name": "$source.name", "call": "FUNCTION($entityPolicy, \"shout:\", $source)"])
    try other.migrate([calling])
    #expect(try other.found("SELECT ZCALL FROM ZRIDER ORDER BY 1 LIMIT 2") == "Ann!\nBob!")
  }

  @Test("A source object may have several destination instances, or none; a policy may delete some")
  func selecting() throws {
    let bench = try bench()
    try bench.migrate([
      entityMapping("R", from: "Rider", to: "Rider", policy: SelectingPolicy.self, attributes: Self.name)
    ])
    #expect(try bench.found("SELECT ZNAME FROM ZRIDER ORDER BY 1") == "Bob\nBob\nDi")
  }

  @Test("Classes are found by module and name, or as they were registered")
  func classes() throws {
    #expect(try NSEntityMigrationPolicy.found(named: "OpenCoreDataTests.SplitPolicy") == SplitPolicy.self)
    NSEntityMigrationPolicy.register(SelectingPolicy.self, forName: "Short")
    #expect(try NSEntityMigrationPolicy.found(named: "Short") == SelectingPolicy.self)
    for (name, part) in [("OpenCoreDataTests.None", "was not found"), ("Foundation.NSDate", "is not a subclass")] {
      let error = #expect(throws: NSError.self) { try NSEntityMigrationPolicy.found(named: name) }
      #expect(error?.code == NSEntityMigrationPolicyError && error?.localizedDescription.contains(part) == true)
    }
  }

  @Test("Outside of a migration there are no instances, and the default steps are errors")
  func outside() throws {
    let manager = try bench().manager()
    let mapping = entityMapping("R", from: "Rider", to: "Rider")
    #expect(manager.destinationInstances(forEntityMappingName: "R", sourceInstances: nil).isEmpty)
    #expect(manager.sourceInstances(forEntityMappingName: "R", destinationInstances: nil).isEmpty)
    #expect(manager.sourceEntity(for: mapping)?.name == "Rider" && manager.destinationEntity(for: mapping) != nil)
    manager.sourceContext.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Rider", into: manager.sourceContext)
      let error = #expect(throws: NSError.self) {
        try NSEntityMigrationPolicy().createDestinationInstances(forSource: object, in: mapping, manager: manager)
      }
      #expect(error?.code == NSEntityMigrationPolicyError)
    }
  }
}

/// As `SplitPolicy`, with the default instances.
final class ShoutingPolicy: NSEntityMigrationPolicy {
  override func value(ofMethod name: String, arguments: [Any?]) throws -> Any? {
    try SplitPolicy().value(ofMethod: name, arguments: arguments)
  }
}
