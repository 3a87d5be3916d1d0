import Foundation
import ManagedObjectModel

/// A kind of store: how its stores are opened, and what can be done with the files of one that is not open.
///
/// The coordinator knows its kinds from a table by the names of their types. Another kind enters through the same table.
package protocol RowStoreKind: Sendable {
  /// Operations on the files of stores of this kind; nil if they have none.
  var files: (any RowStoreFiles)? { get }

  /// The file of a store that is added with `url`; nil if the store has none.
  ///
  /// - Throws: `NSError` 134080 if the kind needs a URL and there is none.
  func file(for url: URL?) throws -> URL?

  /// Opens the store in `file`, as `file(for:)` returned it, and creates it if it does not exist.
  ///
  /// - Parameter configuration: The model configuration whose entities the store holds; nil for all.
  /// - Throws: `NSError` 134080, 134090 or 134100, and what keeps a store from being migrated.
  func open(
    _ file: URL?, model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]?
  ) throws -> any RowStore
}

/// Operations on the files of stores as a whole. `options` are those of `addPersistentStore`.
package protocol RowStoreFiles: Sendable {
  func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any]
  /// Replaces the clients' own keys.
  func setMetadata(_ metadata: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws
  /// Empties the store. Does nothing if there is no file.
  func destroy(at url: URL, options: [AnyHashable: Any]?) throws
  /// Replaces the store at `url` by a copy of the one at `source`, completely or not at all.
  func replace(
    at url: URL, options: [AnyHashable: Any]?, with source: URL, sourceOptions: [AnyHashable: Any]?
  ) throws
}

/// A store that can be copied as a whole, and continue with another file.
package protocol CopyableRowStore: RowStore {
  /// Continues with the file at `url`, which must be the same store.
  func move(to url: URL) throws
  /// An open copy of this store with a UUID of its own.
  func copy(
    to url: URL, type: String, model: NSManagedObjectModel, options: [AnyHashable: Any]?
  ) throws -> any RowStore
}

/// A store that save participants can query with SQL.
///
/// SQL crosses the boundary of a store only for save participants, which keep tables of their own next to the store's:
/// here to read between saves, and in a `SaveTransaction` to read and write in a save. Everything else is `FetchQuery`,
/// `ChangeSet` and batches. A store without SQL does not conform, and takes no save participants.
package protocol SQLRowStore: RowStore {
  /// The rows that a statement of a save participant returns, outside of a save.
  ///
  /// - Parameters:
  ///   - sql: One statement that only reads, with `?` for each of `values`.
  ///   - snapshot: A snapshot of this store; nil for what was committed last.
  /// - Throws: `NSError` 134180 with the store's message.
  func participantRows(
    _ sql: String, _ values: [StoredValue], in snapshot: (any StoreSnapshot)?
  ) throws -> [[StoredValue]]

  /// How a save participant finds out whether the objects of some entities have changed since it read them.
  func changeMark(of entities: [NSEntityDescription]) throws -> ChangeMark

  /// The table with the objects of an entity.
  func tableName(of entity: NSEntityDescription) throws -> String

  /// How the store writes the tables of save participants.
  var dialect: ParticipantDialect { get }
}

extension SQLRowStore {
  /// As `participantRows(_:_:in:)`, of what was committed last.
  package func participantRows(_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]] {
    try participantRows(sql, values, in: nil)
  }
}
