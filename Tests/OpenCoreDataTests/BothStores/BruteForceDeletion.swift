import Foundation
import ManagedObjectModel
import PersistentStores

extension BruteForceStore.State {
  private typealias Place = BruteForceLinks.Place

  /// Deletes rows as a batch request does, with what their delete rules take along.
  ///
  /// - Throws: `NSError` 1600 if a rule or a relationship without an inverse does not allow it.
  mutating func carryOutRules(deleting keys: [Int64], of entity: NSEntityDescription) throws {
    let root = entity.rootEntity.name ?? ""
    var gone = Set(keys.map { Place(root: root, key: $0) })
    var waiting = Array(gone)
    while let place = waiting.popLast() {
      for relationship in relationships(of: place) where relationship.deleteRule == .cascadeDeleteRule {
        waiting += links.related(relationship, of: place).filter { described($0) != nil && gone.insert($0).inserted }
      }
    }
    var changed: Set<BruteForceLinks.Place> = []
    for place in gone {
      for relationship in relationships(of: place) {
        let staying = links.related(relationship, of: place).filter { !gone.contains($0) }
        switch (relationship.deleteRule, relationship.inverseRelationship) {
        case (.denyDeleteRule, _) where !staying.isEmpty: throw Self.refusal
        case (.nullifyDeleteRule, let inverse?):
          changed.formUnion(staying)
          if inverse.isToMany { continue }
          if !inverse.isOptional, !staying.isEmpty { throw Self.refusal }
          for end in staying { links.set(inverse, of: end, to: nil) }
        default: break
        }
      }
    }
    for place in gone { described(place).map { _ = remove($0, place.key) } }
    for place in changed { tables[place.root]?[place.key]?.version += 1 }
  }

  private static var refusal: NSError { .coreData(.relationshipDeniedDelete, "A delete rule does not allow it.") }

  private func described(_ place: BruteForceLinks.Place) -> NSEntityDescription? {
    tables[place.root]?[place.key]?.entity
  }

  private func relationships(of place: BruteForceLinks.Place) -> [NSRelationshipDescription] {
    described(place).map { Array($0.relationshipsByName.values) } ?? []
  }
}
