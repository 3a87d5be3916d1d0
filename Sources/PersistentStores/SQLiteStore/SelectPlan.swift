import ManagedObjectModel
import Foundation

/// The SELECT of a query, and the mapping of its result columns.
struct SelectPlan {
  let select: SQLFragment
  let count: SQLFragment
  private let tableName: String
  /// For each entity that a row can have: slot → column of the result; nil for a slot without a column.
  private let columnsByEntity: [Int: [Int32?]]
  /// The only entity that a row can have; nil if there are several.
  let uniformEntity: Int?
  /// Its layout.
  private let uniformLayout: (space: PermanentIDSpace, columns: [Int32?])?
  let identity: StoreIdentity
  private let idSpaces: [Int: PermanentIDSpace]
  private let includesValues: Bool
  private let externalSlotsByEntity: ExternalSlots
  private let externalData: ExternalData
  /// For the query's key paths: attribute and column of the result.
  let extras: [(attribute: NSAttributeDescription, column: Int32)]
  /// The column of the result with the key of the object that a row belongs to, if rows are read by it.
  let ownerColumn: Int32?

  /// The rows of a to-many relationship's destination, by the column that leads to their owner.
  struct Owners {
    let column: String
    /// The column of their positions, if the relationship is ordered.
    let orderColumn: String?
    let keys: ArraySlice<Int64>

    fileprivate var condition: SQLFragment {
      SQLFragment("t0.\(column) IN (\(SQLFragment.keyMarks(keys.count)))", keys.map(StoredValue.integer))
    }
    fileprivate var order: SQLFragment {
      SQLFragment(
        " ORDER BY " + [column, orderColumn, "Z_PK"].compactMap(\.self).map { "t0." + $0 }.joined(separator: ", "))
    }
  }

  /// Z_PK, Z_ENT and Z_OPT come first.
  private static let fixedColumnCount = 3

  /// - Parameters:
  ///   - keyCount: The number of keys, bound later, to which rows are restricted; nil for no restriction.
  ///   - owners: What the rows belong to: they come by owner, and the query has no other condition.
  init(_ query: FetchQuery, in store: SQLiteStore, keyCount: Int? = nil, owners: Owners? = nil) throws {
    let main = try store.sqlEntity(query.entity)
    let numbers = query.includesSubentities ? main.numbers : [main.number]
    var columnNumbers: [String: Int32] = [:]
    var names: [String] = []
    var byEntity: [Int: [Int32?]] = [:]
    // No row has an abstract entity: `layout` reports one that has.
    for number in numbers where store.idSpaces[number]?.entity.isAbstract != true {
      guard let entity = store.schema.entity(numbered: number) else { continue }
      byEntity[number] = entity.attributeColumns.enumerated().map { slot, column in
        guard let column, query.reads(slot, of: store.idSpaces[number]?.entity) else { return nil }
        if let known = columnNumbers[column.name] { return known }
        let index = Int32(Self.fixedColumnCount + names.count)
        names.append(column.name)
        columnNumbers[column.name] = index
        return index
      }
    }
    columnsByEntity = byEntity
    uniformEntity = numbers.count == 1 ? numbers[0] : nil
    uniformLayout = uniformEntity.flatMap { number in
      store.idSpaces[number].flatMap { space in byEntity[number].map { (space, $0) } }
    }
    identity = store.identity
    idSpaces = store.idSpaces
    includesValues = query.includesValues
    externalSlotsByEntity = store.externalSlots
    externalData = store.externalData
    tableName = main.tableName
    let columns = ColumnNames(query.entity, in: store)
    let filter =
      try owners.map { SQLFragment(" WHERE ") + $0.condition }
      ?? Self.filter(query, of: main, in: store.identity, columns: columns, keyCount: keyCount)
    var extras: [(attribute: NSAttributeDescription, column: Int32)] = []
    for keyPath in query.keyPaths {
      guard case .attribute(let attribute, _) = try AttributePath(keyPath, of: query.entity).end else { continue }
      extras.append((attribute, Int32(Self.fixedColumnCount + names.count + extras.count)))
    }
    self.extras = extras
    let extraNames = try query.keyPaths.map(columns.sql)
    ownerColumn = owners.map { _ in Int32(Self.fixedColumnCount + names.count + extras.count) }
    let order = try owners?.order ?? Self.order(query.sortKeys, columns)
    let source = SQLFragment(" FROM \(main.tableName) t0\(columns.joins)") + filter
    let slice = Self.slice(query.limit, query.offset)
    count =
      slice.text.isEmpty
      ? SQLFragment("SELECT count(*)") + source
      : SQLFragment("SELECT count(*) FROM (SELECT 1") + source + slice + SQLFragment(")")
    let list =
      (["t0.Z_PK", "t0.Z_ENT", "t0.Z_OPT"] + names.map { "t0." + $0 } + extraNames
      + (owners.map { ["t0." + $0.column] } ?? [])).joined(separator: ", ")
    select = SQLFragment("SELECT " + list) + source + order + slice
  }

