import OpenCoreData

/// Compares an input with what was imported before: one that the store has already is refused, or replaces what came of
/// it, and one that goes on knows its earlier records.
struct InputComparison {
  private let file: InputFile
  private let environment: ImportEnvironment
  private var known = KnownInputs()
  /// The comparison with the store's records; nil where it is not made, or has been.
  private var overlap: OverlapCheck?
  /// Nil until the header is known.
  private var mapping: HeaderMapping?
  /// What the input replaces; nil for most.
  private var replacement: InputReplacement?

  init(of file: InputFile, _ environment: ImportEnvironment) {
    (self.file, self.environment) = (file, environment)
  }

  var isReplacement: Bool { replacement != nil }
  /// The inputs whose entries this one replaces.
  var replaced: [LedgerEntry] { replacement?.old ?? [] }
  /// Whether the reader digests whole records.
  var needsDigests: Bool { environment.changedInputs == .replace || overlap != nil && !file.isReadTwice }

  /// - Parameter known: What was imported before.
  mutating func begin(with known: KnownInputs) {
    self.known = known
    overlap = OverlapCheck(of: file, environment, known: known)
  }

  /// The input goes on where an earlier run has ended.
  mutating func skip() { overlap = nil }

  /// Compares an input that is read from its start with what the store has: it is refused if that would store records
  /// twice, or replaces what came of it before.
  mutating func compare(
    with changed: LedgerEntry?, _ entry: LedgerEntry, _ totals: inout ImportTotals
  ) throws(RunFailure) {
    if environment.changedInputs == .replace {
      overlap = nil
      replacement = try InputReplacement.find(
        for: file, environment, entry: entry, changed: changed, known: known, totals: &totals)
    } else if let check = overlap, file.isReadTwice {
      overlap = nil
      if let failure = try check.run(entry, &totals) { throw failure }
    }
  }

  /// Compares the first chunk of an input that is read only once, and was not compared before.
  mutating func checkFirst(
    _ chunk: ParsedChunk, of entry: LedgerEntry, _ totals: inout ImportTotals
  ) throws(RunFailure) {
    guard let check = overlap, let mapping else { return }
    overlap = nil
    if let failure = try check.failure(ofFirst: chunk, mapping: mapping, entry: entry, totals: &totals) {
      throw failure
    }
  }

  /// What recognises the input's records; nil where none is recognised.
  mutating func matcher(
    _ mapping: HeaderMapping, _ totals: inout ImportTotals
  ) throws(RunFailure) -> EntryMatcher? {
    self.mapping = mapping
    return if let replacement { try replacement.matcher(mapping) } else { try totals.matcher(mapping, environment) }
  }

  /// Reads the records again that were imported before, by an interrupted run or before the input has grown: a later one
  /// may have the key of one of them, or be equal to it.
  func noteEarlierRecords(
    of entry: LedgerEntry, _ matcher: EntryMatcher?, isGrown: Bool, _ totals: inout ImportTotals
  ) throws(RunFailure) {
    guard let matcher, matcher.remembersInput(isGrown: isGrown) else { return }
    guard file.isReadTwice else {
      guard matcher.digester.isWholeRecord else { return }
      throw RunFailure(
        code: .inputRefused, exitCode: .dataError,
        message:
          "the start of standard input was imported before, and can't be read again to compare its records. Write "
          + "the input to a file, and import that")
    }
    let (end, number) = (entry.progress.position.record, entry.number)
    // What an input has gained is an input of its own, unless equal records are counted.
    let first = matcher.digester.isWholeRecord ? 0 : UInt64(entry.firstRecord ?? 1)
    let names = try totals.linker(environment)
    try InputScan(environment, file).run { chunk in
      let rows = (0..<chunk.batch.count).filter {
        (first..<UInt64(end)).contains(chunk.position(ofRow: $0, input: "").record)
      }
      let keys = try names?.wholeKeys(of: chunk, matcher.digester) ?? chunk.digests.keys
      try matcher.noteEarlier(rows.map { keys[$0] }, input: number)
      return chunk.progress.position.record < end
    }
  }

  /// Takes back what the input replaces.
  func takeBack(_ ledger: Ledger, _ totals: inout ImportTotals) throws(RunFailure) {
    guard let replacement else { return }
    totals.notes.append(try replacement.takeBack())
    totals.forgetRelated()
    ledger.didUndo()
  }
}
