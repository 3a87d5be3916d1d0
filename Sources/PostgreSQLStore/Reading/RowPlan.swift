import Foundation
import ManagedObjectModel
import PersistentStores

/// The columns of an entity's rows in PostgreSQL's form.
struct RowColumns: PredicateColumns {
  private let entity: NSEntityDescription
  let names: ColumnNames

  init(_ entity: NSEntityDescription, _ store: any TableStore) {
    self.entity = entity
    names = ColumnNames(entity, in: store)
  }

  func sql(_ key: PredicateKey) throws -> SQLFragment { SQLFragment(try sql(key.path)) }

  /// A text that is not a column is compared by its bytes too.
  func sql(_ path: [String]) throws -> String {
    let column = try names.sql(path)
    guard case .entityName = try AttributePath(path, of: entity).end else { return column }
    return "(\(column)::text COLLATE \"C\")"
  }

  func identityScope(_ key: PredicateKey) throws -> UInt64 { try names.identityScope(key) }
  func elements(_ path: [String]) throws -> ElementRows { try names.elements(path) }

  /// A term of ORDER BY, without the direction: decimals are ordered as the nearest reals.
  func orderTerm(_ path: [String]) throws -> String {
    let column = try sql(path)
    guard case .attribute(let attribute, _) = try AttributePath(path, of: entity).end,
      attribute.attributeType == .decimalAttributeType
    else { return column }
    return "\(column)::double precision"
  }
}

/// The SELECT of a query, the mapping of its result columns, and what is left to be evaluated in memory.
struct RowPlan {
  let query: FetchQuery
  private(set) var select: SQLFragment
  let count: SQLFragment
  /// Whether the rows that SELECT finds must be asked for the predicate, and limit and offset applied to the others.
  let isFiltered: Bool
  /// For each entity that a row can have: slot → column of the result; nil for a slot without a column.
  private let columnsByEntity: [Int: [Int?]]
  private let idSpaces: [Int: PermanentIDSpace]
  private let tableName: String
  private let includesValues: Bool
  /// For the query's key paths, then for those that only the predicate reads: attribute and column of the result.
  private let extras: [(attribute: NSAttributeDescription, column: Int)]
  /// The index of a key path among the extras.
  private let extraIndexes: [[String]: Int]
  let ownerColumn: Int?

  /// The rows of a to-many relationship's destination, by the column that leads to their owner.
  struct Owners {
    let column: String
    let orderColumn: String?
    let keys: [Int64]
  }

  /// - Parameters:
  ///   - keys: The keys to which rows are restricted; nil for no restriction.
  ///   - range: The same for a range of keys.
  ///   - owners: What the rows belong to: they come by owner, and the query has no other condition.
  init(
    _ query: FetchQuery, in store: any TableStore, keys: [Int64]? = nil, range: KeyRange? = nil, owners: Owners? = nil
  ) throws {
    let main = try store.sqlEntity(query.entity)
    let columns = RowColumns(query.entity, store)
    var conditions = try Self.conditions(query, of: main, in: store)
    var isWhole = true
    if let predicate = query.predicate {
      let divided = try PredicateTranslation.divided(predicate, columns)
      conditions += divided.sql
      isWhole = divided.isWhole
    }
    isFiltered = !isWhole
    if let keys { conditions.append(Self.condition("t0.Z_PK", keys)) }
    if let range { conditions += range.conditions }
    if let owners { conditions = [Self.condition("t0.\(owners.column)", owners.keys)] }
    self.query = query
    tableName = main.tableName
    idSpaces = store.idSpaces
    includesValues = query.includesValues || isFiltered
    let layout = Self.layout(query, of: main, in: store, all: isFiltered)
    columnsByEntity = layout.byEntity
    var list = ["t0.Z_PK", "t0.Z_ENT", "t0.Z_OPT"] + layout.names.map { "t0." + $0 }
    var paths = query.keyPaths
    if isFiltered {
      for key in query.predicate?.keys ?? [] where key.level == 0 && key.path.count > 1 && !paths.contains(key.path) {
        paths.append(key.path)
      }
    }
    var extras: [(attribute: NSAttributeDescription, column: Int)] = []
    var indexes: [[String]: Int] = [:]
    for path in paths {
      guard case .attribute(let attribute, _) = try AttributePath(path, of: query.entity).end else { continue }
      indexes[path] = extras.count
      extras.append((attribute, list.count))
      list.append(try columns.sql(path))
    }
    (self.extras, extraIndexes) = (extras, indexes)
    ownerColumn = owners.map { _ in list.count }
    if let owners { list.append("t0." + owners.column) }
    let order = try owners.map(Self.order) ?? Self.order(query.sortKeys, columns)
    let source = SQLFragment(" FROM \(main.tableName) t0\(columns.names.joins)") + Self.filter(conditions)
    let slice = isFiltered ? SQLFragment("") : Self.slice(query)
    select = SQLFragment("SELECT " + list.joined(separator: ", ")) + source + SQLFragment(order) + slice
    count =
      slice.text.isEmpty
      ? SQLFragment("SELECT count(*)") + source
      : SQLFragment("SELECT count(*) FROM (SELECT 1") + source + slice + SQLFragment(") part")
  }

  /// The same rows, kept from other writers until the end of the transaction. One that another writer has changed in the
  /// meantime is found only if the conditions still hold.
  var lockingRows: RowPlan {
    var plan = self
    plan.select = select + SQLFragment(" FOR UPDATE OF t0")
    return plan
  }

  // MARK: Clauses

