import Foundation

/// Values derived from an entity and its superentities, computed once when the model is frozen.
package final class EntityLayout: Sendable {
  /// Own and inherited attributes, transient ones included, in byte order of their names.
  package let attributeSlots: [NSAttributeDescription]
  private let slotsByName: [String: Int]
  /// By slot; set only for so few attributes that a linear search is faster than hashing.
  private let fewNames: [String]?
  /// The lengths of their names.
  private let nameLengths: [Int]
  /// By slot: whether the attribute has an integer type.
  private let integerSlots: [Bool]
  /// The values of a newly inserted object, by slot.
  package let defaultValues: [StoredValue]
  /// Nil for each slot.
  package let nullValues: [StoredValue]
  /// The slots of transient attributes: rows have no values of theirs.
  package let transientSlots: [Int]
  package let propertiesByName: [String: NSPropertyDescription]
  package let attributesByName: [String: NSAttributeDescription]
  package let relationshipsByName: [String: NSRelationshipDescription]
  /// Set only for so few relationships that a linear search is faster than hashing.
  private let fewRelationships: [(name: String, relationship: NSRelationshipDescription)]?
  /// The required relationships, by name.
  package let mandatoryRelationships: [NSRelationshipDescription]
  /// The stored relationships whose number of objects the model restricts, by name.
  package let checkedRelationships: [NSRelationshipDescription]
  /// The relationships with the delete rule deny, by name.
  package let denyingRelationships: [NSRelationshipDescription]

  init(of entity: NSEntityDescription) {
    propertiesByName = Self.propertiesByName(of: entity)
    attributesByName = propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
    relationshipsByName = propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
    fewRelationships =
      relationshipsByName.count <= 8 ? relationshipsByName.map { (name: $0.key, relationship: $0.value) } : nil
    // "The counts are only enforced if the relationship value is not nil" (Apple documentation:
    // NSRelationshipDescription). A to-many relationship always has a set, possibly empty, so only its count matters.
    mandatoryRelationships = relationshipsByName.values
      .filter { !$0.isTransient && !$0.isOptional && (!$0.isToMany || $0.minCount > 0) }
      .sorted { String.byteOrder($0.name, $1.name) }
    checkedRelationships = relationshipsByName.values.filter(\.isChecked).sorted { String.byteOrder($0.name, $1.name) }
    denyingRelationships = relationshipsByName.values.filter { $0.deleteRule == .denyDeleteRule }
      .sorted { String.byteOrder($0.name, $1.name) }
    attributeSlots = attributesByName.values.sorted { String.byteOrder($0.name, $1.name) }
    integerSlots = attributeSlots.map {
      [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType].contains($0.attributeType)
    }
    defaultValues = attributeSlots.map(\.defaultStoredValue)
    nullValues = Array(repeating: .null, count: attributeSlots.count)
    transientSlots = attributeSlots.indices.filter { [attributeSlots] in attributeSlots[$0].isTransient }
    slotsByName = Dictionary(
      attributeSlots.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    fewNames = attributeSlots.count <= 12 ? attributeSlots.map(\.name) : nil
    nameLengths = attributeSlots.map(\.name.utf8.count)
  }

  static func propertiesByName(of entity: NSEntityDescription) -> [String: NSPropertyDescription] {
    Dictionary(entity.properties.map { ($0.name, $0) }, uniquingKeysWith: { own, _ in own })
  }

  // The effects are declared for other modules: code that reads a value need not hold an object during the call, which
  // would cost as much as the search.

  /// The slot of an attribute; nil if the entity has no attribute of that name.
  @_effects(readonly)
  package func slot(named name: String) -> Int? {
    guard let fewNames else { return slotsByName[name] }
    // Most keys differ from most names in length.
    let length = name.utf8.count
    for slot in nameLengths.indices where nameLengths[slot] == length && fewNames[slot] == name { return slot }
    return nil
  }

  /// The relationship of that name; nil if the entity has none.
  package func relationship(named name: String) -> NSRelationshipDescription? {
    guard let fewRelationships else { return relationshipsByName[name] }
    return fewRelationships.first { $0.name == name }?.relationship
  }

  @_effects(readonly)
  package func isInteger(_ slot: Int) -> Bool { integerSlots[slot] }
}

extension NSEntityDescription {
  /// Own and inherited properties by name.
  public var propertiesByName: [String: NSPropertyDescription] {
    // A version hash needs no more of an entity that is not frozen.
    knownLayout?.propertiesByName ?? EntityLayout.propertiesByName(of: self)
  }
  /// Own and inherited attributes by name, transient and derived ones included.
  public var attributesByName: [String: NSAttributeDescription] { layout.attributesByName }
  /// Own and inherited relationships by name.
  public var relationshipsByName: [String: NSRelationshipDescription] { layout.relationshipsByName }

  /// The relationships, own and inherited, that every object must have.
  package var mandatoryRelationships: [NSRelationshipDescription] { layout.mandatoryRelationships }

  /// The stored relationships, own and inherited, whose number of objects the model restricts, by name.
  package var checkedRelationships: [NSRelationshipDescription] { layout.checkedRelationships }

  /// The relationships, own and inherited, with the delete rule deny, by name.
  package var denyingRelationships: [NSRelationshipDescription] { layout.denyingRelationships }

  /// The entities that inherit directly from this one, by name. (Apple documentation: subentitiesByName.)
  public var subentitiesByName: [String: NSEntityDescription] {
    Dictionary(
      subentities.compactMap { entity in entity.name.map { ($0, entity) } }, uniquingKeysWith: { $1 })
  }

  /// The relationships, own and inherited, whose destination is `entity`.
  public func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
    relationshipsByName.values.filter { $0.destinationEntity === entity }
      .sorted { String.byteOrder($0.name, $1.name) }
  }

  /// Whether this is `entity` or inherits from it.
  public func isKindOf(entity: NSEntityDescription) -> Bool {
    ancestry.contains { $0 === entity }
  }

  /// Own and inherited attributes, transient ones included, sorted by name in byte order. The position of an
  /// attribute here is its slot.
  package var attributeSlots: [NSAttributeDescription] { layout.attributeSlots }

  static func propertiesByName(of entity: NSEntityDescription) -> [String: NSPropertyDescription] {
    Dictionary(entity.properties.map { ($0.name, $0) }, uniquingKeysWith: { own, _ in own })
  }

  /// The slot of an attribute; nil if the entity has no attribute of that name.
  public func slot(named name: String) -> Int? { layout.slot(named: name) }

  /// The root of the inheritance tree; the entity itself if it has no superentity. A root has one table and one key
  /// sequence in a store.
  package var rootEntity: NSEntityDescription { superentity == nil ? self : ancestry.last ?? self }

  /// The entity itself, its superentity, and so on up to the root.
  package var ancestry: [NSEntityDescription] {
    var chain = [self]
    while let next = chain.last?.superentity, !chain.contains(where: { $0 === next }) { chain.append(next) }
    return chain
  }

  /// The most superentities that an entity of a model file or store may have, one above the other. What derives from
  /// an entity and its superentities would otherwise grow with the square of the depth.
  package static let inheritanceDepthMax = 100

  /// Why the entity can't be used: its superentities form a circle, or are too many. Readers of models check it for
  /// every entity before they use `ancestry`.
  package var inheritanceProblem: String? {
    var (top, depth) = (self, 0)
    while let next = top.superentity {
      if next === self { return "inherits from itself" }
      (top, depth) = (next, depth + 1)
      if depth > Self.inheritanceDepthMax {
        return top.isBelowCircle
          ? "inherits from itself" : "inherits over more than \(Self.inheritanceDepthMax) entities"
      }
    }
    return nil
  }

  /// Whether its superentities never end.
  private var isBelowCircle: Bool {
    var seen: Set<ObjectIdentifier> = []
    var top = self
    while let next = top.superentity {
      guard seen.insert(ObjectIdentifier(next)).inserted else { return true }
      top = next
    }
    return false
  }

  /// The own uniqueness constraints as attribute names, in their order.
  package var uniquenessConstraintNames: [[String]] {
    uniquenessConstraints.map { constraint in
      constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
    }
  }
}
