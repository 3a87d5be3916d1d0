import OpenCoreData

/// Finds out how many records of an input the store has already, where no key says so: such an input is refused,
/// because importing it would store them twice.
///
/// Whole records are compared, as the attributes that the input fills, and equal ones are counted.
struct OverlapCheck {
  private let environment: ImportEnvironment
  private let file: InputFile
  private let known: [LedgerEntry]
  /// The last import of an input with the same path.
  private let earlier: LedgerEntry?

  /// Nil where records can't be stored twice: the pipeline recognises them, the caller wants them twice, or nothing was
  /// imported before.
  init?(of file: InputFile, _ environment: ImportEnvironment, _ known: [LedgerEntry]) {
    let definition = environment.definition
    guard definition.key.isEmpty, environment.changedInputs != .onlyNew, !environment.options.again,
      !environment.options.isReplay, known.contains(where: { $0.entity == definition.entity })
    else { return nil }
    (self.environment, self.file) = (environment, file)
    self.known = known.filter { $0.entity == definition.entity }
    // All of standard input has one name, whatever its content.
    earlier = file.isReadTwice ? self.known.first { $0.path == file.name && $0.counts.inserted > 0 } : nil
  }

  /// What is digested of the input's records: all that it fills.
  var digester: @Sendable (HeaderMapping) -> RowDigester {
    let keys = environment.keys
    return { keys.wholeRecordDigester($0) }
  }

  // MARK: Checking

  /// Compares the whole input.
  ///
  /// - Returns: Why it is refused; nil where it can be imported.
  func run() throws(RunFailure) -> RunFailure? {
    guard let result = try result() else { return nil }
    if let earlier { return failure(result, of: earlier) }
    return result.isMost ? failure(result, of: known.first { $0.id == result.mainInput }) : nil
  }

  /// Compares the first chunk of an input that can be read only once.
  func failure(ofFirst chunk: ParsedChunk, _ mapping: HeaderMapping) throws(RunFailure) -> RunFailure? {
    var comparison = try Comparison(environment, environment.keys.wholeRecordDigester(mapping))
    try comparison.add(chunk)
    guard comparison.result.isMost else { return nil }
    return failure(comparison.result, of: known.first { $0.id == comparison.result.mainInput }, isFirstChunk: true)
  }

  /// Nil for an input that can't be read.
  func result() throws(RunFailure) -> Result? {
    var comparison: Comparison?
    try InputScan(environment, file).run(digester: digester) { mapping in
      comparison = try Comparison(environment, environment.keys.wholeRecordDigester(mapping))
    } _: { chunk in
      try comparison?.add(chunk)
      return true
    }
    return comparison?.result
  }

  private func failure(_ result: Result, of entry: LedgerEntry?, isFirstChunk: Bool = false) -> RunFailure {
    let all = "\(result.recordCount)"
    let records = isFirstChunk ? "first \(all) records" : result.recordCount == 1 ? "only record" : "\(all) records"
    let share =
      result.storedCount == 0
      ? "none of its \(records) is in the store"
      : result.storedCount == 1 && result.recordCount == 1
        ? "its only record is in the store" : "\(result.storedCount) of its \(records) are in the store"
    var text = share
    if let entry {
      text +=
        entry.path == file.name
        ? ", and it was imported before, on \(LedgerDate.text(entry.savedAt)), with other content"
        : ", most of them from \(entry.path), imported on \(LedgerDate.text(entry.savedAt))"
    }
    return RunFailure(
      code: .inputRefused, exitCode: .dataError, message: "\(file.name): \(text). \(LedgerEntry.waysOut)")
  }

  // MARK: Counting

  struct Result {
    fileprivate(set) var recordCount = 0
    /// Records that equal an entry of the store, each a different one.
    fileprivate(set) var storedCount = 0
    /// By the input that inserted the entries.
    fileprivate var storedOfInput: [Int64: Int] = [:]

    var isMost: Bool { storedCount * 2 > recordCount }
    /// The input that most of the equal entries come from.
    var mainInput: Int64? {
      storedOfInput.max { ($0.value, $0.key) < ($1.value, $1.key) }.flatMap {
        $0.value * 2 >= storedCount ? $0.key : nil
      }
    }
  }

  /// The store's entries, counted by their whole records.
  private struct Comparison {
    private let index: KeyIndex
    private let ranges: [(keys: ClosedRange<Int64>, input: Int64)]
    private(set) var result = Result()

    init(_ environment: ImportEnvironment, _ digester: RowDigester) throws(RunFailure) {
      index = KeyIndex(keysInMemoryMax: environment.definition.limits.keysInMemoryMax)
      let (store, index) = (environment.store, index)
      ranges = try store.perform { try InsertedRanges.all(environment.tables, in: $0) }
      try store.walk(digester, unless: environment.monitor.isCancelled) { digests, keys in
        try index.beginChunk(digests.keys)
        for (digest, key) in zip(digests.keys, keys) {
          var entry = index.entry(of: digest) ?? KeyEntry(storeKey: key)
          entry.values += 1
          index.set(digest, entry)
        }
        try index.endChunk()
      }
    }

    mutating func add(_ chunk: ParsedChunk) throws(RunFailure) {
      result.recordCount += chunk.batch.count + chunk.rejected.count
      do {
        try index.beginChunk(chunk.digests.keys)
        for digest in chunk.digests.keys {
          guard var entry = index.entry(of: digest), entry.values > 0 else { continue }
          entry.values -= 1
          index.set(digest, entry)
          result.storedCount += 1
          if let input = InsertedRanges.input(of: entry.storeKey, in: ranges) {
            result.storedOfInput[input, default: 0] += 1
          }
        }
        try index.endChunk()
      } catch {
        throw RunFailure(saving: error)
      }
    }
  }
}
