import Foundation

/// Names a state of the stores that contexts can continue to read while other contexts save. (Apple documentation:
/// NSQueryGenerationToken.)
///
/// The stores keep that state as long as a token for it exists.
public final class NSQueryGenerationToken: NSObject, NSCopying, Sendable {
  /// The state of the stores at the first read of a context that is given this token.
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

/// A snapshot of each store of a coordinator that supports snapshots.
final class QueryGeneration: Sendable {
  private let snapshots: [ObjectIdentifier: any StoreSnapshot]
  private let coordinator: WeakCoordinator
  private struct WeakCoordinator: Sendable { weak let coordinator: NSPersistentStoreCoordinator? }

  init(_ snapshots: [ObjectIdentifier: any StoreSnapshot], _ coordinator: NSPersistentStoreCoordinator) {
    self.snapshots = snapshots
    self.coordinator = WeakCoordinator(coordinator: coordinator)
  }

  subscript(store: any RowStore) -> (any StoreSnapshot)? { snapshots[ObjectIdentifier(store.identity)] }

  func isOf(_ other: NSPersistentStoreCoordinator) -> Bool { coordinator.coordinator === other }
}

extension NSPersistentStoreCoordinator {
  /// Takes a snapshot of the stores' present state.
  func pin() throws -> QueryGeneration {
    // Under the lock, so that a save to several stores cannot fall between the snapshots.
    try storesLock.withLock {
      var snapshots: [ObjectIdentifier: any StoreSnapshot] = [:]
      for store in try requireStores() { snapshots[ObjectIdentifier(store.identity)] = try store.makeSnapshot() }
      return QueryGeneration(snapshots, self)
    }
  }

  /// - Throws: `NSError` 134070 for a token of another coordinator.
  func check(_ token: NSQueryGenerationToken) throws {
    guard let generation = token.generation, !generation.isOf(self) else { return }
    throw NSError.coreData(
      .operation, "The query generation is of another coordinator; take a token from a context of this one.")
  }
}
