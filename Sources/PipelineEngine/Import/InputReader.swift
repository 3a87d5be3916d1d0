import CSV
import Foundation
import SystemSupport
import OpenCoreData

/// The reading side of an import: a thread that recognises the input and reads it block by block, for other threads to
/// parse.
struct InputReader: Sendable {
  /// The thread's messages, in the order in which they are sent.
  enum Message: Sendable {
    case recognized(InputRecognition)
    /// The header. Not sent for an input that is not read.
    case opened(Opened)
    /// A chunk that is being parsed; the queue delivers only this chunk.
    case chunk(BoundedQueue<ParsedChunk>)
    /// The end was reached.
    case end(InputProgress)
    /// The input can't be read any further.
    case failure(CSVError)
    /// What later records show about the dates of a column: how they are read from there on, or that they can't be.
    case surveyed(InputSurvey.Result)
  }

  /// An input whose header was read.
  struct Opened: Sendable {
    let mapping: HeaderMapping
    /// The header's bytes.
    let header: [UInt8]
    let isJSONLines: Bool
    /// Whether the input's name decided that its values are separated by tabs.
    var hasTabs = false
    /// The header's labels; nil for an input without a header.
    var labels: [String]?
    let totalBytes: Int?
    /// Nil if no date is ambiguous.
    var survey: InputSurvey.Result?
    /// What is wrong with the header's bytes, with its labels, and with the dates of a column.
    var issues: [RecordIssue]

    var form: PlanTables.Form { PlanTables.Form(header: header, isJSONLines: isJSONLines, hasTabs: hasTabs) }
    var isUsable: Bool { !issues.contains { $0.severity == .error } }
  }

  /// Chunks read ahead of the writer.
  private static let chunksAheadMax = 4

  let file: InputFile
  private(set) var definition: PipelineDefinition
  private(set) var columns: ColumnSet
  let links: [EntityLink]
  let entity: NSEntityDescription
  /// Whether the attribute of a column that the input lacks gets the model's default.
  let takesDefaults: Bool
  /// The options that were given and say how CSV is written.
  let csvOptions: [String]
  let recognizer: InputRecognizer
  /// Called once the header is known: which attributes are compared depends on the columns of the input.
  let digester: @Sendable (HeaderMapping) -> RowDigester
  let clock: StageClock
  /// The shard that is read of the input, with its checkpoint; nil for the whole input.
  var shard: (shard: Shard, entry: LedgerEntry)?

  /// A thread that reads the input, and what it sends.
  struct Reading: Sendable {
    let messages: BoundedQueue<Message>
    fileprivate let ended: DispatchSemaphore
    fileprivate let mayBlock: Bool

    /// Ends the thread, and waits until it has closed the input, so that a run that has ended has no file open. A pipe
    /// may block the thread for any time and is not waited for; a thread that hashes a large file, at most a second.
    func end() {
      messages.abandon()
      if !mayBlock { _ = ended.wait(timeout: .now() + InputReader.endSecondsMax) }
    }
  }
  private static let endSecondsMax = 1.0

  func start() -> Reading {
    let queue = BoundedQueue<Message>(capacity: Self.chunksAheadMax)
    let ended = DispatchSemaphore(value: 0)
    Thread.begin("reader \(file.name)") {
      clock.time(.read) { share in
        do throws(CSVError) {
          try read(into: queue, &share)
        } catch {
          _ = queue.send(.failure(error))
        }
      }
      queue.finish()
      ended.signal()
    }
    return Reading(messages: queue, ended: ended, mayBlock: !file.isReadTwice)
  }

  private func read(into queue: BoundedQueue<Message>, _ share: inout StageClock.Share) throws(CSVError) {
    let input = InputOpener(file)
    let (recognition, hash) = try recognized(input)
    guard share.waiting({ queue.send(.recognized(recognition)) }), let start = recognition.start else { return }
    let source = try input.completeSource()
    let opener = RecordOpener(definition: definition, path: file.path, csvOptions: csvOptions)
    let reader = try opener.open(source)
    if start == .start { reader.contentHash = hash }
    try adapted(to: reader).read(
      InputSource(input: input, source: source, reader: reader, opener: opener), at: start, hash: hash, into: queue,
      share: &share)
  }

