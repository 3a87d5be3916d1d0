import Foundation
import TestSupport
import Testing

@testable import OpenCoreData

// Rules (Apple documentation: NSEntityMigrationPolicy, createRelationships(forDestination:in:manager:)): a policy sees what
// the default implementation has done for an object, and changes it. That links are written by keys must not show.

/// Calls a closure before and after the default implementation.
private final class AroundPolicy: NSEntityMigrationPolicy {
  typealias Step = (NSManagedObject, NSMigrationManager) throws -> Void
  final class Steps {
    var (before, after): (Step, Step) = ({ _, _ in }, { _, _ in })
    var callsDefault = true
    var created: (NSMigrationManager) throws -> Void = { _ in }
  }

  override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    try (manager.userInfo?["steps"] as? Steps)?.created(manager)
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let steps = manager.userInfo?["steps"] as? Steps
    try steps?.before(dInstance, manager)
    if steps?.callsDefault != false {
      try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }
    try steps?.after(dInstance, manager)
  }
}

@Suite("Code that looks finds the links that are written by keys")
struct KeyedLinkTests {
  private static let entities = """
    <entity name="Board"><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="rider" optional="YES" maxCount="1" destinationEntity="Rider" inverseName="boards"
        inverseEntity="Rider"/></entity>
    <entity name="Rider"><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="boards" optional="YES" toMany="YES" destinationEntity="Board" inverseName="rider"
        inverseEntity="Board"/></entity>
    """
  private static let new = entities.replacingOccurrences(
    of: "<entity name=\"Rider\">",
    with: "<entity name=\"Rider\"><attribute name=\"age\" optional=\"YES\" attributeType=\"Integer 16\"/>")
  private static let links = """
    SELECT b.ZNAME, r.ZNAME FROM ZBOARD b LEFT JOIN ZRIDER r ON r.Z_PK = b.ZRIDER ORDER BY b.ZNAME
    """

  /// Boards `b1` to `b<count>`, three to a rider in turn: `r1` has `b1` to `b3`.
  private func bench(_ count: Int = 9) throws -> MappingBench {
    try MappingBench(
      old: Self.entities, new: Self.new,
      rows: """
        INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT, ZNAME) WITH n(k) AS
          (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < \(count / 3)) SELECT k, 2, 1, 'r' || k FROM n;
        INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZNAME, ZRIDER) WITH n(k) AS
          (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < \(count)) SELECT k, 1, 1, 'b' || k, (k + 2) / 3 FROM n;
        UPDATE Z_PRIMARYKEY SET Z_MAX = \(count);
        """)
  }

  /// - Parameter linksRiders: Whether riders get their boards too, after the boards their riders.
  private func mappings(_ policy: NSEntityMigrationPolicy.Type?, linksRiders: Bool = false) -> [NSEntityMapping] {
    let name = ["name": "$source.name"]
    let boards = entityMapping(
      "B", from: "Board", to: "Board", policy: policy, attributes: name,
      relationships: ["rider": instances("R", "rider")])
    let riders = entityMapping(
      "R", from: "Rider", to: "Rider", attributes: name,
      relationships: linksRiders ? ["boards": instances("B", "boards")] : [:])
    return linksRiders ? [boards, riders] : [riders, boards]
  }

  private func migrate(
    _ bench: MappingBench, linksRiders: Bool = false, _ change: (AroundPolicy.Steps) -> Void
  ) throws -> String {
    let (model, steps, manager) = (NSMappingModel(), AroundPolicy.Steps(), bench.manager())
    model.entityMappings = mappings(AroundPolicy.self, linksRiders: linksRiders)
    change(steps)
    manager.userInfo = ["steps": steps]
    try bench.migrate(model, manager)
    return try bench.found(Self.links)
  }

  private static let all = "b1|r1\nb2|r1\nb3|r1\nb4|r2\nb5|r2\nb6|r2\nb7|r3\nb8|r3\nb9|r3"

  @Test("A policy reads the relationship that it had set, at both ends, by a fetch and in a child context")
  func seen() throws {
    var (seen, counts, found, inChild) = ([String](), [Int](), [Int](), [String]())
    let result = try migrate(try bench()) { steps in
      steps.after = { board, manager in
        let rider = board.value(forKey: "rider") as? NSManagedObject
        seen.append("\(board.value(forKey: "name") ?? "")|\(rider?.value(forKey: "name") ?? "")")
        counts.append((rider?.value(forKey: "boards") as? NSSet)?.count ?? -1)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Board")
        request.predicate = NSPredicate(format: "rider.name == %@", "r2")
        found.append(try manager.destinationContext.count(for: request))
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = manager.destinationContext
        child.performAndWait {
          let rider = child.object(with: board.objectID).value(forKey: "rider") as? NSManagedObject
          inChild.append("\(rider?.value(forKey: "name") ?? "")")
        }
      }
    }
    #expect(result == Self.all && seen.joined(separator: "\n") == Self.all)
    #expect(counts == [1, 2, 3, 1, 2, 3, 1, 2, 3] && found == [0, 0, 0, 1, 2, 3, 3, 3, 3])
    #expect(inChild == ["r1", "r1", "r1", "r2", "r2", "r2", "r3", "r3", "r3"])
  }

