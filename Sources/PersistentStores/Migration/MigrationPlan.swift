import Foundation
import ManagedObjectModel

/// What an inferred migration does with the tables, in whatever database: the old tables stand aside under other names
/// while their rows are moved into new ones.
package struct MigrationPlan {
  /// Retains both models, as entities reference each other weakly.
  let mapping: InferredMapping
  package let source: SQLSchema
  package let destination: SQLSchema
  package let destinationEntities: [String: NSEntityDescription]

  var match: ModelMatch { mapping.match }

  package init(
    _ mapping: InferredMapping, source: SQLSchema, destination: SQLSchema, destinationModel: NSManagedObjectModel
  ) {
    self.mapping = mapping
    self.source = source
    self.destination = destination
    destinationEntities = destinationModel.entitiesByName
  }

  /// The name of an old table while the new table uses its name.
  package static func oldTableName(_ table: String) -> String { "OCD_OLD_\(table)" }

  /// The roots of the source whose rows become rows of the new root's hierarchy.
  package func sourceRoots(of root: NSEntityDescription) -> [String] {
    root.withDescendants.compactMap { match.source(of: $0)?.rootEntity.name }
  }

  /// The statements that move the rows.
  package var moves: [SQLFragment] { MigrationStatements(plan: self).moves }
}
