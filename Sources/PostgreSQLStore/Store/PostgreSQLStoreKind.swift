import Foundation
import ManagedObjectModel
import PersistentStores

/// Stores in databases of PostgreSQL servers.
package struct PostgreSQLStoreKind: RowStoreKind {
  package init() {}

  package var files: (any RowStoreFiles)? { ServerStoreFiles() }

  /// The URL itself, which names a database.
  package func file(for url: URL?) throws -> URL? {
    guard let url, PostgreSQLAddress.isAddress(url) else {
      throw NSError.coreData(
        .open, "A store in PostgreSQL needs an address such as postgresql://USER@HOST/DATABASE.")
    }
    return url
  }

  package func open(
    _ file: URL?, model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]?
  ) throws -> any RowStore {
    try PostgreSQLStore.open(try address(file), model: model, configuration: configuration, options: options)
  }

  private func address(_ url: URL?) throws -> URL {
    guard let url = try file(for: url) else { throw NSError.coreData(.open, "The address of the store is missing.") }
    return url
  }
}

/// Operations on stores of servers as a whole.
private struct ServerStoreFiles: RowStoreFiles {
  func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
    try PostgreSQLStore.metadata(at: url, options: options)
  }

  func setMetadata(_ metadata: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws {
    try PostgreSQLStore.setMetadata(metadata, at: url, options: options)
  }

  func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
    try PostgreSQLStore.destroy(at: url, options: options)
  }

  func replace(
    at url: URL, options: [AnyHashable: Any]?, with source: URL, sourceOptions: [AnyHashable: Any]?
  ) throws {
    throw NSError.coreData(
      .operation,
      "A store in PostgreSQL is not replaced by another one as a whole. Copy its objects, or restore a dump of the database."
    )
  }
}
