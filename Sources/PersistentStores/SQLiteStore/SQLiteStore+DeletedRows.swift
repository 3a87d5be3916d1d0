import ManagedObjectModel

/// Deletions of packed rows: ranges of keys, however the rows were read.
extension SQLiteStore {
  func delete(_ deleted: [DeletedRows], on connection: SQLiteConnection, faults: inout SaveFaults) throws {
    for parts in deleted.byEntity {
      let rows = try inOrder(parts)
      var start = 0
      while start < rows.count {
        let end = self.end(of: rows, from: start)
        let (part, first) = (rows[start..<end], rows[start])
        let isRange = part.count >= Self.consecutiveMin && rows[end - 1].key - first.key == Int64(part.count) - 1
        let keys = isRange ? [first.key, rows[end - 1].key] : part.map(\.key)
        let isDone = try deleteTogether(
          VersionedKeys(
            entity: parts[0].entity, version: first.version, count: part.count, isRange: isRange, keys: keys),
          connection)
        if !isDone {
          for row in part {
            try parts[Int(row.part)].rows.load()
            try delete(parts[Int(row.part)].deletion(row: Int(row.row)), on: connection, faults: &faults)
          }
        }
        start = end
      }
    }
  }

  private struct PackedRow {
    let key: Int64
    let version: Int64
    let part: Int32
    let row: Int32

    func precedes(_ other: PackedRow) -> Bool {
      version == other.version ? key < other.key : version < other.version
    }
  }

  /// The rows by version and key.
  private func inOrder(_ parts: [DeletedRows]) throws -> [PackedRow] {
    var rows: [PackedRow] = []
    rows.reserveCapacity(parts.liveCount)
    for (index, part) in parts.enumerated() {
      guard part.store === identity else { throw isForeign(part.id(row: 0)) }
      for row in part.liveRows {
        rows.append(
          PackedRow(key: part.keys[row], version: part.versions[row], part: Int32(index), row: Int32(row)))
      }
    }
    if !zip(rows, rows.dropFirst()).allSatisfy({ $0.precedes($1) }) { rows.sort { $0.precedes($1) } }
    return rows
  }

  /// The rows of a range that is not deleted completely are deleted one by one, so that a conflict names them.
  private static let rangeMax = 4096

  /// The end of the rows that one statement deletes: a range of keys, or as many as a list may have.
  private func end(of rows: [PackedRow], from start: Int) -> Int {
    let first = rows[start]
    var end = start + 1
    while end < rows.count, end - start < Self.rangeMax, rows[end].version == first.version,
      rows[end].key == rows[end - 1].key + 1
    { end += 1 }
    if end - start >= Self.consecutiveMin { return end }
    while end < rows.count, end - start < Self.deletedTogetherMax, rows[end].version == first.version { end += 1 }
    return end
  }
}
