import ManagedObjectModel

/// Deletions of packed rows: ranges of keys, however the rows were read.
extension SQLiteStore {
  func delete(_ deleted: [DeletedRows], on connection: SQLiteConnection, faults: inout SaveFaults) throws {
    for parts in deleted.byEntity {
      for part in parts where part.store !== identity { throw isForeign(part.id(row: 0)) }
      for (version, keys) in Self.keysByVersion(of: parts) {
        var (together, refused) = (
          KeysTogether(rangeMin: Self.consecutiveMin, listMax: Self.deletedTogetherMax), [Int64]()
        )
        func delete(_ part: KeysTogether.Part?) throws {
          guard let part else { return }
          let rows = VersionedKeys(
            entity: parts[0].entity, version: version, count: part.count, isRange: part.isRange, keys: part.bounds)
          if try !deleteTogether(rows, connection) { refused += part.keys }
        }
        try keys.forEachRange { try together.append($0, delete) }
        try delete(together.takeList())
        try deleteSingly(Set(refused), version: version, of: parts, on: connection, faults: &faults)
      }
    }
  }

  /// The keys of the rows, by version. In this order, each page of the table is changed at one time.
  private static func keysByVersion(of parts: [DeletedRows]) -> [(version: Int64, keys: KeySet)] {
    var sets: [Int64: KeySet] = [:]
    for part in parts {
      let (keys, versions) = (part.keys.array, part.versions.array)
      var run: (version: Int64, keys: ClosedRange<Int64>)?
      for row in part.liveRows {
        let (key, version) = (keys[row], versions[row])
        if let known = run, known.version == version, known.keys.upperBound < key, known.keys.upperBound == key &- 1 {
          run?.keys = known.keys.lowerBound...key
          continue
        }
        if let run { sets[run.version, default: KeySet()].insert(run.keys) }
        run = (version, key...key)
      }
      if let run { sets[run.version, default: KeySet()].insert(run.keys) }
    }
    return sets.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Deletes rows one by one, so that a conflict names them.
  private func deleteSingly(
    _ wanted: Set<Int64>, version: Int64, of parts: [DeletedRows], on connection: SQLiteConnection,
    faults: inout SaveFaults
  ) throws {
    if wanted.isEmpty { return }
    var found: [(part: DeletedRows, row: Int, key: Int64)] = []
    for part in parts {
      let (keys, versions) = (part.keys.array, part.versions.array)
      for row in part.liveRows where versions[row] == version && wanted.contains(keys[row]) {
        found.append((part, row, keys[row]))
      }
    }
    for (part, row, _) in found.sorted(by: { $0.key < $1.key }) {
      try part.rows.load()
      try delete(part.deletion(row: row), on: connection, faults: &faults)
    }
  }
}

/// Gathers keys, which come ascending, for as few statements as possible: ranges of keys, and lists of others.
private struct KeysTogether {
  /// What one statement deletes.
  struct Part {
    /// All keys; of a range the first and the last.
    let bounds: [Int64]
    let isRange: Bool

    var count: Int { isRange ? Int(bounds[1] - bounds[0]) + 1 : bounds.count }
    var keys: [Int64] { isRange ? Array(bounds[0]...bounds[1]) : bounds }
  }

  /// The rows of a range that is not deleted completely are deleted one by one.
  private static let rangeMax: Int64 = 4096

  /// So many keys make a range.
  let rangeMin: Int
  /// So many keys at most make a list.
  let listMax: Int
  private var list: [Int64] = []

  init(rangeMin: Int, listMax: Int) { (self.rangeMin, self.listMax) = (rangeMin, listMax) }

  mutating func append(_ keys: ClosedRange<Int64>, _ body: (Part?) throws -> Void) rethrows {
    if keys.count >= rangeMin {
      try body(takeList())
      var first = keys.lowerBound
      while true {
        let last = first + min(Self.rangeMax - 1, keys.upperBound - first)
        try body(Part(bounds: [first, last], isRange: true))
        if last == keys.upperBound { return }
        first = last + 1
      }
    }
    if list.count + keys.count > listMax { try body(takeList()) }
    list.append(contentsOf: keys)
  }

  /// The list of keys that were gathered; nil if there are none.
  mutating func takeList() -> Part? {
    defer { list = [] }
    return list.isEmpty ? nil : Part(bounds: list, isRange: false)
  }
}
