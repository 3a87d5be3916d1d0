import ManagedObjectModel
import Foundation

/// Preconditions for mapping entities to tables.
enum SQLSchemaCheck {
  static func check(_ entities: [NSEntityDescription]) throws {
    let members = Set(entities.map(ObjectIdentifier.init))
    var names: Set<String> = []
    for entity in entities {
      let name = entity.name ?? ""
      try checkIdentifier(name, "an entity")
      guard names.insert(name).inserted else {
        throw error("There are two entities named '\(name)'.", "Rename one of them.")
      }
      if let parent = entity.superentity, !members.contains(ObjectIdentifier(parent)) {
        throw error(
          "'\(name)' inherits from '\(parent.name ?? "")', which this store does not keep.",
          "Put a superentity into every configuration that its subentities are in.")
      }
      for property in entity.ownProperties where !property.isTransient {
        try check(property, of: name, members)
      }
      try checkUniqueness(of: entity)
      for index in entity.indexes { try checkIdentifier(index.name, "an index of '\(name)'") }
    }
    try checkWidths(entities)
  }

  /// SQLite's limit on the columns of a table (SQLITE_MAX_COLUMN), less those that are not properties.
  private static let columnsMax = 2000 - 3

  /// A table has the columns of an entity and of all its subentities. Checked before a file is created.
  private static func checkWidths(_ entities: [NSEntityDescription]) throws {
    for (_, family) in Dictionary(grouping: entities, by: { ObjectIdentifier($0.rootEntity) }) {
      let count = family.reduce(0) { count, entity in
        count + entity.ownProperties.count { $0.isIndexable && !$0.isTransient }
      }
      guard count > columnsMax, let root = family.first?.rootEntity else { continue }
      throw error(
        "'\(root.name ?? "")' has \(count) attributes and to-one relationships, subentities included.",
        "A store keeps at most \(columnsMax); divide them among several entities.")
    }
  }

  private static func check(
    _ property: NSPropertyDescription, of entity: String, _ members: Set<ObjectIdentifier>
  ) throws {
    try checkIdentifier(property.name, "a property of '\(entity)'")
    let subject = "'\(entity).\(property.name)'"
    if let attribute = property as? NSAttributeDescription, attribute.columnType == nil {
      throw error(
        "The attribute \(subject) has the type \(attribute.attributeType), which no store supports.",
        "Give it another type, or make it transient.")
    }
    guard let relationship = property as? NSRelationshipDescription else { return }
    guard let destination = relationship.destinationEntity else {
      throw error("The relationship \(subject) has no destination.", "Set its destinationEntity.")
    }
    guard members.contains(ObjectIdentifier(destination)) else {
      throw error(
        "The relationship \(subject) leads to '\(destination.name ?? "")', which this store does not keep.",
        "Put both into one configuration, or use a fetched property.")
    }
  }

  /// A constraint that can't become an index would be lost silently.
  private static func checkUniqueness(of entity: NSEntityDescription) throws {
    let properties = entity.propertiesByName
    for name in entity.uniquenessConstraintNames.joined() where properties[name]?.isIndexable != true {
      throw error(
        "A uniqueness constraint of '\(entity.name ?? "")' names '\(name)', which has no column.",
        "Name stored attributes and to-one relationships of the entity only.")
    }
  }

  /// Names are interpolated into SQL text, so they must satisfy the model editor's rules.
  static func isIdentifier(_ name: String) -> Bool {
    let scalars = name.unicodeScalars
    guard let first = scalars.first, letters.contains(first) else { return false }
    return scalars.allSatisfy { letters.contains($0) || CharacterSet.decimalDigits.contains($0) }
  }
  private static let letters = CharacterSet.letters.union(CharacterSet(charactersIn: "_"))

  private static func checkIdentifier(_ name: String, _ kind: String) throws {
    guard isIdentifier(name) else {
      throw error(
        "'\(name)' can't be the name of \(kind).", "Use letters, digits and underscores, a letter first.")
    }
  }

  static func error(_ problem: String, _ advice: String) -> NSError {
    .coreData(.coreData, "\(problem) \(advice)")
  }
}

extension NSPropertyDescription {
  /// Whether the property is a single column, so that an index can contain it: stored attributes and to-one
  /// relationships.
  var isIndexable: Bool {
    if isTransient { return false }
    if let relationship = self as? NSRelationshipDescription { return !relationship.isToMany }
    return self is NSAttributeDescription
  }
}

extension NSAttributeDescription {
  /// The type of the attribute's column; nil if values of the type cannot be stored.
  package var columnType: SQLColumnType? {
    switch attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
      .integer
    case .doubleAttributeType, .floatAttributeType: .float
    case .dateAttributeType: .timestamp
    case .decimalAttributeType: .decimal
    case .stringAttributeType, .URIAttributeType: .varchar
    case .UUIDAttributeType, .transformableAttributeType, .binaryDataAttributeType: .blob
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: nil
    }
  }

  /// Columns of a table are sorted by this group first: integers and keys, floats and dates, decimals, texts, URIs,
  /// UUIDs, transformables, other data.
  var columnGroup: Int {
    switch attributeType {
    case .doubleAttributeType, .floatAttributeType, .dateAttributeType: 1
    case .decimalAttributeType: 2
    case .stringAttributeType: 3
    case .URIAttributeType: 4
    case .UUIDAttributeType: 5
    case .transformableAttributeType: 6
    case .binaryDataAttributeType: 7
    default: 0
    }
  }
}
