import Foundation
import TestSupport
import Testing

@testable import OpenCoreData

// Rules (Apple's Core Data Model Versioning and Data Migration Programming Guide, "Three-Stage Migration"; Apple
// documentation: NSEntityMigrationPolicy, performCustomValidation(forMapping:manager:)): until the end objects may break the
// model's rules. What is in the store then decides, also what others have written.

/// Calls a closure in each of the passes, and at the end of the first one.
private final class WritingPolicy: NSEntityMigrationPolicy {
  final class Steps {
    var made: (NSManagedObject, NSMigrationManager) throws -> Void = { _, _ in }
    var allMade: (NSMigrationManager) throws -> Void = { _ in }
    var linked: (NSManagedObject) -> Void = { _ in }
    var last: (NSMigrationManager) throws -> Void = { _ in }
  }

  private func steps(_ manager: NSMigrationManager) -> Steps? { manager.userInfo?["steps"] as? Steps }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    for object in made { try steps(manager)?.made(object, manager) }
  }

  override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    try steps(manager)?.allMade(manager)
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws { steps(manager)?.linked(dInstance) }

  override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    try steps(manager)?.last(manager)
  }
}

@Suite("The rules of the model are checked in what a migration leaves in the store")
struct MigrationRuleTests {
  private static let old = """
    <entity name="Board"><attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="size" optional="YES" attributeType="Integer 16"/></entity>
    """
  private static let new = """
    <entity name="Board"><attribute name="name" attributeType="String"/>
      <attribute name="price" optional="YES" attributeType="Decimal" maxValueString="9.5"/>
      <attribute name="size" optional="YES" attributeType="Integer 16" maxValueString="9"/></entity>
    """

  /// Migrates boards `b1` to `b<count>` of the size 5.
  private func migrate(_ count: Int = 3, _ change: (WritingPolicy.Steps) -> Void) throws -> String {
    let bench = try MappingBench(
      old: Self.old, new: Self.new,
      rows: """
        INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZNAME, ZSIZE) WITH n(k) AS
          (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < \(count)) SELECT k, 1, 1, 'b' || k, 5 FROM n;
        UPDATE Z_PRIMARYKEY SET Z_MAX = \(count);
        """)
    let (model, steps, manager) = (NSMappingModel(), WritingPolicy.Steps(), bench.manager())
    model.entityMappings = [
      entityMapping(
        "B", from: "Board", to: "Board", policy: WritingPolicy.self,
        attributes: ["name": "$source.name", "size": "$source.size"])
    ]
    change(steps)
    manager.userInfo = ["steps": steps]
    try bench.migrate(model, manager)
    return try bench.found("SELECT count(*), sum(ZSIZE), count(ZPRICE) FROM ZBOARD")
  }

  private func isNamed(_ name: String, _ board: NSManagedObject) -> Bool {
    board.value(forKey: "name") as? String == name
  }

  private func boards(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Board"))
  }

  @Test("Valid rows are let through, whatever pass has changed them")
  func valid() throws {
    #expect(try migrate { _ in } == "3|15|0")
    #expect(
      try migrate {
        $0.made = { board, _ in board.setValue(6, forKey: "size") }
        $0.linked = { board in board.setValue(7, forKey: "size") }
        $0.last = { manager in
          for board in try boards(manager.destinationContext) {
            board.setValue(8, forKey: "size")
            board.setValue(NSDecimalNumber(string: "9.5"), forKey: "price")
          }
        }
      } == "3|24|3")
  }

  @Test("A value that a later pass replaces is not an error")
  func repaired() throws {
    #expect(
      try migrate(2_500) {
        $0.made = { board, _ in if isNamed("b7", board) { board.setValue(70, forKey: "size") } }
        $0.linked = { board in if isNamed("b7", board) { board.setValue(5, forKey: "size") } }
      } == "2500|12500|0")
  }

  @Test("A value that breaks a rule is an error, whichever pass has set it", arguments: 0...3)
  func broken(pass: Int) throws {
    let error = #expect(throws: NSError.self) {
      try migrate(2_500) { steps in
        switch pass {
        case 0: steps.made = { board, _ in if isNamed("b2100", board) { board.setValue(10, forKey: "size") } }
        case 1: steps.linked = { board in if isNamed("b2100", board) { board.setValue(nil, forKey: "name") } }
        case 2:
          steps.made = { board, _ in
            if isNamed("b3", board) { board.setValue(NSDecimalNumber(string: "9.6"), forKey: "price") }
          }
        default: steps.last = { try boards($0.destinationContext).first?.setValue(10, forKey: "size") }
        }
      }
    }
    let code = [NSValidationNumberTooLargeError, NSValidationMissingMandatoryPropertyError][pass == 1 ? 1 : 0]
    #expect(error?.code == code, "\(error?.localizedDescription ?? "")")
  }

  @Test("So it is in rows of batch requests, of a save of the policy's, and of another context", arguments: 0...3)
  func others(way: Int) throws {
    let error = #expect(throws: NSError.self) {
      try migrate { steps in
        switch way {
        case 0:
          steps.allMade = { manager in
            let request = NSBatchUpdateRequest(entityName: "Board")
            request.propertiesToUpdate = ["size": 10]
            request.predicate = NSPredicate(format: "name == 'b2'")
            try manager.destinationContext.execute(request)
          }
        case 1:
          steps.allMade = { manager in
            let coordinator = try #require(manager.destinationContext.persistentStoreCoordinator)
            let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            other.persistentStoreCoordinator = coordinator
            let request = NSBatchUpdateRequest(entityName: "Board")
            request.propertiesToUpdate = ["size": 10]
            _ = try other.performAndWait { try other.execute(request) }
          }
        case 2:
          steps.made = { board, manager in
            if isNamed("b2", board) { board.setValue(10, forKey: "size") }
            try manager.destinationContext.save()
          }
        default:
          steps.last = { manager in
            try boards(manager.destinationContext).first?.setValue(10, forKey: "size")
            try manager.destinationContext.save()
          }
        }
      }
    }
    let codes = [NSValidationNumberTooLargeError, NSValidationMultipleErrorsError]
    #expect(error.map { codes.contains($0.code) } == true, "\(error?.localizedDescription ?? "")")
  }
}
