import OpenCoreData
import PersistentStores

/// The objects that the links of a group lead to, as the workers of a plan know them: those that the store had when it was
/// planned, and those that workers have created since. Each chunk asks for the names that it has.
final class SharedLinkIndex: LinkLookup {
  private struct Known {
    let found: FoundObject
    /// The order of the first record that names the object, as it was read; nil for one that the store had.
    let firstOrder: Int64?
  }

  private let link: EntityLink
  private let tables: SharedLinkTables
  private let coordinator: NSPersistentStoreCoordinator
  /// What was found. It stays where it is, also if other workers name it.
  private var known: [KeyDigest: Known] = [:]
  private static let knownMax = 200_000

  init(_ link: EntityLink, _ tables: SharedLinkTables, in coordinator: NSPersistentStoreCoordinator) {
    (self.link, self.tables, self.coordinator) = (link, tables, coordinator)
  }

  /// Forgets what was found, where the store may have lost it.
  func forget() { known = [:] }

  func beginChunk(_ digests: [KeyDigest]) throws {
    let named = Set(digests).subtracting([.none])
    if known.count + named.count > Self.knownMax { known = [:] }
    let asked = named.filter { known[$0] == nil }.sorted()
    for row in try tables.found(asked, group: link.group, in: coordinator) {
      guard let entity = coordinator.managedObjectModel.entitiesByName[row.entity],
        let id = coordinator.objectID(of: entity, key: row.storeKey)
      else { continue }
      known[asked[row.index]] = Known(found: row.isAmbiguous ? .several : .stored(id), firstOrder: row.firstOrder)
    }
  }

  func find(_ digest: KeyDigest) -> FoundObject { known[digest]?.found ?? .none }

  /// The order of the first record that names an object which workers have created; nil for another one. An earlier record
  /// of another worker may not be known.
  func firstOrder(of digest: KeyDigest) -> Int64? { known[digest]?.firstOrder }

  /// The next chunk reads it.
  func noteCreated(_ digest: KeyDigest, _ id: NSManagedObjectID) {}
  func endChunk() {}
}
