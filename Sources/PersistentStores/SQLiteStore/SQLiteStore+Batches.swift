import ManagedObjectModel
import Foundation

/// Batch requests: statements on the tables themselves, with one transaction per request.
extension SQLiteStore {
  /// Deletes the rows that `query` finds.
  package func batchDelete(_ query: FetchQuery, wantsIDs: Bool) throws -> BatchOutcome {
    guard try BatchDeletion.isNeeded(for: query.entity, in: self) else {
      return try batchTransaction { connection in
        let deletion = SQLFragment("DELETE FROM \(try sqlEntity(query.entity).tableName) AS t0")
        let change = RowsChange(entity: query.entity, names: nil, statement: deletion, wantsIDs: wantsIDs)
        return try carryOut(change, where: try conditions(query, connection), on: connection)
      }
    }
    return try batchDeletion(of: query.entity, wantsIDs: wantsIDs) { try keys(of: query, $0) }
  }

  /// Deletes the objects with `keys` in the table of `entity`.
  package func batchDelete(keys: [Int64], of entity: NSEntityDescription, wantsIDs: Bool) throws -> BatchOutcome {
    try batchDeletion(of: entity, wantsIDs: wantsIDs) { _ in keys }
  }

  private func batchDeletion(
    of entity: NSEntityDescription, wantsIDs: Bool, _ keys: (SQLiteConnection) throws -> [Int64]
  ) throws -> BatchOutcome {
    try batchTransaction { connection in
      let history = try historyWriter(connection)
      var deletion = BatchDeletion(self, connection, history: history)
      let deleted = try deletion.delete(try keys(connection), of: entity)
      try history?.finish()
      return BatchOutcome(count: deleted.count, ids: wantsIDs ? deleted : [])
    }
  }

  /// A statement on rows of an entity, before the condition that finds them.
  struct RowsChange {
    let entity: NSEntityDescription
    /// The properties that it changes; nil for a deletion.
    let names: Set<String>?
    let statement: SQLFragment
    let wantsIDs: Bool
  }

  /// Changes the rows of `conditions`, and notes them in the history.
  func carryOut(
    _ change: RowsChange, where conditions: [SQLFragment], on connection: SQLiteConnection
  ) throws -> BatchOutcome {
    let history = try historyWriter(connection)
    var outcome = BatchOutcome()
    for condition in conditions {
      try history?.noteRows(of: change.entity, changing: change.names, where: condition)
      let done = try run(change.statement + condition, on: connection, wantsIDs: change.wantsIDs)
      outcome.count += done.count
      outcome.ids += done.ids
    }
    try history?.finish()
    return outcome
  }

  /// Inserts batches of `entity` until `fill` does not supply more rows.
  ///
  /// - Parameter fill: Appends rows to the empty batch; none at the end.
  package func batchInsert(
    _ entity: NSEntityDescription, resolution: UniquenessResolution, wantsIDs: Bool,
    fill: (inout ObjectBatch) throws -> Void
  ) throws -> BatchOutcome {
    let columns = try sqlEntity(entity)
    return try batchTransaction { connection in
      var outcome = BatchOutcome()
      var keys = KeySequences(connection)
      var batch = ObjectBatch(entity: entity)
      externalFiles.mayLeaveRowsOut = resolution == .keepStored
      defer { externalFiles.mayLeaveRowsOut = false }
      let source = try batchSource(for: batch, columns, connection)
      let history = try historyWriter(connection)
      // Rows that are overwritten are known by their keys only.
      let returns = wantsIDs || history != nil && resolution == .overwrite
      let text =
        batchInsertText(entity, columns, source: source, resolution: resolution) + (returns ? Self.returning : "")
      while true {
        batch.removeAll()
        try fill(&batch)
        if batch.count == 0 { break }
        var numbering = BatchSource.Numbering(firstKey: try keys.take(batch.count, of: columns))
        numbering.rows = 0..<batch.count
        var written: [NSManagedObjectID] = []
        try source.insert(batch, numbering, with: try connection.statement(text)) { row in
          written.append(try id(returnedBy: row))
        }
        outcome.count += connection.changedRowCount
        let new = numbering.firstKey...(numbering.firstKey + Int64(batch.count) - 1)
        try history?.note(inserted: new, in: columns, overwritten: written.filter { !new.contains($0.storeKey ?? 0) })
        if wantsIDs { outcome.ids += written }
      }
      try keys.store()
      try history?.finish()
      return outcome
    }
  }

  // MARK: Statements

  private static var returning: String { " RETURNING Z_PK, Z_ENT" }

