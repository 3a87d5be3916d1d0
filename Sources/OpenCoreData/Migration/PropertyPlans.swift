import Foundation

/// How the attributes of a destination instance get their values.
///
/// Most expressions read an attribute of the same type. These values are copied in stored form, without an expression. It
/// does not change once it is made.
final class AttributePlan {
  /// An attribute whose expression is evaluated.
  struct Evaluation {
    let slot: Int
    let mapping: NSPropertyMapping
    let expression: NSExpression
  }

  /// The slots that get copies, and the source's slot and attribute by destination slot.
  private var copied: [Int] = []
  /// The same, each with the source's slot.
  @exclusivity(unchecked) private var packedPairs: [(slot: Int, source: Int)] = []
  /// Those of them that get a standard where the source has nil.
  @exclusivity(unchecked) private var mandatory: [Int] = []
  private var sourceSlots: [Int]
  private var sourceNames: [String]
  /// The entity with these slots. One that inherits from it has others.
  private let source: NSEntityDescription?
  /// By destination slot: what a mandatory attribute gets where the source has nil, as in an inferred migration.
  private let standards: [StoredValue]
  private(set) var evaluations: [Evaluation] = []

  /// - Throws: `NSError` 134140 for an attribute that the destination entity does not have.
  init(_ mapping: NSEntityMapping, from source: NSEntityDescription?, to destination: NSEntityDescription) throws {
    self.source = source
    sourceSlots = Array(repeating: -1, count: destination.attributeSlots.count)
    sourceNames = Array(repeating: "", count: destination.attributeSlots.count)
    standards = destination.attributeSlots.map { $0.isOptional ? .null : $0.defaultStoredValue }
    try readMappings(of: mapping, from: source, to: destination)
    packedPairs = copied.map { ($0, sourceSlots[$0]) }
    mandatory = copied.filter { !standards[$0].isNull }
  }

  private func readMappings(
    of mapping: NSEntityMapping, from source: NSEntityDescription?, to destination: NSEntityDescription
  ) throws {
    guard let given = mapping.attributeMappings else {
      if mapping.mappingType == .copyEntityMappingType, let source { copyAll(from: source, to: destination) }
      return
    }
    for property in given {
      guard let name = property.name, let slot = destination.slot(named: name) else {
        throw NSError.mapping(
          mapping, "it maps the attribute '\(property.name ?? "")', which \(destination.name ?? "") does not have")
      }
      guard let expression = property.valueExpression else { continue }
      if let key = expression.key(ofVariable: MappingExpressions.source), let source {
        guard source.propertiesByName[key] != nil else {
          throw NSError.mapping(mapping, "\(name) reads '\(key)', which \(source.name ?? "") does not have")
        }
        if copy(key, of: source, to: slot, of: destination) { continue }
      }
      evaluations.append(Evaluation(slot: slot, mapping: property, expression: expression))
    }
  }

  /// Copies the values of the slots that get copies into a new object.
  func copy(_ source: NSManagedObject, to object: NSManagedObject) {
    if source.isFault { source.fireFaultToRead() }
    guard source.entity === self.source, object.copyPackedValues(packedPairs, of: source) else {
      return object.setStoredValues(at: copied) { value($0, of: source) }
    }
    for slot in mandatory where object.storedValue(at: slot).isNull { object.setStoredValue(standards[slot], at: slot) }
  }

  /// The value of a slot that gets a copy.
  private func value(_ slot: Int, of source: NSManagedObject) -> StoredValue {
    let isOfEntity = source.entity === self.source
    let from = isOfEntity ? sourceSlots[slot] : source.entity.slot(named: sourceNames[slot])
    let value = from.map(source.storedValue) ?? .null
    return value.isNull ? standards[slot] : value
  }

  private func copyAll(from source: NSEntityDescription, to destination: NSEntityDescription) {
    for (slot, attribute) in destination.attributeSlots.enumerated() {
      _ = copy(attribute.name, of: source, to: slot, of: destination)
    }
  }

  /// - Returns: False if the stored form may differ.
  private func copy(
    _ key: String, of source: NSEntityDescription, to slot: Int, of destination: NSEntityDescription
  ) -> Bool {
    guard let from = source.slot(named: key) else { return false }
    let (old, new) = (source.attributeSlots[from], destination.attributeSlots[slot])
    guard old.attributeType == new.attributeType, !old.isTransient, !new.isTransient,
      old.valueTransformerName == new.valueTransformerName, old.attributeValueClassName == new.attributeValueClassName
    else { return false }
    if sourceSlots[slot] < 0 { copied.append(slot) }
    (sourceSlots[slot], sourceNames[slot]) = (from, key)
    return true
  }
}

/// How the relationships of a destination instance get their objects.
struct RelationshipPlan {
  enum Content {
    /// What the objects of a source relationship have become, by one entity mapping or (nil) by any.
    case instances(mapping: String?, of: NSRelationshipDescription)
    case expression(NSExpression)
  }

  /// A relationship that has a mapping.
  struct Part {
    let relationship: NSRelationshipDescription
    let mapping: NSPropertyMapping?
    let content: Content
  }

  private(set) var parts: [Part] = []

  /// - Throws: `NSError` 134140 for a relationship or an entity mapping that does not exist.
  init(
    _ mapping: NSEntityMapping, from source: NSEntityDescription?, to destination: NSEntityDescription,
    names: Set<String>
  ) throws {
    guard let given = mapping.relationshipMappings else {
      guard mapping.mappingType == .copyEntityMappingType, let source else { return }
      parts = destination.relationshipsByName.values.sorted { $0.name < $1.name }.compactMap { relationship in
        guard let old = source.relationshipsByName[relationship.name], !relationship.isTransient else { return nil }
        return Part(relationship: relationship, mapping: nil, content: .instances(mapping: nil, of: old))
      }
      return
    }
    for property in given {
      guard let name = property.name, let relationship = destination.relationshipsByName[name] else {
        throw NSError.mapping(
          mapping, "it maps the relationship '\(property.name ?? "")', which \(destination.name ?? "") does not have")
      }
      guard let expression = property.valueExpression else { continue }
      let content = try Self.content(expression, of: name, in: mapping, from: source, names: names)
      parts.append(Part(relationship: relationship, mapping: property, content: content))
    }
  }

  private static func content(
    _ expression: NSExpression, of name: String, in mapping: NSEntityMapping, from source: NSEntityDescription?,
    names: Set<String>
  ) throws -> Content {
    guard let related = expression.relatedSource, let source else { return .expression(expression) }
    guard let old = source.relationshipsByName[related.relationship] else {
      throw NSError.mapping(
        mapping, "\(name) reads the relationship '\(related.relationship)', which \(source.name ?? "") does not have")
    }
    if let other = related.mapping, !names.contains(other) {
      throw NSError.mapping(mapping, "\(name) asks for the entity mapping '\(other)', which does not exist")
    }
    return old.isTransient ? .expression(expression) : .instances(mapping: related.mapping, of: old)
  }
}

extension NSError {
  /// An entity mapping that does not match the models (134140).
  static func mapping(_ mapping: NSEntityMapping, _ reason: String) -> NSError {
    .coreData(
      .missingMappingModel, "The entity mapping '\(mapping.name)' can't be used: \(reason).",
      userInfo: ["entityMapping": mapping.name])
  }
}
