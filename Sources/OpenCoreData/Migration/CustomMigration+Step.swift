import Foundation

extension CustomMigration {
  /// An entity mapping with all that is needed to carry it out.
  final class Step {
    let mapping: NSEntityMapping
    /// The mapping's name when the migration began.
    let name: String
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
    let hasOwnPolicy: Bool
    /// Whether code of the client may see the relationships of one object before those of the next one are set.
    var mayLookAtLinks: Bool {
      hasOwnPolicy
        || relationships?.parts.contains { if case .expression = $0.content { true } else { false } } == true
    }

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
      (self.mapping, name) = (mapping, mapping.name)
      self.source = isMade ? source : nil
      self.destination = isMade ? destination : nil
      let policyClass = try mapping.entityMigrationPolicyClassName.map(NSEntityMigrationPolicy.found(named:))
      policy = (policyClass ?? NSEntityMigrationPolicy.self).init()
      hasOwnPolicy = type(of: policy) != NSEntityMigrationPolicy.self
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

  /// The instance whose relationships a policy sets.
  struct Linking {
    let links: KeyedLinks
    let object: NSManagedObject
    let index: Int
    /// Reads what objects need to be linked one by one.
    let prepare: () throws -> Void
  }
}

extension NSEntityMapping {
  /// - Throws: `NSError` 134140 if the model has no entity of that name, or has another version of it.
  fileprivate func check(_ entity: NSEntityDescription?, named name: String?, hash: Data?, side: String) throws {
    guard let name else { return }
    guard let entity else { throw NSError.mapping(self, "the \(side) model has no entity '\(name)'") }
    guard let hash, hash != entity.versionHash, entity.hasExactVersionHash else { return }
    throw NSError.mapping(self, "it is for another version of the \(side) entity '\(name)'")
  }
}
