import Foundation
import ManagedObjectModel

/// SQLite stores, in a file or in memory.
package struct SQLiteStoreKind: RowStoreKind {
  package static let file = SQLiteStoreKind(type: NSSQLiteStoreType)
  package static let inMemory = SQLiteStoreKind(type: NSInMemoryStoreType)

  private let type: String

  package var files: (any RowStoreFiles)? { type == NSSQLiteStoreType ? SQLiteStoreFiles() : nil }

  package func file(for url: URL?) throws -> URL? {
    if type == NSInMemoryStoreType { return nil }
    guard let url else {
      throw NSError.coreData(.open, "A SQLite store needs the URL of its file; or use NSInMemoryStoreType.")
    }
    // /dev/null cannot hold a file. Code written for Apple's framework uses it for a SQLite store in memory.
    return url.path == "/dev/null" ? nil : url
  }

  package func open(
    _ file: URL?, model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]?
  ) throws -> any RowStore {
    try SQLiteStore.open(file, type: type, model: model, configuration: configuration, options: options)
  }
}

/// Operations on the files of SQLite stores.
private struct SQLiteStoreFiles: RowStoreFiles {
  func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
    try SQLiteStore.metadata(at: url, options: options)
  }

  func setMetadata(_ metadata: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws {
    try SQLiteStore.setMetadata(metadata, at: url, options: options)
  }

  func destroy(at url: URL, options: [AnyHashable: Any]?) throws { try StoreFile(url, options).destroy() }

  func replace(
    at url: URL, options: [AnyHashable: Any]?, with source: URL, sourceOptions: [AnyHashable: Any]?
  ) throws {
    try StoreFile(url, options).replace(with: StoreFile(source, sourceOptions))
  }
}
