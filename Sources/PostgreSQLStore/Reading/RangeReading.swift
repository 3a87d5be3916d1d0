import Foundation
import SystemSupport
import ManagedObjectModel
import PersistentStores

/// Reads the rows of a query in ranges of keys: threads with a connection each, which see the rows of one snapshot. A reader
/// that is ready takes the next range. At most two ranges for each reader are in memory.
// Unchecked: `condition` guards what changes; `ranges` and `snapshot` are used under `cutting` only.
final class RangeReading: @unchecked Sendable {
  /// Rows of one entity.
  struct Part {
    var batch: ObjectBatch
    var numbers = RowNumbers(wantsVersions: true)
  }

  private let query: FetchQuery
  private let rowsPerBatch: Int
  private let rangesMax: Int
  private let begin: @Sendable (SharedSnapshot) throws -> PostgreSQLReader
  private let end: @Sendable (PostgreSQLConnection) -> Void
  /// Nil when the readers have ended: others see it only as long as its own transaction is open.
  private var snapshot: ServerSnapshot?
  private let shared: SharedSnapshot
  private let cutting = NSLock()
  private var ranges: KeyRanges

  private let condition = NSCondition()
  /// Ranges that were read and not delivered yet, by their number.
  private var waiting: [Int: [Part]] = [:]
  private var takenCount = 0
  private var deliveredCount = 0
  /// Whether all ranges were taken.
  private var isAtEnd = false
  private var isStopped = false
  private var failure: (any Error)?
  private var readersLeft: Int
  /// Batches whose memory can be used again.
  private var spare: [ObjectBatch] = []

  /// - Parameters:
  ///   - ranges: Of the keys in the table of the query's entity.
  ///   - begin: Gives a reader on a connection of its own, in a transaction that sees the snapshot.
  ///   - end: Takes its connection back.
  /// - Throws: `NSError` with `isOfUnsharedSnapshot` if other connections can't see the snapshot.
  init(
    _ query: FetchQuery, _ ranges: KeyRanges, rowsPerBatch: Int, readers: Int, in snapshot: ServerSnapshot,
    begin: @escaping @Sendable (SharedSnapshot) throws -> PostgreSQLReader,
    end: @escaping @Sendable (PostgreSQLConnection) -> Void
  ) throws {
    self.query = query
    self.rowsPerBatch = rowsPerBatch
    self.ranges = ranges
    self.snapshot = snapshot
    (self.begin, self.end) = (begin, end)
    shared = try snapshot.share()
    rangesMax = 2 * readers
    readersLeft = readers
    for number in 1...readers { Thread.begin("store reader \(number)") { [self] in readRanges() } }
  }

  // MARK: For the cursor

  /// The rows of the next range, possibly none; nil at the end.
  ///
  /// - Throws: The error of any reader, as soon as it is known.
  func next() throws -> [Part]? {
    try condition.withLock {
      while true {
        if let failure { throw failure }
        if let parts = waiting.removeValue(forKey: deliveredCount) {
          deliveredCount += 1
          condition.broadcast()
          return parts
        }
        if isAtEnd, deliveredCount == takenCount { return nil }
        condition.wait()
      }
    }
  }

  /// Takes a batch that is not used any more.
  func reuse(_ batch: consuming ObjectBatch) {
    condition.lock()
    spare.append(batch)
    condition.unlock()
  }

  /// Lets the readers stop after what the server is sending them, and waits for that.
  func stop() {
    condition.withLock {
      isStopped = true
      condition.broadcast()
      while readersLeft > 0 { condition.wait() }
    }
    cutting.withLock { snapshot = nil }
  }

  // MARK: The readers

  private func readRanges() {
    do {
      let reader = try begin(shared)
      defer { end(reader.connection) }
      while let (number, range) = try takeRange() {
        let parts = try read(range, reader)
        condition.withLock {
          waiting[number] = parts
          condition.broadcast()
        }
      }
    } catch {
      condition.withLock {
        failure = failure ?? error
        isStopped = true
      }
    }
    condition.withLock {
      readersLeft -= 1
      condition.broadcast()
    }
  }

  /// The next range and its number, when there is room for it; nil at the end.
  private func takeRange() throws -> (number: Int, range: KeyRange)? {
    try cutting.withLock {
      let goesOn = condition.withLock {
        while !isStopped, takenCount - deliveredCount >= rangesMax { condition.wait() }
        return !isStopped
      }
      guard goesOn, let snapshot else { return nil }
      let range = try snapshot.access { try ranges.next($0) }
      return condition.withLock {
        guard let range else {
          isAtEnd = true
          condition.broadcast()
          return nil
        }
        takenCount += 1
        return (takenCount - 1, range)
      }
    }
  }

  private func read(_ range: KeyRange, _ reader: PostgreSQLReader) throws -> [Part] {
    let cursor = try ServerCursor(
      reader, query, name: "ocd_range", rowsPerBatch: rowsPerBatch, range: range, lock: nil, end: nil)
    var parts: [Part] = []
    while true {
      guard var part = emptyPart() else { return parts }
      guard try cursor.next(into: &part.batch, numbers: &part.numbers) else {
        reuse(part.batch)
        return parts
      }
      parts.append(part)
    }
  }

  /// Nil after `stop`, and for an abstract entity, which has no rows.
  private func emptyPart() -> Part? {
    let known = condition.withLock { isStopped ? nil : spare.popLast() }
    if let known { return Part(batch: known) }
    guard !condition.withLock({ isStopped }), let entity = query.entity.withDescendants.first(where: { !$0.isAbstract })
    else { return nil }
    return Part(batch: ObjectBatch(entity: entity, rowCapacity: query.spansSubentities ? 0 : rowsPerBatch))
  }
}
