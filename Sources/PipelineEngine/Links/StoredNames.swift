import OpenCoreData
import PersistentStores

/// What identifies the objects that stored entries lead to, for the comparison of whole records.
struct StoredNames: Sendable {
  private let links: [EntityLink]

  /// - Parameter links: Those that the records have.
  init(_ links: [EntityLink]) { self.links = links }

  /// Joins what entries lead to to the digests of their own attributes; called on the queue of `context`.
  func join(to keys: inout [KeyDigest], of ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws {
    let related = try links.map { try context.related($0.relationship, of: ids) }
    var names: [[NSManagedObjectID: KeyDigest]] = []
    for (link, lists) in zip(links, related) {
      names.append(try Self.names(Set(lists.joined()), over: link, in: context))
    }
    var hasher = WholeRecordHasher()
    for row in keys.indices {
      hasher.begin(keys[row])
      for index in links.indices {
        hasher.append(
          related[index][row].lazy.map { names[index][$0] ?? .unknown }, isOrdered: links[index].isOrderOfWhole)
      }
      keys[row] = hasher.digest
    }
  }

  /// The digests of what identifies objects. One without it is what no record names.
  private static func names(
    _ ids: Set<NSManagedObjectID>, over link: EntityLink, in context: NSManagedObjectContext
  ) throws -> [NSManagedObjectID: KeyDigest] {
    let ids = Array(ids)
    var names: [NSManagedObjectID: KeyDigest] = [:]
    var batch = ObjectBatch(entity: link.entity, rowCapacity: ids.count)
    for (id, row) in zip(ids, try context.storedValues(withIDs: ids)) {
      batch.appendRow()
      for (name, slot) in zip(link.by, link.identifyingSlots) {
        guard let row, let own = id.entity.slot(named: name) else { continue }
        batch.setValue(row[own], row: batch.count - 1, slot: slot)
      }
    }
    for (id, digest) in zip(ids, link.digester(of: link.entity).digests(of: batch).keys) where digest != .none {
      names[id] = digest
    }
    return names
  }
}

extension EntityLink {
  /// Whether records that name the same objects in another order differ.
  var isOrderOfWhole: Bool { relationship.isToMany && relationship.isOrdered }
}

extension KeyDigest {
  /// Represents an object that nothing identifies.
  fileprivate static let unknown = KeyDigest(high: 0, low: 1)
}

/// Digests whole records: their own attributes, and for each link what identifies the objects that they lead to, each
/// once.
struct WholeRecordHasher {
  private var hasher = KeyHasher()
  private var names: [KeyDigest] = []

  /// Begins a record with the digest of its own attributes.
  mutating func begin(_ own: KeyDigest) {
    hasher.begin()
    append(own)
  }

  /// Appends what a record leads to over one relationship.
  mutating func append(_ all: some Sequence<KeyDigest>, isOrdered: Bool) {
    names.removeAll(keepingCapacity: true)
    for name in all where !names.contains(name) { names.append(name) }
    if !isOrdered { names.sort() }
    hasher.append(Int64(names.count))
    for name in names { append(name) }
  }

  private mutating func append(_ digest: KeyDigest) {
    hasher.append(Int64(bitPattern: digest.high))
    hasher.append(Int64(bitPattern: digest.low))
  }

  var digest: KeyDigest { hasher.digest }
}
