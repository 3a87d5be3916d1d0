import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSDeleteRule, propagatesDeletesAtEndOfEvent; NSRelationshipDescription, "Cardinality").

@Suite("Delete rules and the number of related objects")
struct DeleteRuleTests {
  private let folder: TemporaryFolder
  private let file: URL
  private let context: NSManagedObjectContext

  init() throws {
    folder = try TemporaryFolder()
    file = folder.file("Rules.sqlite")
    let model = try NSManagedObjectModel.load(
      xml: Data(
        """
        <model>
          <entity name="Owner">
            <attribute name="number" optional="YES" attributeType="Integer 64"/>
            <relationship name="loose" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Part" inverseName="looseOwner" inverseEntity="Part"/>
            <relationship name="owned" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Part" inverseName="owner" inverseEntity="Part"/>
            <relationship name="guards" optional="YES" toMany="YES" deletionRule="Deny" destinationEntity="Part" inverseName="guardOwner" inverseEntity="Part"/>
            <relationship name="ignored" optional="YES" toMany="YES" deletionRule="No Action" destinationEntity="Part" inverseName="ignoringOwner" inverseEntity="Part"/>
          </entity>
          <entity name="Part">
            <attribute name="number" optional="YES" attributeType="Integer 64"/>
            <relationship name="looseOwner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Owner" inverseName="loose" inverseEntity="Owner"/>
            <relationship name="owner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Owner" inverseName="owned" inverseEntity="Owner"/>
            <relationship name="guardOwner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Owner" inverseName="guards" inverseEntity="Owner"/>
            <relationship name="ignoringOwner" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Owner" inverseName="ignored" inverseEntity="Owner"/>
            <relationship name="next" optional="YES" maxCount="1" deletionRule="Cascade" destinationEntity="Part" inverseName="previous" inverseEntity="Part"/>
            <relationship name="previous" optional="YES" maxCount="1" deletionRule="Cascade" destinationEntity="Part" inverseName="next" inverseEntity="Part"/>
          </entity>
          <entity name="Team">
            <attribute name="number" optional="YES" attributeType="Integer 64"/>
            <relationship name="lead" maxCount="1" deletionRule="Nullify" destinationEntity="Player" inverseName="leads" inverseEntity="Player"/>
            <relationship name="players" optional="YES" toMany="YES" minCount="2" maxCount="3" deletionRule="Nullify" destinationEntity="Player" inverseName="team" inverseEntity="Player"/>
          </entity>
          <entity name="Player">
            <attribute name="number" optional="YES" attributeType="Integer 64"/>
            <relationship name="leads" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Team" inverseName="lead" inverseEntity="Team"/>
            <relationship name="team" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Team" inverseName="players" inverseEntity="Team"/>
          </entity>
        </model>
        """.utf8))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  private func make(_ entity: String, _ numbers: Int...) -> [NSManagedObject] {
    numbers.map { LinkedGraph.make(entity, $0, in: context) }
  }

  private func code(_ body: () throws -> Void) -> Int? {
    do {
      try body()
      return nil
    } catch {
      return (error as NSError).code
    }
  }

  @Test("Nullify, cascade and no action, at the end of the event or before the save", arguments: [true, false])
  func rules(atEndOfEvent: Bool) throws {
    try context.performAndWait {
      context.propagatesDeletesAtEndOfEvent = atEndOfEvent
      let (owner, parts) = (make("Owner", 1)[0], make("Part", 1, 2, 3))
      parts[0].setValue(owner, forKey: "looseOwner")
      parts[1].setValue(owner, forKey: "owner")
      parts[2].setValue(owner, forKey: "ignoringOwner")
      try context.save()
      context.delete(owner)
      #expect(!parts[1].isDeleted)
      context.processPendingChanges()
      #expect(parts[1].isDeleted == atEndOfEvent && parts[0].isUpdated == atEndOfEvent)
      try context.save()
    }
    // What no action leaves is the model's own choice.
    #expect(
      try sqlite(file, "SELECT ZNUMBER, ZLOOSEOWNER IS NULL, ZIGNORINGOWNER FROM ZPART ORDER BY 1") == "1|1|\n3|1|1")
  }

