import OpenCoreData

/// What becomes of the records of one chunk: the store is asked for nothing else.
struct ChunkPlan {
  /// A stored entry that takes the values of a record.
  struct Update {
    /// The entry's key in the store.
    let storeKey: Int64
    /// The record's row in the chunk's batch.
    let row: Int
  }

  /// The entries to insert.
  var inserts: ObjectBatch
  /// For each of them the row of the chunk's batch that it came from.
  var insertedRows: [Int] = []
  var updates: [Update] = []
  /// Attributes that an update changes.
  var updatedSlots: [Int] = []
  /// Records that changed an entry, stored or of this chunk.
  var updated = 0
  var unchanged = 0
  var duplicate = 0
  /// Indices in the block of records that can't be imported, in order.
  var rejected: [Int] = []
  /// In order of the records.
  var issues: [RecordIssue] = []

  /// A chunk in which no key is looked at and nothing was refused.
  init(inserting chunk: ParsedChunk) {
    inserts = chunk.batch
    insertedRows = Array(0..<chunk.batch.count)
    rejected = chunk.rejected
    issues = chunk.issues
    if issues.count > 1 { sort() }
  }

  /// A chunk in which no key is looked at, without the rows that are known not to be storable.
  init(inserting chunk: ParsedChunk, without refused: [Int: RecordIssue]) {
    self.init(inserting: chunk)
    guard !refused.isEmpty else { return }
    inserts.removeRows(Set(refused.keys))
    insertedRows.removeAll { refused[$0] != nil }
    rejected += refused.keys.map { Int(chunk.recordOfRow[$0]) }
    issues += refused.values
    sort()
  }

  var counts: RunCounts {
    RunCounts(
      read: inserts.count + updated + unchanged + duplicate + rejected.count, inserted: inserts.count,
      updated: updated, unchanged: unchanged, duplicate: duplicate, rejected: rejected.count)
  }

  /// A record without a reason for its rejection would be lost without anybody noticing: a fault of this program.
  func checkReasons(of chunk: ParsedChunk) throws(RunFailure) {
    if rejected.isEmpty { return }
    let explained = Set(issues.lazy.filter { $0.severity == .error }.map(\.record))
    for index in rejected where !explained.contains(UInt64(chunk.block.number(ofRecordAt: index))) {
      throw RunFailure(
        code: nil, exitCode: .software,
        message: "record \(chunk.block.number(ofRecordAt: index)) in line \(chunk.block.records[index].line) was "
          + "rejected without a reason. This is a fault of the program: report it with that line")
    }
  }

  /// Issues and rejects in the order of the input: those of the parser and those of later checks were found apart.
  mutating func sort() {
    rejected.sort()
    issues.sort { ($0.record, $0.field ?? 0) < ($1.record, $1.field ?? 0) }
  }
}

extension InputTally {
  mutating func add(_ plan: ChunkPlan, of chunk: ParsedChunk) {
    profile(plan.inserts)
    if !plan.updates.isEmpty { profile(chunk.batch, rows: plan.updates.map(\.row)) }
    add(plan.counts, issues: plan.issues)
  }
}
