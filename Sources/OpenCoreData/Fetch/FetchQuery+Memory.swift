import Foundation

/// A query over values in memory, with the same answers that SQLite gives.
extension FetchQuery {
  /// Whether the query finds an object with the values that `object` has now.
  func matches(_ object: NSManagedObject) throws -> Bool {
    try QueryFilter(self, object.entity).accepts { place in
      switch place {
      case .slot(let slot): object.values[slot]
      case .path(let path): object.storedValue(at: path)
      }
    }
  }

  /// Sorts by the sort keys, in SQLite's order of values; equal rows as the store does: by key, pending ones last.
  func sort(_ rows: inout [FetchedRow]) throws {
    let keyed = try rows.enumerated().map { index, row in
      (
        index: index,
        values: try sortValues(row)
      )
    }
    let sorted = keyed.sorted { left, right in
      for (position, key) in sortKeys.enumerated() {
        let order = key.compare(left.values[position], right.values[position])
        if order != .orderedSame { return order == .orderedAscending }
      }
      let (leftKey, rightKey) = (rows[left.index].id.key, rows[right.index].id.key)
      if leftKey.isTemporary != rightKey.isTemporary { return rightKey.isTemporary }
      if leftKey.isTemporary { return left.index < right.index }
      // Scopes grow in the order that stores were opened.
      return (leftKey.scope, leftKey.number) < (rightKey.scope, rightKey.number)
    }
    rows = sorted.map { rows[$0.index] }
  }
}

/// The predicate of a query for objects of one entity, with the way to its attributes looked up once.
struct QueryFilter {
  /// Where an object has what a key of the predicate asks for.
  enum Place {
    case slot(Int)
    /// Beyond its own attributes.
    case path(AttributePath)
  }

  private let predicate: BoundPredicate?
  /// By the index of each key of the predicate.
  private let places: [Place]

  init(_ query: FetchQuery, _ entity: NSEntityDescription) throws {
    predicate = query.predicate
    places = try (predicate?.keys ?? []).map { key in
      if key.path.count == 1, let slot = entity.slot(named: key.path[0]) { return .slot(slot) }
      return .path(try AttributePath(key.path, of: entity))
    }
  }

  /// Whether an object with these values is found; asked for where needed only.
  func accepts(_ value: (Place) -> StoredValue) -> Bool {
    predicate?.matches { value(places[$0.index]) } ?? true
  }
}

extension FetchQuery {
  /// A row's value at one of the query's key paths: an attribute's, or one that came with the row as an extra.
  func value(_ keyPath: [String], of row: FetchedRow) throws -> StoredValue {
    if keyPath.count == 1, let slot = row.id.entity.slot(named: keyPath[0]) { return row.values[slot] }
    guard let place = keyPaths.firstIndex(of: keyPath), row.extras.indices.contains(place) else {
      throw EntityPredicateSchema.unknown(keyPath, in: row.id.entity)
    }
    return row.extras[place]
  }

  /// An object's row as the query wants it.
  func row(_ object: NSManagedObject, id: NSManagedObjectID) throws -> FetchedRow {
    FetchedRow(
      id: id, version: object.version, values: object.values,
      extras: try keyPaths.map { object.storedValue(at: try AttributePath($0, of: object.entity)) })
  }
}

/// The attributes of an entity as predicates and sort keys know them.
package struct EntityPredicateSchema: PredicateSchema {
  let entity: NSEntityDescription

  package init(entity: NSEntityDescription) { self.entity = entity }

  package func attributeType(ofKeyPath keyPath: [String]) throws -> PredicateValueType {
    switch try AttributePath(keyPath, of: entity).end {
    case .attribute(let attribute, _): return attribute.attributeType.predicateType
    case .object: return .object
    }
  }

  static func unknown(_ keyPath: [String], in entity: NSEntityDescription) -> NSError {
    .coreData(
      .coreData,
      "keypath \(keyPath.joined(separator: ".")) not found in entity \(entity.name ?? ""). Its attributes are: "
        + entity.attributeSlots.map(\.name).joined(separator: ", ")
        + (entity.relationshipsByName.isEmpty
          ? "." : "; its relationships: \(entity.relationshipsByName.keys.sorted().joined(separator: ", "))."))
  }
}

extension NSAttributeType {
  /// What values of this type are to a predicate.
  var predicateType: PredicateValueType {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: .integer
    case .doubleAttributeType, .floatAttributeType: .real
    case .decimalAttributeType: .decimal
    case .booleanAttributeType: .boolean
    case .dateAttributeType: .date
    case .stringAttributeType: .text
    case .URIAttributeType: .uri
    case .UUIDAttributeType: .uuid
    default: .blob
    }
  }
}
