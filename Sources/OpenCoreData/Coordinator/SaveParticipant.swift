import Foundation

/// A client of the coordinator that writes to tables of its own in the store's file, inside the transaction of each
/// save: what it writes is there if and only if the saved changes are.
///
/// Its tables must not begin with `Z` (those are Core Data's); Core Data's own frameworks ignore foreign tables.
public protocol SaveParticipant: AnyObject, Sendable {
  /// Called on the saving thread after the changes of a save were written and before they are committed.
  ///
  /// Throwing rolls the whole save back, and `save()` throws the error.
  func write(to transaction: SaveTransaction) throws
}

/// The open transaction of a save, for the length of one `write(to:)`.
public struct SaveTransaction {
  private let connection: SQLiteConnection
  /// Objects that this save inserts, updates and deletes.
  public let insertedCount: Int
  public let updatedCount: Int
  public let deletedCount: Int

  init(_ connection: SQLiteConnection, _ changes: ChangeSet) {
    self.connection = connection
    insertedCount = changes.insertions.reduce(0) { $0 + $1.liveCount }
    updatedCount = changes.updates.count
    deletedCount = changes.deletions.count
  }

  /// Runs one statement to its end.
  ///
  /// - Parameters:
  ///   - sql: One SQL statement with `?` for each value.
  ///   - values: nil, Bool, integers, Double, String, Data or Date (seconds since 2001-01-01 UTC).
  /// - Throws: `NSError` 134180 with what SQLite said, or 134070 for a value of another type.
  @discardableResult
  public func execute(_ sql: String, _ values: [Any?] = []) throws -> Int {
    do {
      try connection.run(sql, values.map(Self.stored))
      return connection.changedRowCount
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .sqlite, "A save participant's statement failed")
    }
  }

  package func run(_ sql: String, _ values: [StoredValue]) throws {
    do {
      try connection.run(sql, values)
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .sqlite, "A save participant's statement failed")
    }
  }

  /// The rows that one statement yields: Int64, Double, String, Data or nil for each column.
  public func rows(_ sql: String, _ values: [Any?] = []) throws -> [[Any?]] {
    do {
      return try connection.rows(sql, values.map(Self.stored)).map { $0.map(\.plain) }
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .sqlite, "A save participant's statement failed")
    }
  }

  private static func stored(_ value: Any?) throws -> StoredValue {
    switch value {
    case nil: return .null
    case let flag as Bool: return .integer(flag ? 1 : 0)
    case let number as any FixedWidthInteger: return .integer(Int64(clamping: number))
    case let value as any ManagedAttributeValue: return value.storedAttributeValue.value
    default:
      throw NSError.coreData(
        .operation, "A save participant bound a \(value.map { "\(type(of: $0))" } ?? "nil"), which SQLite can't hold.")
    }
  }

}

extension StoredValue {
  /// The value as participants see it.
  package var plain: Any? {
    switch self {
    case .null: nil
    case .integer(let number): number
    case .real(let number): number
    case .decimal(let number): number
    case .text(let text): text
    case .blob(let data): data
    }
  }
}
