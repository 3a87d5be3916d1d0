import ManagedObjectModel

extension ValueCell.Kind {
  /// The kind in which values of `attribute` are stored.
  package init(_ attribute: NSAttributeDescription) {
    switch attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
      self = .integer
    case .doubleAttributeType, .floatAttributeType, .dateAttributeType: self = .real
    case .decimalAttributeType: self = .decimal
    case .stringAttributeType, .URIAttributeType: self = .text
    default: self = .blob
    }
  }
}
