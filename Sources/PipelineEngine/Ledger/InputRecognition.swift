import CSV

/// The result of comparing an input's bytes with the ledger's entries.
enum InputRecognition: Sendable {
  /// Unknown to the ledger: it is read from its start.
  case fresh
  /// Imported to its end before; the run that did it may have ended before its report was written.
  case known(LedgerEntry)
  /// Begun before: reading continues at the checkpoint.
  case resumed(LedgerEntry)
  /// It begins with what was imported before: only the rest is new.
  case grown(LedgerEntry)
  /// Imported before, and changed since, or by a pipeline that has changed since: read from its start, to replace what
  /// came of it, or to add what is new.
  case changed(LedgerEntry)
  /// It is unknown which of its records are in the store.
  case refused(String)
}

/// Compares an input with the ledger's entries. It reads no further than they reach, and nothing if no entry begins
/// like the input.
struct InputRecognizer {
  let definition: PipelineDefinition
  let digest: ContentDigest
  /// The file's absolute path; nil where inputs are not recognised by it.
  let location: String?
  /// What was imported before; nil where that does not matter.
  let entries: KnownInputs?
  /// The inputs of plans that are not closed.
  var planned: [LedgerEntry] = []
  /// The treatment of an input that has changed since an import.
  let changedInputs: PipelineDefinition.ChangedInputPolicy
  /// Whether whole records can be compared with what they lead to.
  var comparesLinks = true
  /// Whether an input all of whose records were rejected is read again. What they lacked may be in the store by now.
  var readsRejectedAgain = false

  /// Length in bytes of the head by which inputs are recognised.
  static let headBytes = 64 << 10

  /// The kind of the input, and a hash of what precedes the position at which reading continues.
  func recognize(_ input: InputOpener) throws(CSVError) -> (InputRecognition, ContentHash) {
    let nothing = ContentHash(headBytes: Self.headBytes)
    if let plan = try planned(input) { return (.refused(plan), nothing) }
    guard let entries, entries.hasInputs(of: definition.entity) else { return (.fresh, nothing) }
    var look = InputLook(try input.previewSource())
    try look.readHead(Self.headBytes)
    var matches: [Match] = []
    // Of entries with the same content, the one that this file has begun is its own.
    let isBegun = { [location] (entry: LedgerEntry) in !entry.isComplete && entry.location == location ? 1 : 0 }
    for entry in look.candidates(of: entries, entity: definition.entity).sorted(by: {
      ($0.offset, isBegun($0), $0.id) < ($1.offset, isBegun($1), $1.id)
    }) {
      if isReadAgain(entry) { continue }
      try look.read(upTo: entry.offset)
      guard look.offset == entry.offset, look.hash.digest == entry.progress.hash else { continue }
      matches.append(Match(entry: entry, hash: ContentHash(copying: look.hash), next: try look.peek(2)))
    }
    if let own = matches.last(where: { $0.entry.pipelineDigest == digest }) {
      if !own.entry.isComplete { return (rest(after: own, InputRecognition.resumed), own.hash) }
      if own.next.isEmpty { return (known(own.entry), nothing) }
      if definition.appendOnly { return (rest(after: own, InputRecognition.grown), own.hash) }
      // A header alone proves nothing, and a pipeline with a key recognises stored entries by it.
      if definition.key.isEmpty, own.entry.progress.position.record > 1 {
        return (changed(own.entry, grown(own.entry)), nothing)
      }
    } else if let other = matches.last, definition.key.isEmpty, !other.entry.isComplete || other.next.isEmpty {
      // A pipeline with a key recognises stored entries by it; without one they would be stored twice.
      return (changed(other.entry, foreign(other.entry)), nothing)
    }
    let sameFile = entries.at(location, of: definition.entity)
    if let begun = sameFile.first(where: { $0.pipelineDigest == digest && !$0.isComplete }) {
      return (changed(begun, changed(begun)), nothing)
    }
    return (.fresh, nothing)
  }

