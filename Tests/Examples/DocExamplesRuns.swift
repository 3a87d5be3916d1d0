import CSV
import Foundation
import PipelineEngine

/// More examples in the documentation of CSV and pipelines, compiled: members of readers, writers and runs. A change of
/// an example changes both places.
private enum DocExamplesRuns {
  static func importProgress(runner: PipelineRunner) async {
    for await state in runner.progress {
      if let total = state.total { print("\(state.file): \(state.bytes) of \(total) bytes") }
    }
  }

  static func inputs(options: inout RunOptions) {
    options.inputs = ["2013.csv.gz", "2014.csv.gz"]
  }

  static func runnerInit(definition: PipelineDefinition) {
    var options = RunOptions()
    options.inputs = ["surf-log.csv"]
    let runner = PipelineRunner(definition, .validate, options: options)
    _ = runner
  }

  static func runnerDefinition(runner: PipelineRunner) {
    print("\(runner.definition.name) fills \(runner.definition.entity)")
  }

  static func runnerKind(runner: PipelineRunner) {
    if runner.kind == .validate { print("Nothing will be stored") }
  }

  static func runnerOptions(runner: PipelineRunner) {
    let inputs = runner.options.inputs ?? runner.definition.source
    _ = inputs
  }

  static func runnerRun(runner: PipelineRunner) async throws {
    let summary = try await runner.run()
    if let failure = summary.failure { print(failure.message) } else { print(summary.counts.inserted) }
  }

  static func runnerCancel(runner: PipelineRunner) async throws {
    let work = Task { try await runner.run() }
    runner.cancel()
    print(try await work.value.outcome)  // cancelled
  }

  static func summaryIssues(summary: RunSummary) {
    for issue in summary.issues.listed { print(issue) }
    if summary.issues.isTruncated { print("of \(summary.issues.errors) errors") }
  }

  static func check(definition: PipelineDefinition) {
    do {
      try definition.check()
    } catch {
      for mistake in error.mistakes { print(mistake.path, mistake.message) }
    }
  }

  static func block(reader: CSVReader) throws {
    var block = RecordBlock()
    while try reader.next(into: &block, recordsMax: 1000) {
      for record in block.records {
        if let field = block.field(0, of: record) { print(record.line, block.string(of: field)) }
      }
    }
  }

  static func readerInit() throws {
    var limits = CSVLimits()
    limits.fieldBytesMax = 64 << 10
    let reader = try CSVReader(ByteSource(path: "surf-log.csv"), dialect: .semicolon, limits: limits)
    _ = reader
  }

  static func next(reader: CSVReader) throws {
    var block = RecordBlock()
    var count = 0
    while try reader.next(into: &block, recordsMax: 1000) { count += block.records.count }
    _ = count
  }

  static func writerInit() throws {
    let sink = try ByteSink(path: "surf-log.csv")
    var writer = try CSVWriter(sink, dialect: .semicolon)
    try writer.flush()
  }

  static func endRecord(writer: inout CSVWriter) throws {
    for value in ["2014-07-14", "Rincon, CA"] { try writer.append(field: value) }
    try writer.endRecord()
  }

  static func write(writer: inout CSVWriter) throws {
    try writer.write(["2014-07-14", "Rincon, CA"])  // 2014-07-14,"Rincon, CA"
  }

  static func flush(writer: inout CSVWriter) throws {
    try writer.flush()
    try writer.sink.commit()
  }

  static func sourcePath() throws {
    let reader = try CSVReader(ByteSource(path: "surf-log.csv.gz"))
    _ = reader
  }

  static func sourceDescriptor() throws {
    let input = FileHandle.standardInput
    let source = try ByteSource(descriptor: input.fileDescriptor, name: "standard input")
    _ = source
  }

  static func sourceBytes() throws {
    let source = try ByteSource(bytes: Array("date,location\n2014-07-14,Rincon\n".utf8))
    _ = source
  }

  static func sourceRead(source: ByteSource) throws {
    var head: [UInt8] = []
    let count = try source.read(appendingTo: &head, bytesMax: 512)
    if count == 0 { print("\(source.name) is empty") }
  }
}
