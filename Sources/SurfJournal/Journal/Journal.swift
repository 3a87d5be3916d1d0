import Foundation
import ManagedObjectModel
import OpenCoreData
import PipelineEngine

/// A journal's store, opened for reading; it is not changed.
public struct Journal: Sendable {
  static let entityName = "JournalEntry"

  /// Which entries are listed, and in which order.
  public struct Query: Sendable, Hashable {
    /// The predicate in Core Data's format; nil for all entries.
    public var predicate: String?
    /// The sort order, by default the newest first; entries without a date come last.
    public var sort = [ExportDefinition.SortKey("date", ascending: false)]
    /// The largest number of entries; nil for all.
    public var limit: Int?

    /// A query for all entries.
    public init() {}

    /// Checks the query.
    ///
    /// - Throws: `JournalError.Code.badQuery` if the predicate or the order is not valid for an entry.
    public func check() throws(JournalError) { try check(.entry) }

    package func check(_ kind: ObjectKind) throws(JournalError) {
      guard let model = kind.model else { return }
      var definition = kind.definition
      definition.export = ExportDefinition(predicate: predicate, sort: sort)
      do {
        _ = try ExportSchemaCheck(definition, model: model)
      } catch {
        throw JournalError(.badQuery, exitCode: .usage, error.mistakes.map(\.message).joined(separator: "; "))
      }
    }
  }

  /// The store's path as given; of an address, what can be shown.
  public let path: String
  private let kind: ObjectKind
  private let stack: CoreDataStack
  private let context: NSManagedObjectContext

  /// Opens the store for reading.
  ///
  /// - Parameters:
  ///   - path: The store's file.
  ///   - timeoutSeconds: How long to wait, in seconds, for a store that another program is writing to.
  /// - Throws: `JournalError.Code.storeMissing`, `.storeUnusable` or `.locked`.
  public init(store path: String, timeoutSeconds: Double = 10) throws(JournalError) {
    try self.init(store: path, timeoutSeconds: timeoutSeconds, readsDamagedWAL: nil)
  }

  /// - Parameters:
  ///   - kind: The objects to read, by default the journal's entries.
  ///   - readsDamagedWAL: Whether a store whose write-ahead log is damaged is read up to the first wrong page; nil for a
  ///     command without that choice.
  ///   - isBeforeWriting: Whether the store is written to afterwards.
  package init(
    store path: String, _ kind: ObjectKind = .entry, timeoutSeconds: Double, readsDamagedWAL: Bool?,
    isBeforeWriting: Bool = false
  ) throws(JournalError) {
    let place = StoreLocation(path)
    guard place.exists else { throw .noStore(place.shown) }
    try JournalError.checkKind(ofStore: path)
    (self.path, self.kind) = (place.shown, kind)
    stack = kind.stack(store: path, isReadOnly: true, timeoutSeconds: timeoutSeconds)
    context = stack.storeContainer.newBackgroundContext()
    context.name = "journal"
    if readsDamagedWAL == true { stack.readDamagedWAL() }
    if isBeforeWriting { stack.readBeforeWriting() }
    do {
      try stack.open()
    } catch {
      let known = JournalError(reading: error, path: place.shown)
      guard readsDamagedWAL != nil, let cause = error.underlying else { throw known }
      throw JournalError(known.code, exitCode: known.exitCode, DamagedWAL.message(cause as NSError))
    }
  }

  /// Closes the store's file; nothing can be read afterwards.
  public func close() { stack.close() }

  /// The entry with the ID: a primary key such as `12` or `p12`, or an object's whole URI.
  ///
  /// - Throws: `JournalError.Code.badID`, `.entryMissing`, or the error of reading the store.
  public func entry(_ id: String) throws(JournalError) -> JournalRecord { try object(id, withLinks: false) }

  /// The object with the ID, with all objects that it leads to.
  package func object(_ id: String, withLinks: Bool = true) throws(JournalError) -> JournalRecord {
    let coordinator = stack.storeContainer.persistentStoreCoordinator
    guard let entity = kind.description(in: coordinator.managedObjectModel) else { throw .noStore(path) }
    let written = try WrittenID(id, of: entity, kind, in: coordinator, path: path)
    do {
      return try context.performAndWait {
        defer { context.reset() }
        let object = try context.existingObject(with: try written.resolved(in: context))
        let names = withLinks ? object.entity.relationshipsByName.keys.sorted() : []
        return try context.throwingReadFailures { JournalRecord(object, kind, relationships: names) }
      }
    } catch {
      throw JournalError(reading: error, path: path)
    }
  }

  /// Calls `body` with the entries that `query` finds, a batch at a time, until it returns false. All entries belong
  /// to one snapshot of the store, and memory is bounded by one batch.
  ///
  /// - Parameters:
  ///   - query: The entries and their order.
  ///   - rowsPerBatch: The number of entries per batch.
  ///   - body: Receives a batch; returns whether to continue.
  /// - Throws: `JournalError.Code.badQuery`, or the error of reading the store.
  public func walk(
    _ query: Query = Query(), rowsPerBatch: Int = 1000, _ body: ([JournalRecord]) -> Bool
  ) throws(JournalError) { try walk(query, columns: [], rowsPerBatch: rowsPerBatch, body) }

  /// As `walk`, with what the columns show of related objects. The objects that relationships lead to are read after
  /// each batch.
  package func walk(
    _ query: Query, columns: [ListedColumn], rowsPerBatch: Int = 1000, _ body: ([JournalRecord]) -> Bool
  ) throws(JournalError) {
    try query.check(kind)
    // A fetch limit of 0 means no limit.
    if query.limit == 0 { return }
    let related = RelatedColumns(columns)
    do {
      try context.performAndWait {
        let request = try request(query)
        let paths = related.paths.map(\.name)
        try context.walk(request, keyPaths: paths, rowsPerBatch: rowsPerBatch) { batch, ids in
          let columns = RecordColumn.all(of: batch.entity, kind)
          var records = (0..<batch.count).map { row in
            var record = JournalRecord(batch, row: row, id: ids[row], kind, columns: columns)
            related.addValues(to: &record, batch, row: row)
            return record
          }
          try related.addLinks(to: &records, ids: Array(ids), kind, in: context)
          return body(records)
        }
      }
    } catch {
      throw JournalError(reading: error, path: path)
    }
  }

  /// The number of entries that `query` finds, without its limit.
  ///
  /// - Throws: As `walk`.
  package func count(_ query: Query) throws(JournalError) -> Int {
    var query = query
    query.limit = nil
    try query.check(kind)
    do {
      return try context.performAndWait { try context.count(for: try request(query)) }
    } catch {
      throw JournalError(reading: error, path: path)
    }
  }

  private func request(_ query: Query) throws -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: kind.entity)
    request.predicate = try query.predicate.map { try NSPredicate.parse(format: $0) }
    request.sortDescriptors = query.sort.map { NSSortDescriptor(key: $0.attribute, ascending: $0.ascending) }
    request.fetchLimit = query.limit ?? 0
    request.includesSubentities = !kind.isEntry
    return request
  }

  /// How `walk` finds the entries, as lines of text: the statement, its values, SQLite's plan, and what of the predicate
  /// SQLite does not evaluate itself. Reads no entries.
  ///
  /// - Throws: As `walk`.
  public func explanation(_ query: Query = Query()) throws(JournalError) -> String {
    try query.check(kind)
    if query.limit == 0 { return "No statement is executed, as the limit is 0.\n" }
    do {
      return try context.performAndWait {
        try context.explanation(try request(query))
      }
    } catch {
      throw JournalError(reading: error, path: path)
    }
  }
}
