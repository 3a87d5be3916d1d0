import Foundation
import TestSupport
import Testing

@testable import OpenCoreData

/// A store of an old model, and what a mapping model makes of it in a new file.
struct MappingBench {
  let bench: MigrationBench
  let new: NSManagedObjectModel
  var folder: TemporaryFolder { bench.folder }
  var target: URL { folder.file("new.sqlite") }

  init(old: String, new: String, rows: String) throws {
    bench = try MigrationBench(old: old, rows: rows, "old.sqlite")
    self.new = try migrationModel(new)
  }

  func manager() -> NSMigrationManager { NSMigrationManager(sourceModel: bench.old, destinationModel: new) }

  func migrate(_ mapping: NSMappingModel, _ manager: NSMigrationManager? = nil) throws {
    try (manager ?? self.manager()).migrateStore(from: bench.file, with: mapping, toDestinationURL: target)
  }

  func migrate(_ mappings: [NSEntityMapping]) throws {
    let model = NSMappingModel()
    model.entityMappings = mappings
    try migrate(model)
  }

  /// The rows of the new store, and a check that it is a whole store of the new model.
  func found(_ query: String) throws -> String {
    let fresh = folder.file("fresh-\(UUID().uuidString).sqlite")
    try MigrationBench.add(fresh, model: new, options: nil)
    #expect(try sqlite(target, MigrationBench.layout) == sqlite(fresh, MigrationBench.layout))
    try MigrationBench.add(target, model: new, options: nil)
    return try sqlite(target, query)
  }

  /// Demands that a failed migration has left nothing but the old store as it was.
  func expectOnlyOld(_ before: String) throws {
    #expect(try bench.dump() == before)
    #expect(try folder.names.filter { !$0.hasPrefix("old.sqlite") } == [])
  }
}

/// An entity mapping made in code.
func entityMapping(
  _ name: String, from source: String?, to destination: String?, policy: NSEntityMigrationPolicy.Type? = nil,
  attributes: [String: String?] = [:], relationships: [String: String?] = [:]
) -> NSEntityMapping {
  let mapping = NSEntityMapping()
  mapping.name = name
  mapping.mappingType = policy == nil ? .transformEntityMappingType : .customEntityMappingType
  mapping.sourceEntityName = source
  mapping.destinationEntityName = destination
  if let policy {
    NSEntityMigrationPolicy.register(policy, forName: "\(policy)")
    mapping.entityMigrationPolicyClassName = "\(policy)"
  }
  func properties(_ expressions: [String: String?]) -> [NSPropertyMapping] {
    expressions.sorted { $0.key < $1.key }.map { name, text in
      let property = NSPropertyMapping()
      property.name = name
      property.valueExpression = text.map { NSExpression(format: $0) }
      return property
    }
  }
  mapping.attributeMappings = properties(attributes)
  mapping.relationshipMappings = properties(relationships)
  return mapping
}

/// The expression that the editor writes for a relationship.
func instances(_ mapping: String, _ relationship: String) -> String {
  "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"\(mapping)\", "
    + "$source.\(relationship))"
}
