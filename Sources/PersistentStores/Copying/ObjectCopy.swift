import Foundation
import ManagedObjectModel

/// Copies all objects of a store into an empty one of any kind, with their keys, values and relationships, in one
/// transaction.
package struct ObjectCopy {
  private let source: any RowStore
  private let target: any RowStore
  private let entities: [NSEntityDescription]

  private static let rowsPerBatch = 5000
  private static let linksPerBatch = 1000

  /// - Parameter model: The model of both stores.
  package init(from source: any RowStore, to target: any RowStore, model: NSManagedObjectModel) {
    (self.source, self.target) = (source, target)
    entities = model.entities.filter { !$0.isAbstract && source.keeps($0) }
      .sorted { String.byteOrder($0.name ?? "", $1.name ?? "") }
  }

  /// - Parameter participant: Makes what takes part in the last save of the transaction, when all objects are copied, from
  ///   the snapshot of the source from which they were read.
  /// - Returns: The number of objects.
  /// - Throws: `NSError` 134080 for a target that has objects, and the errors of both stores; the target then is empty.
  package func run(with participant: ((any StoreSnapshot)?) -> (any SaveParticipant)? = { _ in nil }) throws -> Int {
    try checkIsEmpty()
    let snapshot = try source.makeSnapshot()
    target.setMetadata(source.metadata)
    try target.beginTransaction()
    do {
      let count = try entities.reduce(0) { try $0 + copyRows(of: $1, snapshot) }
      // A position is compared with those of all members.
      for passes in [Pass.links, .orders] {
        for entity in entities { try copyLinks(of: entity, passes, snapshot) }
      }
      try passKeys()
      if let participant = participant(snapshot) { try target.save(ChangeSet(), [participant]) }
      try target.commitTransaction()
      return count
    } catch {
      try? target.rollBackTransaction()
      throw error
    }
  }

  private func checkIsEmpty() throws {
    for entity in entities {
      guard try target.read(nil, { try $0.count(FetchQuery(entity: entity)) }) > 0 else { continue }
      throw NSError.coreData(
        .open, "\(target.location) has objects of the entity \(entity.name ?? ""). Copy into a new store.")
    }
  }

  private func query(_ entity: NSEntityDescription) -> FetchQuery {
    var query = FetchQuery(entity: entity)
    query.includesSubentities = false
    return query
  }

  // MARK: Rows

  private func copyRows(of entity: NSEntityDescription, _ snapshot: (any StoreSnapshot)?) throws -> Int {
    let cursor = try source.cursor(query(entity), rowsPerBatch: Self.rowsPerBatch, in: snapshot)
    var (batch, numbers) = (ObjectBatch(entity: entity), RowNumbers())
    var count = 0
    while try cursor.next(into: &batch, numbers: &numbers) {
      let range = TemporaryIDRange(count: batch.count, of: entity)
      for (row, key) in numbers.keys.enumerated() { range.obtain(key, row: row, from: target.identity) }
      var changes = ChangeSet()
      changes.insertions = [InsertedRows(batch: batch, range: range, removedRows: [])]
      try save(changes)
      count += batch.count
    }
    return count
  }

  private func save(_ changes: ChangeSet) throws {
    do {
      try target.save(changes, [])
    } catch let failure as SaveFailure {
      // Stores of another kind hold other values, and a damaged one has values that no store takes.
      throw NSError.coreData(
        .operation,
        "Objects of \(source.location) can't be copied: \(failure.message). Correct them there, and copy the store again."
      )
    }
  }

  /// Makes the target's next keys greater than those of all rows.
  private func passKeys() throws {
    var roots: Set<String> = []
    for entity in entities where roots.insert(entity.rootEntity.name ?? "").inserted {
      let range = TemporaryIDRange(count: 1, of: entity)
      try target.obtainPermanentIDs(for: [NSManagedObjectID(range: range, row: 0)])
    }
  }

  // MARK: Relationships

  private enum Pass { case links, orders }

  private func copyLinks(of entity: NSEntityDescription, _ pass: Pass, _ snapshot: (any StoreSnapshot)?) throws {
    let relationships = entity.relationshipsByName.values.filter { !$0.isTransient && isWritten($0, in: pass) }
      .sorted { String.byteOrder($0.name, $1.name) }
    guard !relationships.isEmpty else { return }
    var query = query(entity)
    query.values = .none
    let cursor = try source.cursor(query, rowsPerBatch: Self.linksPerBatch, in: snapshot)
    let stop = CancellationFlag()
    while case let ids = try cursor.nextRows(stop).map(\.id), !ids.isEmpty {
      var changes: [[RelationshipChange]] = ids.map { _ in [] }
      for relationship in relationships {
        let found = try source.read(snapshot) { try $0.related(relationship, of: ids) }
        for (index, others) in found.enumerated() where !others.isEmpty {
          changes[index].append(change(of: relationship, to: others.map(copy), in: pass))
        }
      }
      var set = ChangeSet()
      set.relationships = zip(ids, changes).compactMap { id, changes in
        changes.isEmpty ? nil : RowRelationships(id: copy(id), changes: changes)
      }
      if !set.relationships.isEmpty { try save(set) }
    }
  }

  /// The other end of a to-one relationship needs no change, except for its order.
  private func isWritten(_ relationship: NSRelationshipDescription, in pass: Pass) -> Bool {
    switch pass {
    case .links: !relationship.isToMany || relationship.inverseRelationship?.isToMany ?? true
    case .orders: relationship.isToMany && relationship.isOrdered
    }
  }

  private func change(
    of relationship: NSRelationshipDescription, to others: [NSManagedObjectID], in pass: Pass
  ) -> RelationshipChange {
    guard relationship.isToMany else { return RelationshipChange(relationship, .one(others[0])) }
    let members =
      pass == .orders
      ? MemberChange(added: [], removed: [], order: others) : MemberChange(added: others, removed: [], order: nil)
    return RelationshipChange(relationship, .many(members))
  }

  /// The ID of the object's copy.
  private func copy(_ id: NSManagedObjectID) -> NSManagedObjectID {
    NSManagedObjectID(entity: id.entity, store: target.identity, key: id.storeKey ?? 0)
  }
}
