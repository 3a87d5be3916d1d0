/// The types of attributes, with Core Data's raw values (version hashes include them).
public enum NSAttributeType: UInt, Sendable, CaseIterable {
  /// No type; a SQLite store can't have such an attribute unless it is transient.
  case undefinedAttributeType = 0
  /// Whole numbers of 16 bits.
  case integer16AttributeType = 100
  /// Whole numbers of 32 bits.
  case integer32AttributeType = 200
  /// Whole numbers of 64 bits.
  case integer64AttributeType = 300
  /// Decimal numbers (`NSDecimalNumber`).
  case decimalAttributeType = 400
  /// Floating-point numbers of 64 bits.
  case doubleAttributeType = 500
  /// Floating-point numbers of 32 bits.
  case floatAttributeType = 600
  /// Texts.
  case stringAttributeType = 700
  /// True or false.
  case booleanAttributeType = 800
  /// Dates (`Date`).
  case dateAttributeType = 900
  /// Bytes (`Data`).
  case binaryDataAttributeType = 1000
  /// UUIDs.
  case UUIDAttributeType = 1100
  /// URLs.
  case URIAttributeType = 1200
  /// Objects that a value transformer turns into bytes.
  case transformableAttributeType = 1800
  /// IDs of objects. Such an attribute is not stored.
  case objectIDAttributeType = 2000
  /// Several attributes under one name.
  case compositeAttributeType = 2100

  /// The class that Core Data reports for values of this type; nil if the type does not determine one.
  var valueClassName: String? {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .booleanAttributeType:
      "NSNumber"
    case .decimalAttributeType: "NSDecimalNumber"
    case .stringAttributeType: "NSString"
    case .dateAttributeType: "NSDate"
    case .binaryDataAttributeType: "NSData"
    case .UUIDAttributeType: "NSUUID"
    case .URIAttributeType: "NSURL"
    case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType,
      .compositeAttributeType:
      nil
    }
  }
}

extension NSAttributeDescription {
  /// The newer spelling of an attribute's type: `attribute.type = .string`.
  public struct AttributeType: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }
    private init(_ type: NSAttributeType) { rawValue = type.rawValue }

    /// No type; a SQLite store can't have such an attribute unless it is transient.
    public static let undefined = AttributeType(.undefinedAttributeType)
    /// Whole numbers of 16 bits.
    public static let integer16 = AttributeType(.integer16AttributeType)
    /// Whole numbers of 32 bits.
    public static let integer32 = AttributeType(.integer32AttributeType)
    /// Whole numbers of 64 bits.
    public static let integer64 = AttributeType(.integer64AttributeType)
    /// Decimal numbers (`NSDecimalNumber`).
    public static let decimal = AttributeType(.decimalAttributeType)
    /// Floating-point numbers of 64 bits.
    public static let double = AttributeType(.doubleAttributeType)
    /// Floating-point numbers of 32 bits.
    public static let float = AttributeType(.floatAttributeType)
    /// Texts.
    public static let string = AttributeType(.stringAttributeType)
    /// True or false.
    public static let boolean = AttributeType(.booleanAttributeType)
    /// Dates (`Date`).
    public static let date = AttributeType(.dateAttributeType)
    /// Bytes (`Data`).
    public static let binaryData = AttributeType(.binaryDataAttributeType)
    /// UUIDs.
    public static let uuid = AttributeType(.UUIDAttributeType)
    /// URLs.
    public static let uri = AttributeType(.URIAttributeType)
    /// Objects that a value transformer turns into bytes.
    public static let transformable = AttributeType(.transformableAttributeType)
    /// IDs of objects. Such an attribute is not stored.
    public static let objectID = AttributeType(.objectIDAttributeType)
    /// Several attributes under one name.
    public static let composite = AttributeType(.compositeAttributeType)

    /// An unknown raw value is a programming error.
    var attributeType: NSAttributeType {
      guard let known = NSAttributeType(rawValue: rawValue) else {
        preconditionFailure("\(rawValue) is not an attribute type; use one of AttributeType's constants.")
      }
      return known
    }
  }

  /// The attribute's type; the same value as `attributeType`. Setting an unknown raw value is a programming error.
  public var type: AttributeType {
    get { AttributeType(rawValue: attributeType.rawValue) }
    set { attributeType = newValue.attributeType }
  }
}
