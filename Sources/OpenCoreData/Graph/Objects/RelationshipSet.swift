import Foundation

/// A to-many relationship as a mutable set: it has no objects of its own. It keeps its owner alive.
final class RelationshipSet: NSMutableSet {
  private let owner: NSManagedObject?
  private let relationship: NSRelationshipDescription?

  init(_ owner: NSManagedObject, _ relationship: NSRelationshipDescription) {
    self.owner = owner
    self.relationship = relationship
    super.init(capacity: 0)
  }

  required init(capacity numItems: Int) {
    (owner, relationship) = (nil, nil)
    super.init(capacity: numItems)
  }

  required init?(coder aDecoder: NSCoder) { nil }

  private var objects: [NSManagedObject] {
    guard let owner, let relationship else { return [] }
    return owner.related(relationship).filter(\.isThere)
  }

  override var count: Int { objects.count }

  override func member(_ object: Any) -> Any? {
    guard let object = object as? NSManagedObject else { return nil }
    return objects.first { $0 === object }
  }

  override func objectEnumerator() -> NSEnumerator { (objects as NSArray).objectEnumerator() }

  override func add(_ object: Any) {
    guard let owner, let relationship else { return }
    for object in owner.relatedObjects(in: [object], relationship) { owner.addRelated(object, relationship) }
  }

  override func remove(_ object: Any) {
    guard let owner, let relationship, let object = object as? NSManagedObject else { return }
    owner.removeRelated(object, relationship)
  }

  // Foundation's own ways to these go around the methods above.
  override func addObjects(from array: [Any]) { for object in array { add(object) } }
  override func removeAllObjects() { for object in objects { remove(object) } }
  override func union(_ otherSet: Set<AnyHashable>) { for object in otherSet { add(object.base) } }
  override func minus(_ otherSet: Set<AnyHashable>) { for object in otherSet { remove(object.base) } }
  override func intersect(_ otherSet: Set<AnyHashable>) {
    for object in objects where !otherSet.contains(object) { remove(object) }
  }
  override func setSet(_ otherSet: Set<AnyHashable>) {
    intersect(otherSet)
    union(otherSet)
  }

  override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: objects) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: objects) }

  // Foundation reads its own storage for these, which is empty here.
  override var description: String { NSSet(array: objects).description }
  override func isEqual(_ value: Any?) -> Bool {
    switch value {
    case let other as RelationshipSet: isEqual(to: Set<AnyHashable>(other.objects))
    case let other as NSSet: isEqual(to: other as? Set<AnyHashable> ?? [])
    default: false
    }
  }
}