  /// A shard is not compared with the ledger, but with the plan: its bytes must be those that were planned.
  private func recognized(_ input: InputOpener) throws(CSVError) -> (InputRecognition, ContentHash) {
    guard let shard else { return try recognizer.recognize(input) }
    try check(shard.shard, try StoredBytes(file.path), head: shard.entry.progress)
    return (.resumed(shard.entry), ContentHash())
  }

  /// - Throws: `CSVError` where the bytes of the shard, the head of the file with its header, or what follows its last
  ///   record are not those that were planned.
  private func check(_ shard: Shard, _ stored: StoredBytes, head: InputProgress) throws(CSVError) {
    guard shard.storedBytes.upperBound <= stored.count else {
      throw shard.changed(file.shownPath, "it has become shorter")
    }
    if shard.isLast, shard.storedBytes.upperBound < stored.count {
      throw shard.changed(file.shownPath, "it has become longer")
    }
    // A shard that begins with the file has its head.
    if shard.storedBytes.lowerBound > 0, try stored.digest(0..<min(head.headBytes, stored.count)) != head.headHash {
      throw shard.changed(file.shownPath, "it begins otherwise")
    }
    guard try stored.digest(shard.storedBytes) == shard.hash else {
      throw shard.changed(
        file.shownPath,
        "its bytes from \(shard.storedBytes.lowerBound.grouped) on, before \(shard.storedBytes.upperBound.grouped), are "
          + "others")
    }
  }

  /// What is read of an input.
  private struct InputSource {
    let input: InputOpener
    let source: ByteSource
    let reader: any RecordReader
    let opener: RecordOpener
  }

  /// This reading side, for the format of the input.
  func adapted(to reader: any RecordReader) -> InputReader {
    var adapted = self
    if let reader = reader as? CSVReader {
      if reader.dialect.delimiter != definition.dialect.csv.delimiter { adapted.definition = definition.forTabs }
      return adapted
    }
    adapted.definition = definition.forJSONLines
    adapted.columns = columns.forJSONLines
    return adapted
  }

  private func read(
    _ from: InputSource, at start: ReaderPosition, hash: ContentHash, into queue: BoundedQueue<Message>,
    share: inout StageClock.Share
  ) throws(CSVError) {
    let (source, reader) = (from.source, from.reader)
    var opened = try open(reader, totalBytes: source.totalBytes)
    opened.hasTabs = definition.dialect.delimiter != from.opener.definition.dialect.delimiter && !opened.isJSONLines
    let mapping = opened.mapping
    if start != .start {
      // What precedes it is already hashed.
      try reader.skip(to: start)
      if shard == nil { reader.contentHash = hash }
    }
    var dates = DateDecision(
      opened.isUsable && shard == nil
        ? InputSurvey(columns, of: mapping, definition: definition, entity: entity, input: file.name) : nil,
      from.opener, input: from.input)
    // The first chunk, if it has to decide before anything is saved.
    var first: RecordBlock?
    if dates.isNeeded {
      do throws(CSVError) {
        var block = RecordBlock()
        if try reader.next(into: &block, recordsMax: definition.chunkRows) {
          first = block
          opened.survey = try dates.decide(block)
        }
      } catch {
        _ = queue.send(.opened(opened))
        throw error
      }
    }
    opened.issues += opened.survey?.issues ?? []
    guard queue.send(.opened(opened)) else { return }
    func stage(_ columns: ColumnSet) -> ParsingStage {
      let parser = ChunkParser(
        input: file.name, definition: definition, columns: columns, links: links, mapping: mapping, entity: entity,
        takesDefaults: takesDefaults, digester: digester(mapping))
      return ParsingStage(parser, clock: clock, name: file.name) { queue.send(.chunk($0)) }
    }
    var parsing = stage(opened.survey?.columns ?? columns.excluding(shard?.shard.excludedFormats ?? [:]))
    defer { parsing.finish() }
    var endsOpen = false
    var block = RecordBlock()
    while true {
      if let read = first {
        (block, first) = (read, nil)
      } else {
        // A new block for each chunk, which keeps it until its rejects are written.
        block = RecordBlock(capacityOf: block)
        let recordsMax = recordsMax(at: reader.position)
        guard recordsMax > 0, try reader.next(into: &block, recordsMax: recordsMax) else { break }
        if let result = try dates.decide(block) {
          guard queue.send(.surveyed(result)), result.refusal == nil else { return }
          parsing.finish()
          parsing = stage(result.columns)
        }
      }
      endsOpen = block.endsOpen
      let progress = progress(block.end, of: source, hash: hash, endsOpen: endsOpen)
      guard share.waiting({ parsing.send(block, progress) }) else { return }
    }
    if let shard, reader.position.record != shard.shard.endRecord {
      throw shard.shard.changed(file.path, "it has only \((reader.position.record - 1).grouped) records")
    }
    let end = progress(reader.position, of: source, hash: hash, endsOpen: endsOpen)
    _ = share.waiting { queue.send(.end(end)) }
  }

