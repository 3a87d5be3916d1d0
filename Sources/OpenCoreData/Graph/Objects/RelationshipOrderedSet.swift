import Foundation

/// An ordered relationship as a mutable ordered set. It keeps its owner alive.
///
/// Foundation reads some members of an ordered set, such as `array`, from storage that a subclass can't replace. So that
/// storage is a copy, which follows the changes that are made here.
final class RelationshipOrderedSet: NSMutableOrderedSet {
  private let owner: NSManagedObject?
  private let relationship: NSRelationshipDescription?
  /// Whether a call concerns the copy only.
  private var isCopying = false

  init(_ owner: NSManagedObject, _ relationship: NSRelationshipDescription) {
    self.owner = owner
    self.relationship = relationship
    super.init(capacity: 0)
    copyAll()
  }

  override init(capacity numItems: Int) {
    (owner, relationship) = (nil, nil)
    super.init(capacity: numItems)
  }

  required convenience init(arrayLiteral elements: Any...) { self.init(capacity: 0) }

  required init?(coder aDecoder: NSCoder) { nil }

  private var objects: [NSManagedObject] {
    guard let owner, let relationship else { return [] }
    return owner.related(relationship).filter(\.isThere)
  }

  // MARK: The copy

  private func copying(_ body: () -> Void) {
    isCopying = true
    body()
    isCopying = false
  }

  private func copyAll() {
    let objects = objects
    copying {
      while super.count > 0 { super.removeObject(at: super.count - 1) }
      for object in objects { super.insert(object, at: super.count) }
    }
  }

  /// Changes the relationship for each object among a client's values.
  private func change(
    _ values: [Any], _ change: (NSManagedObject, NSManagedObject, NSRelationshipDescription) -> Void
  ) {
    guard let owner, let relationship else { return }
    for object in owner.relatedObjects(in: values, relationship) { change(owner, object, relationship) }
  }

  private func set(_ objects: [NSManagedObject]) {
    guard let owner, let relationship else { return }
    owner.setRelated(objects, relationship)
    copyAll()
  }

  // MARK: Reading

  override var count: Int { isCopying ? super.count : objects.count }
  override func object(at idx: Int) -> Any { isCopying ? super.object(at: idx) : objects[idx] }

  override func index(of object: Any) -> Int {
    if isCopying { return super.index(of: object) }
    return objects.firstIndex { $0 === object as? NSManagedObject } ?? NSNotFound
  }

  override func contains(_ object: Any) -> Bool {
    isCopying ? super.contains(object) : index(of: object) != NSNotFound
  }

  override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: objects) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: objects) }

  // MARK: Changing

  override func insert(_ object: Any, at idx: Int) {
    if isCopying { return super.insert(object, at: idx) }
    change([object]) { owner, object, relationship in owner.insertRelated(object, at: idx, relationship) }
    copyAll()
  }

  override func removeObject(at idx: Int) {
    if isCopying { return super.removeObject(at: idx) }
    remove(objects[idx])
  }

  override func replaceObject(at idx: Int, with obj: Any) {
    if isCopying { return super.replaceObject(at: idx, with: obj) }
    change([obj]) { owner, object, relationship in owner.replaceRelated(at: idx, with: object, relationship) }
    copyAll()
  }

  override func add(_ object: Any) {
    if isCopying { return super.add(object) }
    change([object]) { owner, object, relationship in
      owner.addRelated(object, relationship)
      copying { if !super.contains(object) { super.insert(object, at: super.count) } }
    }
  }

  override func remove(_ object: Any) {
    if isCopying { return super.remove(object) }
    guard let owner, let relationship, let object = object as? NSManagedObject else { return }
    owner.removeRelated(object, relationship)
    copying {
      let index = super.index(of: object)
      if index != NSNotFound { super.removeObject(at: index) }
    }
  }

  override func moveObjects(at indexes: IndexSet, to idx: Int) {
    let before = objects
    let moved = indexes.map { before[$0] }
    var rest = before.enumerated().filter { !indexes.contains($0.offset) }.map(\.element)
    rest.insert(contentsOf: moved, at: idx)
    set(rest)
  }

  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
    var changed = objects
    changed.swapAt(idx1, idx2)
    set(changed)
  }

  // Foundation's own ways to these go around the methods above.
  override func addObjects(from array: [Any]) { for object in array { add(object) } }
  override func insert(_ objects: [Any], at indexes: IndexSet) {
    for (object, index) in zip(objects, indexes) { insert(object, at: index) }
  }
  override func setObject(_ obj: Any, at idx: Int) {
    if idx == count { add(obj) } else { replaceObject(at: idx, with: obj) }
  }
  override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
    for (object, index) in zip(objects, indexes) { replaceObject(at: index, with: object) }
  }
  override func removeObjects(in range: NSRange) {
    removeObjects(at: IndexSet(integersIn: range.location..<range.upperBound))
  }
  override func removeObjects(at indexes: IndexSet) {
    let present = objects
    for index in indexes { remove(present[index]) }
  }
  override func removeObjects(in array: [Any]) { for object in array { remove(object) } }
  override func removeAllObjects() { removeObjects(in: objects) }
  override func intersect(_ other: NSOrderedSet) { keep { other.contains($0) } }
  override func minus(_ other: NSOrderedSet) { removeObjects(in: other.array) }
  override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }
  override func intersectSet(_ other: Set<AnyHashable>) { keep { other.contains($0) } }
  override func minusSet(_ other: Set<AnyHashable>) { removeObjects(in: other.map(\.base)) }
  override func unionSet(_ other: Set<AnyHashable>) { addObjects(from: other.map(\.base)) }
  private func keep(_ isKept: (NSManagedObject) -> Bool) {
    for object in objects where !isKept(object) { remove(object) }
  }

  override func sort(comparator cmptr: (Any, Any) -> ComparisonResult) {
    set(objects.sorted { cmptr($0, $1) == .orderedAscending })
  }
  override func sort(options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult) {
    sort(comparator: cmptr)
  }
  override func sortRange(
    _ range: NSRange, options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult
  ) {
    var changed = objects
    let sortedRange = range.location..<range.upperBound
    changed.replaceSubrange(sortedRange, with: changed[sortedRange].sorted { cmptr($0, $1) == .orderedAscending })
    set(changed)
  }
}
