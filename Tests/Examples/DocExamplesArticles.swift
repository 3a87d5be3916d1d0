import Foundation
import Observation
import OpenCoreData
import StoreInspection
import SurfJournal

typealias NSExpression = OpenCoreData.NSExpression
typealias NSComparisonPredicate = OpenCoreData.NSComparisonPredicate

/// The examples in the articles of OpenCoreData and StoreInspection, compiled. A change to an example changes both
/// places.
private enum DocExamplesArticles {
  static func overview() async throws {
    let container = NSPersistentContainer(name: "SurfJournalModel")
    container.loadPersistentStores { _, error in
      if let error { print(error.localizedDescription) }
    }
    let context = container.newBackgroundContext()
    try await context.perform {
      let entry = JournalEntry(context: context)
      entry.location = "Ho'okipa"
      entry.rating = 4
      try context.save()
    }
  }

  // MARK: Following changes

  static func following(context: NSManagedObjectContext, entry: JournalEntry) async {
    for await change in entry.changes {
      if case .updated(let keys) = change, keys.contains("rating") { print("rated") }
    }
    context.supportsObservation = true
    withObservationTracking {
      print(entry.location ?? "")
    } onChange: {
      print("the location is about to change")
    }
  }

  // MARK: Undoing changes

  static func undoing(container: NSPersistentContainer) {
    let context = container.viewContext
    context.undoManager = UndoManager()
    let entry = JournalEntry(context: context)
    entry.location = "Rincon"
    context.undo()  // the entry is not in the context any more
    context.redo()  // the same object is inserted again
  }

  static func undoGroups(context: NSManagedObjectContext, entry: JournalEntry) {
    context.undoManager?.groupsByEvent = false
    context.undoManager?.beginUndoGrouping()
    entry.location = "Rincon"
    entry.rating = 5
    context.undoManager?.endUndoGrouping()
    context.undoManager?.setActionName("Edit")
    context.undo()  // both values
    context.processPendingChanges()
    context.undoManager?.disableUndoRegistration()
    entry.rating = 3
    context.processPendingChanges()
    context.undoManager?.enableUndoRegistration()
  }

  // MARK: Inserting many objects at once

  struct Session {
    var date: Date
    var place: String
  }

  static func bulkInsertion(
    sessions: [Session], container: NSPersistentContainer, context: NSManagedObjectContext
  ) throws {
    guard let entity = container.managedObjectModel.entitiesByName["JournalEntry"],
      let dateSlot = entity.slot(named: "date"), let locationSlot = entity.slot(named: "location")
    else { return }
    var batch = ObjectBatch(entity: entity, rowCapacity: 5000)
    for session in sessions {
      batch.appendRow()
      batch.setReal(session.date.timeIntervalSinceReferenceDate, at: dateSlot)
      batch.setText(session.place, at: locationSlot)
    }
    try context.performAndWait {
      context.insert(batch)
      try context.save()
    }
  }

  static func notificationContents(context: NSManagedObjectContext) {
    context.changeNotificationContents = .objectIDs
  }

  // MARK: What a fetch reads, and what it keeps

  static func walkObjects(context: NSManagedObjectContext) throws {
    try context.walkObjects(JournalEntry.fetchRequest()) { entries in
      for entry in entries where (entry.rating?.intValue ?? 0) > 5 { entry.rating = 5 }
      try context.save()
      return true
    }
  }

  static func asynchronousFetch(context: NSManagedObjectContext) throws {
    let request = NSAsynchronousFetchRequest(fetchRequest: JournalEntry.fetchRequest()) {
      (result: NSAsynchronousFetchResult<JournalEntry>) in
      print(result.finalResult?.count ?? 0, result.operationError as Any)
    }
    try context.performAndWait {
      let result = try context.execute(request) as? NSAsynchronousFetchResult<JournalEntry>
      result?.progress?.cancel()
    }
  }

  static func linkedBatch(
    spotBatch: ObjectBatch, sessionBatch: inout ObjectBatch, sessions: [(spot: Int, rating: Int)],
    spotRelationship: NSRelationshipDescription, context: NSManagedObjectContext
  ) {
    let spots = context.insert(spotBatch)
    for session in sessions {
      sessionBatch.appendRow()
      sessionBatch.setObject(spots[session.spot], for: spotRelationship)
    }
    context.insert(sessionBatch)
  }

