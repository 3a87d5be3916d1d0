import Foundation

/// The common part of attributes, relationships and fetched properties (Apple: NSPropertyDescription).
///
/// Mutable until its model is frozen; a change afterwards stops the program.
// Unchecked: see `FreezeFlag`, which proves it for every description class.
open class NSPropertyDescription: NSObject, NSCopying, @unchecked Sendable {
  package let freezeFlag = FreezeFlag()
  package internal(set) var owner: NSEntityDescription? {
    get { weakOwner.entity }
    set { weakOwner.entity = newValue }
  }
  private var weakOwner = WeakEntity()
  /// The cached hash, written once by `freeze()`.
  private var frozenVersionHash: Data?

  public override init() {
    super.init()
  }

  /// The entity that declares this property. Reading it from a property that does not belong to an entity is a
  /// programming error.
  open var entity: NSEntityDescription {
    guard let owner else {
      preconditionFailure(
        "The property '\(name)' does not belong to an entity yet; add it to the `properties` of one.")
    }
    return owner
  }

  /// The name of the property, which is unique in its entity. (Apple documentation: name.)
  @exclusivity(unchecked) open var name: String = "" { willSet { freezeFlag.requireMutable() } }
  /// Whether an object may be saved without a value for the property; true by default. (Apple documentation:
  /// isOptional.)
  @exclusivity(unchecked) open var isOptional: Bool = true { willSet { freezeFlag.requireMutable() } }
  /// Whether the property is kept in memory only and not saved. (Apple documentation: isTransient.)
  @exclusivity(unchecked) open var isTransient: Bool = false { willSet { freezeFlag.requireMutable() } }
  /// Values for the client's own use; not part of the version hash. (Apple documentation: userInfo.)
  open var userInfo: [AnyHashable: Any]? { willSet { freezeFlag.requireMutable() } }
  /// A text that makes the version hash another one although nothing else has changed. (Apple documentation:
  /// versionHashModifier.)
  open var versionHashModifier: String? { willSet { freezeFlag.requireMutable() } }
  /// Part of the model for Apple's framework; it has no effect here. (Apple documentation: isIndexedBySpotlight.)
  open var isIndexedBySpotlight: Bool = false { willSet { freezeFlag.requireMutable() } }
  /// Part of the model for Apple's framework; it has no effect here. (Apple documentation: isStoredInExternalRecord.)
  open var isStoredInExternalRecord: Bool = false { willSet { freezeFlag.requireMutable() } }

  /// Whether the entity has an index of this property alone. Setting it to true adds one when the model is used first;
  /// setting it to false removes none. `NSEntityDescription.indexes` replaces it.
  open var isIndexed: Bool {
    get { isMarkedAsIndexed || owner.map(isIndexed) ?? false }
    set { isMarkedAsIndexed = newValue }
  }
  package private(set) var isMarkedAsIndexed = false { willSet { freezeFlag.requireMutable() } }

  func isIndexed(in entity: NSEntityDescription) -> Bool {
    entity.indexes.contains { $0.elements.map(\.propertyName) == [name] }
  }

  /// The name of this property in the previous model, for migration; the property's own name unless set.
  open var renamingIdentifier: String? {
    get { explicitRenamingIdentifier ?? name }
    set { explicitRenamingIdentifier = newValue }
  }
  package var explicitRenamingIdentifier: String? { willSet { freezeFlag.requireMutable() } }

  /// Whether the model file marks the property for syncing. Only code generators read it.
  package var isSyncable: Bool = true { willSet { freezeFlag.requireMutable() } }

  /// The predicates that a value must match, as set with `setValidationPredicates(_:withValidationWarnings:)`.
  open private(set) var validationPredicates: [NSPredicate] = []
  /// For each of the `validationPredicates`, the warning for a value that does not match.
  open private(set) var validationWarnings: [Any] = []

  /// Sets the predicates that a value must match and, for each, the warning for a value that does not match.
  ///
  /// Those of a relationship are evaluated on its object, or on the set of its objects:
  /// `NSPredicate(format: "ANY SELF.rating > 3")`.
  open func setValidationPredicates(
    _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
  ) {
    freezeFlag.requireMutable()
    let predicates = validationPredicates ?? []
    let warnings = validationWarnings ?? []
    precondition(
      predicates.count == warnings.count,
      "Give each validation predicate of '\(name)' one warning: "
        + "there are \(predicates.count) predicates and \(warnings.count) warnings."
    )
    self.validationPredicates = predicates
    self.validationWarnings = warnings
  }

  /// The 32 bytes that identify what a store depends on in this property (docs/coredata-format.md, "Version hashes").
  open var versionHash: Data {
    if freezeFlag.isFrozen, let frozenVersionHash { return frozenVersionHash }
    return VersionHash.hash(of: self)
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = makeEmptyCopy()
    copyDescription(to: copy)
    return copy
  }

  open override var description: String {
    "(\(type(of: self)): \(owner?.name.map { $0 + "." } ?? "")\(name))"
  }

  /// A new description of the same class, which `copyDescription(to:)` fills.
  package func makeEmptyCopy() -> NSPropertyDescription { NSPropertyDescription() }

  /// Copies everything except the owner and, in relationships, the other end: those belong to a single model.
  package func copyDescription(to other: NSPropertyDescription) {
    other.name = name
    other.isOptional = isOptional
    other.isTransient = isTransient
    other.userInfo = userInfo
    other.versionHashModifier = versionHashModifier
    other.isIndexedBySpotlight = isIndexedBySpotlight
    other.isStoredInExternalRecord = isStoredInExternalRecord
    other.explicitRenamingIdentifier = explicitRenamingIdentifier
    other.isSyncable = isSyncable
    other.isMarkedAsIndexed = isMarkedAsIndexed
    other.validationPredicates = validationPredicates
    other.validationWarnings = validationWarnings
  }

  func freeze() {
    guard !freezeFlag.isFrozen else { return }
    frozenVersionHash = VersionHash.hash(of: self)
    freezeFlag.set()
  }
}