  /// The conditions of the entity, the store and the greatest key.
  static func conditions(
    _ query: FetchQuery, of entity: SQLEntity, in store: any TableStore
  ) throws -> [SQLFragment] {
    var conditions: [SQLFragment] = query.includes(store.identity) ? [] : [SQLFragment("FALSE")]
    if entity.hasFamily, !query.includesSubentities || entity.numbers.count == 1 {
      conditions.append(SQLFragment("t0.Z_ENT = \(entity.number)"))
    } else if entity.superNumber != 0 {
      conditions.append(SQLFragment("t0.Z_ENT IN (\(entity.numbers.map(String.init).joined(separator: ", ")))"))
    }
    if let key = query.keyAbove { conditions.append(SQLFragment("t0.Z_PK > ?", [.integer(key)])) }
    return conditions
  }

  static func condition(_ column: String, _ keys: [Int64]) -> SQLFragment {
    if keys.count == 1 { return SQLFragment("\(column) = ?", [.integer(keys[0])]) }
    return SQLFragment("\(column) = ANY (?::text::bigint[])", [.text(ArrayText.array(keys))])
  }

  static func filter(_ conditions: [SQLFragment]) -> SQLFragment {
    conditions.isEmpty ? SQLFragment("") : SQLFragment(" WHERE ") + .joined(conditions, separator: " AND ")
  }

  /// Ends with the key, so that equal rows always have the same order.
  static func order(_ keys: [SortKey], _ columns: RowColumns) throws -> String {
    let terms = try keys.map { key in
      try columns.orderTerm(key.keyPath) + (key.ascending ? " ASC NULLS FIRST" : " DESC NULLS LAST")
    }
    return " ORDER BY " + (terms + ["t0.Z_PK"]).joined(separator: ", ")
  }

  private static func order(_ owners: Owners) -> String {
    let position = owners.orderColumn.map { "t0.\($0) NULLS FIRST, " } ?? ""
    return " ORDER BY t0.\(owners.column), \(position)t0.Z_PK"
  }

  static func slice(_ query: FetchQuery) -> SQLFragment {
    var slice = SQLFragment("")
    if query.limit > 0 { slice = slice + SQLFragment(" LIMIT ?", [.integer(Int64(query.limit))]) }
    if query.offset > 0 { slice = slice + SQLFragment(" OFFSET ?", [.integer(Int64(query.offset))]) }
    return slice
  }

  /// Where the result has the values of each entity's slots.
  private static func layout(
    _ query: FetchQuery, of entity: SQLEntity, in store: any TableStore, all: Bool
  ) -> (byEntity: [Int: [Int?]], names: [String]) {
    let fixedCount = 3
    var (numbers, names): ([String: Int], [String]) = ([:], [])
    var byEntity: [Int: [Int?]] = [:]
    for number in query.includesSubentities ? entity.numbers : [entity.number] {
      guard let space = store.idSpaces[number], !space.entity.isAbstract,
        let columns = store.schema.entity(numbered: number)?.attributeColumns
      else { continue }
      let slots = space.entity.attributeSlots
      byEntity[number] = columns.enumerated().map { slot, column in
        guard let column, all || query.wants(slots[slot].name) else { return nil }
        if let known = numbers[column.name] { return known }
        numbers[column.name] = fixedCount + names.count
        names.append(column.name)
        return fixedCount + names.count - 1
      }
    }
    return (byEntity, names)
  }

  // MARK: Rows

  /// What this Z_ENT value means: the entity in this store, and slot → column of the result.
  func layout(ofEntity number: Int, key: Int64) throws -> (space: PermanentIDSpace, columns: [Int?]) {
    guard let space = idSpaces[number], let columns = columnsByEntity[number] else {
      throw NSError.unknownEntity(number: number, key: key, table: tableName)
    }
    return (space, columns)
  }

  /// A row with all values that were read; see `finished(_:)`.
  func row(_ row: Int, of result: PostgreSQLResult) throws -> FetchedRow {
    let key = result.integer(row, 0)
    let (space, columns) = try layout(ofEntity: Int(result.integer(row, 1)), key: key)
    let values = includesValues ? columns.map { column in column.map { result.value(row, $0) } ?? .null } : []
    return FetchedRow(
      id: NSManagedObjectID(space: space, key: key), version: result.integer(row, 2), values: values,
      extras: extras.map { result.value(row, $0.column) })
  }

  /// The row as the query wants it, without what only the predicate has read.
  func finished(_ row: FetchedRow) -> FetchedRow {
    guard isFiltered else { return row }
    var row = row
    row.extras = Array(row.extras.prefix(query.keyPaths.count))
    switch query.values {
    case .all: break
    case .none: row.values = []
    case .attributes:
      for (slot, attribute) in row.id.entity.attributeSlots.enumerated() where !query.wants(attribute.name) {
        row.values[slot] = .null
      }
    }
    return row
  }

  /// The value of a path that the predicate reads; nil if it was not read with the row.
  func extra(_ path: [String], of row: FetchedRow) -> StoredValue? {
    extraIndexes[path].flatMap { row.extras.indices.contains($0) ? row.extras[$0] : nil }
  }

  /// Adds a row to a batch of its entity.
  @inline(__always)
  func take(
    _ row: Int, of result: PostgreSQLResult, columns: [Int?], kinds: [ValueCell.Kind], into batch: inout ObjectBatch
  ) {
    batch.appendRow { cells, arena in
      for slot in columns.indices {
        cells.append(columns[slot].map { result.cell(row, $0, kind: kinds[slot], arena: &arena) } ?? .null)
      }
    }
    for extra in extras {
      batch.appendExtra { result.cell(row, extra.column, kind: ValueCell.Kind(extra.attribute), arena: &$0) }
    }
  }
}

extension FetchQuery {
  /// Whether the query wants the values of the attribute.
  func wants(_ name: String) -> Bool {
    switch values {
    case .none: false
    case .all: true
    case .attributes(let names): names.contains(name)
    }
  }
}
