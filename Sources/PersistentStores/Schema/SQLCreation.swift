import ManagedObjectModel
import Foundation

/// The text of a new store's statements, identical to Apple's including whitespace.
extension SQLNaming {
  /// Each root's table followed by the join tables of its entities, then the indexes in the same order, then
  /// the framework's own tables.
  var creationStatements: [String] {
    let roots = zip(numbered.filter { $0.superentity == nil }, tables)
    let tableStatements = roots.flatMap { root, table in
      [creation(of: table)] + members(of: root).flatMap(joinTables).map(creation(of:))
    }
    let indexStatements = roots.flatMap { root, _ in
      indexes(of: root) + members(of: root).flatMap(joinTables).map(index(of:))
    }
    return tableStatements + indexStatements + Self.frameworkTables
  }

  static let frameworkTables = [
    "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
    "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
  ]

  private func creation(of table: SQLTable) -> String {
    let fixed = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
    let columns = fixed + table.columns.map { "\($0.name) \($0.type.rawValue)" }
    return "CREATE TABLE \(table.name) ( \(columns.joined(separator: ", ")) )"
  }

  private func creation(of table: SQLJoinTable) -> String {
    let columns = [table.firstColumn, table.secondColumn] + table.orderColumns
    let text = columns.map { "\($0) INTEGER, " }.joined()
    return "CREATE TABLE \(table.name) ( \(text)PRIMARY KEY (\(table.firstColumn), \(table.secondColumn)) )"
  }

  private func index(of table: SQLJoinTable) -> String {
    "CREATE INDEX \(table.name)_\(table.secondColumn)_INDEX "
      + "ON \(table.name) (\(table.secondColumn), \(table.firstColumn))"
  }

  private func indexes(of root: NSEntityDescription) -> [String] {
    let table = tableName(of: root)
    let members = members(of: root)
    let keys = members.flatMap(keys(of:)).map {
      "CREATE INDEX \(table)_\($0.column)_INDEX ON \(table) (\($0.column))"
    }
    let entity = members.count > 1 ? ["CREATE INDEX \(table)_Z_ENT_INDEX ON \(table) (Z_ENT)"] : []
    return keys + entity
      + members.flatMap { fetchIndexes(of: $0, in: table) + uniqueIndexes(of: $0, in: table) }
  }

  /// Sorted by name, independent of the model's order. An index only speeds up fetches, so an index on something
  /// without a column (an expression) is omitted, and a partial index covers all rows.
  private func fetchIndexes(of entity: NSEntityDescription, in table: String) -> [String] {
    entity.indexes.sorted { String.byteOrder($0.name, $1.name) }.compactMap { index in
      // R-trees are separate virtual tables; a to-one relationship alone already has the index of its key.
      guard !index.elements.contains(where: { $0.collationType == .rTree }), !isKeyIndex(index) else {
        return nil
      }
      let elements = index.elements.compactMap { element in
        element.property.flatMap { indexColumn(of: $0) }.map {
          "\($0) COLLATE BINARY \(element.isAscending ? "ASC" : "DESC")"
        }
      }
      guard !elements.isEmpty, elements.count == index.elements.count else { return nil }
      return
        "CREATE INDEX Z_\(entity.name ?? "")_\(index.name) ON \(table) (\(elements.joined(separator: ", ")))"
    }
  }

  private func isKeyIndex(_ index: NSFetchIndexDescription) -> Bool {
    index.elements.count == 1 && index.elements.first?.property is NSRelationshipDescription
  }

  private func uniqueIndexes(of entity: NSEntityDescription, in table: String) -> [String] {
    let properties = entity.propertiesByName
    return entity.uniquenessConstraintNames.compactMap { names in
      let columns = names.compactMap { properties[$0].flatMap { indexColumn(of: $0) } }
      guard !columns.isEmpty, columns.count == names.count else { return nil }
      let elements = columns.map { "\($0) COLLATE BINARY ASC" }.joined(separator: ", ")
      return "CREATE UNIQUE INDEX Z_\(entity.name ?? "")_UNIQUE_\(names.joined(separator: "_")) "
        + "ON \(table) (\(elements))"
    }
  }

  /// The column of an attribute or a to-one relationship; nil for properties without one.
  private func indexColumn(of property: NSPropertyDescription) -> String? {
    guard !property.isTransient, (property as? NSRelationshipDescription)?.isToMany != true else {
      return nil
    }
    return columns(of: property)?.column
  }
}

extension SQLSchema {
  /// The rows of a new store's Z_PRIMARYKEY: keys have not been allocated yet.
  package var primaryKeyRows: [SQLFragment] {
    entities.map { entity in
      SQLFragment(
        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
        [.integer(Int64(entity.number)), .text(entity.name), .integer(Int64(entity.superNumber))])
    }
  }
}
