import Foundation

/// The description of one entity: its name, class, properties and position in the inheritance tree (Apple:
/// NSEntityDescription).
///
/// ```swift
/// let location = NSAttributeDescription()
/// location.name = "location"
/// location.type = .string
/// let session = NSEntityDescription()
/// session.name = "Session"
/// session.properties = [location]
/// session.uniquenessConstraints = [["location"]]
/// ```
///
/// Mutable until its model is frozen; a change afterwards stops the program.
// Unchecked: see `FreezeFlag`.
open class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
  package let freezeFlag = FreezeFlag()
  package internal(set) weak var model: NSManagedObjectModel?
  /// What is derived from the description, written once by `freeze()`.
  @exclusivity(unchecked) private var frozenLayout: EntityLayout?
  @exclusivity(unchecked) private var frozenClass: AnyClass?
  private var frozenVersionHash: Data?

  /// The target of weak references to the entity.
  let anchor = EntityAnchor()

  public override init() {
    super.init()
    anchor.entity = self
  }

  /// The name of the entity, which is unique in its model. (Apple documentation: name.)
  open var name: String? { willSet { freezeFlag.requireMutable() } }
  /// The name of the class of its objects. (Apple documentation: managedObjectClassName.)
  open var managedObjectClassName: String = "NSManagedObject" { willSet { freezeFlag.requireMutable() } }
  /// Whether the entity has no objects of its own, only those of entities that inherit from it. (Apple documentation:
  /// isAbstract.)
  @exclusivity(unchecked) open var isAbstract: Bool = false { willSet { freezeFlag.requireMutable() } }
  /// Values for the client's own use; not part of the version hash. (Apple documentation: userInfo.)
  open var userInfo: [AnyHashable: Any]? { willSet { freezeFlag.requireMutable() } }
  /// A text that makes the version hash another one although nothing else has changed. (Apple documentation:
  /// versionHashModifier.)
  open var versionHashModifier: String? { willSet { freezeFlag.requireMutable() } }

  /// The name of this entity in the previous model, for migration; the entity's own name unless set.
  open var renamingIdentifier: String? {
    get { explicitRenamingIdentifier ?? name }
    set { explicitRenamingIdentifier = newValue }
  }
  package var explicitRenamingIdentifier: String? { willSet { freezeFlag.requireMutable() } }

  /// The sets of attributes (names or NSAttributeDescription) whose values must be unique among the objects.
  open var uniquenessConstraints: [[Any]] = [] { willSet { freezeFlag.requireMutable() } }

  /// The indexes of the entity's own properties. (Apple documentation: indexes.)
  open var indexes: [NSFetchIndexDescription] = [] {
    willSet { freezeFlag.requireMutable() }
    didSet { for index in indexes { index.entity = self } }
  }

  /// The entities that directly inherit from this one. Setting it makes this entity their `superentity`.
  open var subentities: [NSEntityDescription] = [] {
    willSet { freezeFlag.requireMutable() }
    didSet {
      for entity in oldValue where entity.superentity === self { entity.superentity = nil }
      for entity in subentities { entity.superentity = self }
    }
  }

  /// Weak: the model owns all entities.
  open internal(set) var superentity: NSEntityDescription? {
    get { weakSuperentity.entity }
    set { weakSuperentity.entity = newValue }
  }
  private var weakSuperentity = WeakEntity()

  /// The model that this entity belongs to. Reading it from an entity without a model is a programming error.
  open var managedObjectModel: NSManagedObjectModel {
    guard let model else {
      preconditionFailure(
        "The entity '\(name ?? "")' is not in a model; add it to the `entities` of one, and keep the model.")
    }
    return model
  }

  /// Own and inherited properties, own ones first. Setting it replaces the own ones and ignores inherited ones in the
  /// new value, so that `entity.properties += [new]` works as expected.
  open var properties: [NSPropertyDescription] {
    get { ownProperties + (superentity?.properties.filter { declaredProperty(named: $0.name) == nil } ?? []) }
    set {
      let inherited = Set((superentity?.properties ?? []).map(ObjectIdentifier.init))
      ownProperties = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
    }
  }

  /// The properties that this entity declares itself.
  package private(set) var ownProperties: [NSPropertyDescription] = [] {
    willSet { freezeFlag.requireMutable() }
    didSet {
      for property in oldValue where property.owner === self { property.owner = nil }
      for property in ownProperties { property.owner = self }
    }
  }

  private func declaredProperty(named name: String) -> NSPropertyDescription? {
    ownProperties.first { $0.name == name }
  }

  /// How code generators write this entity's class: "class", "category", or nil for "Manual/None".
  package var codeGenerationType: String? { willSet { freezeFlag.requireMutable() } }
  /// The class as the model file spells it: ".Name" means the current module, "Module.Name" another one.
  package var representedClassName: String? { willSet { freezeFlag.requireMutable() } }
  /// The module that the model is embedded in, where a class that is named without a module is looked for first.
  package var moduleName: String? { willSet { freezeFlag.requireMutable() } }
  package var isSyncable: Bool = true { willSet { freezeFlag.requireMutable() } }

  /// All derived values. They are computed on each access while the entity is mutable, so that reading does not write.
  package var layout: EntityLayout { knownLayout ?? EntityLayout(of: self) }

  /// Nil while the entity is mutable.
  var knownLayout: EntityLayout? { freezeFlag.isFrozen ? frozenLayout : nil }

  /// The class that `managedObjectClassName` names; nil if the program does not have it. Not a part of the layout:
  /// the search goes through all types of the program, which is too much for each access to a mutable entity.
  package var namedClass: AnyClass? { freezeFlag.isFrozen ? frozenClass : foundClass }

  private var foundClass: AnyClass? {
    moduleName.flatMap { EmbeddedModels.managedObjectClass(named: managedObjectClassName, inModule: $0) }
      ?? EmbeddedModels.managedObjectClass(named: managedObjectClassName)
  }

  /// The 32 bytes that identify what a store depends on in this entity (docs/coredata-format.md, "Version hashes").
  open var versionHash: Data {
    if freezeFlag.isFrozen, let frozenVersionHash { return frozenVersionHash }
    return currentVersionHash
  }

  private var currentVersionHash: Data {
    let computed = VersionHash.hash(of: self)
    guard let statedVersionHash, statedVersionHash.computed == computed else { return computed }
    return statedVersionHash.stated
  }

  /// The hash that the model's compiler stated, with the hash that the same description has here. It is valid as long
  /// as the two match: an entity that is changed afterwards has another computed hash.
  private var statedVersionHash: (stated: Data, computed: Data)? { willSet { freezeFlag.requireMutable() } }

  /// Adopts a stated hash for the entity in its current form. Call it for superentities first: their hashes are part of
  /// it.
  func stateVersionHash(_ hash: Data) {
    statedVersionHash = (hash, VersionHash.hash(of: self))
  }

  /// Whether `versionHash` equals the hash of Apple's framework. The hashing of composite attributes is unknown, as is
  /// the compiled form of some derivations, so an entity that has or inherits one is compared by name only, unless its
  /// hash was stated.
  package var hasExactVersionHash: Bool {
    if let statedVersionHash, statedVersionHash.computed == VersionHash.hash(of: self) { return true }
    return propertiesByName.values.allSatisfy { property in
      if let derived = property as? NSDerivedAttributeDescription { return derived.compiledDerivation != nil }
      return (property as? NSAttributeDescription)?.attributeType != .compositeAttributeType
    }
  }

  /// A copy with copies of the own properties and of all subentities, without a model. Relationships of the copy still
  /// point at the destinations of the original; `NSManagedObjectModel.copy()` redirects those too.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = copyAlone()
    copy.subentities = subentities.compactMap { $0.copy() as? NSEntityDescription }
    return copy
  }

  /// A copy without its position in the inheritance tree.
  func copyAlone() -> NSEntityDescription {
    let copy = NSEntityDescription()
    copy.name = name
    copy.managedObjectClassName = managedObjectClassName
    copy.isAbstract = isAbstract
    copy.userInfo = userInfo
    copy.versionHashModifier = versionHashModifier
    copy.explicitRenamingIdentifier = explicitRenamingIdentifier
    copy.statedVersionHash = statedVersionHash
    copy.uniquenessConstraints = uniquenessConstraintNames
    copy.codeGenerationType = codeGenerationType
    copy.representedClassName = representedClassName
    copy.moduleName = moduleName
    copy.isSyncable = isSyncable
    copy.ownProperties = ownProperties.compactMap { $0.copy() as? NSPropertyDescription }
    copy.indexes = indexes.compactMap { $0.copy() as? NSFetchIndexDescription }
    return copy
  }

  open override var description: String { "(\(type(of: self)): \(name ?? "unnamed"))" }

  // By contents (DescriptionEquality.swift).
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSEntityDescription).map(describesTheSame) ?? false
  }
  open override var hash: Int { name.hashValue }

  /// Called by the model, superentities first.
  func freeze() {
    guard !freezeFlag.isFrozen else { return }
    for property in ownProperties where property.isMarkedAsIndexed && !property.isIndexed(in: self) {
      indexes.append(NSFetchIndexDescription(over: [property.name]))
    }
    for property in ownProperties { property.freeze() }
    for index in indexes { index.freeze() }
    frozenLayout = EntityLayout(of: self)
    frozenClass = foundClass
    frozenVersionHash = currentVersionHash
    freezeFlag.set()
  }
}
