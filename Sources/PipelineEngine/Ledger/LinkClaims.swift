import Foundation
import OpenCoreData
import PersistentStores

/// What a chunk of a shard changes of what the workers of its plan know of related objects. Its save writes it.
struct LinkClaims: Sendable {
  /// An object that the chunk creates.
  struct New: Sendable {
    /// That of the links which lead to it.
    let group: Int
    let digest: KeyDigest
    /// The order of the first record that names it.
    let order: Int64
    /// Its number among those of the group that the chunk creates.
    let number: Int
    let entity: String
  }

  /// The first record that names an object which was created from a later one.
  struct Earlier: Sendable {
    let group: Int
    let digest: KeyDigest
    let order: Int64
    /// What the object has as values in the end.
    let values: Data
  }

  /// The objects of one group that the chunk creates.
  struct Created: Sendable {
    let group: Int
    /// The name of their root entity.
    let root: String
    let count: Int
  }

  /// Objects of the store that records of the chunk name.
  struct Stored: Sendable {
    let table: String
    /// Ascending.
    let keys: [Int64]
  }

  let tables: SharedLinkTables
  /// The order of the first record of the chunk.
  let chunk: Int64
  var new: [New] = []
  var earlier: [Earlier] = []
  var created: [Created] = []
  /// In the order of the tables.
  var stored: [Stored] = []
  /// Whether entries that are there are changed, so that the save writes these objects in another order than saves do that
  /// only insert entries.
  var updatesEntries = false

  /// Takes the objects that the chunk creates, at the beginning of its save. Other workers that create one of them wait
  /// until the save has ended. All take them in the same order, so that two never wait for each other. Values of earlier
  /// records come afterwards: their objects are committed, and a worker that has their rows does not wait for new ones.
  ///
  /// - Throws: `OutdatedLinks` where another worker has created one.
  func take(in transaction: SaveTransaction) throws {
    if !new.isEmpty {
      let statement = tables.take(new, chunk: chunk)
      guard try transaction.change(statement.sql, statement.values) == new.count else { throw OutdatedLinks() }
    }
    if !earlier.isEmpty {
      let statement = tables.note(earlier)
      try transaction.run(statement.sql, statement.values)
    }
  }

  /// Keeps other programs from deleting the objects that the chunk was planned with, until its save has ended. All saves
  /// lock them in the same order, and those of a plan with a key for all that they will write, so that two never wait for
  /// each other.
  ///
  /// - Throws: `NSError` 133000 where one is gone.
  func lockStored(in transaction: SaveTransaction) throws {
    for part in stored {
      let statement = tables.lock(part.keys, of: part.table, isWritten: updatesEntries)
      try transaction.check(statement.sql, [statement.keys]) { rows in
        guard rows.count < part.keys.count else { return }
        let found = Set(rows.compactMap { $0.first as? Int64 })
        throw NSError.missingObject(part.keys.first { !found.contains($0) } ?? 0, of: part.table)
      }
    }
  }

  /// Notes which primary keys the created objects have.
  func note(in transaction: SaveTransaction) throws {
    for part in created {
      let keys = transaction.insertedKeys(ofRoot: part.root)
      guard keys.count == 1, let range = keys.first, range.count == part.count else {
        throw RunFailure(
          code: nil, exitCode: .configuration,
          message:
            "the class of \(part.root) inserts objects of its own when objects are saved, so workers can't tell which "
            + "object they have created; end the plan with 'report --abandon', and import the files with 'import'")
      }
      let statement = tables.record(chunk: chunk, group: part.group, firstKey: range.lowerBound)
      try transaction.run(statement.sql, statement.values)
    }
  }
}

extension NSError {
  /// An object that records lead to is gone.
  static func missingObject(_ key: Int64, of table: String) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError,
      userInfo: [NSLocalizedDescriptionKey: "\(table) has no row \(key) any more"])
  }

  /// Whether it is the error of an object that is gone, or has one among those of several objects.
  var isOfMissingObject: Bool { errorOfMissingObject != nil }

  /// What is missing.
  var missingObjectText: String { (errorOfMissingObject ?? self).localizedDescription }

  private var errorOfMissingObject: NSError? {
    ([self] + (userInfo[NSDetailedErrorsKey] as? [NSError] ?? [])).first {
      $0.domain == NSCocoaErrorDomain && $0.code == NSManagedObjectReferentialIntegrityError
    }
  }
}
