import OpenCoreData

/// Refuses an input if the store has most of its records already and no key says which: importing it would store them
/// twice.
///
/// Whole records are compared, as the attributes that the input fills, and equal ones are counted.
struct OverlapCheck {
  private let environment: ImportEnvironment
  private let file: InputFile
  private let known: KnownInputs
  /// The last import of an input with the same path.
  private let earlier: LedgerEntry?

  /// Nil where records can't be stored twice: the pipeline recognises them, the caller wants them twice, or nothing was
  /// imported before.
  ///
  /// - Parameter known: What was imported before.
  init?(of file: InputFile, _ environment: ImportEnvironment, known: KnownInputs) {
    let definition = environment.definition
    guard definition.key.isEmpty, environment.changedInputs != .onlyNew, !environment.options.again,
      !environment.options.isReplay,
      // A dry run stores nothing: there the inputs of the run itself have to be counted from the first one on.
      environment.isDryRun && environment.hasSeveralInputs || known.hasInputs(of: definition.entity)
    else { return nil }
    (self.environment, self.file) = (environment, file)
    self.known = known
    earlier = known.at(file.location, of: definition.entity).first { $0.counts.inserted > 0 }
  }

  /// Compares the whole input.
  ///
  /// - Parameter entry: The ledger's entry that the input will have.
  /// - Returns: Why it is refused; nil where it can be imported.
  func run(_ entry: LedgerEntry, _ totals: inout ImportTotals) throws(RunFailure) -> RunFailure? {
    guard let overlap = try overlap(entry, &totals) else { return nil }
    if let earlier { return failure(overlap, of: earlier) }
    return overlap.isMost ? failure(overlap, of: known.input(overlap.mainInput)) : nil
  }

  /// Compares the first chunk of an input that can be read only once.
  func failure(
    ofFirst chunk: ParsedChunk, mapping: HeaderMapping, entry: LedgerEntry, totals: inout ImportTotals
  ) throws(RunFailure) -> RunFailure? {
    let stored = try totals.storedRecords(environment.wholeRecordDigester(mapping), environment)
    let names = try totals.linker(environment)
    var overlap = Overlap()
    try stored.add(chunk, names, of: entry, after: known, to: &overlap)
    guard overlap.isMost else { return nil }
    return failure(overlap, of: known.input(overlap.mainInput), isFirstChunk: true)
  }

  /// Nil for an input that can't be read.
  func overlap(_ entry: LedgerEntry, _ totals: inout ImportTotals) throws(RunFailure) -> Overlap? {
    var (stored, names): (StoredRecords?, Linker?)
    var overlap = Overlap()
    try InputScan(environment, file).run(digester: environment.wholeRecordDigester) { mapping in
      stored = try totals.storedRecords(environment.wholeRecordDigester(mapping), environment)
      names = try totals.linker(environment)
    } _: { chunk in
      try stored?.add(chunk, names, of: entry, after: known, to: &overlap)
      return true
    }
    return stored == nil ? nil : overlap
  }

  private func failure(_ overlap: Overlap, of entry: LedgerEntry?, isFirstChunk: Bool = false) -> RunFailure {
    var text = share(overlap, isFirstChunk: isFirstChunk)
    if let entry, entry.id == earlier?.id {
      text += ", and another content of this file was imported on \(LedgerDate.text(entry.savedAt))"
    } else if let entry {
      text +=
        "\(overlap.storedCount == 1 ? "" : ", most of them") from \(entry.name), imported on "
        + LedgerDate.text(entry.savedAt)
    }
    let isComparable = environment.comparesLinks
    let ways =
      entry?.remedies(isReadTwice: file.isReadTwice, isComparable: isComparable)
      ?? (isComparable
        ? "Add only the records that are new with --only-new."
        : "If they really are new, import them with --again.")
    return RunFailure(code: .inputRefused, exitCode: .dataError, message: "\(name): \(text). \(ways)")
  }

  private var name: String { file.name == "-" ? "standard input" : file.name }

  private func share(_ overlap: Overlap, isFirstChunk: Bool) -> String {
    let (all, stored) = (overlap.recordCount, overlap.storedCount)
    if all == 0 { return "it has no records" }
    let isUnsaved = environment.hasSeveralInputs && (environment.definition.atomic || environment.isDryRun)
    let location = isUnsaved ? "in the store or in this run" : "in the store"
    if all == 1 { return "its only record is \(stored == 1 ? "" : "not ")\(location)" }
    let records = "its \(isFirstChunk ? "first " : "")\(all.grouped) records"
    switch stored {
    case 0: return "none of \(records) is \(location)"
    case 1: return "1 of \(records) is \(location)"
    default: return "\(stored.grouped) of \(records) are \(location)"
    }
  }
}
