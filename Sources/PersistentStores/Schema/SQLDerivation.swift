import ManagedObjectModel

/// How a store keeps a derived attribute or the R-tree of a location attribute up to date: triggers with the text that
/// Apple's framework writes (docs/coredata-format.md, "Derived attributes" and "Location attributes").
struct SQLDerivation: Sendable {
  /// The name and text of the table that holds the values; nil for a column of the entity's table.
  var table: (name: String, text: String)?
  /// The names and texts of the triggers.
  let triggers: [(name: String, text: String)]
  /// Computes the values of all rows.
  let fillStatement: String

  var creationStatements: [String] { (table.map { [$0.text] } ?? []) + triggers.map(\.text) }

  var removalStatements: [String] {
    triggers.map { "DROP TRIGGER IF EXISTS \($0.name)" } + (table.map { ["DROP TABLE IF EXISTS \($0.name)"] } ?? [])
  }
}

extension SQLNaming {
  /// In order of the entities' numbers; of each entity its derived attributes, then its location attributes, each by
  /// name.
  var derivations: [SQLDerivation] {
    numbered.flatMap { derivedAttributes(of: $0).compactMap(derivation) + locationTrees(of: $0) }
  }

  /// The parts of the model that a new store would lack: derived attributes, R-tree indexes and user triggers whose
  /// texts are unknown.
  var unsupportedParts: [String] {
    let attributes = numbered.flatMap(derivedAttributes).filter { derivation(of: $0) == nil }.map {
      "the derived attribute '\($0.entity.name ?? "").\($0.name)' (\($0.derivationExpressionFormat ?? "no derivation"))"
    }
    let indexes = numbered.flatMap { entity in
      entity.distinctIndexes.filter(\.isRTree).map { "the R-tree index '\($0.name)' of '\(entity.name ?? "")'" }
    }
    return attributes + indexes + numbered.flatMap(unsupportedUserInfo)
  }

  private func derivedAttributes(of entity: NSEntityDescription) -> [NSDerivedAttributeDescription] {
    entity.storedAttributes.compactMap { $0 as? NSDerivedAttributeDescription }
  }

  /// Known are the number of objects of a to-many relationship with a to-one inverse, and an attribute of the object of
  /// a to-one relationship, all of them in entities without a superentity.
  private func derivation(of attribute: NSDerivedAttributeDescription) -> SQLDerivation? {
    guard let entity = attribute.owner, entity.superentity == nil, let column = columns(of: attribute)?.column else {
      return nil
    }
    let target = Target(
      attribute: attribute.name, entity: entity.name ?? "", table: tableName(of: entity), column: column)
    switch attribute.derivation {
    case .call("count", let path) where path.count == 1:
      guard let relationship = entity.relationshipsByName[path[0]], relationship.isToMany, !relationship.isTransient,
        let inverse = relationship.inverseRelationship, !inverse.isToMany, let other = inverse.owner,
        other.superentity == nil, let key = columns(of: inverse)?.column
      else { return nil }
      return target.count(of: tableName(of: other), key: key)
    case .path(let path) where path.count == 2:
      guard let relationship = entity.relationshipsByName[path[0]], !relationship.isToMany, !relationship.isTransient,
        let key = columns(of: relationship)?.column, let other = relationship.destinationEntity,
        other.superentity == nil, let origin = other.attributesByName[path[1]], !origin.isTransient,
        let value = columns(of: origin)?.column
      else { return nil }
      return target.value(value, of: tableName(of: other), key: key)
    default: return nil
    }
  }
}

/// The column of a derived attribute.
private struct Target {
  let attribute: String
  let entity: String
  let table: String
  let column: String

  /// The number of rows of `other` whose `key` refers to the row.
  func count(of other: String, key: String) -> SQLDerivation {
    func adjustment(_ name: String, event: String, row: String, value: String) -> (name: String, text: String) {
      let change = "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = \(row).\(key);"
      let text = "\(event) ON \(other) FOR EACH ROW WHEN (\(row).\(key) NOT NULL)"
      return trigger(
        on: other, name, text, change: change, function: "NSCoreDataDATriggerUpdatedAffectedObjectValue",
        rows: "Z_PK = \(row).\(key)")
    }
    return SQLDerivation(
      triggers: [
        adjustment("PARAMETER_INSERT", event: "AFTER INSERT", row: "NEW", value: "IFNULL(\(column), 0) + 1"),
        adjustment(
          "PARAMETER_UPDATE_INCREMENT", event: "AFTER UPDATE OF \(key)", row: "NEW", value: "\(column) + 1"),
        adjustment(
          "PARAMETER_UPDATE_DECREMENT", event: "AFTER UPDATE OF \(key)", row: "OLD", value: "\(column) - 1"),
        adjustment("PARAMETER_DELETE", event: "AFTER DELETE", row: "OLD", value: "\(column) - 1"),
        sourceInsertion("SELECT IFNULL(COUNT(\(key)), 0) FROM \(other) WHERE \(key) = NEW.Z_PK"),
      ],
      fillStatement: "UPDATE \(table) SET \(column) = "
        + "(SELECT COUNT(other.\(key)) FROM \(other) other WHERE other.\(key) = \(table).Z_PK)")
  }

  /// The column `value` of the row of `other` that `key` refers to.
  func value(_ value: String, of other: String, key: String) -> SQLDerivation {
    let selection = "SELECT \(value) FROM \(other) WHERE Z_PK = NEW.\(key)"
    let copy = "UPDATE \(table) SET \(column) = NEW.\(value) WHERE \(key) = NEW.Z_PK;"
    return SQLDerivation(
      triggers: [
        sourceInsertion(selection),
        trigger(
          on: table, "SOURCE_UPDATE", "AFTER UPDATE OF \(key) ON \(table) FOR EACH ROW",
          change: "UPDATE \(table) SET \(column) = (\(selection)) WHERE Z_PK = NEW.Z_PK;",
          function: "NSCoreDataDATriggerUpdatedAffectedObjectValue", rows: "Z_PK = NEW.Z_PK"),
        trigger(
          on: other, "PARAMETER_INSERT", "AFTER INSERT ON \(other) FOR EACH ROW", change: copy,
          function: "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue", rows: "\(key) = NEW.Z_PK"),
        trigger(
          on: other, "PARAMETER_UPDATE", "AFTER UPDATE OF \(value) ON \(other) FOR EACH ROW", change: copy,
          function: "NSCoreDataDATriggerUpdatedAffectedObjectValue", rows: "\(key) = NEW.Z_PK"),
      ],
      fillStatement: "UPDATE \(table) SET \(column) = "
        + "(SELECT other.\(value) FROM \(other) other WHERE other.Z_PK = \(table).\(key))")
  }

  private func sourceInsertion(_ selection: String) -> (name: String, text: String) {
    trigger(
      on: table, "SOURCE_INSERT", "AFTER INSERT ON \(table) FOR EACH ROW",
      change: "UPDATE \(table) SET \(column) = (\(selection)) WHERE Z_PK = NEW.Z_PK;",
      function: "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue", rows: "Z_PK = NEW.Z_PK")
  }

  private func trigger(
    on watched: String, _ kind: String, _ event: String, change: String, function: String, rows: String
  ) -> (name: String, text: String) {
    let name = "Z_DA_\(watched)_\(entity)_\(attribute)_\(kind)"
    let report = "SELECT \(function)('\(table)', Z_ENT, Z_PK, '\(attribute)', \(column)) FROM \(table) WHERE \(rows);"
    return (name, "CREATE TRIGGER \(name) \(event) BEGIN \(change) \(report) END")
  }
}
