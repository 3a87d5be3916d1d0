import Foundation
import SystemSupport

/// The connections of a store that are not the writing one. At most so many wait for their next use.
// Unchecked: `condition` guards the mutable state.
final class ConnectionPool: @unchecked Sendable {
  private let make: @Sendable () throws -> PostgreSQLConnection
  private let idleMax: Int
  private let condition = NSCondition()
  private var idle: [PostgreSQLConnection] = []
  private var readerCount = 0
  private var isClosed = false

  init(idleMax: Int, _ make: @escaping @Sendable () throws -> PostgreSQLConnection) {
    self.idleMax = idleMax
    self.make = make
  }

  /// - Returns: Nil after `close`.
  func take(forReading: Bool) throws -> PostgreSQLConnection? {
    condition.lock()
    guard !isClosed else {
      condition.unlock()
      return nil
    }
    if forReading { readerCount += 1 }
    let known = idle.popLast()
    condition.unlock()
    if let known, known.isAlive { return known }
    do {
      return try make()
    } catch {
      if forReading { endReading() }
      throw error
    }
  }

  /// Takes a connection back, whose transaction has ended.
  func put(_ connection: PostgreSQLConnection, wasReading: Bool) {
    condition.lock()
    let isKept = !isClosed && idle.count < idleMax && connection.isUsable && !connection.isInTransaction
    if isKept { idle.append(connection) }
    condition.unlock()
    if !isKept { connection.close() }
    if wasReading { endReading() }
  }

  private func endReading() {
    condition.lock()
    readerCount -= 1
    condition.broadcast()
    condition.unlock()
  }

  /// Closes the connections that wait for their next use.
  func closeIdle() {
    condition.lock()
    let closing = idle
    idle = []
    condition.unlock()
    for connection in closing { connection.close() }
  }

  /// Waits for the readers that are in use, and closes the others.
  func close() {
    condition.lock()
    isClosed = true
    while readerCount > 0 { condition.wait() }
    let closing = idle
    idle = []
    condition.unlock()
    for connection in closing { connection.close() }
  }
}
