import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import Testing

/// What sessions and clubs lead to.
extension AgreementPlayer {
  /// A club takes its sessions along, leaves its ordered board, and can't be deleted while it has guests. Sessions have
  /// friends, and each follows another one at most.
  static func relate(_ model: NSManagedObjectModel) {
    guard let session = model.entitiesByName["Session"] else { return }
    let club = NSEntityDescription()
    club.name = "Club"
    club.managedObjectClassName = "NSManagedObject"
    club.properties = [Sessions.attribute("title", .stringAttributeType)]
    model.entities.append(club)
    for (one, many, rule) in [
      ("club", "sessions", NSDeleteRule.cascadeDeleteRule), ("boardOf", "board", .nullifyDeleteRule),
      ("guestOf", "guests", .denyDeleteRule),
    ] {
      let member = relationship(one, of: session, to: club)
      let list = relationship(many, of: club, to: session, maxCount: 0, rule: rule)
      list.isOrdered = many == "board"
      (member.inverseRelationship, list.inverseRelationship) = (list, member)
    }
    let (next, previous) = (
      relationship("next", of: session, to: session), relationship("previous", of: session, to: session)
    )
    (next.inverseRelationship, previous.inverseRelationship) = (previous, next)
    let friends = relationship("friends", of: session, to: session, maxCount: 0)
    friends.inverseRelationship = friends
  }

  private static func relationship(
    _ name: String, of entity: NSEntityDescription, to destination: NSEntityDescription, maxCount: Int = 1,
    rule: NSDeleteRule = .nullifyDeleteRule
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = maxCount
    relationship.deleteRule = rule
    entity.properties.append(relationship)
    return relationship
  }

  /// - Returns: Whether there were objects to do it with.
  func take(_ link: AgreementLink, in context: NSManagedObjectContext, place: Int) throws -> Bool {
    func session(_ number: Int) throws -> NSManagedObject? { try pick(number, in: context, place: place) }
    func club(_ number: Int) throws -> NSManagedObject? { try pick(number, of: "Club", in: context, place: place) }
    func owner(_ number: Int, of key: String) throws -> NSManagedObject? {
      AgreementLink.manyOfClub.contains(key) ? try club(number) : try session(number)
    }
    switch link {
    case .insertClub:
      NSEntityDescription.insertNewObject(forEntityName: "Club", into: context).setValue(nextTitle(), forKey: "title")
    case .deleteClub(let number):
      guard let object = try club(number) else { return false }
      context.delete(object)
    case .set(let number, let key, let target):
      guard let object = try session(number) else { return false }
      let isClub = !["next", "previous"].contains(key)
      guard let target else {
        object.setValue(nil, forKey: key)
        return true
      }
      guard let other = try isClub ? club(target) : session(target) else { return false }
      object.setValue(other, forKey: key)
    case .add(let number, let key, let member):
      guard let object = try owner(number, of: key), let other = try session(member) else { return false }
      if key == "board" {
        object.mutableOrderedSetValue(forKey: key).add(other)
      } else {
        object.mutableSetValue(forKey: key).add(other)
      }
    case .remove(let number, let key, let member):
      guard let object = try owner(number, of: key) else { return false }
      let members = Self.members(object, key)
      if members.isEmpty { return false }
      if key == "board" {
        object.mutableOrderedSetValue(forKey: key).remove(members[member % members.count])
      } else {
        object.mutableSetValue(forKey: key).remove(members[member % members.count])
      }
    case .removeAll(let number, let key):
      guard let object = try owner(number, of: key) else { return false }
      object.setValue(nil, forKey: key)
    case .reverseBoard(let number):
      guard let object = try club(number) else { return false }
      object.setValue(NSOrderedSet(array: Self.members(object, "board").reversed()), forKey: "board")
    }
    return true
  }

  /// The objects at the other end, by title or in their order.
  private static func members(_ object: NSManagedObject, _ key: String) -> [NSManagedObject] {
    switch object.value(forKey: key) {
    case let set as NSOrderedSet: return set.array.compactMap { $0 as? NSManagedObject }
    case let set as NSSet:
      return set.allObjects.compactMap { $0 as? NSManagedObject }.sorted { $0.sessionTitle < $1.sessionTitle }
    case let object as NSManagedObject: return [object]
    default: return []
    }
  }

  static func ends(of object: NSManagedObject) -> String {
    object.entity.relationshipsByName.keys.sorted().map { key in
      " \(key) " + members(object, key).map(\.sessionTitle).joined(separator: ",")
    }.joined()
  }

  /// What the rows of the store lead to.
  func links() throws -> String {
    let (store, model) = (try #require(stack.coordinator.rowStores.first), stack.coordinator.managedObjectModel)
    return try store.read(nil) { reader in
      try ["Session", "Club"].flatMap { name in
        let entity = try #require(model.entitiesByName[name])
        let ids = try reader.rows(FetchQuery(entity: entity)).map(\.id)
        return try entity.relationshipsByName.values.sorted { $0.name < $1.name }.flatMap { relationship in
          zip(ids, try reader.related(relationship, of: ids)).compactMap { id, others in
            others.isEmpty
              ? nil : "\(Self.text(id)) \(relationship.name) \(others.map(Self.text).joined(separator: ","))"
          }
        }
      }.joined(separator: "\n")
    }
  }
}
