import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules: an inferred mapping model means the same by SQL and by the default policy. A Python program reads both files; keys
// differ, so it names each object by a value that no two have.

/// Reads all relationships of an object as soon as they are set.
private final class LookingPolicy: NSEntityMigrationPolicy {
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    for name in dInstance.entity.relationshipsByName.keys { _ = dInstance.value(forKey: name) }
  }
}

/// Changes some objects before their relationships are set.
private final class ChangingPolicy: NSEntityMigrationPolicy {
  private var count = 0

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    count += 1
    if count % 3 == 0, let name = dInstance.entity.attributesByName.keys.min() {
      dInstance.setValue(dInstance.value(forKey: name), forKey: name)
    }
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    if count % 5 == 0 { try manager.destinationContext.save() }
  }
}

@Suite("An inferred mapping gives the same objects by SQL and by policies", .seeded)
struct MigrationWaysFuzzTests {
  /// The number of the attribute that names an object, in each entity that has no superentity.
  private static func named(_ random: inout SeededGenerator) -> (model: FuzzModel, names: Set<Int>) {
    var model = FuzzModel.random(&random)
    var names: Set<Int> = []
    for position in model.entities.indices where model.entities[position].parent == nil {
      let id = model.nextID()
      names.insert(id)
      model.entities[position].attributes.insert(.init(id: id, name: "ident\(id)", standard: nil), at: 0)
    }
    return (model, names)
  }

  /// Random changes that leave the naming attributes in place.
  private static func changed(_ model: FuzzModel, keeping names: Set<Int>, _ random: inout SeededGenerator) -> FuzzModel
  {
    var result = model
    for _ in 0..<Int.random(in: 1...8, using: &random) {
      var next = result
      next.change(&random)
      let areNamed = next.entities.allSatisfy { entity in
        model.entity(entity.id) == nil
          || next.attributes(entity.id).contains { names.contains($0.id) && $0.name.hasPrefix("ident") }
      }
      if areNamed { result = next }
    }
    return result
  }

  /// What the comparison needs to know of the tables of a model.
  private static func layout(_ model: NSManagedObjectModel) throws -> String {
    let schema = try SQLSchema(model: model)
    let entities = try schema.entities.map { entity -> [String: Any] in
      let described = try #require(model.entitiesByName[entity.name])
      let columns = zip(described.attributeSlots, entity.attributeColumns).compactMap { attribute, column in
        column.map { [attribute.name, $0.name] }
      }
      let links = described.relationshipsByName.values.compactMap { relationship -> [String]? in
        let root = schema.entity(named: relationship.destinationEntity?.name ?? "")?.tableName ?? ""
        switch entity.relationships[relationship.name] {
        case .toOne(let column, _, _)?: return [relationship.name, "one", root, column, ""]
        case .manyToMany(let table, let from, let to, _)?: return [relationship.name, table, root, from, to]
        default: return nil
        }
      }
      return [
        "name": entity.name, "number": entity.number, "table": entity.tableName, "columns": columns, "links": links,
      ]
    }
    return String(decoding: try JSONSerialization.data(withJSONObject: entities), as: UTF8.self)
  }

  private static let comparison = """
    import json, sqlite3, sys
    layout = json.loads(sys.argv[1])
    def objects(path):
        store = sqlite3.connect(path)
        assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        idents, lines = {}, []
        for e in layout:
            for column in [c for name, c in e["columns"] if name.startswith("ident")]:
                for key, value in store.execute(f'SELECT Z_PK, {column} FROM {e["table"]} WHERE Z_ENT = {e["number"]}'):
                    if value is not None: idents[e["table"], key] = value
        for e in layout:
            for (key,) in store.execute(f'SELECT Z_PK FROM {e["table"]} WHERE Z_ENT = {e["number"]}').fetchall():
                line = [e["name"]]
                for name, column in sorted(e["columns"]):
                    line.append((name, store.execute(f'SELECT {column} FROM {e["table"]} WHERE Z_PK = {key}').fetchone()[0]))
                for name, table, root, first, second in sorted(e["links"]):
                    sql = (f'SELECT {first} FROM {e["table"]} WHERE Z_PK = {key} AND {first} IS NOT NULL' if table == "one"
                           else f'SELECT {second} FROM {table} WHERE {first} = {key}')
                    line.append((name, sorted(idents[root, k] for (k,) in store.execute(sql))))
                lines.append(repr(line))
        return sorted(lines)
    one, other = objects(sys.argv[2]), objects(sys.argv[3])
    print(len(one))
    for line in sorted(set(one) ^ set(other)): print("only by SQL:" if line in one else "only by policies:", line)
    if len(one) != len(other): print("numbers", len(one), len(other))
    """