  @Test("Deny keeps an object as long as it leads to others that stay")
  func deny() throws {
    try context.performAndWait {
      let (owner, parts) = (make("Owner", 1)[0], make("Part", 1, 2))
      owner.setValue(NSSet(array: parts), forKey: "guards")
      try context.save()
      context.delete(owner)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSValidationRelationshipDeniedDeleteError)
      #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === owner)
      #expect((error?.userInfo[NSValidationValueErrorKey] as? NSSet)?.count == 2)
      context.delete(parts[0])
      #expect(code { try context.save() } == 1600)
      parts[1].setValue(nil, forKey: "guardOwner")
      try context.save()
    }
    #expect(try sqlite(file, "SELECT count(*) FROM ZOWNER") == "0")
    #expect(try sqlite(file, "SELECT group_concat(ZNUMBER) FROM ZPART") == "2")
  }

  @Test("A cascade goes along chains and circles, also over objects that were never saved")
  func circles() throws {
    try context.performAndWait {
      let parts = (0..<3000).map { LinkedGraph.make("Part", $0, in: context) }
      for (part, next) in zip(parts, parts.dropFirst() + parts.prefix(1)) { part.setValue(next, forKey: "next") }
      context.delete(parts[7])
      #expect(!context.hasChanges)
      let few = make("Part", 1, 2, 3)
      few[0].setValue(few[1], forKey: "next")
      few[1].setValue(few[2], forKey: "next")
      few[2].setValue(few[0], forKey: "next")
      try context.save()
      context.delete(few[1])
      try context.save()
    }
    #expect(try sqlite(file, "SELECT count(*) FROM ZPART") == "0")
  }

  @Test("A rollback brings back what a cascade deleted")
  func rollback() throws {
    try context.performAndWait {
      let (owner, part) = (make("Owner", 1)[0], make("Part", 1)[0])
      part.setValue(owner, forKey: "owner")
      try context.save()
      context.delete(owner)
      context.processPendingChanges()
      context.rollback()
      #expect(!part.isDeleted && LinkedGraph.numbers(part, "owner") == [1])
      #expect(LinkedGraph.numbers(owner, "owned") == [1])
    }
  }

  @Test("What is not read yet is read in few statements, not in one for each object")
  func batches() throws {
    try context.performAndWait {
      let owners = (0..<200).map { LinkedGraph.make("Owner", $0, in: context) }
      for (index, owner) in owners.enumerated() {
        for key in ["owner", "looseOwner"] {
          LinkedGraph.make("Part", index, in: context).setValue(owner, forKey: key)
        }
      }
      try context.save()
      context.reset()
      let store = try #require(context.persistentStoreCoordinator?.rowStores.first as? SQLiteStore)
      let owned = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner"))
      var reads = 0
      try store.connection().traceHandler = { if $0.hasPrefix("SELECT") { reads += 1 } }
      for owner in owned { context.delete(owner) }
      context.processPendingChanges()
      #expect(context.deletedObjects.count == 400 && reads < 20, "\(reads) statements")
      try context.save()
    }
    #expect(try sqlite(file, "SELECT count(*), count(ZLOOSEOWNER) FROM ZPART") == "200|0")
  }

  @Test("Too few, too many, and mandatory objects")
  func counts() throws {
    try context.performAndWait {
      let (team, players) = (make("Team", 1)[0], make("Player", 1, 2, 3, 4))
      #expect(code { try context.save() } == NSValidationMissingMandatoryPropertyError)
      team.setValue(players[0], forKey: "lead")
      try context.save()
      team.setValue(NSSet(array: [players[0]]), forKey: "players")
      #expect(code { try context.save() } == NSValidationRelationshipLacksMinimumCountError)
      team.setValue(NSSet(array: players), forKey: "players")
      #expect(code { try context.save() } == NSValidationRelationshipExceedsMaximumCountError)
      players[3].setValue(nil, forKey: "team")
      try context.save()
      context.delete(players[0])
      #expect(code { try context.save() } == NSValidationMissingMandatoryPropertyError)
      team.setValue(players[1], forKey: "lead")
      try context.save()
    }
    #expect(try sqlite(file, "SELECT ZLEAD FROM ZTEAM") == "2")
  }

  @Test("The objects of a new object are counted in its first save, whichever end was set", arguments: [false, true])
  func countsOfNew(fromOwner: Bool) throws {
    try context.performAndWait {
      let (team, players) = (make("Team", 1)[0], make("Player", 1, 2, 3, 4))
      team.setValue(players[0], forKey: "lead")
      func link(_ members: [NSManagedObject]) {
        if fromOwner { return team.setValue(NSSet(array: members), forKey: "players") }
        for player in players { player.setValue(members.contains(player) ? team : nil, forKey: "team") }
      }
      for (count, expected) in [
        (1, NSValidationRelationshipLacksMinimumCountError), (4, NSValidationRelationshipExceedsMaximumCountError),
      ] {
        link(Array(players.prefix(count)))
        #expect(code { try team.validateForInsert() } == expected)
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == expected)
        #expect((error?.userInfo[NSValidationValueErrorKey] as? NSSet)?.count == count)
      }
      link(Array(players.prefix(2)))
      try context.save()
    }
    #expect(try sqlite(file, "SELECT count(*) FROM ZPLAYER WHERE ZTEAM IS NOT NULL") == "2")
  }
}
