import ManagedObjectModel
import PersistentStores
import Foundation

/// The entities of a store, assembled from its key rows, its metadata and its model.
struct InspectedEntities {
  private let store: ExaminedStore
  private let keyRows: [Int: ExaminedStore.KeyRow]

  init(_ store: ExaminedStore) {
    self.store = store
    keyRows = Dictionary(store.keyRows.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func entities(_ doubts: inout [String]) -> [StoreInspection.Entity] {
    let counts = rowCounts(&doubts)
    guard let model = store.model?.model, let schema = store.schema else {
      return store.keyRows.filter { $0.number < ExaminedStore.firstHistoryNumber }.map { unknown($0, counts) }
    }
    return schema.entities.compactMap { entity in
      model.entitiesByName[entity.name].map {
        known($0, entity, key: keyRows[entity.number], schema: schema, counts: counts)
      }
    }
    .sorted { ($0.number ?? .max, $0.name) < ($1.number ?? .max, $1.name) }
  }

  func joinTables(_ doubts: inout [String]) -> [StoreInspection.JoinTable] {
    store.joinTables.map { table in
      let rows = ExaminedStore.attempt("The rows of \(table.name) can't be counted", doubts: &doubts) {
        try store.connection.integer("SELECT count(*) FROM \(table.name.quotedName)")
      }
      return StoreInspection.JoinTable(table: table.name, rows: (rows ?? nil).map(Int.init))
    }
  }

  /// Row counts by Z_ENT for each table. Tables that can't be counted are missing.
  private func rowCounts(_ doubts: inout [String]) -> [String: [Int: Int]] {
    var result: [String: [Int: Int]] = [:]
    let knownTables = store.knownTables
    for (table, columns) in store.columns
    where columns.contains(where: { $0.name == "Z_ENT" }) && table != "Z_PRIMARYKEY" {
      guard knownTables.contains(table) else { continue }
      result[table] = ExaminedStore.attempt("The rows of \(table) can't be counted", doubts: &doubts) {
        let rows = try store.connection.rows("SELECT Z_ENT, count(*) FROM \(table.quotedName) GROUP BY Z_ENT")
        return Dictionary(
          rows.map { ($0[0].int ?? 0, $0[1].int ?? 0) }, uniquingKeysWith: { first, _ in first })
      }
    }
    return result
  }

  // MARK: With a model

  private func known(
    _ entity: NSEntityDescription, _ sql: SQLEntity, key: ExaminedStore.KeyRow?, schema: SQLSchema,
    counts: [String: [Int: Int]]
  ) -> StoreInspection.Entity {
    StoreInspection.Entity(
      name: sql.name, storedName: key.flatMap { $0.name == sql.name ? nil : $0.name }, number: key?.number,
      superentity: entity.superentity?.name, isAbstract: entity.isAbstract,
      table: store.columns[sql.tableName] == nil ? nil : sql.tableName,
      rows: counts[sql.tableName].map { $0[sql.number] ?? 0 }, maximumKey: key?.maximum,
      versionHash: store.storedHashes[sql.name]?.base64EncodedString(), hashFitsModel: store.hashFits(entity),
      attributes: zip(entity.attributeSlots, sql.attributeColumns).map(Self.attribute),
      relationships: entity.relationshipsByName.values.sorted { String.byteOrder($0.name, $1.name) }
        .map { Self.relationship($0, sql.relationships[$0.name], table: sql.tableName) },
      uniquenessConstraints: entity.uniquenessConstraintNames)
  }

  private static func attribute(
    _ attribute: NSAttributeDescription, _ column: SQLColumn?
  ) -> StoreInspection.Attribute {
    StoreInspection.Attribute(
      name: attribute.name, type: attribute.attributeType.editorName, isOptional: attribute.isOptional,
      column: column?.name)
  }

  private static func relationship(
    _ relationship: NSRelationshipDescription, _ kept: SQLRelationship?, table: String
  ) -> StoreInspection.Relationship {
    let storage: (table: String?, columns: [String?]) =
      switch kept {
      case .toOne(let column, let entityColumn, let orderColumn): (table, [column, entityColumn, orderColumn])
      case .toMany(let table, let column, let orderColumn): (table, [column, orderColumn])
      case .manyToMany(let table, let source, let destination, let order): (table, [source, destination, order])
      case nil: (nil, [])
      }
    return StoreInspection.Relationship(
      name: relationship.name, destination: relationship.destinationEntity?.name ?? "",
      inverse: relationship.inverseRelationship?.name, isToMany: relationship.isToMany,
      isOrdered: relationship.isOrdered, isOptional: relationship.isOptional, table: storage.table,
      columns: storage.columns.compactMap(\.self))
  }

  // MARK: Without a model

  private func unknown(_ key: ExaminedStore.KeyRow, _ counts: [String: [Int: Int]]) -> StoreInspection.Entity {
    let table = "Z\(root(of: key).name.uppercased())"
    let columns = store.columns[table] ?? []
    return StoreInspection.Entity(
      name: key.name, number: key.number, superentity: keyRows[key.superNumber]?.name,
      isAbstract: nil, table: store.columns[table] == nil ? nil : table,
      rows: counts[table].map { $0[key.number] ?? 0 },
      maximumKey: key.maximum, versionHash: store.storedHashes[key.name]?.base64EncodedString(), hashFitsModel: nil,
      attributes: columns.filter { !$0.name.hasPrefix("Z_") }.map { column in
        StoreInspection.Attribute(
          name: String(column.name.dropFirst()), type: column.type, isOptional: true, column: column.name)
      },
      relationships: [], uniquenessConstraints: [])
  }

  private func root(of key: ExaminedStore.KeyRow) -> ExaminedStore.KeyRow {
    var (root, steps) = (key, 0)
    // A damaged table may contain cycles.
    while let above = keyRows[root.superNumber], steps <= SQLiteConnection.inheritanceDepthMax {
      (root, steps) = (above, steps + 1)
    }
    return root
  }
}

extension ExaminedStore {
  /// Numbers from here on belong to the tables of history and of the framework.
  static let firstHistoryNumber = 16000
}

extension NSAttributeType {
  /// The type's name in the model editor and its files.
  var editorName: String { AttributeXMLReader.types.first { $0.value == self }?.key ?? "Undefined" }
}
