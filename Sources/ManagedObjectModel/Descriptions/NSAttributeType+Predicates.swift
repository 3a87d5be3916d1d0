extension NSAttributeType {
  /// The kind of value that predicates treat values of this type as.
  var predicateType: PredicateValueType {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: .integer
    case .doubleAttributeType, .floatAttributeType: .real
    case .decimalAttributeType: .decimal
    case .booleanAttributeType: .boolean
    case .dateAttributeType: .date
    case .stringAttributeType: .text
    case .URIAttributeType: .uri
    case .UUIDAttributeType: .uuid
    default: .blob
    }
  }

  /// The name in error messages.
  package var describedName: String { self == .objectIDAttributeType ? "an objectID" : predicateType.describedName }
}

extension PredicateValueType {
  /// The type of attributes that hold such values.
  package var attributeType: NSAttributeType {
    switch self {
    case .integer: .integer64AttributeType
    case .real: .doubleAttributeType
    case .decimal: .decimalAttributeType
    case .boolean: .booleanAttributeType
    case .date: .dateAttributeType
    case .text: .stringAttributeType
    case .uri: .URIAttributeType
    case .uuid: .UUIDAttributeType
    case .blob: .binaryDataAttributeType
    case .object: .objectIDAttributeType
    }
  }

  /// Whether values of this type can be given as values of an attribute's type: a number as any number, other values as
  /// what they are.
  package func converts(to other: NSAttributeType) -> Bool {
    family == .number
      ? other.predicateType.family == .number : self != .object && attributeType == other
  }
}
