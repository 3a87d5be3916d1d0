import OpenCoreData

/// The primary keys of the entries that inputs have inserted.
enum InsertedRanges {
  /// Ranges in order, with the inputs that inserted them.
  typealias Sorted = [(keys: ClosedRange<Int64>, input: Int64)]

  /// Those of an entity with the inputs that inserted them, in order; none where the ledger is of an older layout.
  static func all(
    of entity: String, _ tables: LedgerTables, in coordinator: NSPersistentStoreCoordinator
  ) throws -> Sorted {
    guard try tables.layout(in: coordinator) ?? .first != .first else { return [] }
    let rows = try coordinator.participantRows(
      "SELECT firstKey, lastKey, inputID FROM \(tables.inserted) "
        + "WHERE inputID IN (SELECT inputID FROM \(tables.input) WHERE entity = ?) ORDER BY firstKey", [entity])
    return rows.compactMap { row in
      guard let first = row[0] as? Int64, let last = row[1] as? Int64, let input = row[2] as? Int64, first <= last
      else { return nil }
      return (first...last, input)
    }
  }

  /// The input that inserted the entry with the key, by binary search.
  static func input(of key: Int64, in ranges: Sorted) -> Int64? {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].keys.upperBound < key { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].keys.contains(key) ? ranges[low].input : nil
  }
}
