import Foundation
import ManagedObjectModel
import PersistentStores

/// A connection to the database of a store for a program that has tables of its own there, without the store's objects.
package final class ServerStatements {
  private let connection: PostgreSQLConnection
  private let location: String
  private let timeoutMilliseconds: Int

  /// - Parameter isReadOnly: Whether all rows are of one state, and nothing can be written.
  /// - Throws: `NSError` 134080 for a database that can't be used, or that has no store.
  package init(at url: URL, isReadOnly: Bool, timeoutSeconds: Double) throws {
    let server = try OpenedServer(url, options: [NSPersistentStoreTimeoutOption: NSNumber(value: timeoutSeconds)])
    (connection, location) = (server.connection, server.address.shown)
    timeoutMilliseconds = server.settings.timeoutMilliseconds
    try server.reporting {
      guard try SchemaInspection(connection: connection).hasStore() else {
        throw NSError.coreData(
          .open, "The database of \(location) has no store. Check the address.",
          userInfo: [NSError.missingStoreKey: true])
      }
      if isReadOnly { try connection.send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") }
    }
  }

  /// The rows that a statement returns.
  ///
  /// - Throws: `NSError` 134180 with the server's message.
  package func rows(_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]] {
    try reporting { try connection.rows(sql, values) }
  }

  /// Runs statements in one transaction; an error takes them back.
  package func transaction(_ body: () throws -> Void) throws {
    try reporting {
      try connection.send(PostgreSQLConnection.beginWriting)
      do {
        try connection.send("SET LOCAL lock_timeout = \(timeoutMilliseconds)")
        try body()
        try connection.commit()
      } catch {
        if connection.isInTransaction { _ = try? connection.query("ROLLBACK") }
        throw error
      }
    }
  }

  package func close() { connection.close() }

  private func reporting<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PostgreSQLError {
      throw error.coreDataError(.sqlite, "Using \(location) failed")
    }
  }
}
