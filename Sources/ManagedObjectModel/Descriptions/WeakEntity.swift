/// A weak reference to an entity that costs the entity nothing.
///
/// Every object and every ID references its entity, and the first weak reference to a Swift object makes all reference
/// counting on that object three times slower, permanently. Weak references therefore point to a small object that only
/// the entity owns. If another thread releases the last reference to the entity at the very moment of the access, the
/// program stops instead of reading nil; the model is what keeps the entity alive.
struct WeakEntity: Sendable {
  private weak var anchor: EntityAnchor?

  var entity: NSEntityDescription? {
    get { anchor?.entity }
    set { anchor = newValue?.anchor }
  }
}

/// The object that weak references to an entity point to. It lives as long as the entity.
// Unchecked: written once, in the entity's initialiser, before other code has the entity.
final class EntityAnchor: @unchecked Sendable {
  unowned var entity: NSEntityDescription?
}
