import ManagedObjectModel
import PersistentStores

/// Runs the statements of save participants on a connection.
struct ServerParticipantStatements: ParticipantStatements {
  let connection: PostgreSQLConnection

  func run(_ sql: String, _ values: [StoredValue]) throws -> Int {
    try reportingErrors { try connection.query(sql, values).changedCount }
  }

  func send(_ sql: String, _ values: [StoredValue]) throws { try reportingErrors { try connection.send(sql, values) } }

  func check(_ sql: String, _ values: [StoredValue], by body: @escaping ([[StoredValue]]) throws -> Void) throws {
    try reportingErrors { try connection.send(sql, values) { try body($0.rows) } }
  }

  func rows(_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]] {
    try reportingErrors { try connection.query(sql, values).rows }
  }

  private func reportingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PostgreSQLError {
      throw error.coreDataError(.sqlite, "A save participant's statement failed")
    }
  }
}
