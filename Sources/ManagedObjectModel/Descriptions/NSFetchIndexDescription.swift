import Foundation

/// How a fetch index stores one of its elements (Apple: NSFetchIndexElementType).
public enum NSFetchIndexElementType: UInt, Sendable {
  /// An index in the order of the property.
  case binary = 0
  /// An index of ranges of numbers (SQLite's R-tree).
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
  /// The name of the indexed property. (Apple documentation: propertyName.)
  open private(set) var propertyName: String?
  /// Whether the element is part of a binary index or of an R-tree. (Apple documentation: collationType.)
  open var collationType: NSFetchIndexElementType { willSet { freezeFlag.requireMutable() } }
  /// Whether the index is in ascending order of the property; true by default. (Apple documentation: isAscending.)
  open var isAscending: Bool = true { willSet { freezeFlag.requireMutable() } }
  /// The index that the element belongs to; nil until an index has it.
  open internal(set) weak var indexDescription: NSFetchIndexDescription?

  /// Weak: the entity owns its properties and its indexes.
  private weak var explicitProperty: NSPropertyDescription?

  /// An element for a property. (Apple documentation: init(property:collationType:).)
  ///
  /// - Parameters:
  ///   - property: The property, or an expression that is indexed.
  ///   - collationType: The kind of index.
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
  /// The name of the index, which is unique in its entity. (Apple documentation: name.)
  open var name: String { willSet { freezeFlag.requireMutable() } }
  /// What is indexed, in order. (Apple documentation: elements.)
  open var elements: [NSFetchIndexElementDescription] {
    willSet { freezeFlag.requireMutable() }
    didSet { adoptElements() }
  }
  /// The entity that the index belongs to; nil until an entity has it.
  open internal(set) var entity: NSEntityDescription? {
    get { weakEntity.entity }
    set { weakEntity.entity = newValue }
  }
  private var weakEntity = WeakEntity()
  /// Which rows the index has; nil for all. (Apple documentation: partialIndexPredicate.)
  open var partialIndexPredicate: NSPredicate? { willSet { freezeFlag.requireMutable() } }

  /// An index. (Apple documentation: init(name:elements:).)
  ///
  /// - Parameters:
  ///   - name: The name of the index.
  ///   - elements: What is indexed, in order; nil for nothing yet.
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
