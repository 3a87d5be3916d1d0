import Foundation
import ManagedObjectModel
import PersistentStores

/// Reads one state of a `BruteForceStore`.
final class BruteForceReader: RowReader {
  private let state: BruteForceStore.State
  private let identity: StoreIdentity
  private let ignoresOffset: Bool

  init(_ state: BruteForceStore.State, _ identity: StoreIdentity, ignoresOffset: Bool) {
    self.state = state
    self.identity = identity
    self.ignoresOffset = ignoresOffset
  }

  func rows(_ query: FetchQuery) throws -> [FetchedRow] {
    var rows = try matches(query)
    try query.sort(&rows)
    rows = slice(rows, query)
    switch query.values {
    case .all: break
    case .none: for index in rows.indices { rows[index].values = [] }
    case .attributes(let names):
      for index in rows.indices {
        for (slot, attribute) in rows[index].id.entity.attributeSlots.enumerated()
        where !names.contains(attribute.name) {
          rows[index].values[slot] = .null
        }
      }
    }
    return rows
  }

  func rows(for ids: [NSManagedObjectID]) throws -> [FetchedRow?] {
    ids.map { id in
      guard id.storeIdentity === identity, let key = id.storeKey else { return nil }
      return state.row(id.entity, key).map { fetched($0, key) }
    }
  }

  func count(_ query: FetchQuery) throws -> Int { slice(try matches(query), query).count }

  func related(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws -> [[NSManagedObjectID]] {
    ids.map { id in
      guard id.storeIdentity === identity, let key = id.storeKey else { return [] }
      let place = BruteForceLinks.Place(root: id.entity.rootEntity.name ?? "", key: key)
      return state.links.related(relationship, of: place).compactMap { other in
        state.tables[other.root]?[other.key].map {
          NSManagedObjectID(entity: $0.entity, store: identity, key: other.key)
        }
      }
    }
  }

  /// What a batch update gives to the attributes of a row, by name.
  func values(
    _ values: [Int: BatchValue], of row: FetchedRow, _ entity: NSEntityDescription
  ) throws -> [String: StoredValue] {
    var found: [String: StoredValue] = [:]
    for (slot, value) in values {
      let attribute = entity.attributeSlots[slot]
      switch value {
      case .value(let value): found[attribute.name] = value
      case .expression(let expression):
        let computed = try QueryExpression(expression, row.id.entity)
          .value(of: QueriedLinkedRow(row: row, reader: self))
        found[attribute.name] = try attribute.computed(computed, of: row.id)
      }
    }
    return found
  }

  /// All that the query finds, whatever its limit and order.
  private func matches(_ query: FetchQuery) throws -> [FetchedRow] {
    guard query.includes(identity) else { return [] }
    var result: [FetchedRow] = []
    for (key, row) in state.tables[query.entity.rootEntity.name ?? ""] ?? [:] {
      guard query.covers(row.entity), key > query.keyAbove ?? 0 else { continue }
      var fetched = fetched(row, key)
      guard try accepts(query, fetched) else { continue }
      fetched.extras = try query.keyPaths.map { try value($0, of: fetched) }
      result.append(fetched)
    }
    return result
  }

  private func accepts(_ query: FetchQuery, _ row: FetchedRow) throws -> Bool {
    try QueryFilter(query, row.id.entity).accepts(QueriedLinkedRow(row: row, reader: self))
  }

  private func slice<Element>(_ elements: [Element], _ query: FetchQuery) -> [Element] {
    let rest = ignoresOffset ? elements[...] : elements.dropFirst(query.offset)
    return Array(query.limit > 0 ? rest.prefix(query.limit) : rest)
  }

  private func fetched(_ row: BruteForceStore.Row, _ key: Int64) -> FetchedRow {
    FetchedRow(
      id: NSManagedObjectID(entity: row.entity, store: identity, key: key), version: row.version, values: row.values)
  }

  // MARK: Dictionaries

  func dictionaryCount(_ query: FetchQuery, _ shape: DictionaryShape) throws -> Int {
    try dictionaryRows(query, shape, stop: CancellationFlag()).count
  }

  func dictionaryRows(_ query: FetchQuery, _ shape: DictionaryShape, stop: CancellationFlag) throws -> [DictionaryRow] {
    if stop.isCancelled { throw CancellationFlag.error }
    var rows = try matches(query)
    guard !shape.hasExpressions else {
      return try DictionaryMerge(query, shape).results(of: rows) { QueriedLinkedRow(row: $0, reader: self) }
    }
    try query.sort(&rows)
    if !shape.groupNames.isEmpty {
      rows = try unique(rows) { row in try shape.groupNames.map { try value($0, of: row) } }
    }
    func shown(_ row: FetchedRow) throws -> [StoredValue] {
      try shape.columns.map { column in
        switch column {
        case .objectID: row.id.comparisonValue
        case .attribute: try value(column.name, of: row)
        case .expression: .null
        }
      }
    }
    if shape.isDistinct { rows = try unique(rows, by: shown) }
    if shape.joinsRows {
      // A result that stands for several rows has no key to be ordered by.
      try rows.sort { left, right in
        for key in query.sortKeys {
          let order = key.compare(try value(key.name, of: left), try value(key.name, of: right))
          if order != .orderedSame { return order == .orderedAscending }
        }
        for (one, other) in zip(try shown(left), try shown(right)) {
          let order = StoredValueOrder.compare(one, other)
          if order != 0 { return order < 0 }
        }
        return (left.id.storeKey ?? 0) < (right.id.storeKey ?? 0)
      }
    }
    return try slice(rows, query).map { row in
      DictionaryRow(
        id: shape.hasObjectID ? row.id : nil,
        values: zip(shape.columns, try shown(row)).map { $0.isObjectID ? .null : $1 })
    }
  }

  private func value(_ name: String, of row: FetchedRow) throws -> StoredValue {
    try value(name.split(separator: ".").map(String.init), of: row)
  }

  /// The value at the end of a path over to-one relationships.
  private func value(_ keyPath: [String], of row: FetchedRow) throws -> StoredValue {
    if keyPath.count == 1, let slot = row.id.entity.slot(named: keyPath[0]) { return row.values[slot] }
    return try value(at: AttributePath(keyPath, of: row.id.entity), of: row)
  }

  /// Null where the path is broken.
  fileprivate func value(at path: AttributePath, of row: FetchedRow) throws -> StoredValue {
    var row = row
    for relationship in path.relationships {
      guard let next = try rows(over: relationship, from: row).first else { return .null }
      row = next
    }
    switch path.end {
    case .attribute(let attribute, _): return row.id.entity.slot(named: attribute.name).map { row.values[$0] } ?? .null
    case .object: return row.id.comparisonValue
    case .entityName: return row.id.entity.name.map { .text($0) } ?? .null
    }
  }

  /// The rows at the other end of a relationship.
  fileprivate func rows(over relationship: NSRelationshipDescription, from row: FetchedRow) throws -> [FetchedRow] {
    try rows(for: try related(relationship, of: [row.id])[0]).compactMap(\.self)
  }

  private func unique(_ rows: [FetchedRow], by values: (FetchedRow) throws -> [StoredValue]) rethrows -> [FetchedRow] {
    var seen: [[StoredValue]] = []
    return try rows.filter { row in
      let own = try values(row)
      let isKnown = seen.contains { $0 == own }
      if !isKnown { seen.append(own) }
      return !isKnown
    }
  }
}

/// A walk over rows that were copied when it began.
final class BruteForceCursor: RowCursor {
  private var rows: ArraySlice<FetchedRow>
  private let identity: StoreIdentity
  private let rowsPerBatch: Int

