import Foundation
import TestSupport
import Testing

@testable import OpenCoreData
@testable import PersistentStores
@testable import PostgreSQLStore

// Rules (Apple documentation: NSPersistentHistoryChangeRequest, NSPersistentHistoryTransaction,
// NSPersistentHistoryChange, NSPersistentHistoryToken).

@Suite("The history is read and deleted by requests", .overTrackingStores)
struct HistoryRequestTests {
  private let folder: TemporaryFolder
  /// The address of a store in PostgreSQL; nil for a file.
  private let address: URL?
  private let model: NSManagedObjectModel
  private var file: URL { folder.file("Sessions.sqlite") }

  private static let xml = """
    <model>
      <entity name="Session">
        <attribute name="code" optional="YES" attributeType="String" preserveAfterDeletion="YES"/>
        <attribute name="day" optional="YES" attributeType="Date" preserveAfterDeletion="YES"/>
        <attribute name="place" optional="YES" attributeType="String"/>
        <attribute name="price" optional="YES" attributeType="Decimal" preserveAfterDeletion="YES"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="code"/></uniquenessConstraint></uniquenessConstraints>
      </entity>
    </model>
    """

  init() throws {
    folder = try TemporaryFolder()
    address = StoreKind.current == .server ? try ServerStores.newAddress() : nil
    model = try NSManagedObjectModel.load(xml: Data(Self.xml.utf8))
  }

