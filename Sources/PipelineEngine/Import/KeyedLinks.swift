import OpenCoreData
import PersistentStores

/// What entries of a plan with a key lead to, as a part of the values that its workers compare.
struct KeyedLinks {
  private let keys: KeyRules
  /// Indices of the links that the input fills.
  private let filled: [Int]

  init(_ keys: KeyRules, _ mapping: HeaderMapping) { self.init(keys, keys.digester(mapping).sharedLinks) }

  init(_ keys: KeyRules, _ filled: [Int]) { (self.keys, self.filled) = (keys, filled) }

  /// Whether some relationships have what the first record says.
  var hasFirst: Bool { filled.contains { !keys.updates(keys.links[$0]) } }

  private var updated: [EntityLink] { filled.map { keys.links[$0] }.filter(keys.updates) }

  /// Digests of the updated values of a chunk's rows: of its attributes, and of what it leads to.
  func values(of chunk: ParsedChunk, _ resolved: ResolvedLinks) -> [UInt64] {
    let links = resolved.links.filter { keys.updates($0.link) }
    return (0..<chunk.batch.count).map { row in
      let own = chunk.digests.values.isEmpty ? 0 : chunk.digests.values[row]
      if links.isEmpty { return own }
      return Self.digest(own, links.map { ($0.link, resolved.objects(ofRow: row, $0)) })
    }
  }

  /// Adds what stored entries lead to to the digests of their updated values.
  func add(to digests: inout RowDigests, of entries: [NSManagedObjectID], in context: NSManagedObjectContext) throws {
    let links = updated
    if links.isEmpty || entries.isEmpty { return }
    let related = try links.map { try context.related($0.relationship, of: entries) }
    digests.values = entries.indices.map { row in
      let own = digests.values.isEmpty ? 0 : digests.values[row]
      return Self.digest(own, zip(links, related).map { ($0, $1[row].compactMap(\.storeKey)) })
    }
  }

  private static func digest(_ own: UInt64, _ links: [(link: EntityLink, objects: [Int64])]) -> UInt64 {
    var hasher = KeyHasher()
    hasher.begin()
    hasher.append(Int64(bitPattern: own))
    for (link, objects) in links {
      hasher.append(Int64(objects.count))
      for object in link.relationship.isOrdered ? objects : objects.sorted() { hasher.append(object) }
    }
    return hasher.digest.low
  }

  /// What a record leads to over the relationships that updates change, or over the others.
  func tally(ofRow row: Int, _ resolved: ResolvedLinks, updated isUpdated: Bool) -> LinkTally {
    var tally = LinkTally()
    for link in resolved.links where keys.updates(link.link) == isUpdated {
      tally.add(
        link: link.values.link, linked: resolved.objects(ofRow: row, link).count,
        leftOut: resolved.missingCount(row, link))
    }
    return tally
  }
}

extension ResolvedLinks {
  /// Numbers of the objects that a row of the chunk leads to, each once: the primary keys of those that the store has.
  fileprivate func objects(ofRow row: Int, _ link: Link) -> [Int64] {
    var found: [Int64] = []
    for element in link.values.elements(ofRow: row) where link.targetOfRow[element] >= 0 {
      let number: Int64
      switch targets[Int(link.targetOfRow[element])] {
      case .stored(let id): number = id.storeKey ?? 0
      case .new(let digest): number = Int64(bitPattern: digest.low)
      case .missing, .ambiguous: continue
      }
      if !found.contains(number) { found.append(number) }
    }
    return found
  }
}

extension LinkTally {
  /// By the entities of the objects.
  func counts(of links: [EntityLink]) -> [LinkCounts] {
    LinkCounts.sum(
      [],
      counts.compactMap { link, count in
        guard links.indices.contains(link) else { return nil }
        return LinkCounts(entity: links[link].destinationName, linked: count.linked, leftOut: count.leftOut)
      })
  }
}
