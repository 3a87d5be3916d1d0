import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import PostgreSQLStore

// Rules: as in the other migration suites, for any mixture of changes at once. What must be there afterwards is worked out
// from the identities of the model's parts, not from names.

@Suite("Any mixture of changes keeps every value and link that it should", .seeded)
struct MigrationFuzzTests {
  private struct Row {
    let key: Int64
    let entity: Int
    /// By the identity of the attribute or link.
    var values: [Int: Int64] = [:]
    var targets: [Int: Set<Int64>] = [:]
  }

  /// Rows with keys that no two have, so that a key tells its row.
  private static func rows(_ model: FuzzModel, _ random: inout SeededGenerator) -> [Row] {
    var rows: [Row] = (1...12).compactMap { key in
      model.entities.randomElement(using: &random).map { Row(key: key, entity: $0.id) }
    }
    for position in rows.indices {
      for attribute in model.attributes(rows[position].entity) where Int.random(in: 0..<4, using: &random) > 0 {
        rows[position].values[attribute.id] = .random(in: 0..<1000, using: &random)
      }
      for link in model.links(rows[position].entity) {
        let possible = rows.filter { model.isKind($0.entity, of: link.destination) }.map(\.key)
        let count = link.isToMany ? Int.random(in: 0...3, using: &random) : Int.random(in: 0...1, using: &random)
        rows[position].targets[link.id] = Set(possible.shuffled(using: &random).prefix(count))
      }
    }
    return rows
  }

  /// What the rows of `old` must be in `new`.
  private static func expected(_ rows: [Row], from old: FuzzModel, to new: FuzzModel) -> [Row] {
    let kept = rows.filter { new.entity($0.entity) != nil }
    let keys = Set(kept.map(\.key))
    return kept.map { row in
      var result = Row(key: row.key, entity: row.entity)
      let known = Set(old.attributes(row.entity).map(\.id))
      for attribute in new.attributes(row.entity) {
        result.values[attribute.id] = known.contains(attribute.id) ? row.values[attribute.id] : attribute.standard
      }
      for link in new.links(row.entity) {
        result.targets[link.id] = (row.targets[link.id] ?? []).intersection(keys)
      }
      return result
    }
  }

  // MARK: In the store

  private struct Layout {
    let model: FuzzModel
    let built: NSManagedObjectModel
    let schema: SQLSchema

    init(_ model: FuzzModel, after former: FuzzModel? = nil) throws {
      self.model = model
      built = model.build(after: former)
      schema = try SQLSchema(model: built)
    }

    func sql(_ entity: Int) throws -> SQLEntity { try #require(schema.entity(named: model.entity(entity)?.name ?? "")) }

    func column(_ attribute: FuzzModel.Attribute, _ entity: SQLEntity) throws -> String {
      let slot = try #require(built.entitiesByName[entity.name]?.slot(named: attribute.name))
      return try #require(entity.attributeColumns[slot]?.name)
    }
  }

