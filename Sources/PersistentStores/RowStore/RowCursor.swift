import ManagedObjectModel

/// Iterates over the rows of a query in batches. It belongs to one thread at a time.
package protocol RowCursor: AnyObject {
  /// Runs `body`, during which all calls of the cursor read the same state of the rows. A cursor that shares a
  /// connection with a writer blocks the writer.
  func holdingState<Result>(_ body: () throws -> Result) throws -> Result

  /// Replaces the contents of `batch` with the next rows, which have one entity. False at the end.
  ///
  /// - Parameter numbers: The numbers of the rows, in order.
  func next(into batch: inout ObjectBatch, numbers: inout RowNumbers) throws -> Bool

  /// The store of all rows; nil if there are several stores.
  var store: StoreIdentity? { get }

  /// The IDs of the rows that `next` returned last, whose keys are `keys`.
  func ids(_ keys: [Int64], of entity: NSEntityDescription) -> ObjectIDCollection

  /// The next rows as single values; empty at the end.
  func nextRows(_ stop: CancellationFlag) throws -> [FetchedRow]
}

/// The data that a store keeps of rows in addition to their values.
package struct RowNumbers: Sendable {
  package private(set) var keys: [Int64] = []
  /// `Z_OPT`, if requested.
  package private(set) var versions: [Int64] = []
  /// The keys of the objects that the rows belong to, if they are read by these.
  package private(set) var owners: [Int64] = []
  package let wantsVersions: Bool

  package init(wantsVersions: Bool = false) { self.wantsVersions = wantsVersions }

  package mutating func removeAll() {
    keys.removeAll(keepingCapacity: true)
    versions.removeAll(keepingCapacity: true)
    owners.removeAll(keepingCapacity: true)
  }

  @inline(__always)
  package mutating func append(key: Int64, version: @autoclosure () -> Int64) {
    keys.append(key)
    if wantsVersions { versions.append(version()) }
  }

  /// Removes the numbers behind the first `count`.
  package mutating func truncate(to count: Int) {
    keys.removeLast(max(0, keys.count - count))
    versions.removeLast(max(0, versions.count - count))
    owners.removeLast(max(0, owners.count - count))
  }

  package mutating func append(owner: Int64) { owners.append(owner) }
}

/// The rows of several stores: store after store, or merged by the sort keys. It holds one batch per store.
package final class MergedCursor: RowCursor {
  private let query: FetchQuery
  private let rowsPerBatch: Int
  private var sources: [Source]
  private var rowsToSkip: Int
  private var rowsLeft: Int
  private var waiting: ArraySlice<FetchedRow> = []
  private var idsOfLast: [NSManagedObjectID] = []

  /// - Parameter cursors: Over the rows of `query.forEachStore`, in the order of the stores.
  package init(_ cursors: [any RowCursor], _ query: FetchQuery, rowsPerBatch: Int) {
    self.query = query
    self.rowsPerBatch = rowsPerBatch
    sources = cursors.map(Source.init)
    rowsToSkip = query.offset
    rowsLeft = query.limit > 0 ? query.limit : .max
  }

  package var store: StoreIdentity? { nil }

  package func holdingState<Result>(_ body: () throws -> Result) throws -> Result {
    try holdingState(sources[...], body)
  }

  private func holdingState<Result>(_ rest: ArraySlice<Source>, _ body: () throws -> Result) throws -> Result {
    guard let first = rest.first else { return try body() }
    return try first.cursor.holdingState { try holdingState(rest.dropFirst(), body) }
  }

  package func next(into batch: inout ObjectBatch, numbers: inout RowNumbers) throws -> Bool {
    batch.removeAll()
    numbers.removeAll()
    if waiting.isEmpty { waiting = try nextRows(CancellationFlag())[...] }
    guard let entity = waiting.first?.id.entity else { return false }
    let rows = waiting.prefix { $0.id.entity === entity }
    waiting = waiting.dropFirst(rows.count)
    if batch.entity !== entity { batch = ObjectBatch(entity: entity) }
    for row in rows {
      batch.appendRow()
      batch.setValues(row.values, row: batch.count - 1)
      batch.appendExtras(row.extras)
      numbers.append(key: row.id.storeKey ?? 0, version: row.version)
    }
    idsOfLast = rows.map(\.id)
    return true
  }

  package func ids(_ keys: [Int64], of entity: NSEntityDescription) -> ObjectIDCollection {
    ObjectIDCollection(idsOfLast)
  }

  package func nextRows(_ stop: CancellationFlag) throws -> [FetchedRow] {
    var rows: [FetchedRow] = []
    while rows.count < rowsPerBatch, rowsLeft > 0, let index = try firstSource(stop) {
      let row = sources[index].take()
      if rowsToSkip > 0 {
        rowsToSkip -= 1
      } else {
        rows.append(row)
        rowsLeft -= 1
      }
    }
    if query.values == .none { for index in rows.indices { rows[index].values = [] } }
    return rows
  }

  /// The source of the next row: the first one among equals.
  private func firstSource(_ stop: CancellationFlag) throws -> Int? {
    var best: Int?
    for index in sources.indices {
      guard try sources[index].hasRow(query, stop) else { continue }
      guard let known = best else {
        best = index
        // Without a sort order the stores follow each other.
        if query.sortKeys.isEmpty { break }
        continue
      }
      if query.sortKeys.orders(sources[index].sortValues, before: sources[known].sortValues) { best = index }
    }
    return best
  }

  /// One store's batch, with the row in it that is next.
  private struct Source {
    let cursor: any RowCursor
    private var rows: [FetchedRow] = []
    private var next = 0
    private var isAtEnd = false
    /// The sort values of the next row.
    private(set) var sortValues: [StoredValue] = []

    init(_ cursor: any RowCursor) { self.cursor = cursor }

    mutating func hasRow(_ query: FetchQuery, _ stop: CancellationFlag) throws -> Bool {
      guard !isAtEnd else { return false }
      if next == rows.count {
        rows = try cursor.nextRows(stop)
        next = 0
        isAtEnd = rows.isEmpty
      }
      if !isAtEnd, sortValues.isEmpty { sortValues = try query.sortValues(rows[next]) }
      return !isAtEnd
    }

    mutating func take() -> FetchedRow {
      next += 1
      sortValues = []
      return rows[next - 1]
    }
  }
}
