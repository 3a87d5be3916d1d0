import Foundation

/// The effect of deleting an object on the other end of a relationship (Apple: NSDeleteRule).
public enum NSDeleteRule: UInt, Sendable {
  /// The objects at the other end keep a key that leads nowhere.
  case noActionDeleteRule = 0
  /// The objects at the other end lose the link.
  case nullifyDeleteRule = 1
  /// The objects at the other end are deleted too.
  case cascadeDeleteRule = 2
  /// The object can't be deleted while it leads to another one.
  case denyDeleteRule = 3
}

/// A relationship of an entity to another one (Apple: NSRelationshipDescription).
///
/// Set the inverse on both ends:
///
/// ```swift
/// let sessions = NSRelationshipDescription()
/// sessions.name = "sessions"
/// sessions.destinationEntity = session
/// sessions.maxCount = 0
/// sessions.inverseRelationship = board
/// board.inverseRelationship = sessions
/// ```
///
/// Mutable until its model is frozen; a change afterwards stops the program.
// Unchecked: see `FreezeFlag`.
open class NSRelationshipDescription: NSPropertyDescription, @unchecked Sendable {
  /// Weak, as entities reference each other in cycles; the model owns them all.
  open var destinationEntity: NSEntityDescription? {
    get { weakDestination.entity }
    set {
      freezeFlag.requireMutable()
      weakDestination.entity = newValue
    }
  }
  private var weakDestination = WeakEntity()
  /// Weak for the same reason. Setting one end does not set the other.
  open var inverseRelationship: NSRelationshipDescription? {
    get { inverseAnchor?.relationship }
    set {
      freezeFlag.requireMutable()
      inverseAnchor = newValue?.anchor
    }
  }
  private weak var inverseAnchor: RelationshipAnchor?
  private let anchor = RelationshipAnchor()
  /// The destination, once the model is frozen.
  @exclusivity(unchecked) private var frozenDestination: ObjectIdentifier?

  public override init() {
    super.init()
    anchor.relationship = self
  }

  override func freeze() {
    if !freezeFlag.isFrozen { frozenDestination = destinationEntity.map(ObjectIdentifier.init) }
    super.freeze()
  }

  /// Whether the destination is known to be this entity itself; false also for an entity that inherits from it.
  package func leadsDirectly(to entity: NSEntityDescription) -> Bool { frozenDestination == ObjectIdentifier(entity) }

  /// The maximum number of objects at the other end. 0 means no limit; 1 makes a to-one relationship.
  @exclusivity(unchecked) open var maxCount: Int = 1 { willSet { freezeFlag.requireMutable() } }
  /// The minimum number of objects at the other end. An optional relationship may also be empty. (Apple documentation:
  /// minCount.)
  @exclusivity(unchecked) open var minCount: Int = 0 { willSet { freezeFlag.requireMutable() } }
  /// Whether the objects of a to-many relationship have an order. (Apple documentation: isOrdered.)
  @exclusivity(unchecked) open var isOrdered: Bool = false { willSet { freezeFlag.requireMutable() } }
  /// What a deletion of the object means for the objects at the other end. (Apple documentation: deleteRule.)
  @exclusivity(unchecked) open var deleteRule: NSDeleteRule = .nullifyDeleteRule {
    willSet { freezeFlag.requireMutable() }
  }

  /// Whether the relationship leads to any number of objects: its `maxCount` is not 1. (Apple documentation: isToMany.)
  open var isToMany: Bool { maxCount != 1 }

  /// Whether the model restricts how many objects, or which, a stored relationship leads to.
  package var isChecked: Bool {
    if isTransient { return false }
    if !validationPredicates.isEmpty { return true }
    return isToMany ? minCount > 0 || maxCount > 0 : !isOptional
  }

  package override func makeEmptyCopy() -> NSPropertyDescription { NSRelationshipDescription() }

  package override func copyDescription(to other: NSPropertyDescription) {
    super.copyDescription(to: other)
    guard let other = other as? NSRelationshipDescription else { return }
    other.destinationEntity = destinationEntity
    other.inverseRelationship = inverseRelationship
    other.maxCount = maxCount
    other.minCount = minCount
    other.isOrdered = isOrdered
    other.deleteRule = deleteRule
  }
}

/// The object that weak references to a relationship point to, as `EntityAnchor` is for an entity.
// Unchecked: written once, in the relationship's initialiser, before other code has the relationship.
private final class RelationshipAnchor: @unchecked Sendable {
  unowned var relationship: NSRelationshipDescription?
}