  private static func write(_ rows: [Row], _ layout: Layout, to connection: any TableStatements) throws {
    let entities = Dictionary(rows.map { ($0.key, $0.entity) }, uniquingKeysWith: { first, _ in first })
    for row in rows {
      let entity = try layout.sql(row.entity)
      var columns: [(String, Int64)] = [("Z_PK", row.key), ("Z_ENT", Int64(entity.number)), ("Z_OPT", row.key % 3 + 1)]
      for attribute in layout.model.attributes(row.entity) {
        if let value = row.values[attribute.id] { columns.append((try layout.column(attribute, entity), value)) }
      }
      for link in layout.model.links(row.entity) {
        for target in row.targets[link.id] ?? [] {
          switch entity.relationships[link.name] {
          case .toOne(let column, let entityColumn, _)?:
            columns.append((column, target))
            let number = try layout.sql(try #require(entities[target])).number
            if let entityColumn { columns.append((entityColumn, Int64(number))) }
          case .manyToMany(let table, let source, let destination, _)?:
            try connection.run(
              "INSERT INTO \(table)(\(source), \(destination)) VALUES(\(row.key), \(target))", [])
          default: Issue.record("the link \(link.name) is not kept as it should be")
          }
        }
      }
      let (names, values) = (
        columns.map(\.0).joined(separator: ", "), columns.map { "\($0.1)" }.joined(separator: ", ")
      )
      try connection.run("INSERT INTO \(entity.tableName)(\(names)) VALUES(\(values))", [])
    }
  }

  /// One line for each row: what it holds, in names of the model.
  private static func lines(_ layout: Layout, _ connection: any TableStatements) throws -> [String] {
    var lines: [String] = []
    for part in layout.model.entities {
      let entity = try layout.sql(part.id)
      for key in try connection.rows("SELECT Z_PK, Z_OPT FROM \(entity.tableName) WHERE Z_ENT = \(entity.number)", []) {
        guard case .integer(let number) = key[0], case .integer(let version) = key[1] else { continue }
        var row = Row(key: number, entity: part.id)
        #expect(version == number % 3 + 1)
        for attribute in layout.model.attributes(part.id) {
          row.values[attribute.id] = try connection.integer(
            "SELECT \(layout.column(attribute, entity)) FROM \(entity.tableName) WHERE Z_PK = \(number)", [])
        }
        for link in layout.model.links(part.id) {
          row.targets[link.id] = try targets(of: link, key: number, entity: entity, layout: layout, on: connection)
        }
        lines.append(line(row, layout.model))
      }
    }
    return lines.sorted()
  }

  private static func targets(
    of link: FuzzModel.Link, key: Int64, entity: SQLEntity, layout: Layout, on connection: any TableStatements
  ) throws -> Set<Int64> {
    let found: [[StoredValue]]
    switch entity.relationships[link.name] {
    case .toOne(let column, let entityColumn, _)?:
      found = try connection.rows("SELECT \(column) FROM \(entity.tableName) WHERE Z_PK = \(key)", [])
      if let entityColumn {
        let destination = try layout.sql(layout.model.root(link.destination)).tableName
        let wrong = try connection.integer(
          "SELECT count(*) FROM \(entity.tableName) s WHERE Z_PK = \(key) AND \(column) IS NOT NULL AND "
            + "NOT EXISTS (SELECT 1 FROM \(destination) d WHERE d.Z_PK = s.\(column) AND d.Z_ENT = s.\(entityColumn))",
          []
        )
        #expect(wrong == 0, "\(entityColumn) is not the number of the entity that \(column) leads to")
      }
    case .manyToMany(let table, let source, let destination, _)?:
      found = try connection.rows("SELECT \(destination) FROM \(table) WHERE \(source) = \(key)", [])
    default: found = []
    }
    return Set(found.compactMap { if case .integer(let number)? = $0.first { number } else { nil } })
  }

  private static func line(_ row: Row, _ model: FuzzModel) -> String {
    let values = model.attributes(row.entity).sorted { $0.id < $1.id }
      .map { "\($0.name)=\(row.values[$0.id].map(String.init) ?? "-")" }
    let targets = model.links(row.entity).sorted { $0.id < $1.id }
      .map { "\($0.name)→\((row.targets[$0.id] ?? []).sorted())" }
    return "\(model.entity(row.entity)?.name ?? "") \(row.key): " + (values + targets).joined(separator: " ")
  }

  @Test("a random change", arguments: Randomness.seeds(12, long: 2000))
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let former = FuzzModel.random(&random)
    var changed = former
    for _ in 0..<Int.random(in: 1...8, using: &random) { changed.change(&random) }
    let (old, new) = (try Layout(former), try Layout(changed, after: former))
    let folder = try TemporaryFolder()
    let file = folder.file("store.sqlite")
    try MigrationBench.add(file, model: old.built, options: nil)
    let rows = Self.rows(former, &random)
    let connection = try SQLiteConnection(path: file.path, mode: .readWrite)
    defer { connection.close() }
    try Self.write(rows, old, to: connection)
    #expect(try Self.lines(old, connection) == rows.map { Self.line($0, former) }.sorted())

    try MigrationBench.add(file, model: new.built, options: MigrationBench.options([old.built]))
    #expect(
      try Self.lines(new, connection)
        == Self.expected(rows, from: former, to: changed).map { Self.line($0, changed) }.sorted(),
      "seed \(seed)")
    #expect(try connection.rows("PRAGMA integrity_check") == [[.text("ok")]])
  }

  @Test(
    "a random change of a store in PostgreSQL",
    .enabled(if: StoreKind.available.contains(.server), Comment(rawValue: PostgreSQLServer.problem)),
    arguments: Randomness.seeds(6, long: 600))
  func randomOnServer(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let former = FuzzModel.random(&random)
    var changed = former
    for _ in 0..<Int.random(in: 1...8, using: &random) { changed.change(&random) }
    let (old, new) = (try Layout(former), try Layout(changed, after: former))
    let address = try ServerStores.newAddress()
    func open(_ model: NSManagedObjectModel, _ options: [AnyHashable: Any]?) throws {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(
        ofType: NSPostgreSQLStoreType, configurationName: nil, at: address, options: options)
      try coordinator.remove(store)
    }
    try open(old.built, nil)
    let rows = Self.rows(former, &random)
    let connection = try ServerStores.newConnection(address)
    defer { connection.close() }
    try connection.send("BEGIN")
    try Self.write(rows, old, to: connection)
    _ = try connection.query("COMMIT")
    #expect(try Self.lines(old, connection) == rows.map { Self.line($0, former) }.sorted())
    try open(new.built, MigrationBench.options([old.built]))
    #expect(
      try Self.lines(new, connection)
        == Self.expected(rows, from: former, to: changed).map { Self.line($0, changed) }.sorted(),
      "seed \(seed)")
    // A second opening checks the tables, and no old ones are left.
    try open(new.built, nil)
    #expect(
      try connection.integer(
        "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname LIKE 'ocd_old%'",
        []) == 0)
  }
}
