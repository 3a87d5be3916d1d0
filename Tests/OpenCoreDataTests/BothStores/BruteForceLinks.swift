import Foundation
import ManagedObjectModel
import PersistentStores

/// What the rows of a `BruteForceStore` lead to: the to-one ends as they were set, and the lists of relationships that are
/// to-many at both ends.
struct BruteForceLinks: Sendable {
  struct Place: Hashable, Sendable {
    /// The name of the root entity.
    let root: String
    let key: Int64
  }

  /// By relationship, then by the row that has it.
  private var one: [String: [Place: Place]] = [:]
  /// The places of rows in the ordered list of what they lead to, by the to-one relationship.
  private var positions: [String: [Place: Int]] = [:]
  /// By relationship that is to-many at both ends: the members of each row in order.
  private var lists: [String: [Place: [Place]]] = [:]

  /// The entity and the name; a relationship to many without an inverse is kept as a to-one of its members.
  private static func name(_ relationship: NSRelationshipDescription) -> String {
    "\(relationship.entity.rootEntity.name ?? "").\(relationship.name)"
  }

  // MARK: Reading

  func related(_ relationship: NSRelationshipDescription, of place: Place) -> [Place] {
    let name = Self.name(relationship)
    if !relationship.isToMany { return one[name]?[place].map { [$0] } ?? [] }
    if let inverse = relationship.inverseRelationship, inverse.isToMany {
      let members = lists[name]?[place] ?? []
      return relationship.isOrdered ? members : members.sorted { $0.key < $1.key }
    }
    let owning = relationship.inverseRelationship.map(Self.name) ?? name
    let members = (one[owning] ?? [:]).filter { $0.value == place }.map(\.key).sorted { $0.key < $1.key }
    return relationship.isOrdered ? members.sorted { position($0, owning) < position($1, owning) } : members
  }

  private func position(_ place: Place, _ name: String) -> Int { positions[name]?[place] ?? -1 }

  /// The first row that leads to a row that is gone, except over these relationships.
  func dangling(
    except ignored: Set<String>, _ isThere: (Place) -> Bool
  ) -> (relationship: String, place: Place)? {
    for (name, ends) in one where !ignored.contains(name) {
      if let end = ends.first(where: { !isThere($0.value) }) { return (name, end.key) }
    }
    return nil
  }

  /// The names of the relationships whose keys a deletion leaves, because their inverses have the rule
  /// `noActionDeleteRule`.
  static func left(by entities: [NSEntityDescription]) -> Set<String> {
    let all = entities.flatMap { $0.relationshipsByName.values }
    return Set(all.filter { $0.inverseRelationship?.deleteRule == .noActionDeleteRule }.map(name))
  }

  // MARK: Changing

  /// Sets a to-one end. No other row leads to `target` then, or to the row if it leads to nothing.
  mutating func set(_ relationship: NSRelationshipDescription, of place: Place, to target: Place?) {
    let name = Self.name(relationship)
    one[name, default: [:]][place] = target
    positions[name, default: [:]][place] = nil
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany else { return }
    let (other, key) = target.map { (name, $0) } ?? (Self.name(inverse), place)
    for (owner, led) in one[other] ?? [:] where led == key && !(other == name && owner == place) {
      one[other]?[owner] = nil
    }
  }

  mutating func remove(_ member: Place, from relationship: NSRelationshipDescription, of place: Place) {
    let name = Self.name(relationship)
    guard let inverse = relationship.inverseRelationship else {
      if one[name]?[member] == place { one[name]?[member] = nil }
      return
    }
    guard inverse.isToMany else { return }
    lists[name]?[place]?.removeAll { $0 == member }
    lists[Self.name(inverse)]?[member]?.removeAll { $0 == place }
  }

  /// Adds a member, which comes at the end of an ordered list.
  mutating func add(_ member: Place, to relationship: NSRelationshipDescription, of place: Place) {
    let name = Self.name(relationship)
    guard let inverse = relationship.inverseRelationship else {
      one[name, default: [:]][member] = place
      return
    }
    if !inverse.isToMany {
      guard relationship.isOrdered else { return }
      let last = related(relationship, of: place).map { position($0, Self.name(inverse)) }.max() ?? -1
      positions[Self.name(inverse), default: [:]][member] = last + 1
      return
    }
    lists[name, default: [:]][place, default: []].removeAll { $0 == member }
    lists[name, default: [:]][place, default: []].append(member)
    if lists[Self.name(inverse)]?[member]?.contains(place) != true {
      lists[Self.name(inverse), default: [:]][member, default: []].append(place)
    }
  }

  /// Members that are not in `order` follow.
  mutating func arrange(_ relationship: NSRelationshipDescription, of place: Place, in order: [Place]) {
    let present = related(relationship, of: place)
    let members = order.filter(present.contains) + present.filter { !order.contains($0) }
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany else {
      lists[Self.name(relationship), default: [:]][place] = members
      return
    }
    for (number, member) in members.enumerated() {
      positions[Self.name(inverse), default: [:]][member] = number
    }
  }

  /// The row is gone; what it led to is forgotten, and so are the lists that it was in, and its members if they do not know
  /// of it.
  mutating func forget(_ place: Place, of entity: NSEntityDescription) {
    for name in one.keys {
      one[name]?[place] = nil
      positions[name]?[place] = nil
    }
    for relationship in entity.relationshipsByName.values
    where relationship.isToMany && relationship.inverseRelationship == nil {
      let name = Self.name(relationship)
      for (member, owner) in one[name] ?? [:] where owner == place { one[name]?[member] = nil }
    }
    for name in lists.keys {
      lists[name]?[place] = nil
      for owner in lists[name]?.keys.map(\.self) ?? [] { lists[name]?[owner]?.removeAll { $0 == place } }
    }
  }
}
