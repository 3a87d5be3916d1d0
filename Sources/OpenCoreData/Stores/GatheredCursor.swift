import Foundation

/// A walk over rows that were all read when it began.
final class GatheredCursor: RowCursor {
  private var rest: ArraySlice<FetchedRow>
  private let rowsPerBatch: Int
  let store: StoreIdentity?

  init(_ rows: [FetchedRow], of store: StoreIdentity, rowsPerBatch: Int) {
    rest = rows[...]
    self.store = store
    self.rowsPerBatch = rowsPerBatch
  }

  func holdingState<Result>(_ body: () throws -> Result) throws -> Result { try body() }

  func next(into batch: inout ObjectBatch, numbers: inout RowNumbers) throws -> Bool {
    batch.removeAll()
    numbers.removeAll()
    guard let entity = rest.first?.id.entity else { return false }
    if batch.entity !== entity { batch = ObjectBatch(entity: entity) }
    for row in rest.prefix(rowsPerBatch).prefix(while: { $0.id.entity === entity }) {
      batch.appendRow()
      batch.setValues(row.values, row: batch.count - 1)
      batch.appendExtras(row.extras)
      numbers.append(key: row.id.storeKey ?? 0, version: row.version)
    }
    rest = rest.dropFirst(batch.count)
    return true
  }

  func ids(_ keys: [Int64], of entity: NSEntityDescription) -> ObjectIDCollection {
    ObjectIDCollection(keys.compactMap { key in store.map { NSManagedObjectID(entity: entity, store: $0, key: key) } })
  }

  func nextRows(_ stop: CancellationFlag) throws -> [FetchedRow] {
    let rows = Array(rest.prefix(rowsPerBatch))
    rest = rest.dropFirst(rows.count)
    return rows
  }
}
