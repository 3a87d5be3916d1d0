import Foundation

/// Transient relationships keep their objects through a save, as transient attributes keep their values.
extension NSManagedObject {
  /// What a transient relationship leads to since a save; nil if that is not known.
  func keptTransient(_ relationship: NSRelationshipDescription) -> [NSManagedObject]? {
    guard let kept = auxiliaryIfPresent?.transients[relationship.name] else { return nil }
    return kept.allSatisfy(\.isNotGone) ? kept : kept.filter(\.isNotGone)
  }

  /// What transient relationships lead to that were changed, by name.
  fileprivate var changedTransients: [(name: String, objects: [NSManagedObject])] {
    entity.layout.relationshipsByName.values.filter { $0.isTransient && hasPendingChange($0) }
      .map { ($0.name, related($0).filter(\.isNotGone)) }
  }

  /// The object is to be a fault, or leaves its context. Nothing leads to it by a transient relationship then.
  func forgetRelated() {
    related = nil
    guard let transients = auxiliaryIfPresent?.transients, !transients.isEmpty else { return }
    auxiliary.transients = NamedValues()
    for (name, objects) in transients {
      guard let inverse = entity.layout.relationship(named: name)?.inverseRelationship else { continue }
      for object in objects {
        object.auxiliaryIfPresent?.transients[inverse.name]?.removeAll { $0 === self }
      }
    }
  }
}

extension ObjectGraph {
  /// Called before a save drops what is pending.
  func keepTransients(of updated: [NSManagedObject]) {
    func hasTransients(_ entity: NSEntityDescription) -> Bool {
      entity.layout.relationshipsByName.values.contains(where: \.isTransient)
    }
    var isConcerned = KindTest { hasTransients($0.entity) }
    var changed = updated.filter { isConcerned.holds($0) }
    for segment in insertions.segments where hasTransients(segment.batch.entity) {
      segment.handles.forEach { _, object in changed.append(object) }
    }
    // All of them first: what one leads to depends on what is pending in others.
    let kept = changed.map { ($0, $0.changedTransients) }
    for (object, transients) in kept {
      for (name, objects) in transients { object.auxiliary.transients[name] = objects }
    }
  }
}