  @Test("Before the default implementation, and without it, nothing is linked")
  func unlinked() throws {
    var before: [Bool] = []
    let result = try migrate(try bench()) { steps in
      steps.before = { board, _ in before.append(board.value(forKey: "rider") == nil) }
    }
    #expect(result == Self.all && before == Array(repeating: true, count: 9))
    #expect(
      try migrate(try bench()) { $0.callsDefault = false }
        == "b1|\nb2|\nb3|\nb4|\nb5|\nb6|\nb7|\nb8|\nb9|")
  }

  @Test("What a policy sets after the default implementation stays, what it sets before does not, saved or not")
  func changed() throws {
    for saves in [false, true] {
      func set(_ name: String?, _ board: NSManagedObject, with manager: NSMigrationManager) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Rider")
        request.predicate = NSPredicate(format: "name == %@", name ?? "")
        board.setValue(try manager.destinationContext.fetch(request).first, forKey: "rider")
        if saves { try manager.destinationContext.save() }
      }
      func isNamed(_ name: String, _ board: NSManagedObject) -> Bool { board.value(forKey: "name") as? String == name }
      let after = try migrate(try bench()) { steps in
        steps.after = { board, manager in if isNamed("b2", board) { try set("r3", board, with: manager) } }
      }
      #expect(after == Self.all.replacingOccurrences(of: "b2|r1", with: "b2|r3"))
      let before = try migrate(try bench()) { steps in
        steps.before = { board, manager in if isNamed("b2", board) { try set("r3", board, with: manager) } }
      }
      #expect(before == Self.all)
      // It is among those that the next one gets.
      let other = try migrate(try bench()) { steps in
        steps.before = { board, manager in
          guard isNamed("b2", board) else { return }
          let last = NSFetchRequest<NSManagedObject>(entityName: "Board")
          last.predicate = NSPredicate(format: "name == 'b9'")
          try set("r1", try #require(try manager.destinationContext.fetch(last).first), with: manager)
        }
      }
      #expect(other == Self.all)
    }
  }

  @Test("To-many relationships take their objects from other owners, and leave what they don't have")
  func owners() throws {
    let bench = try bench()
    // The boards go to a rider each first; then the riders get those that they had.
    let result = try migrate(bench, linksRiders: true) { steps in
      steps.after = { board, manager in
        let riders = try manager.destinationContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Rider"))
        let name = board.value(forKey: "name") as? String == "b9" ? "r1" : "r2"
        board.setValue(riders.first { $0.value(forKey: "name") as? String == name }, forKey: "rider")
      }
    }
    #expect(result == Self.all)
  }

  @Test("A row that a policy has deleted by a batch request leads nowhere, and nothing leads to it")
  func deletedRows() throws {
    let result = try migrate(try bench()) { steps in
      steps.created = { manager in
        for (entity, name) in [("Rider", "r2"), ("Board", "b8")] {
          let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
          request.predicate = NSPredicate(format: "name == %@", name)
          try manager.destinationContext.execute(NSBatchDeleteRequest(fetchRequest: request))
        }
      }
    }
    #expect(result == "b1|r1\nb2|r1\nb3|r1\nb4|\nb5|\nb6|\nb7|r3\nb9|r3")
  }

  @Test("Many rows: all links are there, and the index that was left out meanwhile")
  func many() throws {
    let bench = try bench(6000)
    try bench.migrate(mappings(nil, linksRiders: true).reversed())
    let right = "count(*) FROM ZBOARD b JOIN ZRIDER r ON r.Z_PK = b.ZRIDER"
    #expect(
      try sqlite(
        bench.target,
        """
        SELECT \(right) WHERE substr(r.ZNAME, 2) + 0 = (substr(b.ZNAME, 2) + 2) / 3; PRAGMA integrity_check;
        SELECT count(*) FROM ZBOARD INDEXED BY ZBOARD_ZRIDER_INDEX WHERE ZRIDER = 7;
        SELECT count(*) FROM sqlite_master WHERE name LIKE 'OPENCOREDATA%'
        """) == "6000\nok\n3\n0")
  }

  @Test("Rows with gaps, alone, or without an object at the other end are linked as those that follow each other")
  func gaps() throws {
    let bench = try bench(6000)
    // Some keys are missing, some stand alone, and some boards have no rider.
    try sqlite(
      bench.bench.file,
      """
      DELETE FROM ZBOARD WHERE Z_PK % 50 = 0 OR Z_PK BETWEEN 900 AND 1000 AND Z_PK % 2 = 0;
      UPDATE ZBOARD SET ZRIDER = NULL WHERE Z_PK % 7 = 0; DELETE FROM ZRIDER WHERE Z_PK = 40;
      """)
    let before = try sqlite(bench.bench.file, Self.links)
    try bench.migrate(mappings(nil, linksRiders: true).reversed())
    #expect(try sqlite(bench.target, Self.links) == before)
  }

  @Test("Where the other end has subentities, each row has the entity of its object")
  func subentities() throws {
    let entities = """
      <entity name="Board"><attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="rider" optional="YES" maxCount="1" destinationEntity="Rider"/></entity>
      <entity name="Pro" parentEntity="Rider"/>
      <entity name="Rider"><attribute name="name" optional="YES" attributeType="String"/></entity>
      """
    let new = entities.replacingOccurrences(
      of: "parentEntity=\"Rider\"/>",
      with: "parentEntity=\"Rider\"><attribute name=\"age\" optional=\"YES\" attributeType=\"Integer 16\"/></entity>")
    // Every other rider is a professional.
    let bench = try MappingBench(
      old: entities, new: new,
      rows: """
        INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT, ZNAME) WITH n(k) AS
          (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 40) SELECT k, 2 + k % 2, 1, 'r' || k FROM n;
        INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZNAME, ZRIDER, Z2_RIDER) WITH n(k) AS
          (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 40) SELECT k, 1, 1, 'b' || k, k, 2 + k % 2 FROM n;
        UPDATE Z_PRIMARYKEY SET Z_MAX = 40;
        """)
    let name = ["name": "$source.name"]
    let ofAny = """
      FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", "rider", $source.rider)
      """
    try bench.migrate([
      entityMapping("R", from: "Rider", to: "Rider", attributes: name),
      entityMapping("P", from: "Pro", to: "Pro", attributes: name),
      entityMapping(
        "B", from: "Board", to: "Board", attributes: name,
        relationships: ["rider": ofAny]),
    ])
    #expect(
      try bench.found(
        """
        SELECT count(*), sum(r.Z_ENT = b.Z2_RIDER), sum(substr(r.ZNAME, 2) = substr(b.ZNAME, 2)) FROM ZBOARD b
          JOIN ZRIDER r ON r.Z_PK = b.ZRIDER
        """) == "40|40|40")
  }

  @Test(
    "A policy that looks in the first pass finds its links, and the index that was left out", arguments: [false, true])
  func firstPass(linksAtOnce: Bool) throws {
    final class Seen {
      var indexes: [String] = []
      var counts: [Int] = []
    }
    let (bench, seen) = (try bench(6000), Seen())
    let (model, steps) = (NSMappingModel(), FirstPassPolicy.Steps())
    steps.created = { number, board, manager in
      let context = manager.destinationContext
      let file = try #require(context.persistentStoreCoordinator?.persistentStores.first?.url)
      func indexes() throws -> String {
        try sqlite(file, "SELECT count(*) FROM sqlite_master WHERE name = 'ZBOARD_ZRIDER_INDEX'")
      }
      if linksAtOnce, number == 10 || number == 5900 {
        board.setValue(NSEntityDescription.insertNewObject(forEntityName: "Rider", into: context), forKey: "rider")
      }
      guard number == 5500 else { return }
      seen.indexes.append(try indexes())
      let request = NSFetchRequest<NSManagedObject>(entityName: "Board")
      request.predicate = NSPredicate(format: "rider == nil")
      seen.counts.append(try context.count(for: request))
      seen.indexes.append(try indexes())
    }
    model.entityMappings = [
      entityMapping(
        "A", from: "Rider", to: "Rider", attributes: ["name": "$source.name"],
        relationships: ["boards": instances("B", "boards")]),
      entityMapping(
        "B", from: "Board", to: "Board", policy: FirstPassPolicy.self, attributes: ["name": "$source.name"],
        relationships: ["rider": instances("A", "rider")]),
    ]
    let migration = bench.manager()
    migration.userInfo = ["steps": steps]
    try bench.migrate(model, migration)
    #expect(seen.indexes == (linksAtOnce ? ["1", "1"] : ["0", "1"]) && seen.counts == [linksAtOnce ? 5499 : 5500])
    #expect(
      try sqlite(
        bench.target,
        """
        SELECT count(*) FROM ZBOARD b JOIN ZRIDER r ON r.Z_PK = b.ZRIDER
          WHERE substr(r.ZNAME, 2) + 0 = (substr(b.ZNAME, 2) + 2) / 3; PRAGMA integrity_check;
        SELECT count(*) FROM ZBOARD INDEXED BY ZBOARD_ZRIDER_INDEX WHERE ZRIDER NOTNULL;
        SELECT count(*) FROM sqlite_master WHERE name LIKE 'OPENCOREDATA%'
        """) == "6000\nok\n6000\n0")
  }
}

/// Calls a closure with each new object and its number.
private final class FirstPassPolicy: NSEntityMigrationPolicy {
  final class Steps {
    var created: (Int, NSManagedObject, NSMigrationManager) throws -> Void = { _, _, _ in }
    var count = 0
  }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    guard let steps = manager.userInfo?["steps"] as? Steps else { return }
    steps.count += 1
    for object in manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]) {
      try steps.created(steps.count, object, manager)
    }
  }
}
