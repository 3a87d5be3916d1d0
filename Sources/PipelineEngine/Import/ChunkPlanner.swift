import OpenCoreData

/// Decides what becomes of the records of one input, chunk by chunk: by their keys, where the pipeline has some, and
/// without those that the model or the store refuses.
struct ChunkPlanner {
  private let input: String
  /// Nil where nothing tells entries apart.
  private let matcher: EntryMatcher?
  private var keys: EntryMatcher.Keys

  /// `baseKey` is the last key of the store before the input was begun.
  init(_ matcher: EntryMatcher?, baseKey: Int64, input: String) {
    self.matcher = matcher
    self.input = input
    keys = EntryMatcher.Keys(next: baseKey + 1, base: baseKey)
  }

  /// Whether a record may become part of an entry before that is saved: then each must be valid by itself.
  var needsValidEntries: Bool { matcher?.needsValidEntries ?? false }

  /// - Parameters:
  ///   - refused: An issue for each row that is known not to be storable.
  ///   - nextKey: The key that the first inserted entry gets; asked only where entries are told apart.
  mutating func plan(
    _ chunk: ParsedChunk, without refused: [Int: RecordIssue], nextKey: () throws -> Int64
  ) throws -> ChunkPlan {
    guard let matcher else { return ChunkPlan(inserting: chunk, without: refused) }
    keys.next = try nextKey()
    return try matcher.plan(chunk, keys, refused: refused, input: input)
  }

  /// The plan is saved, its entries with keys from `firstKey` on; nil where those are the expected ones.
  func didSave(_ plan: ChunkPlan, of chunk: ParsedChunk, firstKey: Int64?) throws {
    try matcher?.endChunk(chunk, plan, expected: keys.next, first: firstKey ?? keys.next)
  }

  /// The plan was not saved, and the chunk will be planned again.
  func undo() { matcher?.undoChunk() }

  /// What to say of records that the model or the store refused, by their rows.
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
