import Foundation

extension SQLiteStore {
  /// The rows that `query` finds, each with its values by slot of its own entity.
  func rows(_ query: FetchQuery) throws -> [FetchedRow] {
    let plan = try SelectPlan(query, in: self)
    return try access("Reading") { connection in
      let statement = try connection.statement(plan.select.text)
      defer { statement.reset() }
      try statement.bind(plan.select.bindings)
      var result: [FetchedRow] = []
      while try statement.step() { result.append(try plan.row(of: statement)) }
      return result
    }
  }

  func count(_ query: FetchQuery) throws -> Int {
    let plan = try SelectPlan(query, in: self)
    return try access("Counting in") { connection in
      Int(try connection.integer(plan.count.text, plan.count.bindings) ?? 0)
    }
  }

  /// The rows of `ids`, nil where there is none (any more).
  func rows(for ids: [NSManagedObjectID]) throws -> [FetchedRow?] {
    var found: [ObjectKey: FetchedRow] = [:]
    for (name, group) in Dictionary(grouping: ids, by: { $0.entity.rootEntity.name ?? "" }) {
      guard let root = group.first?.entity.rootEntity, schema.entity(named: name) != nil else { continue }
      let keys = group.compactMap { id -> Int64? in
        if case .permanent(let store, let key) = id.reference, store === identity { key } else { nil }
      }
      // Below SQLite's limit of bound values, whatever the number of IDs.
      for start in stride(from: 0, to: keys.count, by: 500) {
        let part = keys[start..<min(start + 500, keys.count)]
        let plan = try SelectPlan(FetchQuery(entity: root), in: self, keys: Array(part))
        try access("Reading") { connection in
          let statement = try connection.statement(plan.select.text)
          defer { statement.reset() }
          try statement.bind(plan.select.bindings)
          while try statement.step() {
            let row = try plan.row(of: statement)
            found[row.id.key] = row
          }
        }
      }
    }
    return ids.map { found[$0.key] }
  }

  /// A cursor of its own over the rows of `query`, on a connection and in a read snapshot of its own.
  func cursor(_ query: FetchQuery, rowsPerBatch: Int) throws -> StoreCursor {
    let plan = try SelectPlan(query, in: self)
    return try access("Reading") { connection in
      // A private database has one connection only, and an open transaction is seen on its own connection alone: their
      // cursors share it.
      guard let path = readingPath, !connection.isInTransaction else {
        return try StoreCursor(connection, plan, rowsPerBatch: rowsPerBatch, ownsSnapshot: false)
      }
      let mode: SQLiteConnection.Mode =
        isReadOnly && FileManager.default.fileExists(atPath: path + "-shm") && path == url?.path
        ? .readOnlySharedMemory : .readWrite
      let reader = try SQLiteConnection(path: path, mode: mode)
      if mode == .readWrite { try reader.execute("PRAGMA query_only = ON") }
      try reader.registerPredicateFunctions()
      return try StoreCursor(reader, plan, rowsPerBatch: rowsPerBatch, ownsSnapshot: true)
    }
  }
}

/// The SELECT of a query, and how its rows are read.
struct SelectPlan {
  let select: SQLFragment
  let count: SQLFragment
  let entity: NSEntityDescription
  /// For each entity a row can be of: slot → column of the result; nil where nothing is stored.
  private let columnsByEntity: [Int: [Int32?]]
  private let entities: [Int: NSEntityDescription]
  private let identity: StoreIdentity
  private let includesValues: Bool

  /// Z_PK, Z_ENT and Z_OPT come first.
  private static let fixedColumnCount = 3

  init(_ query: FetchQuery, in store: SQLiteStore, keys: [Int64]? = nil) throws {
    let main = try store.sqlEntity(query.entity)
    let numbers = query.includesSubentities ? main.numbers : main.number...main.number
    var columnNumbers: [String: Int32] = [:]
    var names: [String] = []
    var byEntity: [Int: [Int32?]] = [:]
    for number in numbers {
      guard let entity = store.schema.entity(numbered: number) else { continue }
      byEntity[number] = entity.attributeColumns.map { column in
        guard let column, query.includesValues else { return nil }
        if let known = columnNumbers[column.name] { return known }
        let place = Int32(Self.fixedColumnCount + names.count)
        names.append(column.name)
        columnNumbers[column.name] = place
        return place
      }
    }
    columnsByEntity = byEntity
    entities = store.entitiesByNumber
    identity = store.identity
    entity = query.entity
    includesValues = query.includesValues

    func columns(_ path: [String]) throws -> String {
      guard path.count == 1, let slot = query.entity.slot(named: path[0]),
        let column = main.attributeColumns[slot]
      else { throw EntityPredicateSchema.unknown(path, in: query.entity) }
      return "t0." + column.name
    }
    var filter = try Self.filter(query, main, numbers, keys, columns)
    filter = SQLFragment(" FROM \(main.tableName) t0") + filter
    let slice = Self.slice(query.limit, query.offset)
    count =
      slice.text.isEmpty
      ? SQLFragment("SELECT count(*)") + filter
      : SQLFragment("SELECT count(*) FROM (SELECT 1") + filter + slice + SQLFragment(")")
    let list = (["t0.Z_PK", "t0.Z_ENT", "t0.Z_OPT"] + names.map { "t0." + $0 }).joined(separator: ", ")
    select =
      SQLFragment("SELECT " + list) + filter
      + (try Self.order(query.sortKeys, columns)) + slice
  }