  /// Why an input of an open plan is not read: its workers import it. It is recognised by its path or by its content, also
  /// when it has grown.
  private func planned(_ input: InputOpener) throws(CSVError) -> String? {
    if planned.isEmpty { return nil }
    var found = location.flatMap { location in planned.first { $0.location == location } }
    if found == nil {
      var look = InputLook(try input.previewSource())
      try look.readHead(Self.headBytes)
      let candidates = look.candidates(of: KnownInputs(planned), entity: definition.entity)
      for entry in candidates.sorted(by: { $0.offset < $1.offset }) where entry.progress.position.record > 1 {
        try look.read(upTo: entry.offset)
        if look.offset == entry.offset, look.hash.digest == entry.progress.hash { found = entry }
      }
    }
    return found.map { entry in
      "it is one of the files of the plan \(entry.run), which workers import; when they are done, close the plan with "
        + "'report --plan \(entry.run)', or, where it was ended before, take it back with 'undo'"
    }
  }

  /// Whether the records of an earlier input are read again although the store's ledger knows them: none was imported.
  ///
  /// The records that a file has rejected are also the beginning of an input that was interrupted, where those were its
  /// first. A replay must not continue that one: it would complete it without its other records.
  private func isReadAgain(_ entry: LedgerEntry) -> Bool {
    guard readsRejectedAgain, entry.firstRecord == 1, entry.counts.read == entry.counts.rejected else { return false }
    return entry.isComplete ? entry.isReported && entry.counts.rejected > 0 : entry.location != location
  }

  /// For an input that was imported to its end, with this content.
  private func known(_ entry: LedgerEntry) -> InputRecognition {
    let own = entries?.at(location, of: definition.entity) ?? []
    let isSuperseded = own.contains { $0.isComplete && $0.id > entry.id }
    if !entry.isOutdated, !isSuperseded { return .known(entry) }
    if !definition.key.isEmpty { return entry.isOutdated || definition.duplicates.updates ? .fresh : .known(entry) }
    if changedInputs != .refuse { return .changed(entry) }
    return entry.isOutdated
      ? .refused(
        "\((entry.counts.unchanged + entry.counts.duplicate).grouped) of its records were left out on "
          + "\(LedgerDate.text(entry.savedAt)), because the store had them, and entries were taken back since. Add "
          + "what is missing with --only-new")
      : .known(entry)
  }

  private func changed(_ entry: LedgerEntry, _ reason: String) -> InputRecognition {
    changedInputs == .refuse || !definition.key.isEmpty ? .refused(reason) : .changed(entry)
  }

  /// An entry whose bytes the input begins with.
  private struct Match {
    let entry: LedgerEntry
    /// The hash of those bytes.
    let hash: ContentHash
    /// The following bytes, at most two.
    let next: [UInt8]
  }

  /// An input that goes on after what was read of it. A last record without a line end has got one since; if it has
  /// got more than that, it is another record than the one in the store.
  private func rest(
    after match: Match, _ recognition: (LedgerEntry) -> InputRecognition
  ) -> InputRecognition {
    var entry = match.entry
    guard entry.progress.endsOpen, !match.next.isEmpty else { return recognition(entry) }
    let (lf, cr) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    let lineEnd = match.next == [cr, lf] ? match.next : Array(match.next.prefix(1))
    // A zero byte is part of a line end in UTF-16 or UTF-32, whose length is not known here.
    guard lineEnd.first == lf || lineEnd.first == cr, !match.next.contains(0) else {
      return .refused(
        "its last record, number \((entry.progress.position.record - 1).grouped), was imported without a line end and has been "
          + "extended since. Have the writer end its lines before the import, correct the entry in the store, and "
          + "import the rest as a file of its own")
    }
    match.hash.update(lineEnd)
    entry.progress.position.byteOffset += lineEnd.count
    entry.progress.position.line += 1
    return recognition(entry)
  }

  private func foreign(_ entry: LedgerEntry) -> String {
    let extent = entry.isComplete ? "imported" : "imported up to record \((entry.progress.position.record - 1).grouped)"
    return "its content was \(extent) on \(LedgerDate.text(entry.savedAt)) as \(entry.name), by the pipeline "
      + "'\(entry.pipeline)' as it was then. \(entry.remedies(isReadTwice: true, isComparable: comparesLinks))"
  }

