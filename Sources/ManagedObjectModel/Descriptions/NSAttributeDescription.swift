import Foundation

/// An attribute of an entity: its type, default value and validation rules (Apple: NSAttributeDescription).
///
/// ```swift
/// let rating = NSAttributeDescription()
/// rating.name = "rating"
/// rating.type = .integer16
/// rating.isOptional = false
/// rating.defaultValue = 3
/// ```
///
/// Mutable until its model is frozen; a change afterwards stops the program.
// Unchecked: see `FreezeFlag`.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
  /// The type of the values. Setting it also sets `attributeValueClassName`.
  open var attributeType: NSAttributeType = .undefinedAttributeType {
    willSet { freezeFlag.requireMutable() }
    didSet { attributeValueClassName = attributeType.valueClassName }
  }

  /// The class of the values. Set it for transformable attributes only.
  open var attributeValueClassName: String? { willSet { freezeFlag.requireMutable() } }

  /// The value of a newly inserted object. A default read from a model file is an NSNumber, NSDecimalNumber, String,
  /// Date, Data, UUID or URL, according to the attribute's type.
  open var defaultValue: Any? { willSet { freezeFlag.requireMutable() } }

  /// The name of the transformer between a transformable's object and its stored data; nil for the default one. (Apple
  /// documentation: valueTransformerName.)
  open var valueTransformerName: String? { willSet { freezeFlag.requireMutable() } }
  /// Whether a SQLite store may keep large values, of binary data and transformables, in files of their own. (Apple
  /// documentation: allowsExternalBinaryDataStorage.)
  open var allowsExternalBinaryDataStorage: Bool = false { willSet { freezeFlag.requireMutable() } }
  /// Whether persistent history keeps the value of a deleted object. (Apple documentation:
  /// preservesValueInHistoryOnDeletion.)
  open var preservesValueInHistoryOnDeletion: Bool = false { willSet { freezeFlag.requireMutable() } }
  /// Part of the model for Apple's framework; it has no effect here. (Apple documentation: allowsCloudEncryption.)
  open var allowsCloudEncryption: Bool = false { willSet { freezeFlag.requireMutable() } }

  /// The class of a transformable's values, if the program has it.
  var transformableClass: AnyClass? {
    attributeValueClassName.flatMap { name in
      EmbeddedModels.managedObjectClass(named: name, inModule: owner?.moduleName) ?? NSClassFromString(name)
    }
  }

  /// The bounds and the pattern of the model file, checked by `constraintViolation(of:)`.
  package var constraints = AttributeConstraints() { willSet { freezeFlag.requireMutable() } }

  /// The validation predicates, prepared once when the model is frozen.
  var valuePredicates: [ValuePredicate] { frozenPredicates ?? makeValuePredicates() }
  private var frozenPredicates: [ValuePredicate]?

  /// Sets the predicates that a non-nil value must match and, for each, the warning for a value that does not match:
  /// the description of the validation error (1550).
  ///
  /// `SELF` is the value and `SELF.length` the length of a string in UTF-16 units. Properties of other values can be read
  /// too, such as `SELF.absoluteString` of a URI, and so can everything that the value of a transformable attribute has.
  /// A predicate that can't be evaluated on values of the attribute's type stops the program: here, or when the model is
  /// frozen if the type is set later. Where only the value tells, such as in a transformable attribute, a value without
  /// the property does not match.
  open override func setValidationPredicates(
    _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
  ) {
    super.setValidationPredicates(validationPredicates, withValidationWarnings: validationWarnings)
    if attributeType != .undefinedAttributeType { _ = makeValuePredicates() }
  }

  override func freeze() {
    if !freezeFlag.isFrozen { frozenPredicates = makeValuePredicates() }
    super.freeze()
  }

  /// Whether a code generator writes a Swift scalar (`Int16`) instead of `NSNumber?`.
  package var usesScalarValueType: Bool = false { willSet { freezeFlag.requireMutable() } }

  package override func makeEmptyCopy() -> NSPropertyDescription { NSAttributeDescription() }

  package override func copyDescription(to other: NSPropertyDescription) {
    super.copyDescription(to: other)
    guard let other = other as? NSAttributeDescription else { return }
    other.attributeType = attributeType
    other.attributeValueClassName = attributeValueClassName
    other.defaultValue = defaultValue
    other.valueTransformerName = valueTransformerName
    other.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
    other.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
    other.allowsCloudEncryption = allowsCloudEncryption
    other.constraints = constraints
    other.usesScalarValueType = usesScalarValueType
  }
}

/// An attribute whose value the store computes from other attributes (Apple: NSDerivedAttributeDescription).
// Unchecked: see `FreezeFlag`.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  /// The text of the derivation, such as `canonical:(name)`, `entries.@count` or `now()`.
  ///
  /// It is what models say. ``derivationExpression`` is the same as an expression.
  public var derivationExpressionFormat: String? { willSet { freezeFlag.requireMutable() } }

  /// The derivation as an expression; nil if there is none, or its text is not an expression. (Apple documentation:
  /// derivationExpression.)
  ///
  /// ```swift
  /// let attribute = NSDerivedAttributeDescription()
  /// attribute.derivationExpression = NSExpression(format: "entries.@count")
  /// ```
  public var derivationExpression: NSExpression? {
    get { derivationExpressionFormat.flatMap { try? NSExpression.parse(format: $0) } }
    set { derivationExpressionFormat = newValue.map { Derivation.text(of: $0.tree) } }
  }

  package override func makeEmptyCopy() -> NSPropertyDescription { NSDerivedAttributeDescription() }

  package override func copyDescription(to other: NSPropertyDescription) {
    super.copyDescription(to: other)
    (other as? NSDerivedAttributeDescription)?.derivationExpressionFormat = derivationExpressionFormat
  }
}