  /// Objects with names, values and links.
  private static func fill(_ file: URL, of model: NSManagedObjectModel, _ random: inout SeededGenerator) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: file)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let entities = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
      let objects = (1...20).map { number in
        let object = NSManagedObject(
          entity: entities[Int.random(in: 0..<entities.count, using: &random)], insertInto: context)
        for attribute in object.entity.attributesByName.keys.sorted() {
          let value = attribute.hasPrefix("ident") ? number : Int.random(in: 0..<1000, using: &random)
          if attribute.hasPrefix("ident") || Bool.random(using: &random) { object.setValue(value, forKey: attribute) }
        }
        return object
      }
      for object in objects {
        for relationship in object.entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
          let ends = objects.filter { end in relationship.destinationEntity.map(end.entity.isKindOf) ?? false }
          let chosen = ends.shuffled(using: &random).prefix(
            relationship.isToMany ? Int.random(in: 0...2, using: &random) : 1)
          if relationship.isToMany {
            object.setValue(NSSet(array: Array(chosen)), forKey: relationship.name)
          } else {
            object.setValue(chosen.first, forKey: relationship.name)
          }
        }
      }
      try context.save()
    }
    try coordinator.remove(store)
  }

  enum Way: String, CaseIterable, Sendable {
    case standard, calling, looking, changing

    fileprivate var policy: NSEntityMigrationPolicy.Type? {
      switch self {
      case .standard: nil
      case .calling: ShoutingPolicy.self
      case .looking: LookingPolicy.self
      case .changing: ChangingPolicy.self
      }
    }
  }

  /// What the comparison prints for SQL and a way with policies.
  private static func verdict(seed: UInt64, _ way: Way = .standard, spoiling: Bool = false) throws -> String {
    var random = SeededGenerator(seed: seed)
    let (former, names) = named(&random)
    let changed = changed(former, keeping: names, &random)
    let (old, new) = (former.build(), changed.build(after: former))
    let folder = try TemporaryFolder()
    try fill(folder.file("old.sqlite"), of: old, &random)
    for (name, isBySQL) in [("sql", true), ("policies", false)] {
      let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
      manager.usesStoreSpecificMigrationManager = isBySQL
      let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
      if spoiling, !isBySQL { mapping.entityMappings.removeLast() }
      if !isBySQL, let policy = way.policy {
        NSEntityMigrationPolicy.register(policy, forName: "\(policy)")
        for entity in mapping.entityMappings { entity.entityMigrationPolicyClassName = "\(policy)" }
      }
      try manager.migrateStore(
        from: folder.file("old.sqlite"), with: mapping, toDestinationURL: folder.file("\(name).sqlite"))
    }
    return try Programs.python(comparison, layout(new), "sql.sqlite", "policies.sqlite", in: folder)
  }

  @Test("a random change", arguments: Randomness.seeds(6, long: 1000))
  func random(seed: UInt64) throws {
    for way in Way.allCases {
      let verdict = try Self.verdict(seed: seed, way)
      #expect(verdict.split(separator: "\n").count == 1, "seed \(seed), \(way): \(verdict)")
    }
  }

  @Test("The comparison sees a mapping that is missing")
  func canary() throws {
    let spoiled = try (1...8).filter { try Self.verdict(seed: UInt64($0), spoiling: true).contains("only by SQL") }
    #expect(!spoiled.isEmpty)
  }
}
