import Foundation
import OpenCoreData
import StoreInspection
import SurfJournal
import TestSupport
import Testing

/// The examples in the documentation comments of the model, the stores and their inspection, compiled and run. Each
/// function has the name of the declaration whose example it contains.
@Suite("Examples in documentation comments: models and stores")
struct DocExamplesModel {
  private let folder: TemporaryFolder
  private var url: URL { folder.file("journal.sqlite") }
  init() throws { folder = try TemporaryFolder() }

  @Test func nsManagedObjectModel() {
    let session = NSEntityDescription()
    session.name = "Session"
    let model = NSManagedObjectModel()
    model.entities = [session]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    #expect(coordinator.managedObjectModel.entitiesByName.keys.sorted() == ["Session"])
  }

  @Test func nsFetchedPropertyDescription() {
    let nearby = NSFetchedPropertyDescription()
    nearby.name = "nearby"
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Session")
    request.predicate = NSPredicate(format: "beach == $FETCH_SOURCE.beach AND SELF != $FETCH_SOURCE")
    nearby.fetchRequest = request
    #expect(nearby.fetchRequest?.entityName == "Session")
  }

  @Test func nsEntityDescription() {
    let location = NSAttributeDescription()
    location.name = "location"
    location.type = .string
    let session = NSEntityDescription()
    session.name = "Session"
    session.properties = [location]
    session.uniquenessConstraints = [["location"]]
    #expect(session.attributesByName["location"] === location && session.uniquenessConstraints.count == 1)
  }

  @Test func nsAttributeDescription() {
    let rating = NSAttributeDescription()
    rating.name = "rating"
    rating.type = .integer16
    rating.isOptional = false
    rating.defaultValue = 3
    #expect(rating.attributeType == .integer16AttributeType && rating.defaultValue as? Int == 3)
  }

  @Test func nsRelationshipDescription() {
    let (session, board) = (NSEntityDescription(), NSRelationshipDescription())
    let sessions = NSRelationshipDescription()
    sessions.name = "sessions"
    sessions.destinationEntity = session
    sessions.maxCount = 0
    sessions.inverseRelationship = board
    board.inverseRelationship = sessions
    #expect(sessions.isToMany && !board.isToMany && board.inverseRelationship === sessions)
  }

