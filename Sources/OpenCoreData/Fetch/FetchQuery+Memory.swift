import Foundation

/// A query over values in memory, with the same answers that SQLite gives.
extension FetchQuery {
  /// Whether the query finds an object with the values that `object` has now.
  func matches(_ object: NSManagedObject) throws -> Bool {
    try QueryFilter(self, object.entity).accepts { object.values[$0] }
  }

  /// Sorts by the sort keys, in SQLite's order of values; equal rows as the store does: by key, pending ones last.
  func sort(_ rows: inout [FetchedRow]) throws {
    let keyed = try rows.enumerated().map { index, row in
      (
        index: index,
        values: try sortKeys.map { try row.id.entity.value(in: row.values, keyPath: $0.keyPath) }
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
  private let predicate: BoundPredicate?
  /// By the index of each key of the predicate.
  private let slots: [Int]

  init(_ query: FetchQuery, _ entity: NSEntityDescription) throws {
    predicate = query.predicate
    slots = try (predicate?.keys ?? []).map { key in
      guard key.path.count == 1, let slot = entity.slot(named: key.path[0]) else {
        throw EntityPredicateSchema.unknown(key.path, in: entity)
      }
      return slot
    }
  }

  /// Whether an object with these values by slot is found; asked for where needed only.
  func accepts(_ value: (Int) -> StoredValue) -> Bool {
    predicate?.matches { value(slots[$0.index]) } ?? true
  }
}

extension NSEntityDescription {
  /// The value at an attribute's key path among `values`, which are in slot order.
  func value(in values: [StoredValue], keyPath: [String]) throws -> StoredValue {
    guard keyPath.count == 1, let slot = slot(named: keyPath[0]) else {
      throw EntityPredicateSchema.unknown(keyPath, in: self)
    }
    return values[slot]
  }
}

/// The attributes of an entity as predicates and sort keys know them.
package struct EntityPredicateSchema: PredicateSchema {
  let entity: NSEntityDescription

  package init(entity: NSEntityDescription) { self.entity = entity }

  package func attributeType(ofKeyPath keyPath: [String]) throws -> PredicateValueType {
    guard keyPath.count == 1, let slot = entity.slot(named: keyPath[0]) else {
      throw Self.unknown(keyPath, in: entity)
    }
    return entity.attributeSlots[slot].attributeType.predicateType
  }

  static func unknown(_ keyPath: [String], in entity: NSEntityDescription) -> NSError {
    .coreData(
      .coreData,
      "keypath \(keyPath.joined(separator: ".")) not found in entity \(entity.name ?? ""). Its attributes are: "
        + entity.attributeSlots.map(\.name).joined(separator: ", ") + ".")
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
