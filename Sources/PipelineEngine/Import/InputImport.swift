import CSV
import Foundation
import OpenCoreData

/// The import of one input: a thread that reads, parses and checks, and this one, which saves.
struct InputImport {
  let file: InputFile
  let definition: PipelineDefinition
  let columns: ColumnSet
  let entity: NSEntityDescription
  let chain: ImportChain
  let monitor: RunMonitor
  let rejectsPath: String?
  /// Makes sure that the run's store is open.
  let openStore: @Sendable () throws(RunFailure) -> Void

  private var input: String { file.name }

  /// What the reading thread sends on.
  private enum Message: Sendable {
    /// First of all: what the header says.
    case opened(HeaderMapping, header: [UInt8], totalBytes: Int?)
    case chunk(ParsedChunk)
    /// The input can't be read any further.
    case failure(CSVError)
  }

  /// Chunks parsed ahead of the writer.
  private static let chunksAheadMax = 2

  /// Reads the whole input into `state`.
  func run(_ state: inout ImportState) throws(RunFailure) {
    var rejects: RejectsFile?
    do {
      try handleAll(startReading(), &state, &rejects)
    } catch {
      // What was rejected before the failure is in the file of rejects all the same.
      try finish(&rejects, &state)
      throw error
    }
    try finish(&rejects, &state)
  }

  private func handleAll(
    _ queue: BoundedQueue<Message>, _ state: inout ImportState, _ rejects: inout RejectsFile?
  ) throws(RunFailure) {
    defer { queue.abandon() }
    while true {
      // An input may keep silent for long, as a pipe can; a wish to end must not wait for it.
      guard queue.waitForContent(unless: monitor.isCancelled) else {
        state.outcome = .cancelled
        return
      }
      guard let message = queue.receive() else { return }
      switch message {
      case .failure(let error): throw RunFailure(error)
      case .opened(let mapping, let header, let totalBytes):
        state.begin(input, totalBytes: totalBytes)
        try check(mapping, &state)
        try openStore()
        rejects = rejectsPath.map { RejectsFile(path: $0, header: header) }
      case .chunk(var chunk):
        try save(&chunk, &state)
        try write(chunk, to: &rejects)
        state.add(chunk, monitor)
        if chunk.endsRun { state.outcome = .stopped } else if monitor.isCancelled() { state.outcome = .cancelled }
      }
      if state.outcome != .completed { return }
    }
  }

  private func check(_ mapping: HeaderMapping, _ state: inout ImportState) throws(RunFailure) {
    for issue in mapping.issues { state.log.add(issue) }
    guard let fault = mapping.issues.first(where: { $0.severity == .error }) else { return }
    throw RunFailure(
      code: fault.code, exitCode: .dataError,
      message: "\(input): the header does not fit the pipeline: \(fault.message)")
  }

  private func finish(_ rejects: inout RejectsFile?, _ state: inout ImportState) throws(RunFailure) {
    do {
      try rejects?.commit()
    } catch {
      throw RunFailure(error)
    }
    if let rejects, rejects.count > 0 { state.rejectsPaths.append(rejects.path) }
  }

  // MARK: Reading thread

  private func startReading() -> BoundedQueue<Message> {
    let queue = BoundedQueue<Message>(capacity: Self.chunksAheadMax)
    let reading = self
    let thread = Thread {
      defer { queue.finish() }
      do throws(CSVError) {
        try reading.read(into: queue)
      } catch {
        _ = queue.send(.failure(error))
      }
    }
    thread.name = "reader \(input)"
    // The default of a secondary thread is too small for deep regular expressions.
    thread.stackSize = 8 << 20
    thread.start()
    return queue
  }

  private func read(into queue: BoundedQueue<Message>) throws(CSVError) {
    let source = try ByteSource(path: file.path)
    let reader = try CSVReader(source, dialect: definition.dialect.csv, limits: definition.limits.csv)
    let (mapping, header) = try open(reader)
    guard queue.send(.opened(mapping, header: header, totalBytes: source.totalBytes)) else { return }
    var parser = ChunkParser(
      input: input, definition: definition, columns: columns, mapping: mapping, entity: entity)
    while true {
      // A block of its own for each chunk: the chunk keeps it until its rejects are written.
      var block = RecordBlock()
      guard try reader.next(into: &block, recordsMax: definition.chunkRows) else { return }
      var chunk = parser.parse(block, rowCapacity: block.records.count)
      chunk.consumedBytes = source.consumedBytes
      guard queue.send(.chunk(chunk)), !chunk.endsRun else { return }
    }
  }

  private func open(_ reader: CSVReader) throws(CSVError) -> (mapping: HeaderMapping, header: [UInt8]) {
    guard definition.dialect.header else {
      let position = RecordPosition(input: input, record: 0, line: 0, byte: 0)
      let labels = definition.dialect.columns
      return (HeaderMapping(labels: labels, columns: columns.definitions, at: position), [])
    }
    guard let header = try reader.readHeader() else {
      throw CSVError(
        .source, "the file is empty: not even a header; check what writes it", path: input, byte: 0)
    }
    let position = RecordPosition(
      input: input, record: 0, line: UInt64(header.line), byte: UInt64(header.byteOffset))
    return (HeaderMapping(labels: header.names, columns: columns.definitions, at: position), header.bytes)
  }

  // MARK: Saving

  /// Saves the chunk's entries; rows that are refused become rejects and the rest is saved without them.
  private func save(_ chunk: inout ParsedChunk, _ state: inout ImportState) throws(RunFailure) {
    do {
      try state.takeDuplicates(from: &chunk, input)
      while true {
        let failures = try chain.save(chunk.batch)
        guard !failures.isEmpty else { break }
        try reject(failures, &chunk, &state)
      }
      state.counts.inserted += chunk.batch.count
    } catch {
      if let spill = error as? KeySpillError {
        throw RunFailure(code: nil, exitCode: spill.exitCode, message: spill.description)
      }
      throw RunFailure(store: error as NSError)
    }
  }

  private func reject(
    _ failures: [ImportChain.Failure], _ chunk: inout ParsedChunk, _ state: inout ImportState
  ) throws {
    let stops = definition.errorPolicy == .stop
    for failure in stops ? failures.prefix(1) : failures[...] {
      let index = Int(chunk.recordOfRow[failure.row])
      let record = chunk.block.records[index]
      let position = RecordPosition(
        input: input, record: UInt64(chunk.block.start.record + index), line: UInt64(record.line),
        byte: UInt64(record.byteOffset))
      chunk.issues.append(
        RecordIssue(
          failure.code, at: position, value: RawText.shortened(chunk.block.bytes[record.contentRange]),
          message: failure.message))
      chunk.rejected.append(index)
      if !chunk.keys.isEmpty { try state.forget(chunk.keys[failure.row]) }
    }
    if stops, let first = failures.first {
      let index = Int(chunk.recordOfRow[first.row])
      chunk.removeRows([first.row])
      chunk.cut(afterRecord: index)
    } else {
      chunk.removeRows(failures.map(\.row))
    }
  }

  private func write(_ chunk: ParsedChunk, to rejects: inout RejectsFile?) throws(RunFailure) {
    guard rejects != nil else { return }
    do {
      for index in (chunk.rejected + chunk.duplicates).sorted() {
        try rejects?.append(chunk.block.bytes[chunk.block.records[index].range])
      }
    } catch {
      throw RunFailure(error)
    }
  }
}