  @Test func nsPredicateFormat() throws {
    let context = try context(at: url, model: Self.sessionModel())
    try insert([("Bells Beach", 5), ("Bells Beach", 2), ("Rincon", 5)], into: context)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
      request.predicate = NSPredicate(format: "rating >= %d AND location CONTAINS[cd] %@", 4, "bells")
      let sessions = try context.fetch(request)
      #expect(sessions.count == 1)
    }
  }

  @Test func nsSortDescriptorKey() throws {
    let context = try context(at: url, model: Self.sessionModel())
    try insert([("Rincon", 4), ("Bells Beach", 5), ("Pipeline", 5)], into: context)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
      request.sortDescriptors = [
        NSSortDescriptor(key: "rating", ascending: false), NSSortDescriptor(key: "location", ascending: true),
      ]
      let sessions = try context.fetch(request)
      #expect(sessions.map { $0.value(forKey: "location") as? String } == ["Bells Beach", "Pipeline", "Rincon"])
    }
  }

  @Test func nsManagedObjectID() async throws {
    let background = try context(at: url, model: Self.sessionModel())
    let session = try #require(try insert([("Rincon", 4)], into: background).first)
    let id = session.objectID
    try await background.perform {
      let same = try background.existingObject(with: id)
      same.setValue(5, forKey: "rating")
      try background.save()
    }
    let rating = try await background.perform {
      try background.existingObject(with: id).value(forKey: "rating") as? Int
    }
    #expect(rating == 5)
  }

  @Test func nsManagedObjectIDMembers() throws {
    let context = try context(at: url, model: Self.sessionModel())
    let coordinator = try #require(context.persistentStoreCoordinator)
    try context.performAndWait {
      let session = NSEntityDescription.insertNewObject(forEntityName: "Session", into: context)
      if session.objectID.isTemporaryID { try context.obtainPermanentIDs(for: [session]) }
      let id = session.objectID
      #expect(!id.isTemporaryID)
      try context.save()
      let text = id.uriRepresentation().absoluteString  // may be stored
      let found = URL(string: text).flatMap { coordinator.managedObjectID(forURIRepresentation: $0) }
      #expect(found == id)
      let ids = [id, id]
      let names = Set(ids.compactMap(\.entity.name))
      #expect(names == ["Session"])
    }
  }

  @Test func nsManagedObjectModelContentsOf() throws {
    let file = Repository.file("Sources/SurfJournal/SurfJournalModel.xcdatamodeld")
    if let model = NSManagedObjectModel(contentsOf: file) { print(model.entities.count) }
    #expect(NSManagedObjectModel(contentsOf: file)?.entitiesByName.keys.sorted() == ["JournalEntry"])
    #expect(NSManagedObjectModel(contentsOf: url) == nil)
  }

  @Test func objectBatch() throws {
    let model = Self.sessionModel()
    let context = try context(at: url, model: model)
    let entity = try #require(model.entitiesByName["Session"])
    let slot = try #require(entity.slot(named: "rating"))
    let ratings: [Int64] = [3, 4, 5]
    try context.performAndWait {
      var batch = ObjectBatch(entity: entity, rowCapacity: ratings.count)
      for rating in ratings {
        batch.appendRow()
        batch.setInteger(rating, at: slot)
      }
      context.insert(batch)
      try context.save()
    }
    #expect(try count(in: context) == 3)
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

  final class SaveLog: SaveParticipant {
    func write(to transaction: SaveTransaction) throws {
      try transaction.execute("CREATE TABLE IF NOT EXISTS SaveLog(inserted INTEGER, savedAt REAL)")
      try transaction.execute("INSERT INTO SaveLog VALUES(?, ?)", [transaction.insertedCount, Date()])
    }
  }

  @Test func saveParticipant() throws {
    let context = try context(at: url, model: Self.sessionModel())
    context.persistentStoreCoordinator?.addSaveParticipant(SaveLog())
    try insert([("Rincon", 4), ("Pipeline", 5)], into: context)
    #expect(try sqlite(url, "SELECT inserted FROM SaveLog") == "2")
  }

  @Test func storeModel() throws {
    _ = try context(at: url, model: journalModel)
    let found = try StoreModel.find(forStoreAt: url, file: nil, embedded: ["SurfJournalModel"])
    for note in found.notes { print(note) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: found.model)
    #expect(coordinator.managedObjectModel.versionChecksum == journalModel.versionChecksum)
  }

  @Test func nsMappingModel() throws {
    let (old, new) = (Self.sessionModel(), Self.sessionModel(withNotes: true))
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    for entity in mapping.entityMappings { print(entity.name) }
    #expect(mapping.entityMappings.count == 1)
  }

  @Test func mappingModelFiles() throws {
    let (file, bundle) = (URL(fileURLWithPath: "/nowhere.cdm"), Bundle.main)
    let (old, new) = (Self.sessionModel(), Self.sessionModel(withNotes: true))
    if let mapping = NSMappingModel(contentsOf: file) { print(mapping.entityMappings.count) }
    func load() throws -> NSMappingModel {
      let mapping = try NSMappingModel.load(contentsOf: file)
      return mapping
    }
    #expect(throws: NSError.self) { try load() }
    let mapping = NSMappingModel(from: [bundle], forSourceModel: old, destinationModel: new)
    #expect(mapping == nil)
  }

  @Test func nsEntityMapping() {
    let mapping = NSEntityMapping()
    mapping.name = "SessionToSession"
    mapping.mappingType = .customEntityMappingType
    mapping.sourceEntityName = "Session"
    mapping.destinationEntityName = "Session"
    mapping.entityMigrationPolicyClassName = "Journal.SessionPolicy"
    #expect(mapping.description == "(NSEntityMapping: SessionToSession)")
  }

  @Test func nsPropertyMapping() {
    let mapping = NSPropertyMapping()
    mapping.name = "spot"
    mapping.valueExpression = NSExpression(format: "$source.place")
    #expect(mapping.sourceName == "place")
  }

  @Test func nsMigrationManager() throws {
    let (old, new) = (Self.sessionModel(), Self.sessionModel(withNotes: true))
    let newURL = folder.file("new.sqlite")
    do {
      let context = try context(at: url, model: old)
      try insert([("Rincon", 4)], into: context)
    }
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
    try manager.migrateStore(from: url, with: mapping, toDestinationURL: newURL)
    #expect(try count(in: try context(at: newURL, model: new)) == 1)
  }

  @Test func storeInspection() throws {
    _ = try context(at: url, model: journalModel)
    let inspection = try StoreInspection(storeAt: url, embeddedModels: ["SurfJournalModel"])
    print(inspection.text())
    #expect(inspection.entities.contains { $0.name == "JournalEntry" })
  }

  @Test func storeVerification() throws {
    _ = try context(at: url, model: journalModel)
    let modelURL: URL? = nil
    let verification = try StoreVerification(storeAt: url, modelFile: modelURL)
    for finding in verification.findings { print(finding.message) }
    #expect(verification.findings.isEmpty)
  }
}

extension DocExamplesModel {
  private static func sessionModel(withNotes: Bool = false) -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      return attribute
    }
    let session = NSEntityDescription()
    session.name = "Session"
    session.properties = [attribute("location", .stringAttributeType), attribute("rating", .integer16AttributeType)]
    if withNotes { session.properties += [attribute("notes", .stringAttributeType)] }
    let model = NSManagedObjectModel()
    model.entities = [session]
    return model
  }

  private func context(at url: URL, model: NSManagedObjectModel) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @discardableResult
  private func insert(
    _ sessions: [(location: String, rating: Int)], into context: NSManagedObjectContext
  ) throws -> [NSManagedObject] {
    try context.performAndWait {
      let objects = sessions.map { session in
        let object = NSEntityDescription.insertNewObject(forEntityName: "Session", into: context)
        object.setValue(session.location, forKey: "location")
        object.setValue(session.rating, forKey: "rating")
        return object
      }
      try context.save()
      return objects
    }
  }

  private func count(in context: NSManagedObjectContext) throws -> Int {
    try context.performAndWait { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Session")) }
  }
}