  /// The size of the next chunk; 0 at the end of a shard.
  private func recordsMax(at position: ReaderPosition) -> Int {
    min(definition.chunkRows, (shard?.shard.endRecord).map { $0 - position.record } ?? .max)
  }

  func progress(
    _ position: ReaderPosition, of source: ByteSource, hash: ContentHash, endsOpen: Bool
  ) -> InputProgress {
    let digest = hash.digest
    return InputProgress(
      position: position, hash: digest, headBytes: min(hash.byteCount, InputRecognizer.headBytes),
      headHash: hash.headDigest ?? digest, endsOpen: endsOpen, consumedBytes: source.consumedBytes)
  }

  func open(_ reader: any RecordReader, totalBytes: Int?) throws(CSVError) -> Opened {
    if let reader = reader as? JSONLinesReader { return try open(reader, totalBytes: totalBytes) }
    // `RecordOpener` makes readers of these two kinds.
    guard let reader = reader as? CSVReader else { preconditionFailure("there are two kinds of readers") }
    return try Self.open(
      reader, by: definition, columns: columns.definitions, input: file.name, totalBytes: totalBytes)
  }

  /// Reads the header of CSV, and matches its labels with the columns.
  static func open(
    _ reader: CSVReader, by definition: PipelineDefinition, columns: [ColumnDefinition], input: String,
    totalBytes: Int?
  ) throws(CSVError) -> Opened {
    let policy = HeaderPolicy(definition)
    guard definition.dialect.header else {
      let position = RecordPosition(input: input, record: 0, line: 0, byte: 0)
      let mapping = HeaderMapping(labels: definition.dialect.columns, columns: columns, policy: policy, at: position)
      return Opened(mapping: mapping, header: [], isJSONLines: false, totalBytes: totalBytes, issues: mapping.issues)
    }
    guard let header = try reader.readHeader() else {
      throw CSVError(
        .source, "the file is empty: not even a header; check what writes it", path: input, byte: 0)
    }
    let position = RecordPosition(
      input: input, record: 0, line: UInt64(header.line), byte: UInt64(header.byteOffset))
    let mapping = HeaderMapping(labels: header.names, columns: columns, policy: policy, at: position)
    return Opened(
      mapping: mapping, header: header.bytes, isJSONLines: false, labels: header.names, totalBytes: totalBytes,
      issues: RecordFaults.issues(of: header, mapping, policy, at: position) + mapping.issues)
  }
}

extension InputReader {
  /// JSON Lines have no header: the members of the first records name the columns.
  private func open(_ reader: JSONLinesReader, totalBytes: Int?) throws(CSVError) -> Opened {
    let survey = try reader.readSurvey()
    let position = RecordPosition(input: file.name, record: 0, line: 0, byte: 0)
    let mapping = HeaderMapping(
      survey, MemberLabels(columns.definitions), columns: columns.definitions, policy: HeaderPolicy(definition),
      omitsMissing: takesDefaults, at: position)
    reader.refuse(fields: mapping.columnOfField.indices.filter { mapping.columnOfField[$0] == nil })
    return Opened(
      mapping: mapping, header: [], isJSONLines: true, totalBytes: totalBytes, issues: mapping.issues)
  }
}

extension InputRecognition {
  /// The position at which reading begins; nil where nothing is read.
  fileprivate var start: ReaderPosition? {
    switch self {
    case .fresh, .changed: .start
    case .known, .refused: nil
    case .resumed(let entry): entry.progress.position
    case .grown(let entry): entry.progress.position
    }
  }
}

extension RecordBlock {
  /// Whether the last record has no line end.
  var endsOpen: Bool {
    guard let last = records.last, !last.problems.contains(.cut) else { return false }
    let end = originalBytes(of: last).last
    return end != UInt8(ascii: "\n") && end != UInt8(ascii: "\r")
  }
}
