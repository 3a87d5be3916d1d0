import Foundation
import ManagedObjectModel
import PersistentStores

/// The rows that a save writes again, after others have deleted them: they lead only to rows that are there and that have
/// no other owner, and these lead back.
struct BruteForceRecreations {
  typealias Place = BruteForceLinks.Place
  private struct End: Hashable {
    let owner: Place
    let name: String
    let member: Place?
  }

  private let recreated: Set<Place>
  /// The ends that the save writes itself.
  private var written: Set<End> = []

  init(_ changes: ChangeSet, place: (NSManagedObjectID) throws -> Place) rethrows {
    recreated = Set(try changes.updates.filter(\.isRecreation).map { try place($0.id) })
    guard !recreated.isEmpty else { return }
    for row in changes.relationships {
      for change in row.changes {
        let (owner, name) = (try place(row.id), change.relationship.name)
        switch change.content {
        case .one: written.insert(End(owner: owner, name: name, member: nil))
        case .many(let members):
          for id in members.added + (members.order ?? []) {
            written.insert(End(owner: owner, name: name, member: try place(id)))
          }
        }
      }
    }
  }

  private func isWritten(_ inverse: NSRelationshipDescription, of target: Place, with row: Place) -> Bool {
    written.contains(End(owner: target, name: inverse.name, member: inverse.isToMany ? row : nil))
  }

  /// Where a to-one relationship of the row may lead.
  func target(
    _ wanted: Place?, of row: RowRelationships, _ relationship: NSRelationshipDescription, at place: Place,
    in state: BruteForceStore.State
  ) throws -> Place? {
    guard let wanted, recreated.contains(place) else { return wanted }
    if state.tables[wanted.root]?[wanted.key] != nil {
      guard let inverse = relationship.inverseRelationship, !inverse.isToMany,
        !isWritten(inverse, of: wanted, with: place)
      else { return wanted }
      if state.links.related(inverse, of: wanted).allSatisfy({ $0 == place }) { return wanted }
    }
    if relationship.isOptional { return nil }
    throw NSError.coreData(
      .missingMandatoryProperty, "\(row.id) would lead to a row that is gone or has another owner.",
      userInfo: [NSValidationKeyErrorKey: relationship.name, OCDFailedObjectIDsErrorKey: [row.id]])
  }

  /// The relationship that is to lead back from the target; nil if the save writes it, or nothing is kept for it.
  func otherEnd(
    of relationship: NSRelationshipDescription, from place: Place, to target: Place
  ) -> NSRelationshipDescription? {
    guard recreated.contains(place), let inverse = relationship.inverseRelationship,
      !isWritten(inverse, of: target, with: place), !inverse.isToMany || inverse.isOrdered
    else { return nil }
    return inverse
  }
}
