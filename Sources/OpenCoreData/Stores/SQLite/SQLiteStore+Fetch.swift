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

  /// A cursor of its own over the rows of `query`, on a connection and in a read snapshot of its own.
  func cursor(_ query: FetchQuery, rowsPerBatch: Int) throws -> StoreCursor {
    let plan = try SelectPlan(query, in: self)
    return try access("Reading") { connection in
      // A private database has one connection only, and an open transaction is seen on its own connection alone: their
      // cursors share it.
      guard let path = readingPath, !connection.isInTransaction else {
        return try StoreCursor(connection, plan, rowsPerBatch: rowsPerBatch, ownsSnapshot: false)
      }
      return try StoreCursor(try newReader(path), plan, rowsPerBatch: rowsPerBatch, ownsSnapshot: true)
    }
  }
}
