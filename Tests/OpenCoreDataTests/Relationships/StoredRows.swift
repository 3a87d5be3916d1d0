import Foundation
import OpenCoreData
import TestSupport

/// All rows of a store as the sqlite3 shell reads them, and what edits of relationships make of them. It shares no code
/// with the library: names of tables and columns follow from those of the model (docs/coredata-format.md, "Tables and
/// columns").
struct StoredRows {
  typealias Row = [String: String]
  /// By table, then by the values of the primary key.
  private(set) var tables: [String: [String: Row]] = [:]
  private let layout: Layout
  /// The rows that the edit has changed, whose versions count up.
  private var changed: Set<Place> = []

  struct Place: Hashable {
    let table: String
    let key: String
  }

  /// The columns of the tables, and those of their primary keys.
  struct Layout {
    fileprivate let tables: [String: (columns: [String], key: [String])]

    /// Leaves out the property list, which the suite of stores of others holds.
    init(_ file: URL) throws {
      let lines = try sqlite(
        file,
        """
        SELECT m.name, c.name, c.pk FROM sqlite_master m, pragma_table_info(m.name) c
        WHERE m.type = 'table' AND m.name <> 'Z_MODELCACHE' AND c.name <> 'Z_PLIST' ORDER BY 1, c.cid
        """)
      let columns = lines.split(separator: "\n").map { $0.split(separator: "|").map(String.init) }
      tables = Dictionary(grouping: columns) { $0[0] }.mapValues { columns in
        (columns.map { $0[1] }, columns.filter { $0[2] != "0" }.map { $0[1] })
      }
    }

    fileprivate var query: String {
      tables.sorted { $0.key < $1.key }.map { table, layout in
        let cells = layout.columns.map {
          "CASE typeof(\($0)) WHEN 'integer' THEN \($0) ELSE typeof(\($0)) || hex(\($0)) END"
        }
        return "SELECT '\(table)' || '|' || " + cells.joined(separator: " || '|' || ") + " FROM \(table)"
      }.joined(separator: ";")
    }

    fileprivate func key(of row: Row, in table: String) -> String {
      (tables[table]?.key ?? []).map { row[$0] ?? StoredRows.null }.joined(separator: " ")
    }
  }

  static let null = "null"

