import Foundation
import ManagedObjectModel

/// A store that is replaced by what was made of it, if no other program has written to it meanwhile.
package final class StoreExchange {
  private let file: URL
  private let options: [AnyHashable: Any]?
  private let opened: OpenedDatabase
  private let version: Int64?

  /// - Throws: `NSError` 134080 for a file that can't be written to, 134090 for one that another program holds.
  package init(_ file: URL, options: [AnyHashable: Any]?) throws {
    (self.file, self.options) = (file, options)
    do {
      opened = try OpenedDatabase.open(file, options: try StoreOptions(options))
      // With a WAL, the store can be read while it is replaced.
      _ = try opened.connection.rows("PRAGMA journal_mode = WAL")
      version = try opened.connection.integer("PRAGMA data_version")
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .open, message: "The store \(file.path) can't be migrated")
    }
  }

  deinit { opened.connection.close() }

  /// Copies the store with its large values.
  package func copy(to copy: URL) throws { try StoreFile(copy, nil).replace(with: StoreFile(file, options)) }

  /// Gives the store the contents of the folder's file in one transaction, with its large values.
  ///
  /// - Throws: `NSError` 134110 if another program has written to the store since this object was made. The store is then
  ///   as that program has left it.
  package func replace(with made: ExchangeFolder) throws {
    try StoreFile(file, options).replace(with: StoreFile(made.file, nil), in: made) {
      guard try opened.connection.integer("PRAGMA data_version") != version else { return }
      throw NSError.migration(
        "Another program has written to \(file.path) during its migration.", advice: "Close it there, and try again.")
    }
  }
}
