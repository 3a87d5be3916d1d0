import OpenCoreData

/// Decides what happens to the records of one input, chunk by chunk: by their keys, if the pipeline has any, and
/// without those that the model or the store refuses.
struct ChunkPlanner {
  private let input: String
  /// Nil where entries are not compared by key.
  private let matcher: EntryMatcher?
  private var keys: EntryMatcher.Keys
  /// Set for a shard of a plan that compares keys.
  private let shared: SharedKeys?

  /// - Parameters:
  ///   - entry: The ledger's entry of the input, with the highest primary key in the store before it was begun.
  ///   - own: The keys of what it had inserted before this run, where a key does not show that.
  ///   - input: The name of the input.
  ///   - shared: The keys of a plan.
  init(
    _ matcher: EntryMatcher?, _ entry: LedgerEntry, own: InsertedRanges.Sorted, input: String, shared: SharedKeys? = nil
  ) {
    (self.matcher, self.shared) = (matcher, shared)
    self.input = input
    keys = EntryMatcher.Keys(next: entry.baseKey + 1, base: entry.baseKey, own: own, input: entry.number)
  }

  /// Whether a record may become part of an earlier entry before that is saved: then each must be valid on its own.
  /// So must each record of a shard: what becomes of it must not depend on those that other workers have imported.
  var needsValidEntries: Bool { shared != nil || matcher?.needsValidEntries ?? false }

  /// What is compared; nil where nothing is.
  var digester: RowDigester? { matcher?.digester }

  /// - Parameters:
  ///   - resolved: What the records of the chunk name.
  ///   - refused: An issue for each row that is known not to be storable.
  ///   - nextKey: The primary key of the first inserted entry; called only where keys are compared.
  mutating func plan(
    _ chunk: ParsedChunk, _ resolved: ResolvedLinks, without refused: [Int: RecordIssue], nextKey: () throws -> Int64
  ) throws -> ChunkPlan {
    if let shared { return try shared.plan(chunk, resolved, without: refused, input: input) }
    guard let matcher else { return ChunkPlan(inserting: chunk, without: refused) }
    keys.next = try nextKey()
    return try matcher.plan(chunk, keys, refused: refused, input: input)
  }

  /// Called when the plan is saved, its entries with primary keys from `firstKey` on; nil where those are the expected
  /// ones.
  func didSave(_ plan: ChunkPlan, of chunk: ParsedChunk, firstKey: Int64?) throws {
    try matcher?.endChunk(chunk, plan, expected: keys.next, first: firstKey ?? keys.next)
  }

  /// Called when the plan was not saved, and the chunk will be planned again.
  func undo() { matcher?.undoChunk() }

  /// Issues for records that the model or the store refused, by their rows.
  func issues(for failures: [ImportContexts.Failure], of chunk: ParsedChunk) -> [Int: RecordIssue] {
    let pairs = failures.map { failure in
      let issue = RecordIssue(
        failure.code, at: chunk.position(ofRow: failure.row, input: input),
        value: chunk.shownValue(ofRecord: Int(chunk.recordOfRow[failure.row])), message: failure.message)
      return (failure.row, issue)
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }
}