  /// The condition with its WHERE; empty if every row matches.
  static func filter(
    _ query: FetchQuery, of entity: SQLEntity, in store: StoreIdentity, columns: ColumnNames, keyCount: Int? = nil
  ) throws -> SQLFragment {
    var conditions: [SQLFragment] = query.includes(store) ? [] : [SQLFragment("0")]
    // A table with a single entity needs no test of Z_ENT, nor does a root with all entities that inherit from it.
    if entity.hasFamily, !query.includesSubentities || entity.numbers.count == 1 {
      conditions.append(SQLFragment("t0.Z_ENT = ?", [.integer(Int64(entity.number))]))
    } else if entity.superNumber != 0 {
      conditions.append(entity.numberCondition("t0.Z_ENT"))
    }
    if let keyCount { conditions.append(SQLFragment("t0.Z_PK IN (\(SQLFragment.keyMarks(keyCount)))")) }
    if let key = query.keyAbove { conditions.append(SQLFragment("t0.Z_PK > ?", [.integer(key)])) }
    if let predicate = query.predicate {
      let condition = try columns.condition(predicate)
      // AND binds more tightly than an OR of the predicate's.
      if case .or = predicate.root, !conditions.isEmpty {
        conditions.append(condition.parenthesized)
      } else {
        conditions.append(condition)
      }
    }
    guard !conditions.isEmpty else { return SQLFragment("") }
    return SQLFragment(" WHERE ") + .joined(conditions, separator: " AND ")
  }

  /// Ends with the key, so that equal rows always have the same order.
  static func order(
    _ keys: [SortKey], _ columns: ColumnNames
  ) throws -> SQLFragment {
    let terms = try keys.sql(columns: columns.sql)
    return SQLFragment(" ORDER BY ")
      + .joined((keys.isEmpty ? [] : [terms]) + [SQLFragment("t0.Z_PK")], separator: ", ")
  }

  static func slice(_ limit: Int, _ offset: Int) -> SQLFragment {
    guard limit > 0 || offset > 0 else { return SQLFragment("") }
    return SQLFragment(
      " LIMIT ? OFFSET ?", [.integer(Int64(limit > 0 ? limit : -1)), .integer(Int64(offset))])
  }

  /// The current row of a statement made from `select`.
  ///
  /// - Parameter missing: What to note values in whose files are missing, instead of throwing for them.
  func row(of statement: SQLiteStatement, leavingOut missing: MissingValues? = nil) throws -> FetchedRow {
    let (space, columns) = try layout(ofEntity: Int(statement.integer(1)), key: statement.integer(0))
    let entity = space.entity
    let id = NSManagedObjectID(space: space, key: statement.integer(0))
    var values: [StoredValue] = []
    var leftOut: [Int: String] = [:]
    if includesValues {
      values.reserveCapacity(columns.count)
      for (slot, column) in columns.enumerated() {
        let attribute = entity.attributeSlots[slot]
        values.append(column.map { attribute.storedValue(column: $0, of: statement) } ?? .null)
      }
      for slot in externalSlotsByEntity[Int(statement.integer(1))] {
        guard case .blob(let bytes) = values[slot] else { continue }
        values[slot] =
          try externalData.leavingOut(missing).value(
            of: bytes, Self.location(of: entity, slot: slot, key: statement.integer(0))
          )
          .map(StoredValue.blob) ?? .null
        if values[slot] == .null { leftOut[slot] = ExternalData.name(in: bytes) }
      }
    }
    return FetchedRow(
      id: id, version: statement.integer(2), values: values,
      extras: extras.map { $0.attribute.storedValue(column: $0.column, of: statement) }, leftOut: leftOut)
  }

  private static func location(of entity: NSEntityDescription, slot: Int, key: Int64) -> ExternalData.Location {
    ExternalData.Location(attribute: "\(entity.name ?? "").\(entity.attributeSlots[slot].name)", key: key)
  }

  /// The slots of a row's entity whose cells `resolveExternalValues` must process.
  func externalSlots(ofEntity number: Int) -> [Int] { externalSlotsByEntity[number] }

  /// Replaces column contents by external values, in the last of a batch's rows.
  func resolveExternalValues(
    _ slots: [Int], of entity: NSEntityDescription, key: Int64, cells: inout [ValueCell], arena: inout [UInt8]
  ) throws {
    let start = cells.count - entity.attributeSlots.count
    for slot in slots {
      cells[start + slot] = try externalData.value(
        of: cells[start + slot], &arena, Self.location(of: entity, slot: slot, key: key))
    }
  }

  /// What this Z_ENT value means: the entity in this store, and slot → column of the result.
  func layout(ofEntity number: Int, key: Int64) throws -> (space: PermanentIDSpace, columns: [Int32?]) {
    if let uniformLayout, number == uniformEntity { return uniformLayout }
    guard let space = idSpaces[number], let columns = columnsByEntity[number] else {
      throw NSError.unknownEntity(number: number, key: key, table: tableName)
    }
    return (space, columns)
  }

  /// The ID scope for rows of `entity`, created on first use.
  func ids(_ keys: [Int64], of entity: NSEntityDescription) -> ObjectIDCollection {
    ObjectIDCollection(entity: entity, store: identity, keys: keys)
  }

  /// Slot → column if every row has the same entity; nil if rows of subentities are possible, or none at all.
  var uniformColumns: [Int32?]? { uniformEntity.flatMap { columnsByEntity[$0] } }
}

extension SQLEntity {
  /// Whether a column holds the number of the entity or of one that inherits from it.
  func numberCondition(_ column: String) -> SQLFragment {
    // New stores number entities depth first, which makes the numbers a range.
    if let first = numbers.first, let last = numbers.last, last - first == numbers.count - 1 {
      return SQLFragment("\(column) BETWEEN ? AND ?", [first, last].map { .integer(Int64($0)) })
    }
    let marks = Array(repeating: "?", count: numbers.count).joined(separator: ", ")
    return SQLFragment("\(column) IN (\(marks))", numbers.map { .integer(Int64($0)) })
  }
}

extension FetchQuery {
  /// Whether the query wants the value in `slot` of objects of `entity`.
  fileprivate func reads(_ slot: Int, of entity: NSEntityDescription?) -> Bool {
    switch values {
    case .none: false
    case .all: true
    case .attributes(let names): entity.map { names.contains($0.attributeSlots[slot].name) } ?? false
    }
  }
}
