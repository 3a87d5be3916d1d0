import Foundation
import ManagedObjectModel
import PersistentStores

/// A lock in a database that one process at a time holds, and that ends with its connection, however the process ends.
///
/// A connection of its own holds it by an open transaction with the lock of a table, which works behind a pooler too. That
/// connection may die while its process goes on: then another process can take the lock. Therefore the holder's token is
/// in a row of the table, and every save begins with a check that the token is still its own, which keeps the row as it
/// is until the save has ended. A new holder waits for such saves, and those that follow are refused.
// Unchecked: `connection` is used under `lock` only.
package final class ServerLock: @unchecked Sendable {
  /// Another process holds the lock.
  package struct Held: Error {
    /// What that process has said of itself; nil if it is not known.
    package let holder: String?
  }

  private let table: String
  private let token = UUID().uuidString.lowercased()
  private let make: @Sendable () throws -> PostgreSQLConnection
  private let timeoutMilliseconds: Int
  private let lock = NSLock()
  private var connection: PostgreSQLConnection?

  /// Takes the lock, or throws at once; it waits only for saves of a holder that has lost it.
  ///
  /// - Parameters:
  ///   - url: The address of the database.
  ///   - table: The name of the table, which is made where it is missing.
  ///   - holder: What others see of this process.
  ///   - timeoutSeconds: How long to wait for the connection and for such saves.
  ///   - onlyLooks: Whether the token of the last holder stays, so that one that has lost the lock can take it again.
  /// - Throws: ``Held``, or `NSError` 134080 for a database that can't be used.
  package init(
    at url: URL, table: String, holder: String, timeoutSeconds: Double, onlyLooks: Bool = false
  ) throws {
    let library = try PostgreSQLLibrary.load()
    let address = try PostgreSQLAddress(url, library)
    self.table = table
    make = { try PostgreSQLConnection(address, library, timeoutSeconds: timeoutSeconds) }
    timeoutMilliseconds = max(1, Int(min(timeoutSeconds, 1e6) * 1000))
    try OpenedServer.reporting(address) { [self] in
      let held = try make()
      try createTable(held)
      try take(held)
      do {
        if !onlyLooks { try writeToken(holder, make()) }
      } catch {
        held.close()
        throw error
      }
      connection = held
    }
  }

  deinit { release() }

  // MARK: Taking

  private func createTable(_ connection: PostgreSQLConnection) throws {
    func isThere() throws -> Bool {
      try connection.integer("SELECT to_regclass(?) IS NOT NULL", [.text(table.lowercased())]) == 1
    }
    if try isThere() { return }
    do {
      // Nothing is ever deleted from it, and a vacuum would need the lock.
      _ = try connection.query(
        "CREATE TABLE IF NOT EXISTS \(table) (name text PRIMARY KEY, token text NOT NULL, holder text NOT NULL) "
          + "WITH (autovacuum_enabled = false)")
    } catch let error as PostgreSQLError {
      // Another process may have made it at the same moment.
      guard try isThere() else { throw error }
    }
  }

  private static let attemptsMax = 20
  private static let secondsBetweenAttempts = 0.05

  /// A vacuum by hand, or a holder that is just ending, holds the lock for a moment.
  private func take(_ connection: PostgreSQLConnection) throws {
    for attempt in 1... {
      do {
        try connection.send("BEGIN")
        // A server may end what waits for long in a transaction.
        try connection.send("SET LOCAL idle_in_transaction_session_timeout = 0")
        if connection.serverVersion >= 170_000 { try connection.send("SET LOCAL transaction_timeout = 0") }
        _ = try connection.query("LOCK TABLE \(table) IN SHARE UPDATE EXCLUSIVE MODE NOWAIT")
        return
      } catch let error as PostgreSQLError where error.state == PostgreSQLError.lockState {
        _ = try connection.query("ROLLBACK")
        guard attempt < Self.attemptsMax else { throw Held(holder: try Self.holder(table, connection)) }
        Thread.sleep(forTimeInterval: Self.secondsBetweenAttempts)
      }
    }
  }

  private static let name = StoredValue.text("run")
  /// Settings that wait for more than the own disk stay.
  private static let durable =
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"

  private static func holder(_ table: String, _ connection: PostgreSQLConnection) throws -> String? {
    guard
      case .text(let holder)? = try connection.rows("SELECT holder FROM \(table) WHERE name = ?", [name]).first?.first
    else { return nil }
    return holder
  }

  /// Others read the row, so that it is not written in the transaction that holds the lock.
  private func writeToken(_ holder: String, _ connection: PostgreSQLConnection) throws {
    defer { connection.close() }
    do {
      try connection.send("BEGIN")
      try connection.send("SET LOCAL lock_timeout = \(timeoutMilliseconds)")
      try connection.send(Self.durable)
      _ = try connection.query(
        "INSERT INTO \(table) (name, token, holder) VALUES (?, ?, ?) "
          + "ON CONFLICT (name) DO UPDATE SET token = excluded.token, holder = excluded.holder",
        [Self.name, .text(token), .text(holder)])
      try connection.commit()
    } catch let error as PostgreSQLError where error.state == PostgreSQLError.lockState {
      _ = try connection.query("ROLLBACK")
      throw Held(holder: try Self.holder(table, connection))
    }
  }

  // MARK: Holding

  /// Checks in the transaction of a save that no other process has taken the lock, and prevents that until it ends. What
  /// the save commits is on the server's disk.
  ///
  /// - Parameter error: What the save throws where another process has taken it; `holder` is what that has said of itself.
  package func check(
    in transaction: SaveTransaction, orThrow error: @escaping (_ holder: String?) -> any Error
  ) throws {
    try transaction.run(Self.durable, [])
    try transaction.check(
      "SELECT token, holder FROM \(table) WHERE name = 'run' FOR SHARE", []
    ) { [token] rows in
      if rows.first?.first as? String != token { throw error(rows.first?.last as? String) }
    }
  }

  /// Waits until the server has ended the saves of this process: one whose answer was lost may still be in progress.
  ///
  /// - Throws: ``Held`` if another process has taken the lock; `NSError` if the server can't be asked.
  package func waitForSaves() throws {
    do {
      let connection = try make()
      defer { connection.close() }
      try connection.send("BEGIN")
      try connection.send("SET LOCAL lock_timeout = \(timeoutMilliseconds)")
      let own = try connection.rows(
        "SELECT 1 FROM \(table) WHERE name = ? AND token = ? FOR UPDATE", [Self.name, .text(token)])
      _ = try connection.query("COMMIT")
      if own.isEmpty { throw Held(holder: try Self.holder(table, connection)) }
    } catch let error as PostgreSQLError {
      throw error.coreDataError(.sqlite, "Asking for what was saved failed")
    }
  }

  /// Takes the lock again if its connection was lost and no other process has taken it since. While it can't be taken,
  /// the check of each save keeps the rule.
  package func renew() {
    lock.withLock {
      guard let connection, !connection.isUsable || !connection.isStillOpen else { return }
      guard let made = try? make() else { return }
      guard (try? take(made)) != nil,
        let own = try? made.rows("SELECT 1 FROM \(table) WHERE name = ? AND token = ?", [Self.name, .text(token)]),
        !own.isEmpty
      else { return made.close() }
      connection.close()
      self.connection = made
    }
  }

  /// Ends the lock; later calls do nothing.
  package func release() {
    lock.withLock {
      guard let connection else { return }
      _ = try? connection.query("COMMIT")
      connection.close()
      self.connection = nil
    }
  }
}
