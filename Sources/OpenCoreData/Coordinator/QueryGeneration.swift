import Foundation

/// Names a state of the stores that contexts can go on reading while others save. (Apple documentation:
/// NSQueryGenerationToken.)
///
/// The state is kept as long as a token of it is.
public final class NSQueryGenerationToken: NSObject, NSCopying, Sendable {
  /// What the stores hold when a context that is given this token first reads.
  public static let current = NSQueryGenerationToken(nil)

  let generation: QueryGeneration?

  init(_ generation: QueryGeneration?) { self.generation = generation }

  public func copy(with zone: NSZone? = nil) -> Any { self }

  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSQueryGenerationToken else { return false }
    return other.generation === generation
  }
  public override var hash: Int { generation.map { ObjectIdentifier($0).hashValue } ?? 0 }
}

/// A read transaction on each store of a coordinator that keeps a log.
// Unchecked: the connections are used under the coordinator's lock only; who lets go of the last reference closes them.
final class QueryGeneration: @unchecked Sendable {
  private let snapshots: [ObjectIdentifier: SQLiteConnection]
  private weak var coordinator: NSPersistentStoreCoordinator?

  init(_ snapshots: [ObjectIdentifier: SQLiteConnection], _ coordinator: NSPersistentStoreCoordinator) {
    self.snapshots = snapshots
    self.coordinator = coordinator
  }

  subscript(store: SQLiteStore) -> SQLiteConnection? { snapshots[ObjectIdentifier(store.identity)] }

  func isOf(_ other: NSPersistentStoreCoordinator) -> Bool { coordinator === other }
}

extension NSPersistentStoreCoordinator {
  /// Keeps what the stores hold now.
  func pin() throws -> QueryGeneration {
    try lock.withLock {
      var snapshots: [ObjectIdentifier: SQLiteConnection] = [:]
      for store in try requireStores() { snapshots[ObjectIdentifier(store.identity)] = try store.openSnapshot() }
      return QueryGeneration(snapshots, self)
    }
  }

  /// Runs `body`, whose reads go to `generation` on every store that is part of it; to the newest state for nil.
  func reading<Result>(_ generation: QueryGeneration?, _ body: () throws -> Result) rethrows -> Result {
    guard let generation else { return try body() }
    return try lock.withLock {
      for store in stores { store.snapshot = generation[store] }
      defer { for store in stores { store.snapshot = nil } }
      return try body()
    }
  }

  /// - Throws: `NSError` 134070 for a token of another coordinator, and where no store keeps generations.
  func check(_ token: NSQueryGenerationToken) throws {
    try lock.withLock {
      if let generation = token.generation, !generation.isOf(self) {
        throw NSError.coreData(
          .operation, "The query generation is of another coordinator; take a token from a context of this one.")
      }
      guard try requireStores().contains(where: { try $0.keepsGenerations() }) else {
        throw NSError.coreData(
          .operation,
          "No store of the coordinator keeps query generations: that takes a SQLite store in a file, with the "
            + "journal mode WAL.")
      }
    }
  }
}