  static func batchDelete(
    old: NSFetchRequest<any NSFetchRequestResult>, context: NSManagedObjectContext, viewContext: NSManagedObjectContext
  ) throws {
    let request = NSBatchDeleteRequest(fetchRequest: old)
    request.resultType = .resultTypeObjectIDs
    let result = try context.execute(request) as? NSBatchDeleteResult
    if let ids = result?.result as? [NSManagedObjectID] {
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectIDsKey: ids], into: [viewContext])
    }
  }

  // MARK: Migrating

  static func migratingContainer() {
    let container = NSPersistentContainer(name: "SurfJournalModel")
    container.loadPersistentStores { _, error in
      if let error { print(error.localizedDescription) }
    }
  }

  static func migratingCoordinator(coordinator: NSPersistentStoreCoordinator, url: URL) throws {
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true,
        NSInferMappingModelAutomaticallyOption: true,
      ])
  }

  static func inferredMapping(old: NSManagedObjectModel, new: NSManagedObjectModel) throws {
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    for entity in mapping.entityMappings { print(entity.name) }  // IEM_Transform_JournalEntry, …
  }

  static func mappingModelFile(bundle: Bundle, old: NSManagedObjectModel, new: NSManagedObjectModel) -> NSMappingModel?
  {
    let mapping = NSMappingModel(from: [bundle], forSourceModel: old, destinationModel: new)
    return mapping
  }

  static func entityMapping() -> NSEntityMapping {
    let name = NSPropertyMapping()
    name.name = "title"
    name.valueExpression = NSExpression(format: "uppercase($source.name)")
    let riders = NSPropertyMapping()
    riders.name = "riders"
    riders.valueExpression = NSExpression(
      format: "FUNCTION($manager, %@, 'RiderToSurfer', $source.riders)",
      "destinationInstancesForEntityMappingNamed:sourceInstances:")
    let spot = NSEntityMapping()
    spot.name = "SpotToBeach"
    spot.mappingType = .customEntityMappingType
    (spot.sourceEntityName, spot.destinationEntityName) = ("Spot", "Beach")
    (spot.attributeMappings, spot.relationshipMappings) = ([name], [riders])
    return spot
  }

  static func stages(
    first: NSManagedObjectModelReference, second: NSManagedObjectModelReference,
    description: NSPersistentStoreDescription
  ) {
    let stage = NSCustomMigrationStage(migratingFrom: first, to: second)
    stage.didMigrateHandler = { manager, _ in
      guard let context = manager.container?.newBackgroundContext() else { return }
      try context.performAndWait {
        for rider in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Rider")) {
          rider.setValue("unknown", forKey: "country")
        }
        try context.save()
      }
    }
    description.setOption(
      NSStagedMigrationManager([stage]), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
  }

  // MARK: Relationships

  static func relationships(author: NSManagedObject, book: NSManagedObject) {
    let works = author.value(forKey: "works") as? NSSet  // unordered, to-many
    let chapters = book.value(forKey: "chapters") as? NSOrderedSet  // ordered
    let name = book.value(forKeyPath: "author.name") as? String  // to-one, and on to an attribute
    let count = author.value(forKeyPath: "works.@count") as? Int
    print(works as Any, chapters as Any, name as Any, count as Any)
  }

  static func changing(author: NSManagedObject, book: NSManagedObject) {
    book.setValue(author, forKey: "author")  // author's works have the book
    author.mutableSetValue(forKey: "works").add(book)  // the same from the other end
    book.mutableOrderedSetValue(forKey: "chapters").exchangeObject(at: 0, withObjectAt: 1)
  }

  static func prefetching() -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.relationshipKeyPathsForPrefetching = ["works.tags", "mentor"]
    return request
  }

  static func keyPaths(request: NSFetchRequest<NSManagedObject>, authors: [NSManagedObject], book: NSManagedObject) {
    request.predicate = NSPredicate(format: "author.mentor.name == %@ AND favourite != nil", "Ann")
    request.predicate = NSPredicate(format: "author IN %@ AND SELF != %@", authors, book)
    request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true)]
  }

  static func elements(request: NSFetchRequest<NSManagedObject>, work: NSManagedObject) {
    request.predicate = NSPredicate(format: "ANY works.title CONTAINS[cd] %@", "reef")
    request.predicate = NSPredicate(format: "%@ IN works OR works.@count == 0", work)
    request.predicate = NSPredicate(format: "works.@max.pages > 500")
    request.predicate = NSPredicate(format: "SUBQUERY(works, $w, $w.pages > 100 AND $w.title != name).@count > 2")
  }

  static func calculating(request: NSFetchRequest<NSManagedObject>) {
    request.predicate = NSPredicate(format: "rating * 2 + bonus >= %d", 9)
    request.predicate = NSPredicate(format: "end - start > 3600 AND start > now() - 86400")
    request.predicate = NSPredicate(format: "length(lowercase(name)) BETWEEN {3, limit + 1}")
    request.predicate = NSPredicate(format: "TERNARY(isClean == YES, rating, rating - 1) IN {4, 5}")
  }

  static func expressions() {
    let doubled = NSExpression(forFunction: "multiply:by:", arguments: [NSExpression(forKeyPath: "rating"), 2])
    let predicate = NSComparisonPredicate(
      leftExpression: doubled, rightExpression: NSExpression(forConstantValue: 9), modifier: .direct,
      type: .greaterThanOrEqualTo, options: [])
    let same = NSPredicate(format: "rating * 2 >= 9") as? NSComparisonPredicate
    print(predicate == same, predicate.leftExpression.arguments ?? [])
  }

  static func computedColumns(context: NSManagedObjectContext) throws {
    let mean = NSExpressionDescription()
    mean.name = "mean"
    mean.expression = NSExpression(format: "average:(rating)")
    let request = NSFetchRequest<NSDictionary>(entityName: "JournalEntry")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["location", mean]
    request.propertiesToGroupBy = ["location"]
    request.havingPredicate = NSPredicate(format: "$mean >= 3 AND count:(SELF) > 10")
    for row in try context.fetch(request) { print(row["location"] ?? "nowhere", row["mean"] ?? 0) }
  }

  // MARK: Contexts in Swift 6

  static func sendingIDs(background: NSManagedObjectContext, viewContext: NSManagedObjectContext) async throws {
    let id = try await background.perform {
      let entry = JournalEntry(context: background)
      entry.location = "Rincon"
      try background.save()
      return entry.objectID
    }
    let entry = try viewContext.existingObject(with: id)
    print(entry)
  }

  static func mergingNotifications(context: NSManagedObjectContext) -> any NSObjectProtocol {
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
    ) { [weak context] notification in
      guard let context, notification.object as? NSManagedObjectContext !== context else { return }
      context.perform { context.mergeChanges(fromContextDidSave: notification) }
    }
    return observer
  }

  static func extractingIDs() {
    let observe: @Sendable (Notification) -> Void = { notification in
      let updated = notification.userInfo?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID> ?? []
      Task { await report(updated) }
    }
    _ = observe
  }

  // MARK: Writing to tables of your own within a save

  static func saveParticipant(container: NSPersistentContainer) {
    final class Checkpoint: SaveParticipant {
      func write(to transaction: SaveTransaction) throws {
        try transaction.execute("CREATE TABLE IF NOT EXISTS CHECKPOINT(record INTEGER)")
        try transaction.execute("INSERT INTO CHECKPOINT VALUES(?)", [transaction.insertedCount])
      }
    }
    container.persistentStoreCoordinator.addSaveParticipant(Checkpoint())
  }

  // MARK: Stores of your own

  static func registration(coordinator: NSPersistentStoreCoordinator, url: URL) throws {
    NSPersistentStoreCoordinator.registerStoreClass(CSVFileStore.self, forStoreType: "CSV")
    try coordinator.addPersistentStore(ofType: "CSV", configurationName: nil, at: url, options: nil)
  }

  // Unchecked: the coordinator calls a store on one queue at a time.
  final class AtomicStore: NSAtomicStore, @unchecked Sendable {
    private var file: URL { url ?? URL(fileURLWithPath: "/dev/null") }

    override func loadMetadata() throws {
      if FileManager.default.fileExists(atPath: file.path) {
        metadata = try Self.metadataForPersistentStore(with: file)
      } else {
        metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: type]
      }
    }

    override func load() throws {
      for row in try readRows() {
        let node = NSAtomicStoreCacheNode(objectID: objectID(for: row.entity, withReferenceObject: row.number))
        node.setValue(row.title, forKey: "title")
        addCacheNodes([node])
      }
    }
    override func save() throws { try write(cacheNodes(), metadata) }

    private func readRows() throws -> [(entity: NSEntityDescription, number: Int, title: String)] { [] }
    private func write(_ nodes: Set<NSAtomicStoreCacheNode>, _ metadata: [String: Any]?) throws {}
  }

  // Unchecked: as above.
  final class IncrementalStore: NSIncrementalStore, @unchecked Sendable {
    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
      if let fetch = request as? NSFetchRequest<NSFetchRequestResult> { return try results(of: fetch, context) }
      if let save = request as? NSSaveChangesRequest { return try write(save) }
      throw CocoaError(.persistentStoreUnsupportedRequestType)
    }

    private func results(
      of request: NSFetchRequest<NSFetchRequestResult>, _ context: NSManagedObjectContext?
    ) throws -> [Any] { [] }
    private func write(_ request: NSSaveChangesRequest) throws -> [Any] { [] }
  }

  static func conflict(conflicts: [NSMergeConflict]) throws {
    throw CocoaError(.managedObjectMerge, userInfo: [NSPersistentStoreSaveConflictsErrorKey: conflicts])
  }

  // MARK: Looking at stores

  static func inspection(url: URL, modelURL: URL?) throws {
    let inspection = try StoreInspection(storeAt: url, modelFile: modelURL)
    print(inspection.text())

    let verification = try StoreVerification(storeAt: url, modelFile: modelURL)
    for finding in verification.findings { print(finding.message, finding.advice) }
  }

  static func foreignStore(url: URL) throws {
    let found = try StoreModel.find(forStoreAt: url, file: nil, embedded: [])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: found.model)
    _ = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [
        NSReadOnlyPersistentStoreOption: NSNumber(value: true),
        NSIgnorePersistentStoreVersioningOption: NSNumber(value: found.origin == .tables),
      ])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Car")
      request.predicate = NSPredicate(format: "owner.lastName == %@", "Stone")
      for car in try context.fetch(request) {
        let owner = car.value(forKey: "owner") as? NSManagedObject
        print(car.value(forKey: "numberPlate") ?? "", owner?.value(forKey: "firstName") ?? "")
      }
    }
  }
}

private func report(_ ids: Set<NSManagedObjectID>) async {}
