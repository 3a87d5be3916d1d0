import ManagedObjectModel
import Foundation

/// Preconditions that a store must satisfy before its tables change, and checks of its rows afterwards.
package struct MigrationChecks {
  let plan: MigrationPlan
  let connection: any TableStatements
  /// The store's name in messages.
  let path: String

  package init(_ plan: MigrationPlan, _ connection: any TableStatements, path: String) {
    (self.plan, self.connection, self.path) = (plan, connection, path)
  }

  /// Before the tables change.
  package func checkBefore() throws {
    try checkNumbers()
    try checkConfiguration()
  }

  /// When the rows are moved, and the old tables still stand aside.
  package func checkAfter() throws {
    try checkRows()
    try checkWaysBack(MigrationStatements(plan: plan).waysBack)
  }

  /// A row of an entity that the source model does not have would be dropped silently.
  private func checkNumbers() throws {
    for table in plan.source.entities where table.superNumber == 0 {
      let list = MigrationStatements.list(Set(table.numbers))
      let name = table.tableName
      let strangers =
        try connection.integer("SELECT count(*) FROM \(name) WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(list))", []) ?? 0
      guard strangers > 0 else { continue }
      throw NSError.migration(
        "\(path) has \(strangers) rows in \(name) whose entity its model does not have.",
        advice: "Restore the file from a copy, or give these rows the Z_ENT of an entity.")
    }
  }

  /// Entities that stay in the model must not lose their rows because a configuration excludes them.
  private func checkConfiguration() throws {
    for entity in plan.source.entities {
      guard let old = plan.mapping.sourceModel.entitiesByName[entity.name],
        let name = plan.match.destination(of: old)?.name, plan.destination.entity(named: name) == nil,
        let count = try connection.integer(
          "SELECT count(*) FROM \(entity.tableName) WHERE Z_ENT = \(entity.number)", []),
        count > 0
      else { continue }
      throw NSError.migration(
        "\(path) has \(count) objects of \(entity.name), which is in the new model but not in the configuration that "
          + "the store is added with.",
        advice: "Add it with a configuration that has \(name).")
    }
  }

  /// Conditions that depend on the rows.
  private func checkRows() throws {
    for entity in plan.destination.entities {
      guard let new = plan.destinationEntities[entity.name], let old = plan.match.source(of: new) else { continue }
      if new.isAbstract, !old.isAbstract {
        try requireNone(
          entity, where: "Z_ENT = \(entity.number)",
          problem: "\(entity.name) is abstract in the new model, but has",
          advice: "Delete them first, or keep the entity concrete.")
      }
      for relationship in new.ownProperties.compactMap({ $0 as? NSRelationshipDescription })
      where !relationship.isTransient && !relationship.isOptional && !relationship.isToMany {
        guard case .toOne(let column, _, _)? = entity.relationships[relationship.name],
          let former = plan.match.source(of: relationship, in: new), former.isOptional || losesObjects(former)
        else { continue }
        try requireNone(
          entity, where: "\(column) IS NULL AND Z_ENT IN (\(MigrationStatements.list(Set(entity.numbers))))",
          problem: "\(entity.name).\(relationship.name) is mandatory in the new model, but has no destination in",
          advice: "Set it first, or keep it optional.")
      }
    }
  }

  /// A new inverse that is to-one can't lead back to several objects.
  private func checkWaysBack(_ relationships: [NSRelationshipDescription]) throws {
    for relationship in relationships {
      guard let inverse = relationship.inverseRelationship, let owner = inverse.owner,
        let entity = plan.destination.entity(named: owner.name ?? ""),
        case .toOne(let column, _, _)? = entity.relationships[inverse.name],
        let target = plan.destination.entity(named: relationship.owner?.name ?? "")
      else { continue }
      // A key that leads nowhere is of no object.
      let count = try connection.integer(
        """
        SELECT count(*) FROM (SELECT 1 FROM \(entity.tableName) WHERE \(column) IS NOT NULL
          AND Z_ENT IN (\(MigrationStatements.list(Set(entity.numbers))))
          AND \(column) IN (SELECT Z_PK FROM \(target.tableName)) GROUP BY \(column) HAVING count(*) > 1) found
        """, [])
      guard let count, count > 0 else { continue }
      throw NSError.migration(
        "\(path) can't be migrated: \(relationship.owner?.name ?? "").\(relationship.name) is new and to-one, and by its "
          + "inverse '\(inverse.name)' \(count) objects are led to by several.",
        advice: "Make it to-many, or leave one of the links of each.")
    }
  }

  /// Whether an object that the relationship refers to may be removed with its entity.
  private func losesObjects(_ relationship: NSRelationshipDescription) -> Bool {
    relationship.destinationEntity?.withDescendants.contains { plan.match.destination(of: $0) == nil } ?? false
  }

  private func requireNone(_ entity: SQLEntity, where condition: String, problem: String, advice: String) throws {
    let count = try connection.integer("SELECT count(*) FROM \(entity.tableName) WHERE \(condition)", []) ?? 0
    guard count > 0 else { return }
    throw NSError.migration("\(path) can't be migrated: \(problem) \(count) objects.", advice: advice)
  }
}
