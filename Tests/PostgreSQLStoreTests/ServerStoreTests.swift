import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import PostgreSQLStore

// Rule (docs/decisions/0039): the tables have Apple's names, every value comes back bit for bit, and what PostgreSQL
// can't keep is refused with the object.

@Suite("A store in PostgreSQL", .enabled(if: PostgreSQLServer.isThere, serverComment))
struct ServerStoreTests {
  private let store: ServerStore
  init() throws { store = try ServerStore() }

  @Test("The tables have Apple's names, and a view for each entity has plain ones")
  func names() throws {
    let coordinator = try store.coordinator()
    let context = ServerStore.context(coordinator)
    try context.performAndWait {
      let session = NSEntityDescription.insertNewObject(forEntityName: "Session", into: context)
      session.setValue("Rincon", forKey: "place")
      session.setValue(true, forKey: "flag")
      session.setValue(Date(timeIntervalSinceReferenceDate: 0.25), forKey: "date")
      try context.save()
    }
    #expect(
      try store.psql(#"SELECT "Z_PK", "Z_ENT", "Z_OPT", "ZPLACE", "ZDATE" FROM "ZSESSION""#) == "1|1|1|Rincon|0.25")
    #expect(
      try store.psql("SELECT id, entity, place, flag, date AT TIME ZONE 'UTC' FROM session")
        == "1|Session|Rincon|t|2001-01-01 00:00:00.25")
    #expect(try store.psql(#"SELECT "Z_NAME", "Z_MAX" FROM "Z_PRIMARYKEY""#) == "Session|1\nSpot|0")
    #expect(try store.psql(#"SELECT length("Z_UUID") FROM "Z_METADATA""#) == "36")
  }