  init(_ rows: [FetchedRow], _ identity: StoreIdentity, rowsPerBatch: Int) {
    self.rows = rows[...]
    self.identity = identity
    self.rowsPerBatch = rowsPerBatch
  }

  var store: StoreIdentity? { identity }

  func holdingState<Result>(_ body: () throws -> Result) throws -> Result { try body() }

  func next(into batch: inout ObjectBatch, numbers: inout RowNumbers) throws -> Bool {
    batch.removeAll()
    numbers.removeAll()
    guard let entity = rows.first?.id.entity else { return false }
    let run = rows.prefix(rowsPerBatch).prefix { $0.id.entity === entity }
    rows = rows.dropFirst(run.count)
    if batch.entity !== entity { batch = ObjectBatch(entity: entity) }
    for row in run {
      batch.appendRow()
      batch.setValues(row.values, row: batch.count - 1)
      batch.appendExtras(row.extras)
      numbers.append(key: row.id.storeKey ?? 0, version: row.version)
    }
    return true
  }

  func nextRows(_ stop: CancellationFlag) throws -> [FetchedRow] {
    if stop.isCancelled { throw CancellationFlag.error }
    defer { rows = rows.dropFirst(rowsPerBatch) }
    return Array(rows.prefix(rowsPerBatch))
  }

  func ids(_ keys: [Int64], of entity: NSEntityDescription) -> ObjectIDCollection {
    ObjectIDCollection(keys.map { NSManagedObjectID(entity: entity, store: identity, key: $0) })
  }
}

/// A row as a query sees it.
private struct QueriedLinkedRow: QueriedObject {
  let row: FetchedRow
  let reader: BruteForceReader

  var queriedEntity: NSEntityDescription { row.id.entity }

  func value(ofSlot slot: Int) throws -> StoredValue { row.values[slot] }

  func value(at path: AttributePath) throws -> StoredValue { try reader.value(at: path, of: row) }

  func elements(_ path: ElementPath) throws -> [QueriedLinkedRow] {
    var found = [row]
    for relationship in path.relationships {
      found = try found.flatMap { try reader.rows(over: relationship, from: $0) }
    }
    return found.map { QueriedLinkedRow(row: $0, reader: reader) }
  }
}

extension DictionaryShape {
  fileprivate var hasExpressions: Bool {
    !aggregates.isEmpty || having != nil
      || (columns + groups).contains { if case .expression = $0 { true } else { false } }
  }
}

extension NSAttributeDescription {
  /// A computed value as this attribute stores it.
  ///
  /// - Throws: `NSError` 134060 for a number that the attribute does not store.
  fileprivate func computed(_ value: StoredValue, of id: NSManagedObjectID) throws -> StoredValue {
    guard !value.isNull else { return .null }
    let converted = value.converted(to: attributeType)
    guard let wholeRange = attributeType.wholeRange else { return converted }
    guard case .integer(let number) = converted, wholeRange.contains(number), value.number == Double(number) else {
      throw typeMismatch(of: id)
    }
    return converted
  }
}