  private func context(
    _ options: [AnyHashable: Any]? = [NSPersistentHistoryTrackingKey: true], author: String? = nil
  ) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: address == nil ? NSSQLiteStoreType : NSPostgreSQLStoreType, configurationName: nil,
      at: address ?? file, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.transactionAuthor = author
    return context
  }

  @discardableResult
  private func insert(_ codes: [String], into context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
    try context.performAndWait {
      let made = codes.map { code in
        let session = NSEntityDescription.insertNewObject(forEntityName: "Session", into: context)
        session.setValue(code, forKey: "code")
        return session
      }
      try context.save()
      return made.map(\.objectID)
    }
  }

  /// The number that a statement finds, which both databases understand.
  private func number(_ sql: String) throws -> String {
    guard let address else { return try sqlite(file, sql) }
    let connection = try ServerStores.newConnection(address)
    defer { connection.close() }
    return try connection.integer(sql, []).map(String.init) ?? ""
  }

  private func transactions(
    _ request: NSPersistentHistoryChangeRequest, _ context: NSManagedObjectContext
  ) throws -> [NSPersistentHistoryTransaction] {
    let result = try context.performAndWait { try context.execute(request) as? NSPersistentHistoryResult }
    return try #require(result?.result as? [NSPersistentHistoryTransaction])
  }

  private func all(_ context: NSManagedObjectContext) throws -> [NSPersistentHistoryTransaction] {
    try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?), context)
  }

  // MARK: Reading

  @Test("A transaction says who saved what, when and in which store")
  func transaction() throws {
    let context = try context(author: "import")
    context.name = "writer"
    let start = Date()
    let ids = try insert(["a", "b"], into: context)
    let found = try all(context)
    let one = try #require(found.first)
    #expect(found.count == 1 && one.transactionNumber == 1)
    #expect(one.author == "import" && one.contextName == "writer")
    #expect(one.processID == ProcessInfo.processInfo.processName && !one.bundleID.isEmpty)
    #expect(one.timestamp >= start && one.timestamp <= Date())
    #expect(one.storeID == context.persistentStoreCoordinator?.persistentStores.first?.identifier)
    let changes = try #require(one.changes)
    #expect(changes.map(\.changedObjectID) == ids && changes.allSatisfy { $0.changeType == .insert })
    #expect(changes.allSatisfy { $0.updatedProperties == nil && $0.tombstone == nil && $0.transaction === one })
  }

  @Test("An update names its properties, a deletion keeps the values that the model preserves")
  func changes() throws {
    let context = try context()
    let id = try #require(try insert(["a"], into: context).first)
    let day = Date(timeIntervalSinceReferenceDate: 86_400)
    try context.performAndWait {
      let session = try context.existingObject(with: id)
      session.setValue("Rincon", forKey: "place")
      session.setValue(day, forKey: "day")
      session.setValue(Decimal(string: "12.5"), forKey: "price")
      try context.save()
      context.delete(session)
      try context.save()
    }
    let found = try all(context).compactMap { $0.changes?.first }
    #expect(found.map(\.changeType) == [.insert, .update, .delete])
    #expect(Set(found[1].updatedProperties?.map(\.name) ?? []) == ["day", "place", "price"])
    let tombstone = try #require(found[2].tombstone)
    #expect(tombstone.keys.count == 3 && tombstone["code"] as? String == "a" && tombstone["day"] as? Date == day)
    #expect((tombstone["price"] as? NSDecimalNumber)?.decimalValue == Decimal(string: "12.5"))
  }

  @Test("Batch requests are transactions too")
  func batches() throws {
    let context = try context(author: "batch")
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try context.performAndWait {
      try context.execute(
        NSBatchInsertRequest(entityName: "Session", objects: [["code": "a"], ["code": "b"], ["code": "c"]]))
      try context.execute(
        NSBatchInsertRequest(entityName: "Session", objects: [["code": "c", "place": "Rincon"], ["code": "d"]]))
      let update = NSBatchUpdateRequest(entityName: "Session")
      update.predicate = NSPredicate(format: "code < 'c'")
      update.propertiesToUpdate = ["place": "Malibu"]
      try context.execute(update)
      let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Session")
      fetch.predicate = NSPredicate(format: "place == 'Malibu'")
      try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
      // One that finds nothing is none.
      try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
    }
    let found = try all(context)
    #expect(found.count == 4 && found.allSatisfy { $0.author == "batch" })
    let kinds = found.map { ($0.changes ?? []).map(\.changeType) }
    #expect(kinds == [[.insert, .insert, .insert], [.insert, .update], [.update, .update], [.delete, .delete]])
    #expect(found[2].changes?.first?.updatedProperties?.map(\.name) == ["place"])
    #expect(found[3].changes?.compactMap { $0.tombstone?["code"] as? String } == ["a", "b"])
    guard address == nil else { return }
    #expect(
      try sqlite(
        file,
        "SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_ENT = 16001 AND Z_MAX = (SELECT max(Z_PK) FROM ACHANGE) OR "
          + "Z_ENT = 16002 AND Z_MAX = 4") == "2")
  }

  @Test("A token is kept as data, and what comes after it is read")
  func token() throws {
    let context = try context()
    try insert(["a"], into: context)
    let coordinator = try #require(context.persistentStoreCoordinator)
    let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
    let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    let kept = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data))
    #expect(kept == token)
    #expect(try transactions(.fetchHistory(after: kept), context).isEmpty)
    let date = Date()
    try insert(["b"], into: context)
    #expect(try transactions(.fetchHistory(after: kept), context).map(\.transactionNumber) == [2])
    #expect(try transactions(.fetchHistory(after: date), context).map(\.transactionNumber) == [2])
    #expect(try transactions(.fetchHistory(after: try all(context).first), context).map(\.transactionNumber) == [2])
  }

  @Test("A fetch request chooses by author, and by object")
  func fetchRequests() throws {
    let (mine, other) = (try context(author: "app"), try context(author: "widget"))
    let id = try #require(try insert(["a"], into: mine).first)
    try insert(["b", "c"], into: other)
    let others = try #require(NSPersistentHistoryTransaction.fetchRequest)
    others.predicate = NSPredicate(format: "author != %@", "app")
    #expect(try transactions(.fetchHistory(withFetch: others), mine).map(\.author) == ["widget"])
    let changes = try #require(NSPersistentHistoryChange.fetchRequest)
    changes.predicate = NSPredicate(format: "changedObjectID == %@", id)
    let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: changes)
    #expect(try transactions(request, mine).map(\.transactionNumber) == [1])
    request.resultType = .count
    let count = try mine.performAndWait { try mine.execute(request) as? NSPersistentHistoryResult }
    #expect(count?.result as? Int == 1)
  }

  @Test("Transactions are chosen by each of their keys, and changes by the entity and the number; others are errors")
  func keys() throws {
    let context = try context(author: "app")
    try insert(["a"], into: context)
    try insert(["b", "c"], into: context)
    let found = try all(context)
    let second = try #require(found.last)
    let description = try #require(NSPersistentHistoryTransaction.entityDescription(with: context))
    let request = NSFetchRequest<NSFetchRequestResult>()
    request.entity = description
    for (key, value): (String, Any) in [
      ("transactionNumber", second.transactionNumber), ("token", second.transactionNumber),
      ("timestamp", second.timestamp),
    ] {
      #expect(description.attributesByName[key] != nil)
      request.predicate = NSPredicate(format: "%K == %@", key, value)
      #expect(try transactions(.fetchHistory(withFetch: request), context).map(\.transactionNumber) == [2], "\(key)")
    }
    for key in ["author", "bundleID", "processID"] {
      request.predicate = NSPredicate(format: "%K == %@", key, second.values[key] as Any)
      #expect(try transactions(.fetchHistory(withFetch: request), context).count == 2, "\(key)")
    }
    let changes = try #require(NSPersistentHistoryChange.fetchRequest)
    let entity = try #require(model.entitiesByName["Session"])
    let number = try #require(second.changes?.last).changeID
    for (format, value, count): (String, Any, Int) in [
      ("changedEntity == %@", entity, 3), ("changedEntity != %@", "Session", 0), ("changedID == %@", number, 1),
      ("changeType == %@", NSPersistentHistoryChangeType.insert.rawValue, 3),
    ] {
      changes.predicate = NSPredicate(format: format, value)
      let history = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: changes)
      #expect(try transactions(history, context).flatMap { $0.changes ?? [] }.count == count, "\(format)")
    }
    for (request, key) in [(request, "writer"), (changes, "changedAttribute")] {
      request.predicate = NSPredicate(format: "%K == 1", key)
      let error = #expect(throws: NSError.self) { try transactions(.fetchHistory(withFetch: request), context) }
      #expect(error?.code == NSCoreDataError && error?.localizedDescription.contains(key) == true)
    }
  }

  @Test("Another coordinator's changes are merged from the history")
  func merging() throws {
    let (mine, other) = (try context(), try context())
    let id = try #require(try insert(["a"], into: mine).first)
    let token = mine.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
    try mine.performAndWait { () throws in #expect(try mine.existingObject(with: id).value(forKey: "place") == nil) }
    try other.performAndWait {
      let copy = try #require(
        other.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: id.uriRepresentation()))
      try other.existingObject(with: copy).setValue("Rincon", forKey: "place")
      try other.save()
    }
    let found = try transactions(.fetchHistory(after: token), mine)
    try mine.performAndWait { () throws in
      for transaction in found { mine.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
      #expect(try mine.existingObject(with: id).value(forKey: "place") as? String == "Rincon")
    }
  }

  @Test("A sorted request for changes sorts those of all transactions")
  func sortedChanges() throws {
    let context = try context()
    let ids = try insert(["a", "b"], into: context)
    try context.performAndWait {
      context.delete(try context.existingObject(with: ids[0]))
      try context.existingObject(with: ids[1]).setValue("Rincon", forKey: "place")
      try context.save()
    }
    let changes = try #require(NSPersistentHistoryChange.fetchRequest)
    changes.sortDescriptors = [NSSortDescriptor(key: "changeType", ascending: false)]
    let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: changes)
    request.resultType = .changesOnly
    let result = try context.performAndWait { try context.execute(request) as? NSPersistentHistoryResult }
    let found = try #require(result?.result as? [NSPersistentHistoryChange])
    #expect(found.map(\.changeType) == [.delete, .update, .insert, .insert])
    #expect(found.map(\.changedObjectID) == [ids[0], ids[1], ids[0], ids[1]])
  }

  // MARK: Deleting

  @Test("What is deleted is gone, and a token of before is refused as expired")
  func deletion() throws {
    let context = try context()
    for code in ["a", "b", "c"] { try insert([code], into: context) }
    let found = try all(context)
    _ = try context.performAndWait {
      try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: found[2]))
    }
    #expect(try all(context).map(\.transactionNumber) == [3])
    #expect(try number("SELECT count(*) FROM ACHANGE") == "1")
    #expect(try transactions(.fetchHistory(after: found[1]), context).map(\.transactionNumber) == [3])
    let error = #expect(throws: NSError.self) { try transactions(.fetchHistory(after: found[0]), context) }
    #expect(error?.code == NSPersistentHistoryTokenExpiredError)
    _ = try context.performAndWait {
      try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date()))
    }
    #expect(try all(context).isEmpty)
    // The numbers go on.
    try insert(["d"], into: context)
    #expect(try all(context).map(\.transactionNumber) == [4])
  }

  // MARK: Stores

  @Test(
    "The tables are those of a store that Apple's framework wrote", .sqliteOnly("It compares statements of SQLite"))
  func tables() throws {
    _ = try context()
    let sql = try sqlite(file, "SELECT sql FROM sqlite_master WHERE name LIKE 'ACHANGE' OR name LIKE 'ATRANSACTION%' ")
    #expect(
      sql.contains(
        "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, "
          + "ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB, "
          + "ZTOMBSTONE1 BLOB, ZTOMBSTONE2 BLOB )"))
    #expect(
      try sqlite(file, "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
        == "16001|CHANGE|0|0\n16002|TRANSACTION|0|0\n16003|TRANSACTIONSTRING|0|0")
  }

  @Test("A store with a history continues it without the option, and is refused where the option is off")
  func withoutOption() throws {
    try insert(["a"], into: try context())
    let other = try context(nil)
    try insert(["b"], into: other)
    #expect(try all(other).map(\.transactionNumber) == [1, 2])
    let error = #expect(throws: NSError.self) { try context([NSPersistentHistoryTrackingKey: false]) }
    #expect(error?.code == NSPersistentStoreOpenError)
    let reader = try context([NSReadOnlyPersistentStoreOption: true, NSPersistentHistoryTrackingKey: true])
    #expect(try all(reader).map(\.transactionNumber) == [1, 2])
  }

  @Test("A store without a history has none to read, and keeps none")
  func untracked() throws {
    let context = try context(nil)
    try insert(["a"], into: context)
    let error = #expect(throws: NSError.self) { try all(context) }
    #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
    #expect(context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil) == nil)
    let tables =
      address == nil ? "sqlite_master WHERE name" : "pg_tables WHERE schemaname = current_schema() AND tablename"
    #expect(try number("SELECT count(*) FROM \(tables) LIKE 'ATRANS%'") == "0")
  }

  @Test("A save that fails leaves no transaction")
  func failure() throws {
    let context = try context()
    try insert(["a"], into: context)
    #expect(throws: NSError.self) { try insert(["b", "a"], into: context) }
    #expect(try all(context).map(\.transactionNumber) == [1])
    #expect(try number("SELECT count(*) FROM ACHANGE") == "1")
  }
}
