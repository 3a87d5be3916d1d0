import Foundation

/// How a fetch index stores one of its elements (Apple: NSFetchIndexElementType).
public enum NSFetchIndexElementType: UInt, Sendable {
  case binary = 0
  case rTree = 1
}

/// One property of a fetch index and its direction (Apple: NSFetchIndexElementDescription).
// Unchecked: see `FreezeFlag`.
open class NSFetchIndexElementDescription: NSObject, NSCopying, @unchecked Sendable {
  package let freezeFlag = FreezeFlag()
  /// The indexed property; nil if the index was created by name and its entity does not have such a property.
  open var property: NSPropertyDescription? {
    explicitProperty ?? propertyName.flatMap { indexDescription?.entity?.propertiesByName[$0] }
  }
  open private(set) var propertyName: String?
  open var collationType: NSFetchIndexElementType { willSet { freezeFlag.requireMutable() } }
  open var isAscending: Bool = true { willSet { freezeFlag.requireMutable() } }
  open internal(set) weak var indexDescription: NSFetchIndexDescription?

  /// Weak: the entity owns its properties and its indexes.
  private weak var explicitProperty: NSPropertyDescription?

  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    explicitProperty = property
    propertyName = property.name
    self.collationType = collationType
    super.init()
  }

  /// An element that looks its property up by name, as model files declare it.
  package init(propertyName: String, collationType: NSFetchIndexElementType, ascending: Bool) {
    self.propertyName = propertyName
    self.collationType = collationType
    super.init()
    isAscending = ascending
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    NSFetchIndexElementDescription(
      propertyName: propertyName ?? "", collationType: collationType, ascending: isAscending)
  }
}

/// An index that speeds up fetches of an entity (Apple: NSFetchIndexDescription).
// Unchecked: see `FreezeFlag`.
open class NSFetchIndexDescription: NSObject, NSCopying, @unchecked Sendable {
  package let freezeFlag = FreezeFlag()
  open var name: String { willSet { freezeFlag.requireMutable() } }
  open var elements: [NSFetchIndexElementDescription] {
    willSet { freezeFlag.requireMutable() }
    didSet { adoptElements() }
  }
  open internal(set) var entity: NSEntityDescription? {
    get { weakEntity.entity }
    set { weakEntity.entity = newValue }
  }
  private var weakEntity = WeakEntity()
  open var partialIndexPredicate: NSPredicate? { willSet { freezeFlag.requireMutable() } }

  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
    super.init()
    adoptElements()
  }

  /// The fetch index that today's framework derives from an older declaration: an attribute that was marked as indexed,
  /// or a compound index over several properties.
  convenience init(over names: [String]) {
    self.init(
      name: names.joined(separator: "_"),
      elements: names.map {
        NSFetchIndexElementDescription(propertyName: $0, collationType: .binary, ascending: true)
      })
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchIndexDescription(
      name: name, elements: elements.compactMap { $0.copy() as? NSFetchIndexElementDescription })
    copy.partialIndexPredicate = partialIndexPredicate
    return copy
  }

  private func adoptElements() {
    for element in elements { element.indexDescription = self }
  }

  func freeze() {
    for element in elements { element.freezeFlag.set() }
    freezeFlag.set()
  }
}
