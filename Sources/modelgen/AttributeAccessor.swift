import ManagedObjectModel

/// The property of one attribute, with the types that Xcode gives it.
struct AttributeAccessor {
  var attribute: NSAttributeDescription

  /// The declaration, indented by two spaces.
  var source: String {
    """
      public var \(SwiftName.escaped(attribute.name)): \(swiftType) {
        get { \(getter) }
        set { \(setter) }
      }
    """
  }

  /// Whether the property's type comes from Foundation.
  var isOfFoundation: Bool {
    switch route {
    case .optional(let type): type != "String"
    case .number, .keyed, .interval: true
    case .scalar, .any: false
    }
  }

  /// How the accessors access the value.
  private enum Route {
    /// A value type, nil when the attribute is nil.
    case optional(String)
    /// A number that reads as zero when the attribute is nil.
    case scalar(String)
    /// A date as seconds since 2001-01-01 UTC, zero when the attribute is nil.
    case interval
    /// A number object.
    case number
    /// A decimal number, or a type known only to the model, through the keyed accessors.
    case keyed(String)
    /// An attribute without a type.
    case any
  }

  private var route: Route {
    switch attribute.attributeType {
    case .integer16AttributeType: number("Int16")
    case .integer32AttributeType: number("Int32")
    case .integer64AttributeType: number("Int64")
    case .doubleAttributeType: number("Double")
    case .floatAttributeType: number("Float")
    case .booleanAttributeType: number("Bool")
    case .dateAttributeType: attribute.usesScalarValueType ? .interval : .optional("Date")
    case .decimalAttributeType: .keyed("NSDecimalNumber")
    case .stringAttributeType: .optional("String")
    case .binaryDataAttributeType: .optional("Data")
    case .UUIDAttributeType: .optional("UUID")
    case .URIAttributeType: .optional("URL")
    case .transformableAttributeType: .keyed(attribute.attributeValueClassName ?? "NSObject")
    case .compositeAttributeType: .keyed("[String: Any]")
    case .undefinedAttributeType, .objectIDAttributeType: .any
    }
  }

  private func number(_ scalar: String) -> Route {
    attribute.usesScalarValueType ? .scalar(scalar) : .number
  }

  private var swiftType: String {
    switch route {
    case .optional(let type), .keyed(let type): "\(type)?"
    case .scalar(let type): type
    case .number: "NSNumber?"
    case .interval: "TimeInterval"
    case .any: "Any?"
    }
  }

  private var getter: String {
    switch route {
    case .optional: "attributeValue(forKey: \(key))"
    case .number: "numberValue(forKey: \(key))"
    case .scalar: "scalarValue(forKey: \(key))"
    case .interval: "(attributeValue(forKey: \(key)) as Date?)?.timeIntervalSinceReferenceDate ?? 0"
    case .keyed(let type): "value(forKey: \(key)) as? \(type)"
    case .any: "value(forKey: \(key))"
    }
  }

  private var setter: String {
    switch route {
    case .optional: "setAttributeValue(newValue, forKey: \(key))"
    case .scalar: "setScalarValue(newValue, forKey: \(key))"
    case .interval: "setAttributeValue(Date(timeIntervalSinceReferenceDate: newValue), forKey: \(key))"
    case .number: "setNumberValue(newValue, forKey: \(key))"
    case .keyed, .any: "setValue(newValue, forKey: \(key))"
    }
  }

  private var key: String { SwiftName.literal(attribute.name) }
}
