import Foundation
import ManagedObjectModel

/// A store with the tables of Core Data, in whatever database.
package protocol TableStore: RowStore {
  var schema: SQLSchema { get }
  /// By Z_ENT: the entities, each with the shared part of its objects' IDs.
  var idSpaces: [Int: PermanentIDSpace] { get }
  /// Whether a value of an attribute that allows it may be in a file of its own, which SQL reads with a function.
  var keepsValuesInFiles: Bool { get }
  /// What follows an ascending term of ORDER BY, so that null comes first.
  var nullsFirst: String { get }
}

extension TableStore {
  package func sqlEntity(_ entity: NSEntityDescription) throws -> SQLEntity {
    guard let found = schema.entity(named: entity.name ?? "") else {
      throw NSError.coreData(
        .coreData,
        "The store \(url?.lastPathComponent ?? "") does not keep the entity \(entity.name ?? ""); check the "
          + "configuration it was added with.")
    }
    return found
  }

  /// The ID scope of the row with `key`, by its Z_ENT.
  package func idSpace(numbered number: Int, key: Int64) throws -> PermanentIDSpace {
    guard let space = idSpaces[number], !space.entity.isAbstract else {
      throw NSError.unknownEntity(number: number, key: key, table: url?.lastPathComponent ?? identity.uuid)
    }
    return space
  }
}

extension NSError {
  package static func unknownEntity(number: Int, key: Int64, table: String) -> NSError {
    .coreData(
      .operation,
      "Row \(key) of \(table) has the entity number \(number), which the model does not have or which is abstract. The "
        + "store is damaged: restore it from a copy.")
  }
}

/// A connection that runs statements about the tables, with `?` for each value.
package protocol TableStatements {
  /// Runs one statement. An error may be thrown by a later call, before its result.
  func run(_ sql: String, _ values: [StoredValue]) throws
  /// Runs one statement.
  ///
  /// - Returns: The number of rows that it has changed.
  func change(_ sql: String, _ values: [StoredValue]) throws -> Int
  func rows(_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]]
  /// The first column of the first row as an integer; nil if there is no row or it is null.
  func integer(_ sql: String, _ values: [StoredValue]) throws -> Int64?
}

extension SQLiteConnection: TableStatements {
  package func change(_ sql: String, _ values: [StoredValue]) throws -> Int {
    try run(sql, values)
    return changedRowCount
  }
}

/// The keys of rows of one entity that a save deletes.
package typealias DeletedKeys = (entity: NSEntityDescription, keys: [Int64])
