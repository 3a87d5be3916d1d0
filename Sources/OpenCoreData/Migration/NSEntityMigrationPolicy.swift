import Foundation
import SystemSupport

/// Variables of value expressions, without `$`. (Apple's header: NSEntityMigrationPolicy.h.)
public let NSMigrationManagerKey = MappingExpressions.manager
/// The variable `$source`: the object of the old store.
public let NSMigrationSourceObjectKey = MappingExpressions.source
/// The variable `$destination`: the object that is made for the new store.
public let NSMigrationDestinationObjectKey = "destination"
/// The variable `$entityMapping`: the `NSEntityMapping` that is carried out.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The variable `$propertyMapping`: the `NSPropertyMapping` whose value is computed.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The variable `$entityPolicy`: the `NSEntityMigrationPolicy` of the entity mapping.
public let NSMigrationEntityPolicyKey = "entityPolicy"

/// How an entity mapping is carried out. (Apple documentation: NSEntityMigrationPolicy.)
///
/// A migration has three passes, each over all entity mappings in their order. The first one calls ``begin(_:with:)``,
/// ``createDestinationInstances(forSource:in:manager:)`` for each source object and
/// ``endInstanceCreation(forMapping:manager:)``; the second ``createRelationships(forDestination:in:manager:)`` for each
/// object that the first one has associated, and ``endRelationshipCreation(forMapping:manager:)``; the third
/// ``performCustomValidation(forMapping:manager:)`` and ``end(_:manager:)``. Then the model's rules are checked. The
/// mapping names the class in `entityMigrationPolicyClassName`; there is one object for each mapping.
///
/// All methods are called on one thread, which may use the objects of both contexts directly. The objects are of the class
/// `NSManagedObject`, whatever class the model names. Between the calls, finished objects are saved into the file that the
/// migration writes, and leave the memory unless the policy holds them.
///
/// ```swift
/// final class SpotPolicy: NSEntityMigrationPolicy {
///   override func createDestinationInstances(
///     forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
///   ) throws {
///     try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
///     let made = manager.destinationInstances(
///       forEntityMappingName: mapping.name, sourceInstances: [sInstance])
///     made.first?.setValue("unknown", forKey: "country")
///   }
/// }
/// ```
open class NSEntityMigrationPolicy: NSObject {
  /// Called by the manager, which makes the object. Required, so that a class can be made by its name.
  public required override init() {}

  // MARK: Stages

  /// Called before anything else of the mapping. What it throws ends the migration, as for all methods of a policy.
  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

  /// Makes the destination instance of a source object by the mapping's attribute mappings, and associates both. An
  /// override that does not call `super` associates what it makes itself; what is not associated has no second pass.
  ///
  /// - Throws: `NSError` 134110 for a value that does not match its attribute.
  open func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try manager.migration(in: mapping).makeInstance(of: sInstance, mapping)
  }

  /// Called after the last source object of the mapping. What it throws ends the migration.
  open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Sets the relationships of a destination instance by the mapping's relationship mappings.
  ///
  /// - Throws: `NSError` 134110 for an object that can't be at the other end.
  open func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try manager.migration(in: mapping).makeRelationships(of: dInstance, mapping)
  }

  /// Called after the last destination instance of the mapping. What it throws ends the migration.
  open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Called when all objects have their relationships, before the model's rules are checked. What it throws ends the
  /// migration.
  open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Called last. What it throws ends the migration.
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  // MARK: Methods of value expressions

  /// The value of `FUNCTION($entityPolicy, "name:", argument)` in a value expression. Apple's framework calls the method of
  /// that name; here a class overrides this one and calls it.
  ///
  /// ```swift
  /// override func value(ofMethod name: String, arguments: [Any?]) throws -> Any? {
  ///   switch name {
  ///   case "fullName:": fullName(arguments[0] as? NSManagedObject)
  ///   default: try super.value(ofMethod: name, arguments: arguments)
  ///   }
  /// }
  /// ```
  ///
  /// - Throws: `NSError` 134170 for a method that the class does not have.
  open func value(ofMethod name: String, arguments: [Any?]) throws -> Any? {
    throw NSError.coreData(
      .entityMigrationPolicy,
      "The migration policy \(type(of: self)) has no method '\(name)' for expressions.",
      suggestion: "Override value(ofMethod:arguments:) and call the method there.")
  }

  // MARK: Classes by name

  private static let registered = Locked<[String: NSEntityMigrationPolicy.Type]>([:])

  /// Makes the class known by a name of the client's choice. Needed for a class that is private or nested in another type,
  /// which no name leads to, and for a mapping model that names a class without its module.
  public static func register(_ policyClass: NSEntityMigrationPolicy.Type, forName name: String) {
    registered.withLock { $0[name] = policyClass }
  }

  /// The class of an entity mapping.
  ///
  /// - Throws: `NSError` 134170 if the program has no class of that name, or it is not a policy.
  static func found(named name: String) throws -> NSEntityMigrationPolicy.Type {
    if let known = registered.withLock({ $0[name] }) { return known }
    let found: AnyClass? = EmbeddedModels.managedObjectClass(named: name) ?? NSClassFromString(name)
    if let policy = found as? NSEntityMigrationPolicy.Type { return policy }
    let problem = found == nil ? "was not found" : "is not a subclass of NSEntityMigrationPolicy"
    throw NSError.coreData(
      .entityMigrationPolicy, "The migration policy class '\(name)' \(problem).",
      suggestion: "Name it Module.Class, or register it with NSEntityMigrationPolicy.register(_:forName:).")
  }
}
