import OpenCoreData

/// The entries of the store, counted by their whole records, to find out how many records of an input are there already.
/// It serves all inputs of a run with the same columns: what one inserts counts as stored for the next.
struct StoredRecords {
  let digester: RowDigester
  private let index: KeyIndex
  /// The keys that each input has inserted before the run.
  private let ranges: [(keys: ClosedRange<Int64>, input: Int64)]

  init(_ digester: RowDigester, _ environment: ImportEnvironment) throws(RunFailure) {
    self.digester = digester
    let index = KeyIndex(keysInMemoryMax: environment.definition.limits.keysInMemoryMax, keepsOrders: true)
    self.index = index
    ranges =
      environment.store.isOpen
      ? try environment.store.perform {
        try InsertedRanges.all(of: environment.definition.entity, environment.tables, in: $0)
      } : []
    try environment.store.walk(digester, with: environment.links, unless: environment.monitor.isCancelled) {
      digests, keys in
      try index.beginChunk(digests.keys)
      for (digest, key) in zip(digests.keys, keys) {
        let known = index.entry(of: digest)
        var equal = EqualEntries(known, input: 0)
        equal.addStored()
        var entry = equal.keyEntry
        // The first of the equal entries says where they came from.
        entry.order = known?.order ?? Double(key)
        index.set(digest, entry, before: known)
      }
      try index.endChunk()
    }
  }

  /// Counts the records of a chunk.
  ///
  /// - Parameters:
  ///   - names: Finds the related objects; nil for a pipeline without links.
  ///   - entry: The ledger's entry of the input.
  ///   - earlier: The inputs before it.
  func add(
    _ chunk: ParsedChunk, _ names: Linker?, of entry: LedgerEntry, after earlier: KnownInputs, to overlap: inout Overlap
  ) throws(RunFailure) {
    overlap.recordCount += chunk.batch.count
    do {
      let keys = try names?.wholeKeys(of: chunk, digester) ?? chunk.digests.keys
      try index.beginChunk(keys)
      for digest in keys {
        let known = index.entry(of: digest)
        var equal = EqualEntries(known, input: entry.number)
        let isStored = equal.match()
        var counted = equal.keyEntry
        counted.order = known?.order ?? Self.order(ofInput: entry.number)
        index.set(digest, counted, before: known)
        guard isStored, let known else { continue }
        overlap.storedCount += 1
        if let input = origin(of: known, earlier) { overlap.storedOfInput[input, default: 0] += 1 }
      }
      try index.endChunk()
    } catch {
      throw RunFailure(saving: error)
    }
  }

  /// The place of an entry that an input of this run inserts: its key is not known, and it comes after all that are
  /// stored.
  private static func order(ofInput number: KeyEntry.InputNumber) -> Double { -Double(number) }

  /// The input that inserted the first of the equal entries. The entry's own input is the last one that was compared.
  private func origin(of known: KeyEntry, _ earlier: KnownInputs) -> Int64? {
    if known.order > 0 { return InsertedRanges.input(of: Int64(known.order), in: ranges) }
    return earlier.id(ofNumber: KeyEntry.InputNumber(-known.order))
  }
}

/// How many of the records of an input that can be stored the store has already.
struct Overlap {
  fileprivate(set) var recordCount = 0
  /// Records that equal an entry of the store, each a different one.
  fileprivate(set) var storedCount = 0
  /// By the input that inserted the entries.
  fileprivate var storedOfInput: [Int64: Int] = [:]

  var isMost: Bool { storedCount * 2 > recordCount }

  /// The input that most of the equal entries come from.
  var mainInput: Int64? {
    let main = storedOfInput.max { ($0.value, $0.key) < ($1.value, $1.key) }
    return main.flatMap { $0.value * 2 >= storedCount ? $0.key : nil }
  }
}
