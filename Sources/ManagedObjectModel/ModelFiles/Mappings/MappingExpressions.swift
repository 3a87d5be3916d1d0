/// The parts of the expressions of mapping models. (Apple's header: NSEntityMigrationPolicy.h.)
package enum MappingExpressions {
  package static let manager = "manager"
  package static let source = "source"

  package static let instancesOfMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
  package static let sourcesOfMapping = "sourceInstancesForEntityMappingNamed:destinationInstances:"
  package static let instancesOfRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  package static let sourceRequest = "fetchRequestForSourceEntityNamed:predicateString:"

  /// `$source.name`
  package static func value(of name: String) -> NSExpression {
    NSExpression(format: "$source.%K", name)
  }

  /// The destination instances of the objects that a relationship of the source object leads to.
  package static func instances(of relationship: String) -> NSExpression {
    NSExpression(
      format: "FUNCTION($manager, %@, %@, $source.%K)", instancesOfRelationship, relationship, relationship)
  }

  /// The destination instances that one entity mapping has made of the objects that a key path of the source object leads
  /// to.
  package static func instances(of keyPath: String, by mapping: String) -> NSExpression {
    NSExpression(format: "FUNCTION($manager, %@, %@, $source.%K)", instancesOfMapping, mapping, keyPath)
  }

  /// The objects of an entity, without those of its subentities, that match a predicate.
  package static func objects(of entity: String, where predicate: String = "TRUEPREDICATE") -> NSExpression {
    NSExpression(
      format: "FETCH(FUNCTION($manager, %@, %@, %@), $manager.sourceContext, NO)", sourceRequest, entity, predicate)
  }
}
