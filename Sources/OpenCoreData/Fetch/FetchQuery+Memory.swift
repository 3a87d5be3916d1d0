import Foundation

/// A query over values in memory, with the same answers that SQLite gives.
extension FetchQuery {
  func matches(_ values: [StoredValue], of entity: NSEntityDescription) throws -> Bool {
    guard let predicate else { return true }
    return try predicate.matches { key in try entity.value(in: values, keyPath: key.path) }
  }

  /// Sorts stably by the sort keys, in SQLite's order of values.
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
      return left.index < right.index
    }
    rows = sorted.map { rows[$0.index] }
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
    switch entity.attributeSlots[slot].attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return .integer
    case .doubleAttributeType, .floatAttributeType: return .real
    case .decimalAttributeType: return .decimal
    case .booleanAttributeType: return .boolean
    case .dateAttributeType: return .date
    case .stringAttributeType: return .text
    case .URIAttributeType: return .uri
    case .UUIDAttributeType: return .uuid
    default: return .blob
    }
  }

  static func unknown(_ keyPath: [String], in entity: NSEntityDescription) -> NSError {
    .coreData(
      .coreData,
      "keypath \(keyPath.joined(separator: ".")) not found in entity \(entity.name ?? ""). Its attributes are: "
        + entity.attributeSlots.map(\.name).joined(separator: ", ") + ".")
  }
}
