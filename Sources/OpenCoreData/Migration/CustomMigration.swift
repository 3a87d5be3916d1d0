import Foundation

/// One migration by entity mappings: their order, their policies, and what they have made.
final class CustomMigration {
  /// An entity mapping with all that is needed to carry it out.
  struct Step {
    let mapping: NSEntityMapping
    let policy: NSEntityMigrationPolicy
    let source: NSEntityDescription?
    let destination: NSEntityDescription?
    let attributes: AttributePlan?
    let relationships: RelationshipPlan?
    let associations = MappingAssociations()
    let variables: NSMutableDictionary

    /// Whether the policy is asked for instances of source objects.
    var makesInstances: Bool { source != nil && (destination != nil || hasOwnPolicy) }
    /// Whether the policy may do something else than the default one.
    var hasOwnPolicy: Bool { type(of: policy) != NSEntityMigrationPolicy.self }
  }

  // Unowned: the manager holds this object as long as it is in use.
  unowned let manager: NSMigrationManager
  let steps: [Step]
  private let byName: [String: Int]
  /// The related source objects of the batch that is linked, by relationship and source object.
  var relatedSources: [ObjectIdentifier: [ObjectKey: [NSManagedObjectID]]] = [:]

  var sourceContext: NSManagedObjectContext { manager.sourceContext }
  var destinationContext: NSManagedObjectContext { manager.destinationContext }

  /// - Throws: `NSError` 134140 for entity mappings that do not match the models, 134170 for a policy that is not found.
  init(_ mappings: NSMappingModel, of manager: NSMigrationManager) throws {
    self.manager = manager
    let all = mappings.entityMappings
    byName = Dictionary(all.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    guard byName.count == all.count else {
      let twice = Dictionary(grouping: all, by: \.name).filter { $1.count > 1 }.keys.sorted()
      throw NSError.coreData(
        .missingMappingModel,
        "Several entity mappings have the name '\(twice.first ?? "")'. Give each a name of its own: relationships and "
          + "policies ask for them by name.")
    }
    let names = Set(byName.keys)
    steps = try all.map { try Step($0, of: manager, names: names) }
  }

  func has(_ mapping: NSEntityMapping) -> Bool { step(mapping) != nil }

  func associations(_ name: String) -> MappingAssociations? { byName[name].map { steps[$0].associations } }

  func forgetAssociations() { for step in steps { step.associations.forgetAll() } }

  func instances(ofAnyMapping source: ObjectKey) -> [NSManagedObject] {
    steps.flatMap { $0.associations.destinations(of: source, in: destinationContext) }
  }

  func step(_ mapping: NSEntityMapping) -> Step? {
    guard let number = byName[mapping.name], steps[number].mapping === mapping else { return nil }
    return steps[number]
  }

  /// Saves what is finished, so that it can leave the memory.
  func flush() throws {
    // A policy may have saved already.
    for step in steps { step.associations.noteSavedKeys() }
    guard destinationContext.hasChanges else { return }
    let deleted = destinationContext.deletedObjects
    if !deleted.isEmpty { for step in steps { step.associations.forget(deleted) } }
    do {
      try destinationContext.save()
    } catch let error as NSError where error.code == NSManagedObjectConstraintMergeError {
      throw NSError.coreData(
        .migrationConstraintViolation,
        "Objects of the migrated store have equal values where its model requires unique ones: "
          + error.localizedDescription,
        userInfo: [NSUnderlyingErrorKey: error])
    }
    for step in steps { step.associations.noteSavedKeys() }
  }
}

extension CustomMigration.Step {
  init(_ mapping: NSEntityMapping, of manager: NSMigrationManager, names: Set<String>) throws {
    let (source, destination) = (manager.sourceEntity(for: mapping), manager.destinationEntity(for: mapping))
    try mapping.check(source, named: mapping.sourceEntityName, hash: mapping.sourceEntityVersionHash, side: "source")
    try mapping.check(
      destination, named: mapping.destinationEntityName, hash: mapping.destinationEntityVersionHash,
      side: "destination")
    switch mapping.mappingType {
    case .copyEntityMappingType, .transformEntityMappingType:
      guard source != nil, destination != nil else { throw NSError.mapping(mapping, "it needs both entities") }
    default: break
    }
    let isMade = mapping.mappingType != .addEntityMappingType && mapping.mappingType != .removeEntityMappingType
    self.mapping = mapping
    self.source = isMade ? source : nil
    self.destination = isMade ? destination : nil
    let policyClass = try mapping.entityMigrationPolicyClassName.map(NSEntityMigrationPolicy.found(named:))
    policy = (policyClass ?? NSEntityMigrationPolicy.self).init()
    if let destination, self.source != nil, self.destination != nil {
      attributes = try AttributePlan(mapping, from: source, to: destination)
      relationships = try RelationshipPlan(mapping, from: source, to: destination, names: names)
    } else {
      (attributes, relationships) = (nil, nil)
    }
    variables = NSMutableDictionary()
    variables[NSString(string: NSMigrationManagerKey)] = manager
    variables[NSString(string: NSMigrationEntityMappingKey)] = mapping
    variables[NSString(string: NSMigrationEntityPolicyKey)] = policy
  }

  /// Gives expressions their variables.
  func set(_ value: Any?, for key: String) { variables[NSString(string: key)] = value }
}

extension NSEntityMapping {
  /// - Throws: `NSError` 134140 if there is no entity of that name, or it is of another version.
  fileprivate func check(_ entity: NSEntityDescription?, named name: String?, hash: Data?, side: String) throws {
    guard let name else { return }
    guard let entity else { throw NSError.mapping(self, "the \(side) model has no entity '\(name)'") }
    guard let hash, hash != entity.versionHash, entity.hasExactVersionHash else { return }
    throw NSError.mapping(self, "it is for another version of the \(side) entity '\(name)'")
  }
}
