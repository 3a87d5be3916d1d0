import ManagedObjectModel

/// One query to several stores.
extension FetchQuery {
  /// The query for each store: its first rows up to the limit plus offset, including the sort values.
  package var forEachStore: FetchQuery { widened(by: 0) }

  /// Merges the results of `forEachStore`: one after the other, or by the sort keys with equal rows in the order of the
  /// stores.
  package func merge(_ parts: [[FetchedRow]]) throws -> [FetchedRow] {
    var rows: [FetchedRow]
    if sortKeys.isEmpty {
      rows = slice(Array(parts.joined()))
    } else {
      var merged: [SortedRow] = []
      for part in parts { merged = merge(merged, try part.map(sorted)) }
      rows = slice(merged.map(\.row))
    }
    if values == .none { for index in rows.indices { rows[index].values = [] } }
    return rows
  }

  /// Applies `limit` and `offset` to a number of results.
  package func slice(count: Int) -> Int {
    let rest = max(0, count - offset)
    return limit > 0 ? min(limit, rest) : rest
  }

  package func slice<Element>(_ results: [Element]) -> [Element] {
    Array(results.dropFirst(offset).prefix(limit > 0 ? limit : results.count))
  }

  /// A row's values by sort key.
  func sortValues(_ row: FetchedRow) throws -> [StoredValue] {
    try sortKeys.map { try value($0.keyPath, of: row) }
  }

  private struct SortedRow {
    let row: FetchedRow
    let values: [StoredValue]
  }

  private func sorted(_ row: FetchedRow) throws -> SortedRow { SortedRow(row: row, values: try sortValues(row)) }

  private func merge(_ left: [SortedRow], _ right: [SortedRow]) -> [SortedRow] {
    var result: [SortedRow] = []
    result.reserveCapacity(left.count + right.count)
    var next = 0
    for row in right {
      while next < left.count, !sortKeys.orders(row.values, before: left[next].values) {
        result.append(left[next])
        next += 1
      }
      result.append(row)
    }
    return result + left[next...]
  }
}

extension [SortKey] {
  /// Whether a row with the values `left`, by sort key, must come before one with `right`.
  func orders(_ left: [StoredValue], before right: [StoredValue]) -> Bool {
    for (position, key) in enumerated() {
      let order = key.compare(left[position], right[position])
      if order != .orderedSame { return order == .orderedAscending }
    }
    return false
  }
}