  @Test("Every value comes back bit for bit, in packed rows and in single ones", arguments: [true, false])
  func values(isPacked: Bool) throws {
    let coordinator = try store.coordinator()
    let entity = try #require(store.model.entitiesByName["Session"])
    let rows: [[String: StoredValue]] = [
      [
        "amount": .decimal(try #require(Decimal(string: "-12345678901234567890.0123456789"))),
        "data": .blob(Data([0, 1, 255])), "date": .real(-0x1.fffffffffffffp+37), "flag": .integer(1),
        "height": .real(.leastNonzeroMagnitude), "id": .blob(Data((0..<16).map { UInt8($0) })), "large": .integer(.min),
        "middle": .integer(-2_147_483_648), "place": .text("e\u{301}é\u{1F3C4}\u{FFFF}"), "rating": .integer(-32768),
        "url": .text("https://a/b?c#d"),
      ],
      [
        "amount": .decimal(0), "data": .blob(Data()), "date": .real(0.1), "flag": .integer(0),
        "height": .real(-.infinity),
        "large": .integer(.max), "middle": .integer(.max >> 32), "place": .text(""), "rating": .integer(32767),
      ],
      [:],
    ]
    let context = ServerStore.context(coordinator)
    try context.performAndWait {
      if isPacked {
        var batch = ObjectBatch(entity: entity)
        for row in rows {
          batch.appendRow()
          for (name, value) in row {
            batch.setValue(value, row: batch.count - 1, slot: try #require(entity.slot(named: name)))
          }
        }
        context.insert(batch)
      } else {
        for row in rows {
          let object = NSManagedObject(entity: entity, insertInto: context)
          for (name, value) in row {
            object.setValue(entity.attributesByName[name]?.foundationValue(from: value), forKey: name)
          }
        }
      }
      try context.save()
    }
    let kept = try #require(coordinator.rowStores.first)
    let found = try kept.read(nil) { try $0.rows(FetchQuery(entity: entity)) }
    #expect(found.map(\.version) == [1, 1, 1])
    for (row, expected) in zip(found, rows) {
      for (slot, attribute) in entity.attributeSlots.enumerated() {
        #expect(row.values[slot] == expected[attribute.name] ?? .null, "\(attribute.name)")
      }
    }
  }

  @Test("Texts with NUL are refused by object, and nothing is saved")
  func refusedValues() throws {
    let coordinator = try store.coordinator()
    let entity = try #require(store.model.entitiesByName["Session"])
    let place = try #require(entity.slot(named: "place"))
    let context = ServerStore.context(coordinator)
    let error = context.performAndWait {
      var batch = ObjectBatch(entity: entity)
      for number in 0..<5 {
        batch.appendRow()
        batch.setText(number % 2 == 1 ? "a\0b" : "good", at: place)
      }
      context.insert(batch)
      return #expect(throws: NSError.self) { try context.save() }
    }
    let failed = error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID] ?? []
    #expect(failed.count == 2)
    #expect(try store.psql(#"SELECT count(*) FROM "ZSESSION""#) == "0")
    try ServerStore.save(["after"], coordinator)
    #expect(try store.psql(#"SELECT "Z_PK", "ZPLACE" FROM "ZSESSION""#) == "1|after")
  }

  @Test("Two processes take keys that are not the same, and neither waits for the other")
  func keys() throws {
    let coordinators = [try store.coordinator(), try store.coordinator()]
    for round in 0..<3 { for one in coordinators { try ServerStore.save(["\(round)"], one) } }
    #expect(
      try store.psql(#"SELECT string_agg("Z_PK"::text, ' ' ORDER BY "Z_PK") FROM "ZSESSION""#)
        == "1 2 3 65537 65538 65539")
  }

  @Test("Keys that another program has taken without the sequence are left out")
  func foreignKeys() throws {
    let coordinator = try store.coordinator()
    try ServerStore.save(["first"], coordinator)
    _ = try store.psql(#"INSERT INTO "ZSESSION" ("Z_PK", "Z_ENT", "Z_OPT") VALUES (2, 1, 1), (70000, 1, 1)"#)
    try ServerStore.save(["second"], coordinator)
    try ServerStore.save(["third"], try store.coordinator())
    #expect(
      try store.psql(
        #"SELECT string_agg("Z_PK"::text, ' ' ORDER BY "Z_PK") FROM "ZSESSION" WHERE "ZPLACE" IS NOT NULL"#)
        == "1 3 70001")
  }

  @Test("A row can't lead to one that is not there, whatever program writes it")
  func danglingReferences() throws {
    let coordinator = try store.coordinator()
    let error = #expect(throws: ProgramFailure.self) {
      try store.psql(#"INSERT INTO "ZSESSION" ("Z_PK", "Z_ENT", "Z_OPT", "ZSPOT") VALUES (9, 1, 1, 77)"#)
    }
    #expect(error?.description.contains("foreign key") == true)
    let context = ServerStore.context(coordinator)
    try context.performAndWait {
      let session = NSEntityDescription.insertNewObject(forEntityName: "Session", into: context)
      let spot = NSEntityDescription.insertNewObject(forEntityName: "Spot", into: context)
      session.setValue(spot, forKey: "spot")
      try context.save()
    }
    let deletion = #expect(throws: ProgramFailure.self) { try store.psql(#"DELETE FROM "ZSPOT""#) }
    #expect(deletion?.description.contains("foreign key") == true)
  }

  @Test("A second opening finds the store; another model and a damaged table are refused")
  func opening() throws {
    let uuid = try store.coordinator().persistentStores.first?.identifier
    #expect(try store.coordinator().persistentStores.first?.identifier == uuid)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSPostgreSQLStoreType, at: store.address)
    #expect(metadata[NSStoreUUIDKey] as? String == uuid && metadata[NSStoreTypeKey] as? String == "PostgreSQL")
    let other = NSPersistentStoreCoordinator(
      managedObjectModel: try NSManagedObjectModel.load(
        xml: Data(ServerStore.xml.replacingOccurrences(of: "\"middle\"", with: "\"median\"").utf8)))
    let error = #expect(throws: NSError.self) {
      try other.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: store.address)
    }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    _ = try store.psql(#"ALTER TABLE "ZSESSION" DROP COLUMN "ZHEIGHT" CASCADE"#)
    let damaged = #expect(throws: NSError.self) { try store.coordinator() }
    #expect(damaged?.code == NSPersistentStoreOpenError)
    #expect(damaged?.localizedDescription.contains("ZSESSION.ZHEIGHT") == true)
  }

  @Test("A text column with another collation is refused, and the statement of the message repairs it")
  func collation() throws {
    try ServerStore.save(["a", "B"], try store.coordinator())
    _ = try store.psql(
      #"DROP VIEW session; ALTER TABLE "ZSESSION" ALTER COLUMN "ZPLACE" TYPE text COLLATE "en-x-icu""#)
    var message = ""
    for isReadOnly in [true, false] {
      let error = #expect(throws: NSError.self) {
        try store.coordinator(options: [NSReadOnlyPersistentStoreOption: isReadOnly])
      }
      #expect(error?.code == NSPersistentStoreOpenError)
      message = error?.localizedDescription ?? ""
      #expect(message.contains(#"the column ZSESSION.ZPLACE with the collation "en-x-icu""#), "\(message)")
    }
    let rest = try #require(message.components(separatedBy: "Change it back: ").last)
    _ = try store.psql(rest.components(separatedBy: ". ")[0])
    let coordinator = try store.coordinator()
    let context = ServerStore.context(coordinator)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
    request.sortDescriptors = [NSSortDescriptor(key: "place", ascending: true)]
    let places = try context.performAndWait {
      try context.fetch(request).map { $0.value(forKey: "place") as? String }
    }
    #expect(places == ["B", "a"])
  }

  @Test("A store that is opened for reading only is not changed")
  func readOnly() throws {
    try ServerStore.save(["kept"], try store.coordinator())
    let coordinator = try store.coordinator(options: [NSReadOnlyPersistentStoreOption: true])
    let error = #expect(throws: NSError.self) { try ServerStore.save(["new"], coordinator) }
    #expect(error?.code == NSPersistentStoreSaveError)
    #expect(try store.psql(#"SELECT "ZPLACE" FROM "ZSESSION""#) == "kept")
  }

  @Test("A destroyed store is gone, and a new one can be made")
  func destruction() throws {
    let coordinator = try store.coordinator()
    try ServerStore.save(["old"], coordinator)
    for one in coordinator.persistentStores { try coordinator.remove(one) }
    try coordinator.destroyPersistentStore(at: store.address, ofType: NSPostgreSQLStoreType)
    #expect(try store.psql("SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace") == "0")
    try ServerStore.save(["new"], try store.coordinator())
    #expect(try store.psql(#"SELECT "Z_PK", "ZPLACE" FROM "ZSESSION""#) == "1|new")
  }

  @Test("A lost connection is opened again")
  func lostConnection() throws {
    let coordinator = try store.coordinator()
    try ServerStore.save(["before"], coordinator)
    let kept = try #require(coordinator.rowStores.first as? PostgreSQLStore)
    let number = try kept.access("Asking") { try $0.integer("SELECT pg_backend_pid()", []) ?? 0 }
    // It waits for the end of the process.
    _ = try store.psql("SELECT pg_terminate_backend(\(number), 10000)")
    try ServerStore.save(["after"], coordinator)
    #expect(try store.psql(#"SELECT count(*) FROM "ZSESSION" WHERE "ZPLACE" = 'after'"#) == "1")
  }

  @Test("An error on a connection that the server has ended says why")
  func endedConnection() throws {
    let library = try PostgreSQLLibrary.load()
    let connection = try PostgreSQLConnection(
      PostgreSQLAddress(store.address, library), library, timeoutSeconds: 10)
    let number = try connection.integer("SELECT pg_backend_pid()", []) ?? 0
    _ = try store.psql("SELECT pg_terminate_backend(\(number), 10000)")
    // Its last message comes while nothing is asked.
    #expect(!connection.isStillOpen)
    let error = #expect(throws: PostgreSQLError.self) { try connection.integer("SELECT 1", []) }
    #expect(error?.message.contains("terminating connection") == true, "\(String(describing: error))")
  }
}
