import CSV
import Foundation
import Locking
import OpenCoreData

/// The reading side of an import: a thread that recognises the input and reads it block by block, for other threads to
/// parse.
struct InputReader: Sendable {
  /// The thread's messages, in the order in which they are sent.
  enum Message: Sendable {
    case recognized(InputRecognition)
    /// The header. Not sent for an input of which nothing is read.
    case opened(HeaderMapping, header: [UInt8], totalBytes: Int?)
    /// A chunk that is being parsed; the queue delivers only this chunk.
    case chunk(BoundedQueue<ParsedChunk>)
    /// The end was reached.
    case end(InputProgress)
    /// The input can't be read any further.
    case failure(CSVError)
  }

  /// Chunks read ahead of the writer.
  private static let chunksAheadMax = 4

  let file: InputFile
  let definition: PipelineDefinition
  let columns: ColumnSet
  let entity: NSEntityDescription
  /// Whether the attribute of a column that the input lacks gets the model's default.
  let takesDefaults: Bool
  let recognizer: InputRecognizer
  /// Called once the header is known: which attributes are compared depends on the columns of the input.
  let digester: @Sendable (HeaderMapping) -> RowDigester
  let clock: StageClock

  func start() -> BoundedQueue<Message> {
    let queue = BoundedQueue<Message>(capacity: Self.chunksAheadMax)
    Thread.begin("reader \(file.name)") {
      clock.time(.read) { share in
        do throws(CSVError) {
          try read(into: queue, &share)
        } catch {
          _ = queue.send(.failure(error))
        }
      }
      queue.finish()
    }
    return queue
  }

  private func read(into queue: BoundedQueue<Message>, _ share: inout StageClock.Share) throws(CSVError) {
    let input = InputOpener(path: file.path)
    let (recognition, hash) = try recognizer.recognize(input)
    guard share.waiting({ queue.send(.recognized(recognition)) }), let start = recognition.start else { return }
    let source = try input.completeSource()
    let reader = try CSVReader(source, dialect: definition.dialect.csv, limits: definition.limits.csv)
    if start == .start { reader.contentHash = hash }
    let (mapping, header) = try open(reader)
    if start != .start {
      // What precedes it is already hashed.
      try reader.skip(to: start)
      reader.contentHash = hash
    }
    guard queue.send(.opened(mapping, header: header, totalBytes: source.totalBytes)) else { return }
    let parser = ChunkParser(
      input: file.name, definition: definition, columns: columns, mapping: mapping, entity: entity,
      takesDefaults: takesDefaults, digester: digester(mapping))
    let parsing = ParsingStage(parser, clock: clock, name: file.name) { queue.send(.chunk($0)) }
    defer { parsing.finish() }
    var endsOpen = false
    var block = RecordBlock()
    while true {
      // A new block for each chunk, which keeps it until its rejects are written.
      block = RecordBlock(capacityOf: block)
      guard try reader.next(into: &block, recordsMax: definition.chunkRows) else { break }
      endsOpen = block.endsOpen
      let progress = progress(block.end, of: source, hash: hash, endsOpen: endsOpen)
      guard share.waiting({ parsing.send(block, progress) }) else { return }
    }
    let end = progress(reader.position, of: source, hash: hash, endsOpen: endsOpen)
    _ = share.waiting { queue.send(.end(end)) }
  }

  private func progress(
    _ position: ReaderPosition, of source: ByteSource, hash: ContentHash, endsOpen: Bool
  ) -> InputProgress {
    let digest = hash.digest
    return InputProgress(
      position: position, hash: digest, headBytes: min(hash.byteCount, InputRecognizer.headBytes),
      headHash: hash.headDigest ?? digest, endsOpen: endsOpen, consumedBytes: source.consumedBytes)
  }

  private func open(_ reader: CSVReader) throws(CSVError) -> (mapping: HeaderMapping, header: [UInt8]) {
    guard definition.dialect.header else {
      let position = RecordPosition(input: file.name, record: 0, line: 0, byte: 0)
      let labels = definition.dialect.columns
      return (HeaderMapping(labels: labels, columns: columns.definitions, at: position), [])
    }
    guard let header = try reader.readHeader() else {
      throw CSVError(
        .source, "the file is empty: not even a header; check what writes it", path: file.name, byte: 0)
    }
    let position = RecordPosition(
      input: file.name, record: 0, line: UInt64(header.line), byte: UInt64(header.byteOffset))
    return (HeaderMapping(labels: header.names, columns: columns.definitions, at: position), header.bytes)
  }
}

extension InputRecognition {
  /// The position at which reading begins; nil where nothing is read.
  fileprivate var start: ReaderPosition? {
    switch self {
    case .fresh: .start
    case .known, .refused: nil
    case .resumed(let entry): entry.progress.position
    case .grown(let entry): entry.progress.position
    }
  }
}

extension RecordBlock {
  /// Whether the last record has no line end.
  fileprivate var endsOpen: Bool {
    guard let last = records.last, !last.problems.contains(.cut) else { return false }
    let end = originalBytes(of: last).last
    return end != UInt8(ascii: "\n") && end != UInt8(ascii: "\r")
  }
}
