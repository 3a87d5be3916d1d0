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
}
