import Foundation
import OpenCoreData
import PersistentStores

/// The objects that a link can lead to, by what identifies them: those of the store when it was read, and those that the
/// run has created since. It has the bounded memory of a ``KeyIndex``.
final class LinkIndex: LinkLookup {
  private let link: EntityLink
  // Unchecked: each lookup reads them, and what changes them calls no code that looks anything up.
  @exclusivity(unchecked) private var keys: KeyIndex
  private let keysInMemoryMax: Int
  /// The destination and its subentities; an entry's values are an index here.
  private let entities: [NSEntityDescription]
  @exclusivity(unchecked) private var spaces: [PermanentIDSpace?] = []
  private static let several = UInt64.max

  init(_ link: EntityLink, keysInMemoryMax: Int) {
    self.link = link
    self.keysInMemoryMax = keysInMemoryMax
    keys = KeyIndex(keysInMemoryMax: keysInMemoryMax)
    entities = link.relationship.destinationEntity?.withDescendants ?? []
    spaces = entities.map { _ in nil }
  }

  /// Reads the objects of the store that `context` reads, instead of those that are known.
  func load(_ context: NSManagedObjectContext, unless isCancelled: () -> Bool) throws {
    keys = KeyIndex(keysInMemoryMax: keysInMemoryMax)
    let request = NSFetchRequest<NSManagedObject>(entityName: link.destinationName)
    try context.performAndWait {
      try context.walk(request, attributes: Set(link.by)) { batch, ids in
        let digests = link.digester(of: batch.entity).digests(of: batch).keys
        let entity = UInt64(entities.firstIndex { $0 === batch.entity } ?? 0)
        if let first = ids.first { noteStore(of: first, entity: Int(entity)) }
        try keys.beginChunk(digests)
        for (row, digest) in digests.enumerated() where digest != .none {
          try KeyEntry.checkStoreKey(ids.key(at: row) ?? 1)
          let known = keys.entry(of: digest)
          let entry = KeyEntry(storeKey: ids.key(at: row) ?? 1, values: known == nil ? entity : Self.several)
          keys.set(digest, entry, before: known)
        }
        try keys.endChunk()
        return !isCancelled()
      }
    }
  }

  private func noteStore(of id: NSManagedObjectID, entity: Int) {
    guard spaces[entity] == nil, let identity = id.storeIdentity else { return }
    spaces[entity] = PermanentIDSpace(identity, entities[entity])
  }

  // MARK: Chunks

  func beginChunk(_ digests: [KeyDigest]) throws { try keys.beginChunk(digests) }

  func find(_ digest: KeyDigest) -> FoundObject {
    guard let entry = keys.entry(of: digest) else { return .none }
    switch entry.values {
    case Self.several: return .several
    default:
      return spaces[Int(entry.values)].map { .stored(NSManagedObjectID(space: $0, key: entry.storeKey)) } ?? .none
    }
  }

  func noteCreated(_ digest: KeyDigest, _ id: NSManagedObjectID) throws {
    let id = id.resolved
    guard let key = id.storeKey, let entity = entities.firstIndex(where: { $0 === id.entity }) else { return }
    try KeyEntry.checkStoreKey(key)
    noteStore(of: id, entity: entity)
    keys.set(digest, KeyEntry(storeKey: key, values: UInt64(entity)))
  }

  func endChunk() throws { try keys.endChunk() }
}
