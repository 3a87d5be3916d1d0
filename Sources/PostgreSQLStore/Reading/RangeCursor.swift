import ManagedObjectModel
import PersistentStores

/// Walks over the rows of a query by key, while several connections read the ranges that follow.
final class RangeCursor: RowCursor {
  private let reading: RangeReading
  private let identity: StoreIdentity
  private let extrasCount: Int
  private var parts: ArraySlice<RangeReading.Part> = []
  private var rowsLeft: Int

  init(_ reading: RangeReading, _ query: FetchQuery, of identity: StoreIdentity) {
    self.reading = reading
    self.identity = identity
    extrasCount = query.keyPaths.count
    rowsLeft = query.limit > 0 ? query.limit : .max
  }

  deinit { reading.stop() }

  var store: StoreIdentity? { identity }

  func ids(_ keys: [Int64], of entity: NSEntityDescription) -> ObjectIDCollection {
    ObjectIDCollection(entity: entity, store: identity, keys: keys)
  }

  func holdingState<Result>(_ body: () throws -> Result) throws -> Result { try body() }

  func next(into batch: inout ObjectBatch, numbers: inout RowNumbers) throws -> Bool {
    guard var part = try nextPart() else {
      batch.removeAll()
      numbers.removeAll()
      return false
    }
    swap(&batch, &part.batch)
    numbers = part.numbers
    reading.reuse(part.batch)
    return true
  }

  func nextRows(_ stop: CancellationFlag) throws -> [FetchedRow] {
    if stop.isCancelled { throw CancellationFlag.error }
    guard let part = try nextPart() else { return [] }
    let ids = ids(part.numbers.keys, of: part.batch.entity)
    return ids.indices.map { row in
      FetchedRow(
        id: ids[row], version: part.numbers.versions[row], values: part.batch.values(row: row),
        extras: (0..<extrasCount).map { part.batch.extraValue(row: row, $0) })
    }
  }

  /// The next rows, cut where the query's limit is reached; nil at the end.
  private func nextPart() throws -> RangeReading.Part? {
    guard rowsLeft > 0 else { return nil }
    while parts.isEmpty {
      guard let next = try reading.next() else { return nil }
      parts = next[...]
    }
    guard var part = parts.popFirst() else { return nil }
    part.batch.truncate(to: rowsLeft)
    part.numbers.truncate(to: rowsLeft)
    rowsLeft -= part.numbers.keys.count
    return part
  }
}
