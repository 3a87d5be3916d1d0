import CSV
import DefinitionTestSupport
import Foundation
import OpenCoreData
import TestSupport
import Testing

@testable import PipelineEngine

/// Shards are cut between records only, have all of the file between them, and are numbered as the file is; what only the
/// whole file shows is in the plan.
@Suite(.seeded) struct ShardPlannerTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func plan(
    _ name: String, shardBytes: Int, _ change: (inout PipelineDefinition) -> Void = { _ in }
  ) throws -> PlannedInput {
    var definition = PipelineDefinition.plain {
      $0.chunkRows = 20
      $0.source = [folder.path(name)]
    }
    change(&definition)
    var options = RunOptions()
    options.model = RunModel.make()
    options.inputs = [folder.path(name)]
    let run = try ImportRun(
      definition, options: options, model: PipelineEngine.RunModel(model: RunModel.make()), isDryRun: true,
      monitor: RunMonitor(isCancelled: { false }, report: { _ in }, log: .off))
    let planner = ShardPlanner(environment: run.environment, shardBytes: shardBytes)
    return try planner.plan(run.parts[0].inputs[0])
  }

  /// A log whose fields have line ends, quotation marks and delimiters within quotation marks, with blank lines.
  private func randomLog(_ random: inout SeededGenerator) -> String {
    let parts = ["a", "\n", "\"\"", ",", "\r\n", "é"]
    var text = "date,location,rating\n"
    for index in 0..<Int.random(in: 0...400, using: &random) {
      let place =
        Bool.random(using: &random)
        ? "\""
          + (0..<Int.random(in: 0...9, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
          .joined() + "\"" : "Place \(index)"
      text += "2020-01-\(10 + index % 20),\(place),\(index % 5 + 1)\n"
      if Int.random(in: 0..<30, using: &random) == 0 { text += "\n" }
    }
    return Bool.random(using: &random) ? String(text.dropLast()) : text
  }

  /// The records of a file as one reader finds them: their numbers, lines, offsets and fields.
  private func records(_ text: [UInt8]) throws -> [String] {
    let reader = try CSVReader(ByteSource(bytes: text))
    var block = RecordBlock()
    var all: [String] = []
    while try reader.next(into: &block, recordsMax: 7) {
      for (index, record) in block.records.enumerated() {
        let fields = block.fields(of: record).map { block.string(of: $0) }
        all.append("\(block.start.record + index) \(record.line) \(record.byteOffset) \(fields)")
      }
    }
    return all
  }

  @Test func `The records of all shards are those of the file, with its lines and offsets`() throws {
    for seed in Randomness.seeds(30, long: 1000) {
      var random = SeededGenerator(seed: seed)
      let text = Array(randomLog(&random).utf8)
      try Data(text).write(to: folder.file("log.csv"))
      let planned = try plan("log.csv", shardBytes: .random(in: 200...3000, using: &random))
      var found: [String] = []
      for shard in planned.shards {
        let reader = try CSVReader(ByteSource(path: folder.path("log.csv")))
        _ = try reader.readHeader()
        try reader.skip(to: shard.start)
        var block = RecordBlock()
        while reader.position.record < shard.endRecord,
          try reader.next(into: &block, recordsMax: min(9, shard.endRecord - reader.position.record))
        {
          for (index, record) in block.records.enumerated() {
            let fields = block.fields(of: record).map { block.string(of: $0) }
            found.append("\(block.start.record + index) \(record.line) \(record.byteOffset) \(fields)")
          }
        }
      }
      #expect(try found == records(text), "seed \(seed)")
      #expect(planned.recordCount == found.count)
    }
  }

  @Test func `The bytes of the shards are the file's, each with its hash, and the whole hash is that of an import`()
    throws
  {
    let text = Array(log(500).utf8)
    try Data(text).write(to: folder.file("log.csv"))
    let planned = try plan("log.csv", shardBytes: 2000)
    #expect(planned.shards.count > 3)
    var end = 0
    for (number, shard) in planned.shards.enumerated() {
      #expect(shard.storedBytes.lowerBound == end && shard.number == number)
      end = shard.storedBytes.upperBound
      let hash = ContentHash()
      hash.update(text[shard.storedBytes])
      #expect(shard.hash == hash.digest)
    }
    #expect(end == text.count)
    let whole = ContentHash()
    whole.update(text)
    #expect(planned.progress.hash == whole.digest && planned.progress.position.record == 501)
  }

  @Test func `A compressed file, or one in UTF-16, is one shard, with the reason`() throws {
    try folder.write(log(500), to: "log.csv")
    try Programs.output(of: ["gzip", "-k", "log.csv"], in: folder)
    let compressed = try plan("log.csv.gz", shardBytes: 1000)
    #expect(compressed.shards.count == 1 && compressed.reasonUncut == "it is compressed")
    try #require(log(500).data(using: .utf16LittleEndian)).write(to: folder.file("wide.csv"))
    let wide = try plan("wide.csv", shardBytes: 1000) { $0.dialect.encoding = "utf-16le" }
    #expect(wide.shards.count == 1 && wide.reasonUncut == "its encoding is utf-16le")
    let latin = try plan("log.csv", shardBytes: 1000) { $0.dialect.encoding = "latin1" }
    #expect(latin.shards.count > 3 && latin.reasonUncut == nil)
  }

  @Test func `Files without records have no shards, and their header is checked`() throws {
    try folder.write("date,location,rating\n", to: "empty.csv")
    #expect(try plan("empty.csv", shardBytes: 1000).shards.isEmpty)
    try folder.write("when,location,rating\n2020-01-01,a,1\n", to: "other.csv")
    let issues = try plan("other.csv", shardBytes: 1000).issues
    #expect(issues.contains { $0.severity == .error && $0.column == "date" })
  }

  @Test func `The order of day and month is that of the whole file`() throws {
    var text = "date,location,rating\n"
    for index in 0..<200 { text += "\(index % 9 + 1)/\(index < 190 ? 5 : 25)/2020,Spot \(index),3\n" }
    try folder.write(text, to: "log.csv")
    let planned = try plan("log.csv", shardBytes: 600) { $0.columns[0].formats = ["M/d/yyyy", "d/M/yyyy"] }
    #expect(planned.shards.count > 2)
    #expect(planned.shards.allSatisfy { $0.excludedFormats == ["date": ["d/M/yyyy"]] }, "\(planned.shards[0])")
    #expect(planned.notes.count == 1)
  }

  @Test func `JSON Lines are cut between lines`() throws {
    try folder.write(
      (0..<300).map { "{\"date\": \"2020-01-01\", \"location\": \"a\\n\($0)\", \"rating\": 3}\n" }.joined(),
      to: "log.jsonl")
    let planned = try plan("log.jsonl", shardBytes: 2000)
    #expect(planned.shards.count > 3 && planned.recordCount == 300)
    let text = try folder.data("log.jsonl")
    for shard in planned.shards.dropFirst() {
      #expect(
        text[shard.start.byteOffset - 1] == UInt8(ascii: "\n") && text[shard.start.byteOffset] == UInt8(ascii: "{"))
    }
  }
}
