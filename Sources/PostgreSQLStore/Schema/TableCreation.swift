import Foundation
import ManagedObjectModel
import PersistentStores

/// The statements that make the tables of a model in a database, with Apple's names for tables and columns.
struct TableCreation {
  private let schema: SQLSchema
  /// By the number of the entity.
  private let entities: [Int: NSEntityDescription]

  /// The longest name of a table or column in PostgreSQL, in bytes; longer ones would be cut off.
  private static let nameBytesMax = 63

  init(_ schema: SQLSchema, _ model: NSManagedObjectModel) {
    self.schema = schema
    let byName = model.entitiesByName
    entities = Dictionary(
      schema.entities.compactMap { entity in byName[entity.name].map { (entity.number, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  // MARK: Columns

  /// The attributes' columns of a table, by name.
  private func attributeTypes(of table: String) -> [String: ColumnType] {
    var types: [String: ColumnType] = [:]
    for entity in schema.entities where entity.tableName == table {
      guard let description = entities[entity.number] else { continue }
      for (slot, column) in entity.attributeColumns.enumerated() {
        if let column { types[column.name] = ColumnType(description.attributeSlots[slot]) }
      }
    }
    return types
  }

  /// The columns of each table in order, with their types.
  var columns: [(table: String, columns: [(name: String, type: ColumnType)])] {
    let fixed: [(String, ColumnType)] = [("Z_PK", .int8), ("Z_ENT", .int4), ("Z_OPT", .int4)]
    let tables = schema.tables.map { table in
      let types = attributeTypes(of: table.name)
      return (table.name, fixed + table.columns.map { ($0.name, types[$0.name] ?? .int8) })
    }
    let joins = schema.joinTables.map { table in
      let names = [table.firstColumn, table.secondColumn] + table.orderColumns
      return (table.name, names.map { ($0, ColumnType.int8) })
    }
    return tables + joins
  }

  // MARK: Keys

  /// The columns of the primary key of each table, in the order of `columns`.
  var primaryKeys: [(table: String, columns: [String])] {
    schema.tables.map { ($0.name, ["Z_PK"]) } + schema.joinTables.map { ($0.name, [$0.firstColumn, $0.secondColumn]) }
  }

  // MARK: Statements

  /// Those of the tables, and those that follow when the tables have their rows.
  ///
  /// - Throws: `NSError` 134080 for a name that PostgreSQL can't have.
  func statements() throws -> (tables: [String], others: [String]) {
    for (table, columns) in columns {
      for name in [table] + columns.map(\.name) where name.utf8.count > Self.nameBytesMax {
        throw NSError.coreData(
          .open,
          "PostgreSQL cuts off names after \(Self.nameBytesMax) bytes, and the store needs the name \(name). Rename the "
            + "entity or property in the model.")
      }
    }
    return (
      tables + [Self.metadataTable],
      sequences + indexes + references.map(\.statement) + [keyView] + views.statements
    )
  }

  private static let metadataTable = """
    CREATE TABLE "Z_METADATA" ("Z_VERSION" integer PRIMARY KEY, "Z_UUID" text COLLATE "C", "Z_PLIST" bytea)
    """

  /// The views with plain names.
  var views: ViewCreation { ViewCreation(schema, entities) }

  private var tables: [String] {
    zip(columns, primaryKeys).map { made, key in
      let list = made.columns.map { column in
        column.name.quotedName + " " + column.type.declaration
          + (["Z_ENT", "Z_OPT"].contains(column.name) ? " NOT NULL" : "")
      }
      let columns = (list + [Self.primaryKey(key.columns)]).joined(separator: ", ")
      return "CREATE TABLE \(made.table.quotedName) (\(columns))"
    }
  }

  /// In the definition of a table.
  static func primaryKey(_ columns: [String]) -> String {
    "PRIMARY KEY (\(columns.map(\.quotedName).joined(separator: ", ")))"
  }

  private var sequences: [String] {
    schema.entities.filter { $0.superNumber == 0 }.map {
      "CREATE SEQUENCE \(KeyBlocks.sequence(ofRoot: $0.rootNumber)) AS bigint INCREMENT BY \(KeyBlocks.size) MINVALUE 1 "
        + "OWNED BY \($0.tableName.quotedName).\"Z_PK\""
    }
  }

  /// Those of a SQLite store. Null comes first, as in the orders of fetches.
  private var indexes: [String] {
    schema.creationStatements.filter { $0.hasPrefix("CREATE INDEX") || $0.hasPrefix("CREATE UNIQUE INDEX") }.map {
      let text = $0.replacingOccurrences(of: " COLLATE BINARY ASC", with: " ASC NULLS FIRST")
        .replacingOccurrences(of: " COLLATE BINARY DESC", with: " DESC NULLS LAST")
      return Self.shortening(text)
    }
  }

  /// An index that makes reading faster; one without equal values is more than that.
  struct ReadingIndex {
    let name: String
    let table: String
    let columns: [String]
    let statement: String

    /// - Parameter statement: Nil for one that makes another index.
    init?(_ statement: String) {
      let words = statement.components(separatedBy: " ")
      guard words.count > 5, words[0...1] == ["CREATE", "INDEX"] else { return nil }
      let list = statement.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
      func plain(_ word: some StringProtocol) -> String { String(word.filter { $0 != "\"" }) }
      (name, table, self.statement) = (plain(words[2]), plain(words[4]), statement)
      columns = list.components(separatedBy: ", ").map { plain($0.prefix { $0 != " " }) }
    }
  }

  var readingIndexes: [ReadingIndex] { indexes.compactMap(ReadingIndex.init) }

  /// The statement with a name of the index that PostgreSQL does not cut off.
  private static func shortening(_ statement: String) -> String {
    var words = statement.components(separatedBy: " ")
    guard let place = words.firstIndex(of: "INDEX").map({ $0 + 1 }), words[place].utf8.count > nameBytesMax else {
      return StatementText.translated(statement)
    }
    // FNV-1a: the same in every process.
    let hash = words[place].utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    var start = words[place].prefix(nameBytesMax - 17)
    while start.utf8.count > nameBytesMax - 17 { start = start.dropLast() }
    words[place] = "\(start)_\(String(hash, radix: 16))"
    return StatementText.translated(words.joined(separator: " "))
  }

  // MARK: Foreign keys

  /// A row can't lead to one that is not there, whatever others write at the same time. They are checked at the end of a save.
  var references: [Reference] {
    var known: Set<Reference> = []
    return schema.entities.flatMap { entity -> [Reference] in
      guard let description = entities[entity.number] else { return [] }
      return entity.relationships.sorted { String.byteOrder($0.key, $1.key) }.flatMap { name, kept in
        description.relationshipsByName[name].map { reference(of: $0, kept, in: entity) } ?? []
      }
    }.filter { known.insert($0).inserted }
  }

  /// A foreign key.
  struct Reference: Hashable {
    let table: String
    let column: String
    let other: String

    var statement: String {
      "ALTER TABLE \(table.quotedName) ADD FOREIGN KEY (\(column.quotedName)) REFERENCES \(other.quotedName) "
        + "DEFERRABLE INITIALLY DEFERRED"
    }
  }

  private func reference(
    of relationship: NSRelationshipDescription, _ kept: SQLRelationship, in entity: SQLEntity
  ) -> [Reference] {
    guard let destination = relationship.destinationEntity,
      let other = schema.entity(named: destination.name ?? "")?.tableName
    else { return [] }
    switch kept {
    case .toOne(let column, _, _):
      // The rule no action leaves keys of deleted rows.
      guard relationship.inverseRelationship?.deleteRule != .noActionDeleteRule else { return [] }
      return [Reference(table: entity.tableName, column: column, other: other)]
    case .toMany(let table, let column, _):
      // With an inverse it is the inverse's key.
      return relationship.inverseRelationship == nil
        ? [Reference(table: table, column: column, other: entity.tableName)] : []
    case .manyToMany(let table, let source, let destination, _):
      guard relationship.inverseRelationship?.deleteRule != .noActionDeleteRule,
        relationship.deleteRule != .noActionDeleteRule
      else { return [] }
      return [
        Reference(table: table, column: source, other: entity.tableName),
        Reference(table: table, column: destination, other: other),
      ]
    }
  }

  // MARK: Z_PRIMARYKEY

  /// For tools that look for it: the entities, and the greatest key of each root's rows.
  private var keyView: String {
    let rows = schema.entities.map { entity in
      let last =
        entity.superNumber == 0 ? "(SELECT coalesce(max(\"Z_PK\"), 0) FROM \(entity.tableName.quotedName))" : "0"
      return "SELECT \(entity.number) AS \"Z_ENT\", \(entity.name.quotedText)::text AS \"Z_NAME\", "
        + "\(entity.superNumber) AS \"Z_SUPER\", \(last)::bigint AS \"Z_MAX\""
    }
    return "CREATE VIEW \"Z_PRIMARYKEY\" AS " + rows.joined(separator: " UNION ALL ")
  }
}