  private static func filter(
    _ query: FetchQuery, _ entity: SQLEntity, _ numbers: ClosedRange<Int>, _ keys: [Int64]?,
    _ columns: @escaping ([String]) throws -> String
  ) throws -> SQLFragment {
    var conditions: [SQLFragment] = []
    let hasFamily = entity.superNumber != 0 || entity.numbers.count > 1
    // A table of one entity only needs no test of Z_ENT.
    if hasFamily, numbers.count == 1 {
      conditions.append(SQLFragment("t0.Z_ENT = ?", [.integer(Int64(entity.number))]))
    } else if hasFamily, entity.superNumber != 0 {
      let bounds = [numbers.lowerBound, numbers.upperBound].map { StoredValue.integer(Int64($0)) }
      conditions.append(SQLFragment("t0.Z_ENT BETWEEN ? AND ?", bounds))
    }
    if let keys {
      let marks = Array(repeating: "?", count: keys.count).joined(separator: ",")
      conditions.append(SQLFragment("t0.Z_PK IN (\(marks))", keys.map(StoredValue.integer)))
    }
    if let key = query.keyAbove { conditions.append(SQLFragment("t0.Z_PK > ?", [.integer(key)])) }
    if let predicate = query.predicate { conditions.append(try predicate.sql { try columns($0.path) }) }
    guard !conditions.isEmpty else { return SQLFragment("") }
    return SQLFragment(" WHERE ") + .joined(conditions, separator: " AND ")
  }

  /// Ends in the key, so that equal rows come in the same order every time.
  private static func order(
    _ keys: [SortKey], _ columns: ([String]) throws -> String
  ) rethrows -> SQLFragment {
    let terms = try keys.map { try columns($0.keyPath) + ($0.ascending ? "" : " DESC") } + ["t0.Z_PK"]
    return SQLFragment(" ORDER BY " + terms.joined(separator: ", "))
  }

  private static func slice(_ limit: Int, _ offset: Int) -> SQLFragment {
    guard limit > 0 || offset > 0 else { return SQLFragment("") }
    return SQLFragment(
      " LIMIT ? OFFSET ?", [.integer(Int64(limit > 0 ? limit : -1)), .integer(Int64(offset))])
  }

  /// The current row of a statement made from `select`.
  func row(of statement: SQLiteStatement) throws -> FetchedRow {
    let number = Int(statement.integer(1))
    guard let entity = entities[number], let columns = columnsByEntity[number] else {
      throw NSError.coreData(
        .operation,
        "Row \(statement.integer(0)) of \(self.entity.name ?? "") has the entity number \(number), which the "
          + "model does not have. The store is damaged: restore it from a copy.")
    }
    let id = NSManagedObjectID(entity: entity, store: identity, key: statement.integer(0))
    var values: [StoredValue] = []
    if includesValues {
      values.reserveCapacity(columns.count)
      for (slot, column) in columns.enumerated() {
        let attribute = entity.attributeSlots[slot]
        values.append(column.map { attribute.storedValue(column: $0, of: statement) } ?? .null)
      }
    }
    return FetchedRow(id: id, version: statement.integer(2), values: values)
  }

  /// The IDs of rows of the plan's own entity, made as they are asked for.
  func ids(_ keys: [Int64]) -> ObjectIDCollection { ObjectIDCollection(entity, identity, keys) }

  /// Slot → column where every row is of one entity; nil where subentities may be among them.
  var uniformColumns: [Int32?]? { columnsByEntity.count == 1 ? columnsByEntity.values.first : nil }
}

extension NSAttributeDescription {
  /// A column's value in the form this attribute's type is kept in: Apple's files hold whole dates as integers.
  func storedValue(column: Int32, of statement: SQLiteStatement) -> StoredValue {
    if statement.isNull(column) { return .null }
    switch attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
      return .integer(statement.integer(column))
    case .doubleAttributeType, .floatAttributeType, .dateAttributeType: return .real(statement.real(column))
    case .decimalAttributeType: return .decimal(Decimal(statement.real(column)))
    default: return statement.value(column)
    }
  }
}
