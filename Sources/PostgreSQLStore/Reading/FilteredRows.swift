import ManagedObjectModel
import PersistentStores

/// The rows that a statement finds and for which the whole predicate holds, read in parts. Limit and offset count these.
struct FilteredRows {
  private let plan: RowPlan
  private let reader: PostgreSQLReader
  private let name: String
  private var filters: [ObjectIdentifier: QueryFilter] = [:]
  private var (skipped, taken) = (0, 0)
  private var isOpen = true

  /// - Parameter name: Of the server's cursor, unique in the transaction.
  init(_ plan: RowPlan, _ reader: PostgreSQLReader, name: String) throws {
    self.plan = plan
    self.reader = reader
    self.name = name
    let select = plan.select
    try reader.access("Reading") {
      _ = try reader.connection.query("DECLARE \(name) NO SCROLL CURSOR FOR " + select.text, select.bindings)
    }
  }

  /// The next rows, possibly none; nil at the end.
  mutating func next() throws -> [FetchedRow]? {
    guard isOpen else { return nil }
    let part = try reader.access("Reading further rows of") {
      try reader.connection.query("FETCH \(PostgreSQLReader.rowsPerFetch) FROM \(name)")
    }
    var rows: [FetchedRow] = []
    for index in 0..<part.rowCount {
      let row = try plan.row(index, of: part)
      guard try accepts(row) else { continue }
      skipped += 1
      if skipped <= plan.query.offset { continue }
      rows.append(row)
      taken += 1
      if plan.query.limit > 0, taken == plan.query.limit { break }
    }
    let isLimited = plan.query.limit > 0 && taken == plan.query.limit
    if isLimited || part.rowCount < PostgreSQLReader.rowsPerFetch { try close() }
    return rows
  }

  private mutating func accepts(_ row: FetchedRow) throws -> Bool {
    let entity = row.id.entity
    let filter = try filters[ObjectIdentifier(entity)] ?? QueryFilter(plan.query, entity)
    filters[ObjectIdentifier(entity)] = filter
    return try filter.accepts(QueriedRow(row: row, plan: plan, reader: reader))
  }

  mutating func close() throws {
    guard isOpen else { return }
    isOpen = false
    try reader.access("Reading") { try reader.connection.send("CLOSE \(name)") }
  }
}
