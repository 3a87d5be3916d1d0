import Foundation
import ManagedObjectModel

/// Links of rows that others have deleted and that a save writes again. What they led to may be gone or taken, and the
/// other ends, which the deletion has emptied, are not part of the save unless the context has changed them.
struct RecreatedRows {
  /// An end of a relationship that the save writes.
  private struct End: Hashable {
    let owner: ObjectKey
    let name: String
    /// The object that a list has; nil for an end that is to-one.
    let member: ObjectKey?
  }

  private let writer: RelationshipWriter
  private let recreated: Set<ObjectKey>
  private let written: Set<End>

  init(_ changes: ChangeSet, _ writer: RelationshipWriter) {
    self.writer = writer
    recreated = Set(changes.updates.filter(\.isRecreation).map(\.id.key))
    written = recreated.isEmpty ? [] : Self.ends(changes.relationships)
  }

  private static func ends(_ rows: [RowRelationships]) -> Set<End> {
    var ends: Set<End> = []
    for row in rows {
      for change in row.changes {
        let (owner, name) = (row.id.key, change.relationship.name)
        switch change.content {
        case .one: ends.insert(End(owner: owner, name: name, member: nil))
        case .many(let members):
          for id in members.added + (members.order ?? []) {
            ends.insert(End(owner: owner, name: name, member: id.resolved.key))
          }
        }
      }
    }
    return ends
  }

  private func isWritten(_ inverse: NSRelationshipDescription, of id: NSManagedObjectID, with member: NSManagedObjectID)
    -> Bool
  {
    let end = End(owner: id.resolved.key, name: inverse.name, member: inverse.isToMany ? member.resolved.key : nil)
    return written.contains(end)
  }

  // MARK: What is there

  /// Where a relationship of the row leads: to `requested`, or to nothing if that is gone or belongs to another object.
  ///
  /// - Throws: `NSError` 1570 if the relationship is mandatory and leads to nothing.
  func target(
    _ requested: NSManagedObjectID?, of row: NSManagedObjectID, _ relationship: NSRelationshipDescription
  ) throws -> NSManagedObjectID? {
    guard let requested, recreated.contains(row.key) else { return requested }
    if try isFree(requested, for: row, relationship) { return requested }
    guard !relationship.isOptional else { return nil }
    throw NSError.coreData(
      .missingMandatoryProperty,
      "\(row) was deleted by others and is to be written again, but \(requested), to which its mandatory relationship "
        + "\(relationship.name) leads, is gone or belongs to another object. Set the relationship to another object.",
      userInfo: [NSValidationKeyErrorKey: relationship.name, OCDFailedObjectIDsErrorKey: [row]])
  }

  private func isFree(
    _ id: NSManagedObjectID, for row: NSManagedObjectID, _ relationship: NSRelationshipDescription
  ) throws -> Bool {
    guard let (key, entity) = try storedRow(of: id) else { return true }
    guard let inverse = relationship.inverseRelationship, !isWritten(inverse, of: id, with: row),
      case .toOne(let column, _, _)? = entity.relationships[inverse.name]
    else { return try isThere(id) }
    let owner = try writer.connection.rows(
      "SELECT \(column) FROM \(entity.tableName) WHERE Z_PK = ?", [.integer(key)]
    ).first?.first
    return try owner == .null || owner == .integer(writer.key(of: row))
  }

  private func isThere(_ id: NSManagedObjectID) throws -> Bool {
    guard let (key, entity) = try storedRow(of: id) else { return true }
    let found = try writer.connection.integer(
      "SELECT Z_PK FROM \(entity.tableName) WHERE Z_PK = ?", [.integer(key)])
    return found != nil
  }

  /// Nil for an object that the save inserts.
  private func storedRow(of id: NSManagedObjectID) throws -> (key: Int64, entity: SQLEntity)? {
    guard case .permanent = id.resolved.reference else { return nil }
    return (try writer.key(of: id), try writer.store.sqlEntity(id.entity))
  }

  // MARK: The other ends

  /// Makes `target` lead back to the row, unless the save does that anyway.
  ///
  /// - Returns: The ordered list that the row is to be added to.
  func writeOtherEnd(
    _ target: NSManagedObjectID, of row: NSManagedObjectID, _ relationship: NSRelationshipDescription
  ) throws -> [RelationshipWriter.Members] {
    guard recreated.contains(row.key), let inverse = relationship.inverseRelationship,
      !isWritten(inverse, of: target, with: row), let (key, entity) = try storedRow(of: target),
      let kept = entity.relationships[inverse.name]
    else { return [] }
    writer.history?.touch(inverse.name, of: key, in: entity.tableName)
    if case .toOne(let column, let entityColumn, _) = kept {
      var sets = [(column, try writer.key(of: row))]
      if let entityColumn { sets.append((entityColumn, Int64(try writer.store.sqlEntity(row.entity).number))) }
      try writer.connection.run(
        "UPDATE \(entity.tableName) SET \(sets.map { "\($0.0) = ?" }.joined(separator: ", ")) WHERE Z_PK = ?",
        (sets.map(\.1) + [key]).map(StoredValue.integer))
    }
    guard case .toMany(_, _, _?) = kept else { return [] }
    let change = MemberChange(added: [row], removed: [], order: nil)
    return [RelationshipWriter.Members(relationship: inverse, kept: kept, owner: key, change: change)]
  }
}
