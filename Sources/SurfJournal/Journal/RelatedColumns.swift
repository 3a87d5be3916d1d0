import ManagedObjectModel
import OpenCoreData
import PersistentStores
import PipelineEngine

/// What the columns of a listing show of related objects.
struct RelatedColumns {
  /// In the order of the values that a walk adds to its batches.
  private(set) var paths: [(name: String, type: ColumnType)] = []
  private var relationships: [String] = []

  init(_ columns: [ListedColumn]) {
    for column in columns {
      switch column {
      case .key, .attribute: break
      case .path(let name, let type): paths.append((name, type))
      case .relationship(let name): relationships.append(name)
      }
    }
  }

  /// Adds the values at the ends of the paths.
  func addValues(to record: inout JournalRecord, _ batch: ObjectBatch, row: Int) {
    for (index, path) in paths.enumerated() {
      record.values[path.name] = JournalValue(batch.extraValue(row: row, index), path.type)
    }
  }

  /// Adds the objects that the relationships lead to, with one read for each relationship. Call it on the queue of the
  /// context, which then has no objects any more.
  func addLinks(
    to records: inout [JournalRecord], ids: [NSManagedObjectID], _ kind: ObjectKind,
    in context: NSManagedObjectContext
  ) throws {
    if relationships.isEmpty { return }
    defer { context.reset() }
    let request = NSFetchRequest<NSManagedObject>(entityName: kind.entity)
    request.predicate = NSPredicate(format: "SELF IN %@", ids as NSArray)
    request.relationshipKeyPathsForPrefetching = relationships
    try context.throwingReadFailures {
      let found = try context.fetch(request)
      let objects = Dictionary(found.map { ($0.objectID, $0) }) { first, _ in first }
      for (index, id) in ids.enumerated() {
        guard let object = objects[id] else { continue }
        records[index].links = relationships.compactMap { RecordLink($0, of: object) }
      }
    }
  }
}
