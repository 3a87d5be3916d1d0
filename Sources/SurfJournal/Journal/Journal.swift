import Foundation
import OpenCoreData
import PipelineEngine

/// A journal's store, to read from: not a byte of it is changed.
public struct Journal: Sendable {
  static let entityName = "JournalEntry"

  /// Which entries are listed, and in what order.
  public struct Query: Sendable, Hashable {
    /// In Core Data's predicate format; nil for all entries.
    public var predicate: String?
    /// The newest first unless another order is given; entries without a date come last.
    public var sort = [ExportDefinition.SortKey("date", ascending: false)]
    /// The number of entries at most.
    public var limit: Int?

    public init() {}

    /// - Throws: `JournalError.Code.badQuery` for a predicate or an order that does not fit an entry.
    public func check() throws(JournalError) {
      guard let model = NSManagedObjectModel.embedded(named: CoreDataStack.modelName) else { return }
      var definition = PipelineDefinition.surfLog
      definition.export = ExportDefinition(predicate: predicate, sort: sort)
      do {
        _ = try ExportFit(definition, model: model)
      } catch {
        throw JournalError(.badQuery, exitCode: .usage, error.mistakes.map(\.message).joined(separator: "\n"))
      }
    }
  }

  /// As it was given.
  public let path: String
  private let stack: CoreDataStack
  private let context: NSManagedObjectContext

  /// Opens the store for reading.
  ///
  /// - Throws: `JournalError.Code.storeMissing`, `.storeUnusable` or `.locked`.
  public init(store path: String, timeoutSeconds: Double = 10) throws(JournalError) {
    guard FileManager.default.fileExists(atPath: path) else { throw .noStore(path) }
    self.path = path
    stack = CoreDataStack(store: URL(fileURLWithPath: path), isReadOnly: true, timeoutSeconds: timeoutSeconds)
    context = stack.storeContainer.newBackgroundContext()
    context.name = "journal"
    do {
      try stack.open()
    } catch {
      throw JournalError(reading: error, path: path)
    }
  }

  /// Lets go of the store's file; nothing can be read afterwards.
  public func close() { stack.close() }

  /// The entry that `id` names: a primary key such as `12` or `p12`, or an object's whole URI.
  ///
  /// - Throws: `JournalError.Code.badID`, `.entryMissing`, or what reading the store said.
  public func entry(_ id: String) throws(JournalError) -> JournalRecord {
    let objectID = try JournalEntryID(id, in: stack.storeContainer.persistentStoreCoordinator, path: path).objectID
    do {
      return try context.performAndWait {
        defer { context.reset() }
        return JournalRecord(try context.existingObject(with: objectID))
      }
    } catch {
      throw JournalEntryID.failure(error, id: id, path: path)
    }
  }

  /// Hands over what `query` finds, `rowsPerBatch` entries at a time and with the memory of so many, until `body` says
  /// false. The entries are those of one moment, whatever is written meanwhile.
  ///
  /// - Throws: `JournalError.Code.badQuery`, or what reading the store said.
  public func walk(
    _ query: Query = Query(), rowsPerBatch: Int = 1000, _ body: ([JournalRecord]) -> Bool
  ) throws(JournalError) {
    try query.check()
    // A limit of nothing is none to a fetch request.
    if query.limit == 0 { return }
    do {
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: Self.entityName)
        request.predicate = try query.predicate.map { try NSPredicate.parse(format: $0) }
        request.sortDescriptors = query.sort.map { NSSortDescriptor(key: $0.attribute, ascending: $0.ascending) }
        request.fetchLimit = query.limit ?? 0
        request.includesSubentities = false
        try context.walk(request, rowsPerBatch: rowsPerBatch) { batch, ids in
          let columns = JournalColumn.all(of: batch.entity)
          return body((0..<batch.count).map { JournalRecord(batch, row: $0, id: ids[$0], columns: columns) })
        }
      }
    } catch {
      throw JournalError(reading: error, path: path)
    }
  }
}

/// An entry's name as people write it, made an object's ID.
struct JournalEntryID {
  let objectID: NSManagedObjectID

  /// Whether there is such an entry, the store has to say.
  init(_ text: String, in coordinator: NSPersistentStoreCoordinator, path: String) throws(JournalError) {
    if text.contains(":") {
      guard let id = URL(string: text).flatMap(coordinator.managedObjectID(forURIRepresentation:)),
        id.entity.name == Journal.entityName
      else {
        throw JournalError(
          .badID, exitCode: .usage,
          "'\(RawText.oneLine(text))' is no entry of \(path); its own URIs are shown by 'surfjournal show'")
      }
      objectID = id
      return
    }
    let digits = text.hasPrefix("p") ? text.dropFirst() : text[...]
    guard let entity = coordinator.managedObjectModel.entitiesByName[Journal.entityName],
      digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let key = Int64(digits), key > 0,
      let id = coordinator.objectID(of: entity, key: key)
    else {
      throw JournalError(
        .badID, exitCode: .usage,
        "'\(RawText.oneLine(text))' is no ID; write the number that 'surfjournal list' shows, or the entry's URI")
    }
    objectID = id
  }

  static func failure(_ error: any Error, id text: String, path: String) -> JournalError {
    guard (error as NSError).code == NSManagedObjectReferentialIntegrityError else {
      return JournalError(reading: error, path: path)
    }
    return JournalError(
      .entryMissing, exitCode: .noInput,
      "\(path) has no entry \(RawText.oneLine(text)); 'surfjournal list' shows those that there are")
  }
}
