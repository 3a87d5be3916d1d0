import ManagedObjectModel
import Foundation

/// The columns that refer to rows of an entity. Deleting such a row would leave dangling references.
///
/// A save has carried out the delete rules before: what still refers to a deleted row is a relationship without an
/// inverse, or a row that another program has linked. The rule no action leaves what the objects have.
package struct RowReferences {
  private struct Reference {
    let relationship: NSRelationshipDescription
    let table: String
    let column: String

    /// Whether the model wants a deletion to leave the key.
    var mayDangle: Bool { relationship.inverseRelationship?.deleteRule == .noActionDeleteRule }
  }

  private let entity: NSEntityDescription
  private let references: [Reference]

  package init(to entity: NSEntityDescription, in store: any TableStore) throws {
    self.entity = entity
    var found: [Reference] = []
    for sqlEntity in store.schema.entities {
      guard let owner = store.idSpaces[sqlEntity.number]?.entity else { continue }
      for relationship in owner.storedRelationships {
        guard let kept = sqlEntity.relationships[relationship.name],
          let destination = relationship.destinationEntity
        else { continue }
        switch kept {
        case .toOne(let column, _, _) where entity.sharesRows(with: destination):
          found.append(Reference(relationship: relationship, table: sqlEntity.tableName, column: column))
        case .manyToMany(let table, let source, let column, _) where entity.sharesRows(with: destination):
          found.append(Reference(relationship: relationship, table: table, column: column))
          // The other column belongs to the inverse; a relationship that is its own inverse has both.
          if relationship.inverseRelationship === relationship {
            found.append(Reference(relationship: relationship, table: table, column: source))
          }
        case .toMany(let table, let column, _)
        where relationship.inverseRelationship == nil && entity.sharesRows(with: owner):
          found.append(Reference(relationship: relationship, table: table, column: column))
        default: break
        }
      }
    }
    references = found
  }

  package var isEmpty: Bool { references.isEmpty }

  /// Rejects a deletion that leaves references to the deleted rows.
  ///
  /// - Throws: `NSError` 1600 that names the first relationship that prevents the deletion.
  package func check(_ deleted: DeletedKeys, _ connection: any TableStatements) throws {
    for reference in references where !reference.mayDangle {
      // Far fewer passes than keys if there is no index.
      try deleted.forEachPart { part in
        let marks = SQLFragment.keyMarks(part.count)
        let found = try connection.rows(
          "SELECT \(reference.column), count(*) FROM \(reference.table) WHERE \(reference.column) IN (\(marks)) "
            + "GROUP BY 1 ORDER BY 1 LIMIT 1", part.map(StoredValue.integer)
        ).first
        if case .integer(let key)? = found?.first, case .integer(let count)? = found?.last {
          throw refusal(of: reference, "the object with the key \(key)", count: count)
        }
      }
    }
  }

  private func refusal(of reference: Reference, _ what: String, count: Int64) -> NSError {
    let owner = reference.relationship.entity.name ?? ""
    return .coreData(
      .relationshipDeniedDelete,
      "\(entity.name ?? ""): \(what) can't be deleted, because \(count) others are linked to it by "
        + "\(owner).\(reference.relationship.name). Set it to another object or nil there, or delete those in the same "
        + "save.",
      userInfo: [NSValidationKeyErrorKey: reference.relationship.name])
  }
}

extension NSEntityDescription {
  /// Whether a row of this entity may be a row of `other`, or vice versa.
  fileprivate func sharesRows(with other: NSEntityDescription) -> Bool {
    isKindOf(entity: other) || other.isKindOf(entity: self)
  }
}
