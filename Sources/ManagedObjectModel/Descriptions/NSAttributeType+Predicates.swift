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
}
