import Foundation
import PostgreSQLStore

/// The kinds of stores of this library, by the names of their types. A new kind is added here, and nowhere else in the
/// coordinator. (Classes of clients are in `StoreClasses`.)
enum RowStoreKinds {
  static let all: [String: any RowStoreKind] = [
    NSSQLiteStoreType: SQLiteStoreKind.file, NSInMemoryStoreType: SQLiteStoreKind.inMemory,
    NSPostgreSQLStoreType: PostgreSQLStoreKind(),
  ]

  /// Operations on the files of stores of a type.
  ///
  /// - Throws: `NSError` 134000 for a type without files, 134070 for a type of a client's class.
  static func files(ofType storeType: String) throws -> any RowStoreFiles {
    if let storeClass = StoreClasses.registered(storeType) {
      throw NSError.coreData(
        .operation,
        "Stores of the type \"\(storeType)\" are kept by the class \(storeClass); what can be done with their files is "
          + "up to it.")
    }
    guard let files = all[storeType]?.files else {
      throw NSError.coreData(
        .invalidStoreType, "A store of the type \"\(storeType)\" has no file; use NSSQLiteStoreType.")
    }
    return files
  }
}