  init(_ file: URL, _ layout: Layout) throws {
    self.layout = layout
    tables = layout.tables.mapValues { _ in [:] }
    for line in try sqlite(file, layout.query).split(separator: "\n") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      guard let columns = layout.tables[cells[0]]?.columns else { continue }
      let row = Dictionary(uniqueKeysWithValues: zip(columns, cells.dropFirst()))
      tables[cells[0]]?[layout.key(of: row, in: cells[0])] = row
    }
  }

  // MARK: What is there

  func cell(_ place: Place, _ column: String) -> String { tables[place.table]?[place.key]?[column] ?? Self.null }

  /// The number of the entity by `Z_PRIMARYKEY`, which keeps the names from before a migration.
  private func number(_ entity: NSEntityDescription) -> String? {
    let names = [entity.name, entity.renamingIdentifier].map(Self.text)
    return tables["Z_PRIMARYKEY"]?.first { $0.value["Z_NAME"].map(names.contains) ?? false }?.key
  }

  private static func text(_ name: String?) -> String {
    "text" + (name ?? "").utf8.map { String(format: "%02X", $0) }.joined()
  }

  private static func root(_ entity: NSEntityDescription) -> NSEntityDescription {
    entity.superentity.map(root) ?? entity
  }

  static func table(_ entity: NSEntityDescription) -> String { "Z" + (root(entity).name ?? "").uppercased() }

  /// The rows of an entity and its subentities, with the entity of each.
  func places(_ entity: NSEntityDescription) -> [(place: Place, entity: NSEntityDescription)] {
    let table = Self.table(entity)
    let own = (tables[table] ?? [:]).filter { $0.value["Z_ENT"] == number(entity) }.keys.sorted()
      .map { (place: Place(table: table, key: $0), entity: entity) }
    return own + entity.subentities.sorted { ($0.name ?? "") < ($1.name ?? "") }.flatMap(places)
  }

  /// The rows that an object leads to.
  func related(_ relationship: NSRelationshipDescription, of place: Place) -> [Place] {
    guard let destination = relationship.destinationEntity, let inverse = relationship.inverseRelationship else {
      return []
    }
    let table = Self.table(destination)
    if !relationship.isToMany {
      let key = cell(place, Self.column(relationship))
      return key == Self.null ? [] : [Place(table: table, key: key)]
    }
    let keys: [String]
    if let join = join(relationship, inverse) {
      keys = (tables[join.table] ?? [:]).values.filter { $0[join.own] == place.key }.compactMap { $0[join.other] }
    } else {
      keys = (tables[table] ?? [:]).filter { $0.value[Self.column(inverse)] == place.key }.map(\.key)
    }
    return keys.sorted().map { Place(table: table, key: $0) }
  }

  private static func column(_ relationship: NSRelationshipDescription) -> String {
    "Z" + relationship.name.uppercased()
  }

  /// The join table and its columns with the keys of both ends; nil unless both ends are to-many.
  private func join(
    _ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription
  ) -> (table: String, own: String, other: String)? {
    guard relationship.isToMany, inverse.isToMany else { return nil }
    let (name, back) = (relationship.name.uppercased(), inverse.name.uppercased())
    let table = tables.keys.first { table in
      table.hasPrefix("Z_") && (table.hasSuffix(name) || table.hasSuffix(back))
        && table.dropFirst(2).first?.isNumber == true
    }
    guard let table, let own = number(relationship.entity), let other = relationship.destinationEntity.flatMap(number)
    else { return nil }
    return (table, "Z_\(own)\(back)", "Z_\(other)\(name)")
  }

  // MARK: Edits

  mutating func link(_ relationship: NSRelationshipDescription, _ place: Place, to other: Place) {
    change(relationship, of: place, other, isLinked: true)
  }

  mutating func unlink(_ relationship: NSRelationshipDescription, _ place: Place, from other: Place) {
    change(relationship, of: place, other, isLinked: false)
  }

  private mutating func change(
    _ relationship: NSRelationshipDescription, of place: Place, _ other: Place, isLinked: Bool
  ) {
    guard let inverse = relationship.inverseRelationship,
      related(relationship, of: place).contains(other) != isLinked
    else { return }
    if let join = join(relationship, inverse) {
      let row = [join.own: place.key, join.other: other.key]
      tables[join.table]?[layout.key(of: row, in: join.table)] = isLinked ? row : nil
    } else if relationship.isToMany {
      set(inverse, of: other, to: isLinked ? place : nil)
    } else {
      set(relationship, of: place, to: isLinked ? other : nil)
    }
    changed.formUnion([place, other])
  }

  private mutating func set(_ relationship: NSRelationshipDescription, of place: Place, to other: Place?) {
    changed.formUnion(related(relationship, of: place))
    tables[place.table]?[place.key]?[Self.column(relationship)] = other?.key ?? Self.null
  }

  /// Carries out the rules nullify and cascade.
  mutating func delete(_ place: Place, _ entity: NSEntityDescription) {
    let relationships = entity.relationshipsByName.values.sorted { $0.name < $1.name }
    for relationship in relationships {
      for other in related(relationship, of: place) {
        if relationship.deleteRule == .cascadeDeleteRule, let destination = relationship.destinationEntity {
          let kind = places(destination).first { $0.place == other }?.entity ?? destination
          unlink(relationship, place, from: other)
          delete(other, kind)
        } else {
          unlink(relationship, place, from: other)
        }
      }
    }
    tables[place.table]?[place.key] = nil
  }

  /// Adds a row with the key after the last one. Its attributes are those of `found`.
  mutating func insert(_ entity: NSEntityDescription, asIn found: StoredRows) -> Place? {
    guard let number = number(entity), let root = self.number(Self.root(entity)),
      let last = tables["Z_PRIMARYKEY"]?[root]?["Z_MAX"].flatMap(Int.init)
    else { return nil }
    let place = Place(table: Self.table(entity), key: String(last + 1))
    tables["Z_PRIMARYKEY"]?[root]?["Z_MAX"] = place.key
    var row = found.tables[place.table]?[place.key] ?? [:]
    row["Z_ENT"] = number
    row["Z_OPT"] = "1"
    for relationship in entity.relationshipsByName.values where !relationship.isToMany {
      row[Self.column(relationship)] = Self.null
    }
    tables[place.table]?[place.key] = row
    return place
  }

  /// Counts up the versions of the changed rows, and forgets that they were changed.
  ///
  /// - Returns: The rows that were changed and are still there.
  @discardableResult
  mutating func countVersions(except new: Place?) -> Set<Place> {
    let present = changed.filter { tables[$0.table]?[$0.key] != nil }
    for place in present where place != new {
      let version = Int(cell(place, "Z_OPT")) ?? 0
      tables[place.table]?[place.key]?["Z_OPT"] = String(version + 1)
    }
    changed = []
    return present
  }

  /// The cells that differ.
  func difference(from other: StoredRows) -> [String] {
    Set(tables.keys).union(other.tables.keys).sorted().flatMap { table in
      let (own, others) = (tables[table] ?? [:], other.tables[table] ?? [:])
      return Set(own.keys).union(others.keys).sorted().flatMap { key in
        let (row, second) = (own[key] ?? [:], others[key] ?? [:])
        return Set(row.keys).union(second.keys).sorted().filter { row[$0] != second[$0] }.map { column in
          "\(table) \(key) \(column): \(row[column] ?? "-") instead of \(second[column] ?? "-")"
        }
      }
    }
  }
}
