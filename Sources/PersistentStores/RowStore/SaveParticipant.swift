import ManagedObjectModel
import Foundation

/// A client of the coordinator that writes to its own tables in the store's file, inside the transaction of each save:
/// its rows are committed if and only if the saved changes are.
///
/// Its tables must not begin with `Z` (the prefix of Core Data's tables). Core Data's frameworks ignore other tables.
///
/// ```swift
/// final class SaveLog: SaveParticipant {
///   func write(to transaction: SaveTransaction) throws {
///     try transaction.execute("CREATE TABLE IF NOT EXISTS SaveLog(inserted INTEGER, savedAt REAL)")
///     try transaction.execute("INSERT INTO SaveLog VALUES(?, ?)", [transaction.insertedCount, Date()])
///   }
/// }
/// ```
///
/// `NSPersistentStoreCoordinator.addSaveParticipant(_:)` registers it.
public protocol SaveParticipant: AnyObject, Sendable {
  /// Called on the saving thread at the beginning of the save's transaction, before its changes are written. What must
  /// hold for the save belongs here: nothing has been written in vain yet.
  ///
  /// Throwing ends the save, and `save()` throws the error. Does nothing by default.
  func begin(_ transaction: SaveTransaction) throws
  /// Called on the saving thread after the changes of a save are written and before they are committed.
  ///
  /// Throwing rolls the whole save back, and `save()` throws the error.
  func write(to transaction: SaveTransaction) throws
}

extension SaveParticipant {
  /// Does nothing.
  ///
  /// - Throws: No error.
  public func begin(_ transaction: SaveTransaction) throws {}
}

/// A participant whose saves may link objects that others link to theirs at the same time.
package protocol LinkSharingParticipant: SaveParticipant {
  /// Whether a save counts up the version of an object without comparing it, if it changes only the object's
  /// relationships. What such a save adds to a relationship does not depend on what others have added.
  var sharesLinks: Bool { get }
}

/// The open transaction of a save. It is valid during one `begin(_:)` or `write(to:)`.
public struct SaveTransaction {
  private let statements: any ParticipantStatements
  /// How the store writes the tables of participants.
  package let dialect: ParticipantDialect
  /// The keys that the store has given to the objects that were inserted in it; empty in `begin(_:)`.
  private let inserted: [InsertionResolution]
  /// Objects that this save inserts, updates and deletes.
  public let insertedCount: Int
  /// Objects that this save updates.
  public let updatedCount: Int
  /// Objects that this save deletes.
  public let deletedCount: Int

  package init(
    _ statements: any ParticipantStatements, in dialect: ParticipantDialect, _ changes: ChangeSet,
    inserted: [InsertionResolution] = []
  ) {
    self.statements = statements
    self.dialect = dialect
    self.inserted = inserted
    insertedCount = changes.insertions.reduce(0) { $0 + $1.liveCount }
    updatedCount = changes.updates.count
    deletedCount = changes.deletions.count + changes.deletedRows.liveCount
  }

  /// The keys of the objects that this save has inserted of an entity and of its subentities, as ascending ranges.
  package func insertedKeys(ofRoot entity: String) -> [ClosedRange<Int64>] {
    inserted.filter { $0.range.entity.rootEntity.name == entity }.flatMap(\.keys)
      .sorted { $0.lowerBound < $1.lowerBound }
      .reduce(into: []) { all, next in
        if let last = all.last, last.upperBound + 1 == next.lowerBound {
          all[all.count - 1] = last.lowerBound...next.upperBound
        } else {
          all.append(next)
        }
      }
  }

  /// Runs one statement to completion.
  ///
  /// - Parameters:
  ///   - sql: One SQL statement with `?` for each value.
  ///   - values: nil, Bool, integers, Double, String, Data or Date (seconds since 2001-01-01 UTC).
  /// - Throws: `NSError` 134180 with SQLite's message, or 134070 for a value of another type.
  @discardableResult
  public func execute(_ sql: String, _ values: [Any?] = []) throws -> Int {
    try statements.run(sql, values.map(StoredValue.init(participantValue:)))
  }

  /// Runs one statement whose number of rows does not matter. Its error may come with a later statement or with the
  /// end of the save.
  package func run(_ sql: String, _ values: [StoredValue]) throws { try statements.send(sql, values) }

  /// Runs one statement.
  ///
  /// - Returns: The number of rows that it changed.
  package func change(_ sql: String, _ values: [StoredValue]) throws -> Int { try statements.run(sql, values) }

  /// Runs one statement whose rows decide whether the save goes on.
  ///
  /// - Parameter body: Is given the rows, with columns as of `rows(_:_:)`, and throws where the save must not go on. It is
  ///   called now, or together with a later statement, before anything is committed; it must not use the transaction.
  /// - Throws: As `execute(_:_:)`, and what `body` throws.
  package func check(
    _ sql: String, _ values: [Any?], by body: @escaping (_ rows: [[Any?]]) throws -> Void
  ) throws {
    try statements.check(sql, values.map(StoredValue.init(participantValue:))) { try body($0.map { $0.map(\.plain) }) }
  }

  /// The rows that one statement returns: Int64, Double, String, Data or nil for each column.
  ///
  /// - Parameters:
  ///   - sql: One SQL statement with `?` for each value.
  ///   - values: As for `execute(_:_:)`.
  /// - Throws: As `execute(_:_:)`.
  public func rows(_ sql: String, _ values: [Any?] = []) throws -> [[Any?]] {
    try statements.rows(sql, values.map(StoredValue.init(participantValue:))).map { $0.map(\.plain) }
  }
}

/// Runs the statements of save participants inside a store's transaction.
package protocol ParticipantStatements {
  /// - Returns: The number of rows that the statement changed.
  func run(_ sql: String, _ values: [StoredValue]) throws -> Int
  /// Runs a statement without waiting for it, where the store can do so.
  func send(_ sql: String, _ values: [StoredValue]) throws
  func rows(_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]]
  /// Runs a statement and gives its rows to `body`, at once or when the store waits for a later statement.
  func check(_ sql: String, _ values: [StoredValue], by body: @escaping ([[StoredValue]]) throws -> Void) throws
}

extension ParticipantStatements {
  package func check(
    _ sql: String, _ values: [StoredValue], by body: @escaping ([[StoredValue]]) throws -> Void
  ) throws { try body(rows(sql, values)) }

  package func send(_ sql: String, _ values: [StoredValue]) throws { _ = try run(sql, values) }
}

extension StoredValue {
  /// A value that a save participant binds.
  package init(participantValue value: Any?) throws {
    switch value {
    case nil: self = .null
    case let flag as Bool: self = .integer(flag ? 1 : 0)
    case let number as any FixedWidthInteger: self = .integer(Int64(clamping: number))
    case let value as any ManagedAttributeValue: self = value.storedAttributeValue.value
    default:
      throw NSError.coreData(
        .operation, "A save participant bound a \(value.map { "\(type(of: $0))" } ?? "nil"), which SQLite can't hold.")
    }
  }

  /// The value in the form that participants receive.
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
