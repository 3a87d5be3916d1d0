import PersistentStores

/// What happens to the records of one chunk; the only changes to the store.
struct ChunkPlan {
  /// A stored entry that is updated from a record.
  struct Update {
    /// The entry's primary key in the store.
    let storeKey: Int64
    /// The record's row in the chunk's batch.
    let row: Int
    /// The attributes that the record states, of those that an update may change; nil for all of them.
    var stated: [Int]?
    /// Whether it counts as updated only if the entry has other values, which digests do not show.
    var isUncertain = false
    /// The relationships that it sets.
    var links = ChangedLinks.updated
  }

  /// Some of the relationships of an entry.
  struct ChangedLinks: OptionSet {
    let rawValue: Int
    /// Those that an update changes.
    static let updated = ChangedLinks(rawValue: 1)
    /// The others, which have what the first record says. Only workers of a plan may come to that later.
    static let first = ChangedLinks(rawValue: 2)
  }

  /// The entries to insert.
  var inserts: ObjectBatch
  /// Where the entries lead, and what is created for that.
  var links = PlannedLinks()
  /// What it changes of the keys that the workers of a plan compare; nil where a single run compares keys, or none does.
  var claims: KeyClaims?
  /// What it changes of what the workers of a plan know of related objects; nil where a single run imports, or no column
  /// leads anywhere.
  var linkClaims: LinkClaims?
  /// By row of an inserted entry the rows of later records whose values it takes.
  var laterRows: [Int: [Int]] = [:]
  /// For each of them its row in the chunk's batch.
  var insertedRows: [Int] = []
  var updates: [Update] = []
  /// Entries that have the values of records already.
  var unchangedUpdates: [Update] = []
  /// Rows that equal an entry of the store as a whole.
  var matchedRows: [Int] = []
  /// Rows that say what an earlier record with their key has said, where they also say where that leads.
  var repeatedRows: [Int] = []
  /// Rows of a shard whose entries have the values of other records. What they name is created as if they had come first.
  var passedRows: [Int] = []
  /// Attributes that an update may change.
  var updatedSlots: [Int] = []
  /// Number of records that changed an entry, of the store or of this chunk.
  var updated = 0
  var unchanged = 0
  var duplicate = 0
  /// Number of records with the key of an earlier record of the input, unless they were rejected.
  var repeated = 0
  /// Indices in the block of records that can't be imported, in order.
  var rejected: [Int] = []
  /// In the order of the records.
  var issues: PackedIssues

  /// For a chunk whose keys are not compared, and where nothing was refused.
  init(inserting chunk: ParsedChunk) {
    inserts = chunk.batch
    insertedRows = Array(0..<chunk.batch.count)
    rejected = chunk.rejected
    issues = chunk.issues
    sort()
  }

  /// For a chunk whose keys are not compared, without the rows that are known not to be storable.
  init(inserting chunk: ParsedChunk, without refused: [Int: RecordIssue]) {
    self.init(inserting: chunk)
    guard !refused.isEmpty else { return }
    inserts.removeRows(Set(refused.keys))
    insertedRows.removeAll { refused[$0] != nil }
    rejected += refused.keys.map { Int(chunk.recordOfRow[$0]) }
    issues.append(contentsOf: refused.values)
    sort()
  }

  var counts: RunCounts {
    RunCounts(
      read: inserts.count + updated + unchanged + duplicate + repeated + rejected.count, inserted: inserts.count,
      updated: updated, unchanged: unchanged, duplicate: duplicate, repeated: repeated, rejected: rejected.count)
  }

  /// Throws if a record is rejected without a reason: it would be missing without a report, by an error of the program.
  func checkReasons(of chunk: ParsedChunk) throws(RunFailure) {
    // Both lists are in the order of the records.
    var next = 0
    for index in rejected {
      let number = UInt64(chunk.block.number(ofRecordAt: index))
      while next < issues.count, issues.position(at: next).record < number || issues.severity(at: next) != .error {
        next += 1
      }
      if next < issues.count, issues.position(at: next).record == number { continue }
      throw RunFailure(
        code: nil, exitCode: .software,
        message: "record \(chunk.block.number(ofRecordAt: index)) in line \(chunk.block.records[index].line) was "
          + "rejected without a reason. This is an error of the program: report it with that line")
    }
  }

  /// Sorts issues and rejects in the order of the input: the parser and later checks add theirs separately.
  mutating func sort() {
    rejected.sort()
    issues.sort()
  }
}

extension InputResults {
  mutating func add(_ plan: ChunkPlan, of chunk: ParsedChunk) {
    profile(plan.inserts)
    if !plan.updates.isEmpty { profile(chunk.batch, rows: plan.updates.map(\.row)) }
    count(chunk.batch, without: plan.rejected.count == chunk.rejected.count ? [] : chunk.rows(ofRecords: plan.rejected))
    add(plan.counts, issues: plan.issues)
    links = LinkCounts.sum(links, plan.links.counts)
  }
}