  private func batchInsertText(
    _ entity: NSEntityDescription, _ columns: SQLEntity, source: BatchSource, resolution: UniquenessResolution
  ) -> String {
    let plain = insertText(columns, source)
    guard entity.ancestry.contains(where: { !$0.uniquenessConstraintNames.isEmpty }) else { return plain }
    switch resolution {
    case .keepStored: return "INSERT OR IGNORE" + plain.dropFirst("INSERT".count)
    case .overwrite:
      let sets = columns.writtenColumns.map { "\($0.column.name) = excluded.\($0.column.name)" }
      // Without the WHERE, SQLite parses ON as the start of a join.
      return plain + " WHERE true ON CONFLICT DO UPDATE SET "
        + (["Z_OPT = Z_OPT + 1"] + sets).joined(separator: ", ")
    }
  }

  /// The conditions of the statements that together change the rows of `query`. A history has to name exactly these rows,
  /// so they are found once, and then changed by key.
  func conditions(_ query: FetchQuery, _ connection: SQLiteConnection) throws -> [SQLFragment] {
    tracksHistory ? try keyConditions(query, connection) : [try condition(query)]
  }

  /// As `conditions`, by key.
  func keyConditions(_ query: FetchQuery, _ connection: SQLiteConnection) throws -> [SQLFragment] {
    try keys(of: query, connection).statementParts.map(Self.condition)
  }

  private func keys(of query: FetchQuery, _ connection: SQLiteConnection) throws -> [Int64] {
    let condition = try condition(query)
    let table = try sqlEntity(query.entity).tableName
    let selection = SQLFragment("SELECT t0.Z_PK FROM \(table) t0") + condition
    let statement = try connection.statement(selection.text)
    defer { statement.reset() }
    try statement.bind(selection.bindings)
    var keys: [Int64] = []
    while try statement.step() { keys.append(statement.integer(0)) }
    return keys
  }

  private static func condition(_ keys: ArraySlice<Int64>) -> SQLFragment {
    SQLFragment(" WHERE t0.Z_PK IN (\(SQLFragment.keyMarks(keys.count)))", keys.map(StoredValue.integer))
  }

  private func condition(_ query: FetchQuery) throws -> SQLFragment {
    let entity = try sqlEntity(query.entity)
    let table = entity.tableName
    let columns = ColumnNames(query.entity, in: self)
    let filter = try SelectPlan.filter(query, of: entity, in: identity, columns: columns)
    let slice = SelectPlan.slice(query.limit, query.offset)
    if slice.text.isEmpty, columns.joins.isEmpty { return filter }
    let order = try SelectPlan.order(query.sortKeys, columns)
    return SQLFragment(" WHERE Z_PK IN (SELECT t0.Z_PK FROM \(table) t0\(columns.joins)") + filter + order + slice
      + SQLFragment(")")
  }

  private func run(_ fragment: SQLFragment, on connection: SQLiteConnection, wantsIDs: Bool) throws -> BatchOutcome {
    var outcome = BatchOutcome()
    let statement = try connection.statement(fragment.text + (wantsIDs ? Self.returning : ""))
    defer { statement.reset() }
    try statement.bind(fragment.bindings)
    while try statement.step() { outcome.ids.append(try id(returnedBy: statement)) }
    outcome.count = connection.changedRowCount
    return outcome
  }

  func id(returnedBy statement: SQLiteStatement) throws -> NSManagedObjectID {
    let key = statement.integer(0)
    return NSManagedObjectID(space: try idSpace(numbered: Int(statement.integer(1)), key: key), key: key)
  }

  func batchTransaction(_ body: (SQLiteConnection) throws -> BatchOutcome) throws -> BatchOutcome {
    guard !isReadOnly else { throw readOnlyError }
    return try writerLock.withLock {
      let connection = try writingReader().connection
      try checkTransaction(connection)
      let filesStart = externalFiles.position
      let outcome: BatchOutcome
      var isWritten = false
      do {
        outcome = try connection.transaction {
          let outcome = try body(connection)
          try syncExternalFiles()
          isWritten = true
          return outcome
        }
        if !connection.isInTransaction { externalFiles.keep() }
      } catch {
        // After a failed commit, as in `commit(_:)`.
        if isWritten, !connection.isInTransaction {
          externalFiles.leaveUncertain()
        } else {
          externalFiles.discard(from: filesStart)
        }
        guard let error = error as? SQLiteError else { throw error }
        throw NSError.sqlite(
          error, error.isUniqueness ? .constraintConflict : .save,
          message: "The batch request was not carried out in \(location)")
      }
      noteWrite()
      removeReleasedFiles()
      // The rows are committed. A failed checkpoint is repeated after the next commit and at closing.
      try? didCommit()
      return outcome
    }
  }
}
