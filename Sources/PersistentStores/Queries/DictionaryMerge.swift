import ManagedObjectModel

/// Merges the dictionaries of several stores with the semantics of SQL within one store.
package struct DictionaryMerge {
  private let query: FetchQuery
  private let shape: DictionaryShape
  /// The query for each store: it includes the columns that results are sorted and grouped by.
  package let partShape: DictionaryShape
  package let partQuery: FetchQuery

  package init(_ query: FetchQuery, _ shape: DictionaryShape) {
    self.query = query
    self.shape = shape
    var part = shape
    for name in query.sortKeys.map(\.name) + shape.groupNames where !part.columns.contains(where: { $0.name == name }) {
      let path = name.split(separator: ".").map(String.init)
      guard case .attribute(let attribute, _)? = try? AttributePath(path, of: query.entity).end else { continue }
      part.columns.append(.attribute(attribute, path: path))
    }
    partShape = part
    var partQuery = query.forEachStore
    // Results of two stores may belong to one group.
    if shape.joinsRows { partQuery.limit = 0 }
    self.partQuery = partQuery
  }

  package func merge(_ parts: [[DictionaryRow]]) -> [DictionaryRow] {
    let columns = query.sortKeys.map { key in partShape.columns.firstIndex { $0.name == key.name } }
    let keyed = parts.joined().enumerated().map { index, row in
      (index: index, row: row, values: columns.map { column in column.map { row.values[$0] } ?? .null })
    }
    let sorted = keyed.sorted { left, right in
      if query.sortKeys.orders(left.values, before: right.values) { return true }
      return !query.sortKeys.orders(right.values, before: left.values) && left.index < right.index
    }
    return query.slice(joined(sorted.map(\.row))).map { row in
      DictionaryRow(id: row.id, values: Array(row.values.prefix(shape.columns.count)))
    }
  }

  private struct Identity: Hashable {
    let id: ObjectKey?
    let values: [StoredValue]
  }

  /// One result per group; equal results are merged if they are to be distinct.
  private func joined(_ rows: [DictionaryRow]) -> [DictionaryRow] {
    var result = rows
    if !shape.groupNames.isEmpty {
      let columns = shape.groupNames.compactMap { name in partShape.columns.firstIndex { $0.name == name } }
      result = Self.unique(result) { row in Identity(id: nil, values: columns.map { row.values[$0] }) }
    }
    if shape.isDistinct {
      let count = shape.columns.count
      result = Self.unique(result) { Identity(id: $0.id?.key, values: Array($0.values.prefix(count))) }
    }
    return result
  }

  private static func unique(_ rows: [DictionaryRow], by identity: (DictionaryRow) -> Identity) -> [DictionaryRow] {
    var seen: Set<Identity> = []
    return rows.filter { seen.insert(identity($0)).inserted }
  }
}
