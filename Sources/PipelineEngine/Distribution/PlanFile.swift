import CSV
import Foundation
import SystemSupport
import PersistentStores

/// A plan as a file, for workers that only check the shards of files: without a store.
struct PlanFile: Codable {
  struct Input: Codable {
    var path: String
    var location: String?
    var records: Int
    var bytes: Int
    var contentHash: String
    var headBytes: Int
    var headHash: String
    /// What is wrong with the header, and with the dates of a column.
    var issues: [RecordIssue]
  }

  struct PlannedShard: Codable {
    /// The index of its input.
    var input: Int
    var start: ReaderPosition
    var endRecord: Int
    var storedFrom: Int
    var storedTo: Int
    var hash: String
    var excludedFormats: [String: [String]]
  }

  var id: String
  var madeAt: Date
  var digest: String
  var plan: StoredPlan
  var notes: [String]
  var inputs: [Input]
  var shards: [PlannedShard]

  init(_ inputs: [PlannedInput], _ environment: ImportEnvironment) {
    (id, madeAt, digest) = (environment.runID, environment.startedAt, environment.digest.hex)
    plan = StoredPlan(environment.definition, environment.options)
    notes = inputs.flatMap(\.notes)
    self.inputs = inputs.map { input in
      Input(
        path: input.file.name, location: input.file.location, records: input.recordCount,
        bytes: input.progress.consumedBytes, contentHash: input.progress.hash.hex, headBytes: input.progress.headBytes,
        headHash: input.progress.headHash.hex, issues: input.issues)
    }
    shards = inputs.enumerated().flatMap { index, input in
      input.shards.map { shard in
        PlannedShard(
          input: index, start: shard.start, endRecord: shard.endRecord, storedFrom: shard.storedBytes.lowerBound,
          storedTo: shard.storedBytes.upperBound, hash: shard.hash.hex, excludedFormats: shard.excludedFormats)
      }
    }
  }

  /// Reads a plan that `write(to:)` has written.
  ///
  /// - Throws: `RunFailure` for a file that can't be read, or is not a plan.
  static func read(_ path: String, _ vocabulary: DefinitionVocabulary) throws(RunFailure) -> PlanFile {
    let decoder = JSONDecoder()
    decoder.userInfo[.definitionVocabulary] = vocabulary
    decoder.dateDecodingStrategy = .iso8601
    do {
      var file = try decoder.decode(PlanFile.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
      file.plan.pipeline.baseDirectory = file.plan.folder.map { URL(fileURLWithPath: $0) }
      return file
    } catch is DecodingError {
      throw RunFailure(
        code: nil, exitCode: .dataError, message: "\(path) is not a plan; name a file that 'plan --dry-run' has written"
      )
    } catch {
      throw RunFailure(
        code: nil, exitCode: .noInput, message: "\(path) can't be read: \((error as NSError).reason)")
    }
  }

  /// Writes the plan; the file appears complete or not at all.
  func write(to path: String) throws(RunFailure) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    do {
      let sink = try ByteSink(path: path)
      try sink.write(Array(try encoder.encode(self)) + [UInt8(ascii: "\n")])
      try sink.commit()
    } catch {
      throw (error as? CSVError).map(RunFailure.init) ?? RunFailure(store: error as NSError)
    }
  }

  /// The ledger's entry of a shard, as a store would have it.
  func entry(ofShard number: Int, _ environment: ImportEnvironment) -> LedgerEntry? {
    guard shards.indices.contains(number), inputs.indices.contains(shards[number].input),
      let hash = ContentDigest(hex: shards[number].hash), shards[number].storedFrom <= shards[number].storedTo
    else { return nil }
    let (planned, input) = (shards[number], inputs[shards[number].input])
    var whole = FileCheckpoint(InputFile(name: input.path, path: input.location ?? input.path), environment).entry
    whole.progress.position.record = input.records + 1
    whole.progress.headBytes = input.headBytes
    whole.progress.headHash = ContentDigest(hex: input.headHash) ?? hash
    let shard = Shard(
      id: Int64(number) + 1, plan: id, number: number, input: Int64(planned.input) + 1, start: planned.start,
      endRecord: planned.endRecord, storedBytes: planned.storedFrom..<planned.storedTo, hash: hash,
      excludedFormats: planned.excludedFormats)
    return LedgerEntry(shard, of: whole)
  }
}

/// What a worker has found in a shard that it has checked: a line of JSON.
package struct CheckedShard: Codable, Sendable {
  var plan: String
  var shard: Int
  var counts: RunCounts
  var results: InputResults.Kept
  var issues: [RecordIssue]
}