  private func grown(_ entry: LedgerEntry) -> String {
    let count = entry.progress.position.record - 1
    return "it begins with all of what was imported on \(LedgerDate.text(entry.savedAt)) as \(entry.name), "
      + "\(count.grouped) \(count == 1 ? "record" : "records") that would be in the store twice. "
      + "\(entry.remedies(isReadTwice: true, isComparable: comparesLinks)) If the input only ever grows, say "
      + "\"appendOnly\": true in the pipeline"
  }

  private func changed(_ entry: LedgerEntry) -> String {
    "it was imported up to record \((entry.progress.position.record - 1).grouped) on "
      + "\(LedgerDate.text(entry.savedAt)), and "
      + "what comes before that has changed since. Put the old file back and run again, or "
      + (definition.key.isEmpty
        ? comparesLinks ? "replace what that run inserted with --replace" : "undo that run and import all of it"
        : "import all of it with --again: its key shows what is stored")
  }
}

extension LedgerEntry {
  /// The input in a message.
  var name: String { path == "-" ? "standard input" : path }

  /// What can be done about an input that has changed since this import.
  ///
  /// - Parameters:
  ///   - isReadTwice: Whether the changed input is a file; a pipe can't replace anything.
  ///   - isComparable: Whether records can be compared as a whole.
  func remedies(isReadTwice: Bool, isComparable: Bool) -> String {
    if !isComparable {
      return
        "Undo that import first, or, if something such as date and place distinguishes the records, declare it as the "
        + "key of the pipeline, with \"duplicates\": \"update\"."
    }
    let entries = counts.inserted == 1 ? "entry" : "\(counts.inserted.grouped) entries"
    // An earlier version of this program did not record what it inserted.
    let replace =
      isReadTwice && firstRecord != nil && !isCompacted && counts.inserted > 0
      ? "Replace the \(entries) that \(name) inserted with --replace, add" : "Add"
    return
      "\(replace) only the records that are new with --only-new, or, if something such as date and place "
      + "distinguishes the records, declare it as the key of a pipeline, with \"duplicates\": \"update\"."
  }
}

extension LedgerEntry {
  /// How many bytes of the input it covers.
  fileprivate var offset: Int { progress.position.byteOffset }
}

/// The start of an input, read as far as the comparisons need it.
private struct InputLook {
  private let source: ByteSource
  private(set) var hash = ContentHash(headBytes: InputRecognizer.headBytes)
  private var head: [UInt8] = []
  /// Bytes that were read but not hashed yet.
  private var ahead: [UInt8] = []

  init(_ source: ByteSource) { self.source = source }

  /// Bytes hashed so far.
  var offset: Int { hash.byteCount }

  mutating func readHead(_ count: Int) throws(CSVError) {
    head = try peek(count)
  }

  /// Hashes up to `target`, or to the end.
  mutating func read(upTo target: Int) throws(CSVError) {
    while offset < target {
      if ahead.isEmpty, try source.read(appendingTo: &ahead) == 0 { return }
      let taken = min(ahead.count, target - offset)
      hash.update(ahead[..<taken])
      ahead.removeFirst(taken)
    }
  }

  /// The next bytes without consuming them; fewer at the end.
  mutating func peek(_ count: Int) throws(CSVError) -> [UInt8] {
    while ahead.count < count, try source.read(appendingTo: &ahead) > 0 {}
    return Array(ahead.prefix(count))
  }

  /// The entries whose heads the input begins with. There are no more different lengths of heads than the input has
  /// bytes.
  func candidates(of entries: KnownInputs, entity: String) -> [LedgerEntry] {
    entries.headLengths.filter { $0 <= head.count }.flatMap { count in
      let hash = ContentHash()
      hash.update(head[..<count])
      return entries.withHead(count, hash.digest)
    }
    .filter { $0.entity == entity }
  }
}
