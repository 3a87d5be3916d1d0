import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import StoreInspection

// Rule (docs/coredata-format.md, "Tables and columns", "Z_PRIMARYKEY"): an edit of a store that Apple's framework wrote
// changes the rows of the objects concerned, their versions and the last keys, and nothing else.

@Suite(
  "Edits of the relationships of every store of Apple's framework", .seeded,
  .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)))
struct AppleStoreEditTests {
  private enum Kind: CaseIterable {
    case link, unlink, delete, insert

    static func random(_ random: inout SeededGenerator) -> Kind {
      switch Int.random(in: 0..<100, using: &random) {
      case ..<35: .insert
      case ..<65: .link
      case ..<88: .unlink
      default: .delete
      }
    }
  }

  /// What came of the edits.
  private struct Outcome {
    var counts: [Kind: Int] = [:]
    var refused = 0
    var differences: [String] = []
    /// Whether a version differs.
    var missesVersion: Bool { differences.contains { $0.contains("Z_OPT") } }
  }

  static let withRelationships = SharedStore.all.indices.filter { index in
    let model = try? NSManagedObjectModel.load(contentsOf: SharedStore.all[index].modelURL)
    return model?.entities.contains { !$0.relationshipsByName.isEmpty } ?? false
  }

  /// - Parameter forgetsOwners: The expected rows then lack what a new owner gets: its version. The first difference in
  ///   one ends the edits.
  private static func edit(_ store: SharedStore, rounds: Int, forgetsOwners: Bool = false) throws -> Outcome {
    try store.withCopy { file in
      let model = try NSManagedObjectModel.load(contentsOf: store.modelURL)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let opened = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: file)
      let context = NSManagedObjectContext(concurrencyType: .privateQueue)
      context.persistentStoreCoordinator = coordinator
      let layout = try StoredRows.Layout(file)
      var editor = AppleStoreEditor(context: context, model: model, rows: try StoredRows(file, layout))
      var (outcome, random) = (Outcome(), Randomness.generator())
      for number in 0..<rounds {
        if forgetsOwners, outcome.missesVersion { break }
        let kind = Kind.random(&random)
        try context.performAndWait {
          let edit =
            switch kind {
            case .link, .unlink: try editor.relate(isLinked: kind == .link, &random)
            case .delete: try editor.delete(&random)
            case .insert: editor.insert(number, &random)
            }
          guard let edit else { return }
          do {
            try context.save()
            let found = try StoredRows(file, layout)
            let (expected, isAllowed) = editor.expected(edit, found, forgetsOwners: forgetsOwners)
            if !isAllowed { outcome.differences.append("\(number) \(kind): saved against a rule of the model") }
            outcome.differences += expected.difference(from: found).map { "\(number) \(kind): \($0)" }
            editor.rows = found
            outcome.counts[kind, default: 0] += 1
          } catch let error as NSError {
            context.rollback()
            let isAllowed = editor.expected(edit, editor.rows).isAllowed
            if isAllowed { outcome.differences.append("\(number) \(kind): refused with \(error)") }
            outcome.differences += try editor.rows.difference(from: StoredRows(file, layout)).map {
              "\(number) refused: \($0)"
            }
            outcome.refused += 1
          }
        }
      }
      try coordinator.remove(opened)
      let seen = try StoreVerification(storeAt: file, modelFile: store.modelURL)
      outcome.differences += seen.findings.map { "verify: \($0)" }
      return outcome
    }
  }

  @Test("Only the expected cells change, and verification finds nothing", arguments: withRelationships)
  func rows(number: Int) throws {
    let outcome = try Self.edit(SharedStore.all[number], rounds: max(80, TestLength.rounds(80, long: 1000)))
    #expect(outcome.differences == [])
    for kind in Kind.allCases { #expect(outcome.counts[kind, default: 0] > 0, "\(kind)") }
  }

  @Test("Four of the stores have relationships")
  func stores() {
    #expect(
      Self.withRelationships.map { SharedStore.all[$0].name } == [
        "bnr-testmodel", "coredataplus-sample1-v1", "coredataplus-sample1-v2-migrated", "wibosco-revised-v3",
      ])
  }

  @Test("A version that is not counted is noticed", arguments: withRelationships)
  func canary(number: Int) throws {
    // Few edits give an object a new owner: 30 of them may do without.
    let outcome = try Self.edit(SharedStore.all[number], rounds: 1000, forgetsOwners: true)
    #expect(outcome.missesVersion)
  }
}

