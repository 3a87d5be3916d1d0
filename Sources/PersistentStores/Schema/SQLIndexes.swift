import Foundation
import ManagedObjectModel

/// The indexes of a new store (docs/coredata-format.md, "Indexes").
extension SQLNaming {
  /// The indexes of a root's table: keys of to-one relationships, the entity, then for each entity its fetch indexes in
  /// the model's order and its unique ones.
  func indexes(of root: NSEntityDescription) -> [String] {
    let table = tableName(of: root)
    let members = members(of: root)
    let keys = members.flatMap(keys(of:)).map {
      "CREATE INDEX \(table)_\($0.column)_INDEX ON \(table) (\($0.column))"
    }
    let omitsEntity = root.userInfo?[SQLUserInfoKey.omitsEntityIndex] as? String == "YES"
    let entity = members.count > 1 && !omitsEntity ? ["CREATE INDEX \(table)_Z_ENT_INDEX ON \(table) (Z_ENT)"] : []
    return keys + entity
      + members.flatMap { fetchIndexes(of: $0, in: table) + uniqueIndexes(of: $0, in: table) }
  }

  /// An index only speeds up fetches, so an index on something without a column, or with a condition that has no SQL
  /// here, is left out.
  private func fetchIndexes(of entity: NSEntityDescription, in table: String) -> [String] {
    entity.distinctIndexes.compactMap { index in
      // An R-tree is a table of its own; a to-one relationship alone already has the index of its key.
      guard !index.isRTree, !isKeyIndex(index), !index.elements.isEmpty else { return nil }
      let elements = index.elements.compactMap { element in
        column(of: element).map { "\($0) COLLATE BINARY \(element.isAscending ? "ASC" : "DESC")" }
      }
      guard elements.count == index.elements.count else { return nil }
      let statement =
        "CREATE INDEX Z_\(entity.name ?? "")_\(index.name) ON \(table) (\(elements.joined(separator: ", ")))"
      guard let predicate = index.partialIndexPredicate else { return statement }
      return PartialIndexCondition(naming: self, entity: entity).text(of: predicate).map { "\(statement) WHERE \($0)" }
    }
  }

  private func isKeyIndex(_ index: NSFetchIndexDescription) -> Bool {
    index.elements.count == 1 && index.elements.first?.property is NSRelationshipDescription
  }

  private func uniqueIndexes(of entity: NSEntityDescription, in table: String) -> [String] {
    let properties = entity.propertiesByName
    return entity.uniquenessConstraintNames.compactMap { names in
      let columns = names.compactMap { properties[$0].flatMap { indexColumn(of: $0) } }
      guard !columns.isEmpty, columns.count == names.count else { return nil }
      let elements = columns.map { "\($0) COLLATE BINARY ASC" }.joined(separator: ", ")
      return "CREATE UNIQUE INDEX Z_\(entity.name ?? "")_UNIQUE_\(names.joined(separator: "_")) "
        + "ON \(table) (\(elements))"
    }
  }

  /// The column of an element: of its property, of the object itself, or of the object's entity.
  private func column(of element: NSFetchIndexElementDescription) -> String? {
    if let property = element.property { return indexColumn(of: property) }
    return switch element.propertyName {
    case "SELF", "self": "Z_PK"
    case "entity": "Z_ENT"
    default: nil
    }
  }

  /// The column of an attribute or a to-one relationship; nil for properties without one.
  func indexColumn(of property: NSPropertyDescription) -> String? {
    guard !property.isTransient, (property as? NSRelationshipDescription)?.isToMany != true else {
      return nil
    }
    return columns(of: property)?.column
  }
}

extension NSEntityDescription {
  /// The fetch indexes in the model's order. If several have one name, as a legacy flag together with an index gives
  /// them, the first counts.
  var distinctIndexes: [NSFetchIndexDescription] {
    var names: Set<String> = []
    return indexes.filter { names.insert($0.name.sqlFolded).inserted }
  }
}

extension NSFetchIndexDescription {
  var isRTree: Bool { elements.contains { $0.collationType == .rTree } }
}

/// The condition of a partial index as SQL, in the form of Apple's stores: `ZKIND <> 0`,
/// `(ZKIND = 1 AND ZSTATE IS NULL)`.
private struct PartialIndexCondition {
  let naming: SQLNaming
  let entity: NSEntityDescription

  /// Nil for a condition of another form than comparisons of properties with numbers or nil.
  func text(of predicate: NSPredicate) -> String? { predicate.parsedNode.flatMap(text) }

  private func text(_ node: PredicateNode) -> String? {
    switch node {
    case .comparison(let comparison): text(comparison)
    case .and(let nodes): text(nodes, " AND ")
    case .or(let nodes): text(nodes, " OR ")
    case .not, .constant: nil
    }
  }

  private func text(_ nodes: [PredicateNode], _ separator: String) -> String? {
    let parts = nodes.compactMap(text)
    guard parts.count == nodes.count, !parts.isEmpty else { return nil }
    return parts.count == 1 ? parts[0] : "(\(parts.joined(separator: separator)))"
  }

  private static let signs: [PredicateOperator: String] = [
    .equal: "=", .notEqual: "<>", .less: "<", .lessOrEqual: "<=", .greater: ">", .greaterOrEqual: ">=",
  ]

  private func text(_ comparison: PredicateComparison) -> String? {
    guard case .keyPath(let path) = comparison.left, path.count == 1,
      let property = entity.propertiesByName[path[0]], let column = naming.indexColumn(of: property),
      let sign = Self.signs[comparison.operation], case .constant(let constant) = comparison.right
    else { return nil }
    switch constant {
    case .null where sign == "=": return "\(column) IS NULL"
    case .null where sign == "<>": return "\(column) IS NOT NULL"
    case .integer(let value): return "\(column) \(sign) \(value)"
    case .boolean(let value): return "\(column) \(sign) \(value ? 1 : 0)"
    default: return nil
    }
  }
}
