import Foundation
import TestSupport

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// A model whose parts have identities, so that a change to it says what became of each part.
struct FuzzModel {
  struct Attribute {
    let id: Int
    var name: String
    var standard: Int64?
  }
  struct Link {
    let id: Int
    var name: String
    let destination: Int
    var isToMany: Bool
  }
  struct Entity {
    let id: Int
    var name: String
    var parent: Int?
    var attributes: [Attribute] = []
    var links: [Link] = []
  }

  var entities: [Entity] = []
  private var last = 0

  mutating func nextID() -> Int {
    last += 1
    return last
  }

  func entity(_ id: Int) -> Entity? { entities.first { $0.id == id } }

  /// The entity and its superentities.
  func ancestry(_ id: Int) -> [Entity] {
    guard let entity = entity(id) else { return [] }
    return [entity] + (entity.parent.map(ancestry) ?? [])
  }

  func root(_ id: Int) -> Int { ancestry(id).last?.id ?? id }
  func attributes(_ id: Int) -> [Attribute] { ancestry(id).flatMap(\.attributes) }
  func links(_ id: Int) -> [Link] { ancestry(id).flatMap(\.links) }
  func isKind(_ id: Int, of other: Int) -> Bool { ancestry(id).contains { $0.id == other } }

  // MARK: Making

  static func random(_ random: inout SeededGenerator) -> FuzzModel {
    var model = FuzzModel()
    for _ in 0..<Int.random(in: 2...5, using: &random) { model.addEntity(&random) }
    for _ in 0..<Int.random(in: 2...8, using: &random) { model.addAttribute(&random) }
    for _ in 0..<Int.random(in: 1...4, using: &random) { model.addLink(&random) }
    return model
  }

  private mutating func addEntity(_ random: inout SeededGenerator) {
    let parent = Bool.random(using: &random) ? entities.randomElement(using: &random)?.id : nil
    let id = nextID()
    entities.append(Entity(id: id, name: Self.name("E", id: id, random: &random), parent: parent))
  }

  private mutating func addAttribute(_ random: inout SeededGenerator) {
    let (id, position) = (nextID(), entities.indices.randomElement(using: &random) ?? 0)
    let standard = Bool.random(using: &random) ? Int64.random(in: 1000...2000, using: &random) : nil
    entities[position].attributes.append(
      Attribute(id: id, name: Self.name("a", id: id, random: &random), standard: standard))
  }

  private mutating func addLink(_ random: inout SeededGenerator) {
    let (id, position) = (nextID(), entities.indices.randomElement(using: &random) ?? 0)
    guard let destination = entities.randomElement(using: &random)?.id else { return }
    entities[position].links.append(
      Link(
        id: id, name: Self.name("l", id: id, random: &random), destination: destination,
        isToMany: .random(using: &random)))
  }

  /// Letters first, so that the order of names has nothing to do with that of identities.
  private static func name(_ kind: String, id: Int, random: inout SeededGenerator) -> String {
    let letters = (0..<3).compactMap { _ in "ABCxyz".randomElement(using: &random) }
    return kind + String(letters) + "\(id)"
  }

  /// One change that a lightweight migration must follow.
  mutating func change(_ random: inout SeededGenerator) {
    guard let position = entities.indices.randomElement(using: &random) else { return }
    let id = entities[position].id
    switch Int.random(in: 0..<11, using: &random) {
    case 0: entities[position].name = Self.name("E", id: nextID(), random: &random)
    case 1: addEntity(&random)
    case 2: addAttribute(&random)
    case 3: addLink(&random)
    case 4:
      if let at = entities[position].attributes.indices.randomElement(using: &random) {
        entities[position].attributes[at].name = Self.name("a", id: nextID(), random: &random)
      }
    case 5: _ = entities[position].attributes.popLast()
    case 6: _ = entities[position].links.popLast()
    case 7:
      if let at = entities[position].links.indices.randomElement(using: &random) {
        entities[position].links[at].name = Self.name("l", id: nextID(), random: &random)
        entities[position].links[at].isToMany = true
      }
    case 8: removeLeaf(id)
    case 9:
      let above = nextID()
      entities.append(Entity(id: above, name: Self.name("E", id: above, random: &random), parent: nil))
      if let top = entities.firstIndex(where: { $0.id == root(id) }), top != entities.count - 1 {
        entities[top].parent = above
      }
    default:
      if let parent = entities[position].parent.flatMap({ id in entities.firstIndex { $0.id == id } }),
        let moved = entities[position].attributes.popLast()
      {
        entities[parent].attributes.append(moved)
      }
    }
  }

  private mutating func removeLeaf(_ id: Int) {
    guard entities.count > 1, !entities.contains(where: { $0.parent == id }) else { return }
    entities.removeAll { $0.id == id }
    for position in entities.indices { entities[position].links.removeAll { $0.destination == id } }
  }

  // MARK: The model

  static func inverseName(_ link: Link) -> String { "inverse\(link.name)" }

  /// - Parameters:
  ///   - former: The version before, whose names become renaming identifiers.
  ///   - keepsTombstones: Whether deletions keep the values of every other attribute.
  func build(after former: FuzzModel? = nil, keepsTombstones: Bool = false) -> NSManagedObjectModel {
    var built: [Int: NSEntityDescription] = [:]
    let formerEntities = former?.entities ?? []
    let names = Dictionary(
      formerEntities.map { ($0.id, $0.name) } + formerEntities.flatMap(\.attributes).map { ($0.id, $0.name) }
        + formerEntities.flatMap(\.links).map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    for entity in entities {
      let description = NSEntityDescription()
      description.name = entity.name
      description.explicitRenamingIdentifier = names[entity.id]
      description.versionHashModifier = former == nil ? nil : "changed"
      description.properties = entity.attributes.map { attribute in
        let property = NSAttributeDescription()
        property.name = attribute.name
        property.explicitRenamingIdentifier = names[attribute.id]
        property.attributeType = .integer64AttributeType
        property.preservesValueInHistoryOnDeletion = keepsTombstones && attribute.id.isMultiple(of: 2)
        property.defaultValue = attribute.standard.map { NSNumber(value: $0) }
        return property
      }
      built[entity.id] = description
    }
    for entity in entities { connect(entity, built: built, names: names) }
    let model = NSManagedObjectModel()
    model.entities = entities.compactMap { built[$0.id] }
    return model
  }

  private func connect(_ entity: Entity, built: [Int: NSEntityDescription], names: [Int: String]) {
    guard let description = built[entity.id] else { return }
    if let parent = entity.parent.flatMap({ built[$0] }) { parent.subentities += [description] }
    for link in entity.links {
      let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
      there.name = link.name
      there.explicitRenamingIdentifier = names[link.id]
      there.maxCount = link.isToMany ? 0 : 1
      back.name = Self.inverseName(link)
      back.explicitRenamingIdentifier = names[link.id].map { "inverse\($0)" }
      back.maxCount = 0
      there.destinationEntity = built[link.destination]
      back.destinationEntity = description
      (there.inverseRelationship, back.inverseRelationship) = (back, there)
      description.properties += [there]
      built[link.destination]?.properties += [back]
    }
  }
}
