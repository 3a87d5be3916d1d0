import ManagedObjectModel
import Foundation

/// A model derived from the tables of a store without one: entities with their inheritance, and an attribute for every
/// column. Notes report what tables do not contain.
struct TableModel {
  let model: NSManagedObjectModel
  private(set) var notes: [String] = []

  private struct Column {
    let name: String
    let type: String
  }

  /// An entity as recorded in Z_PRIMARYKEY.
  private struct Row {
    let number: Int64
    let name: String
    let superNumber: Int64
  }

  /// Entities of persistent history have numbers from here on.
  private static let privateNumberMin: Int64 = 16_000

  init(_ connection: SQLiteConnection) throws {
    let rows = try Self.rows(connection)
    var entities: [Int64: NSEntityDescription] = [:]
    for row in rows {
      let entity = NSEntityDescription()
      entity.name = row.name
      entities[row.number] = entity
    }
    model = NSManagedObjectModel()
    model.entities = rows.compactMap { entities[$0.number] }
    for (number, subentities) in Dictionary(grouping: rows, by: \.superNumber) {
      entities[number]?.subentities = subentities.filter { $0.number != number }.compactMap { entities[$0.number] }
    }
    for entity in model.entities {
      guard let problem = entity.inheritanceProblem else { continue }
      throw NSError.coreData(
        .open, "By Z_PRIMARYKEY the entity '\(entity.name ?? "")' \(problem). Restore the file from a copy.")
    }
    addGeneralNotes(try Self.frameworkVersion(connection))
    for root in model.entities where root.superentity == nil { try readColumns(of: root, entities, connection) }
    try noteJoinTables(connection)
  }

  private static func rows(_ connection: SQLiteConnection) throws -> [Row] {
    let rows = try connection.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT")
    var (names, numbers): (Set<String>, Set<Int64>) = ([], [])
    return try rows.compactMap { row in
      guard row.count == 3, case .integer(let number) = row[0], case .text(let name) = row[1], !name.isEmpty,
        names.insert(name).inserted, numbers.insert(number).inserted
      else {
        throw NSError.coreData(
          .open, "Z_PRIMARYKEY has a row without a number or name of its own. Restore the file from a copy.")
      }
      guard number < privateNumberMin else { return nil }
      guard SQLSchemaCheck.isIdentifier(name) else {
        throw NSError.coreData(
          .open, "Z_PRIMARYKEY has the entity name '\(name)', which no model can have. Restore the file from a copy.")
      }
      if case .integer(let superNumber) = row[2] { return Row(number: number, name: name, superNumber: superNumber) }
      return Row(number: number, name: name, superNumber: 0)
    }
  }

  private static func frameworkVersion(_ connection: SQLiteConnection) throws -> Int {
    try connection.storeMetadata(at: nil).metadata.frameworkVersion
  }

  private mutating func addGeneralNotes(_ frameworkVersion: Int) {
    notes += [
      "The model was derived from the tables (framework \(frameworkVersion) wrote them): give the app's model for more.",
      "Names of properties are those of their columns in lower case: their original spelling is unknown.",
      "INTEGER columns are read as Integer 64, though they may be smaller, or Booleans; FLOAT columns as Double, though "
        + "they may be Float; VARCHAR columns as String, though they may be URIs; BLOB columns as Binary, though they may "
        + "be UUIDs, transformables or external data.",
      "Which attributes are optional, transient or have defaults and rules is unknown: all are read as optional.",
    ]
  }

  // MARK: Columns

  private static let types: [String: NSAttributeType] = [
    "INTEGER": .integer64AttributeType, "FLOAT": .doubleAttributeType, "DOUBLE": .doubleAttributeType,
    "TIMESTAMP": .dateAttributeType, "DECIMAL": .decimalAttributeType, "VARCHAR": .stringAttributeType,
    "BLOB": .binaryDataAttributeType,
  ]

