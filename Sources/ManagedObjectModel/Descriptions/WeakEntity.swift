/// A weak reference to an entity that costs the entity nothing.
///
/// Every object and every identity holds its entity, and the first weak reference to an object of Swift's makes each
/// counting of references to it three times slower, for good. So what is held weakly is a small object that only the
/// entity holds. Whoever asks in the very moment in which the last reference to the entity goes, on another thread, is
/// stopped instead of told that there is none; the model is what keeps it.
struct WeakEntity: Sendable {
  private weak var anchor: EntityAnchor?

  var entity: NSEntityDescription? {
    get { anchor?.entity }
    set { anchor = newValue?.anchor }
  }
}

/// What stands for an entity in weak references: it goes with the entity.
// Unchecked: written once, in the entity's initialiser, before anybody else has the entity.
final class EntityAnchor: @unchecked Sendable {
  unowned var entity: NSEntityDescription?
}
