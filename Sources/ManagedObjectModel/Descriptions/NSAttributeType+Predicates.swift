extension NSAttributeType {
  /// What values of this type are to a predicate.
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