  private mutating func readColumns(
    of root: NSEntityDescription, _ entities: [Int64: NSEntityDescription], _ connection: SQLiteConnection
  ) throws {
    let entityName = root.name ?? ""
    let tableName = "Z" + entityName.uppercased()
    let columns = try connection.rows("SELECT name, type FROM pragma_table_info(?)", [.text(tableName)])
      .compactMap { row -> Column? in
        guard case .text(let name)? = row.first, case .text(let type)? = row.last else { return nil }
        return Column(name: name, type: type.uppercased())
      }
    guard !columns.isEmpty else {
      notes.append("The table \(tableName) of the entity '\(entityName)' is missing: it is empty here.")
      return
    }
    if !root.subentities.isEmpty {
      notes.append(
        "All columns of \(tableName) are read as attributes of '\(entityName)': it is unknown which subentity has which."
      )
    }
    let toOnes = Self.toOnes(columns)
    let indexed = try Self.indexedColumns(tableName, connection)
    var properties: [NSPropertyDescription] = []
    var likelyKeys: [String] = []
    for column in columns where !Self.isKeptByStore(column.name) {
      guard let name = Self.propertyName(column.name), let type = Self.types[column.type] else {
        notes.append(
          "The column \(tableName).\(column.name) (\(column.type)) is not a Core Data attribute; it is left out.")
        continue
      }
      if let destination = toOnes[column.name].flatMap({ entities[$0] }) {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        properties.append(relationship)
        continue
      }
      if column.type == "INTEGER", indexed.contains(column.name) { likelyKeys.append(column.name) }
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      properties.append(attribute)
    }
    root.properties = properties
    if !likelyKeys.isEmpty {
      notes.append(
        "\(likelyKeys.joined(separator: ", ")) of \(tableName) may be keys of to-one relationships; they are read as numbers."
      )
    }
  }

  /// The key, the entity's number, the version, and the companion columns of to-one keys.
  private static func isKeptByStore(_ column: String) -> Bool {
    ["Z_PK", "Z_ENT", "Z_OPT"].contains(column) || column.hasPrefix("Z_FOK_") || entityColumn(column) != nil
  }

  /// `Z<number>_<REL>` is next to the key of a to-one relationship to an entity with subentities: its parts.
  private static func entityColumn(_ column: String) -> (number: Int64, base: String)? {
    let parts = column.dropFirst().split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
    guard column.hasPrefix("Z"), parts.count == 2, let number = Int64(parts[0]), number > 0 else { return nil }
    return (number, String(parts[1]))
  }

  /// The columns that certainly are keys, with the number of the entity that they refer to.
  private static func toOnes(_ columns: [Column]) -> [String: Int64] {
    let integers = Set(columns.filter { $0.type == "INTEGER" }.map(\.name))
    let pairs = columns.compactMap { entityColumn($0.name) }.map { ("Z\($0.base)", $0.number) }
    return Dictionary(pairs.filter { integers.contains($0.0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The columns with an index as keys have; attributes of old models may have one, too.
  private static func indexedColumns(_ table: String, _ connection: SQLiteConnection) throws -> Set<String> {
    let rows = try connection.rows("SELECT name FROM pragma_index_list(?)", [.text(table)])
    let prefix = table + "_"
    return Set(
      rows.compactMap { row in
        guard case .text(let name)? = row.first, name.hasPrefix(prefix), name.hasSuffix("_INDEX") else { return nil }
        return String(name.dropFirst(prefix.count).dropLast("_INDEX".count))
      })
  }

  /// The column's name without the Z, in lower case unless the conversion would be ambiguous.
  private static func propertyName(_ column: String) -> String? {
    guard column.hasPrefix("Z"), let first = column.dropFirst().first, first.isLetter || first == "_" else {
      return nil
    }
    let name = String(column.dropFirst())
    guard SQLSchemaCheck.isIdentifier(name) else { return nil }
    let lower = name.lowercased()
    return lower.uppercased() == name ? lower : name
  }

  private mutating func noteJoinTables(_ connection: SQLiteConnection) throws {
    let rows = try connection.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*' ORDER BY name")
    let names = rows.compactMap { row -> String? in if case .text(let name)? = row.first { name } else { nil } }
    if !names.isEmpty {
      notes.append("To-many relationships are unknown; these tables join objects: \(names.joined(separator: ", ")).")
    }
  }
}
