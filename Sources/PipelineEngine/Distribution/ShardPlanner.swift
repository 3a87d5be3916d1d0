import CSV
import OpenCoreData

/// An input that was read to be planned: what the ledger keeps of it, and its shards.
struct PlannedInput {
  let file: InputFile
  let progress: InputProgress
  /// The labels of its header; nil where it has none.
  let labels: [String]?
  /// For its rejects.
  let form: PlanTables.Form
  /// What is compared of its records.
  let digester: RowDigester
  /// The size of the file as stored.
  let storedBytes: Int
  /// What is wrong with the header's bytes, with its labels, and with the dates of a column.
  let issues: [RecordIssue]
  /// Which formats of dates were chosen, and why.
  let notes: [String]
  let shards: [Shard]
  /// Why it is one shard although it is large; nil where it is cut, or small.
  let reasonUncut: String?

  var recordCount: Int { progress.position.record - 1 }
}

/// Reads inputs once, to cut them into shards between records that are certain: line ends within quotation marks are not
/// cut at.
///
/// What only the whole input shows is decided here, so that every shard is read alike: its header, the order of day and
/// month in its dates, the numbers of its records and lines, and its content hash, which is that of an import.
struct ShardPlanner {
  let environment: ImportEnvironment
  /// About how many bytes a shard has.
  let shardBytes: Int

  static let shardBytesDefault = 64 << 20

  /// - Throws: `RunFailure` for an input that can't be read, or whose header or dates don't match the pipeline.
  func plan(_ file: InputFile) throws(RunFailure) -> PlannedInput {
    if let failure = file.failure { throw failure }
    guard file.isReadTwice else {
      throw RunFailure(
        code: .inputRefused, exitCode: .dataError,
        message: "\(file.name) can be read only once, and a plan is read by many workers; write it to a file first")
    }
    let planned: PlannedInput
    do throws(CSVError) {
      planned = try read(file)
    } catch {
      throw RunFailure(error)
    }
    // What was not read to its end would be planned without the rest.
    if environment.monitor.isCancelled() {
      throw RunFailure(
        code: nil, exitCode: .temporaryFailure, message: "cancelled while the files were read; nothing is planned")
    }
    return planned
  }

  private func read(_ file: InputFile) throws(CSVError) -> PlannedInput {
    let stored = try StoredBytes(file.path)
    let input = InputOpener(file)
    let hash = ContentHash(headBytes: InputRecognizer.headBytes)
    let source = try input.completeSource()
    let opener = RecordOpener(
      definition: environment.definition, path: file.path, csvOptions: environment.options.csvOptions)
    let reader = try opener.open(source)
    reader.contentHash = hash
    let reading = environment.reader(of: file, KnownInputs()).adapted(to: reader)
    var opened = try reading.open(reader, totalBytes: source.totalBytes)
    opened.issues += environment.keys.missingKeys(opened.mapping, input: file.name)
    var dates = DateDecision(
      opened.isUsable
        ? InputSurvey(
          reading.columns, of: opened.mapping, definition: reading.definition, entity: environment.store.entity,
          input: file.name) : nil, opener, input: input)
    var cuts = ShardCuts(at: reader.position, shardBytes: Self.isCut(reader, source) ? shardBytes : .max)
    // The bytes of a shard are hashed when they have just been read, so that the system still has them.
    var hashes: [ContentDigest] = []
    var block = RecordBlock()
    var endsOpen = false
    // Shards are cut between what is read at once.
    let recordsMax = min(reading.definition.chunkRows, PipelineDefinition.chunkRowsUsual)
    while try reader.next(into: &block, recordsMax: recordsMax) {
      endsOpen = block.endsOpen
      if let result = try dates.decide(block) { opened.survey = result }
      if let ended = cuts.add(block.end) { hashes.append(try stored.digest(ended)) }
      if environment.monitor.isCancelled() { break }
    }
    let progress = reading.progress(reader.position, of: source, hash: hash, endsOpen: endsOpen)
    let excluded = opened.survey?.excluded ?? [:]
    var shards = cuts.shards(storedBytes: stored.count)
    for index in shards.indices {
      shards[index].hash = try index < hashes.count ? hashes[index] : stored.digest(shards[index].storedBytes)
      shards[index].excludedFormats = excluded
    }
    guard stored.isUnchanged else {
      throw CSVError(.source, "was changed while it was read; plan it when nothing writes to it", path: file.path)
    }
    return PlannedInput(
      file: file, progress: progress, labels: opened.labels,
      form: PlanTables.Form(
        header: opened.header, isJSONLines: opened.isJSONLines,
        hasTabs: environment.definition.dialect.delimiter != reading.definition.dialect.delimiter
          && !opened.isJSONLines),
      digester: reading.digester(opened.mapping), storedBytes: stored.count,
      issues: opened.issues + (opened.survey?.issues ?? []),
      notes: opened.survey?.notes ?? [], shards: shards,
      reasonUncut: stored.count <= shardBytes ? nil : Self.reasonUncut(reader, source))
  }

  private static func isCut(_ reader: any RecordReader, _ source: ByteSource) -> Bool {
    reasonUncut(reader, source) == nil
  }

  /// Why an input can't be read from its middle.
  private static func reasonUncut(_ reader: any RecordReader, _ source: ByteSource) -> String? {
    if source.compression != ByteSource.Compression.none { return "it is compressed" }
    if let reader = reader as? CSVReader, reader.encoding?.startsAnywhere == false {
      return "its encoding is \(reader.encoding?.name ?? "")"
    }
    return nil
  }
}

/// Where an input is cut.
private struct ShardCuts {
  private let shardBytes: Int
  /// The starts of the shards, and the end of the last one.
  private var borders: [ReaderPosition]
  private var end: ReaderPosition

  init(at start: ReaderPosition, shardBytes: Int) {
    (self.shardBytes, borders, end) = (shardBytes, [start], start)
  }

  /// A border is as soon as the shard has its size; what comes after may be less.
  ///
  /// - Returns: The bytes of the shard that ends at a new border.
  mutating func add(_ position: ReaderPosition) -> Range<Int>? {
    defer { end = position }
    guard end.byteOffset - borders[borders.count - 1].byteOffset >= shardBytes else { return nil }
    borders.append(end)
    return firstByte(of: borders.count - 2)..<end.byteOffset
  }

  /// The first shard begins with the header.
  private func firstByte(of shard: Int) -> Int { shard == 0 ? 0 : borders[shard].byteOffset }

  /// The shards, which have all bytes of the file between them.
  func shards(storedBytes: Int) -> [Shard] {
    if end.record == borders[0].record { return [] }
    return borders.indices.map { index in
      let next = index + 1 < borders.count ? borders[index + 1] : nil
      return Shard(
        number: index, start: borders[index], endRecord: next?.record ?? end.record,
        storedBytes: firstByte(of: index)..<(next?.byteOffset ?? storedBytes), hash: ContentDigest(high: 0, low: 0))
    }
  }
}