/// Draws edits, makes them in a context, and says what the rows must be afterwards.
private struct AppleStoreEditor {
  typealias Place = StoredRows.Place

  enum Edit {
    case relate(NSRelationshipDescription, Place, Place, isLinked: Bool)
    case delete(Place, NSEntityDescription)
    case insert(NSEntityDescription)
  }

  let context: NSManagedObjectContext
  let model: NSManagedObjectModel
  var rows: StoredRows

  private var entities: [NSEntityDescription] {
    model.entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
  }

  private func object(_ place: Place, _ entity: NSEntityDescription) throws -> NSManagedObject {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
    request.includesSubentities = false
    return try #require(
      try context.fetch(request).first { $0.objectID.uriRepresentation().lastPathComponent == "p" + place.key })
  }

  private func one<Element>(_ elements: [Element], _ random: inout SeededGenerator) -> Element? {
    elements.randomElement(using: &random)
  }

  mutating func relate(isLinked: Bool, _ random: inout SeededGenerator) throws -> Edit? {
    let relationships = entities.flatMap { entity in
      entity.relationshipsByName.values.sorted { $0.name < $1.name }.filter { $0.destinationEntity != nil }
    }
    guard let relationship = one(relationships, &random), let destination = relationship.destinationEntity,
      let own = one(
        rows.places(relationship.entity).filter { isLinked || !rows.related(relationship, of: $0.place).isEmpty },
        &random)
    else { return nil }
    let members = rows.related(relationship, of: own.place)
    guard let other = one(rows.places(destination).filter { members.contains($0.place) != isLinked }, &random) else {
      return nil
    }
    let (object, end) = (try object(own.place, own.entity), try object(other.place, other.entity))
    if relationship.isToMany {
      let members = object.mutableSetValue(forKey: relationship.name)
      if isLinked { members.add(end) } else { members.remove(end) }
    } else {
      object.setValue(isLinked ? end : nil, forKey: relationship.name)
    }
    return .relate(relationship, own.place, other.place, isLinked: isLinked)
  }

  mutating func delete(_ random: inout SeededGenerator) throws -> Edit? {
    guard let entity = one(entities, &random), let found = one(rows.places(entity), &random) else { return nil }
    context.delete(try object(found.place, found.entity))
    return .delete(found.place, found.entity)
  }

  mutating func insert(_ number: Int, _ random: inout SeededGenerator) -> Edit? {
    guard let entity = one(entities, &random) else { return nil }
    let object = NSManagedObject.make(entity, in: context)
    for attribute in entity.attributeSlots where !attribute.isTransient {
      switch attribute.attributeType {
      case .stringAttributeType: object.setValue("new \(number)", forKey: attribute.name)
      case .UUIDAttributeType: object.setValue(UUID(), forKey: attribute.name)
      case .dateAttributeType: object.setValue(Date(timeIntervalSinceReferenceDate: 5), forKey: attribute.name)
      default: break
      }
    }
    return .insert(entity)
  }

  /// The rows after an edit, and whether the model's rules allow it.
  ///
  /// - Parameter found: The rows that the store has now, for the attributes of a new row.
  func expected(
    _ edit: Edit, _ found: StoredRows, forgetsOwners: Bool = false
  ) -> (rows: StoredRows, isAllowed: Bool) {
    var rows = rows
    var new: Place?
    switch edit {
    case .relate(let relationship, let place, let other, true): rows.link(relationship, place, to: other)
    case .relate(let relationship, let place, let other, false): rows.unlink(relationship, place, from: other)
    case .delete(let place, let entity): rows.delete(place, entity)
    case .insert(let entity): new = rows.insert(entity, asIn: found)
    }
    let uncounted = rows
    let changed = rows.countVersions(except: new)
    return (forgetsOwners ? uncounted : rows, isAllowed(changed.union(new.map { [$0] } ?? []), in: rows))
  }

  /// Whether each of these objects has what its mandatory relationships need.
  private func isAllowed(_ places: Set<Place>, in rows: StoredRows) -> Bool {
    entities.allSatisfy { entity in
      let mandatory = entity.relationshipsByName.values.filter { !$0.isOptional }
      return rows.places(entity).filter { places.contains($0.place) }.allSatisfy { found in
        mandatory.allSatisfy {
          rows.related($0, of: found.place).count >= ($0.isToMany ? $0.minCount : 1)
        }
      }
    }
  }
}
