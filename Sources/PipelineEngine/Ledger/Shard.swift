import CSV

/// A part of a planned input: consecutive records, which any number of workers may import at the same time, each record
/// once.
struct Shard: Sendable, Equatable {
  /// Its row in the table of shards; 0 before it has one.
  var id: Int64 = 0
  /// The run that imports it: the plan.
  var plan = ""
  /// Its number in the plan, from 0.
  var number: Int
  /// The number of its input in the ledger.
  var input: Int64 = 0
  /// Where its first record starts.
  var start: ReaderPosition
  /// The number of the record after its last one.
  var endRecord: Int
  /// Its bytes in the file as stored.
  var storedBytes: Range<Int>
  /// The hash of these bytes.
  var hash: ContentDigest
  /// The date formats that the input as a whole excludes, as their texts, by the column's name.
  var excludedFormats: [String: [String]] = [:]

  /// Whether it has the end of the file.
  var isLast = false

  var recordCount: Int { endRecord - start.record }

  /// The error for a file that is not as it was planned.
  func changed(_ path: String, _ reason: String) -> CSVError {
    CSVError(
      .source,
      "has changed since it was planned: \(reason). Put the file back as it was, or end the plan with "
        + "'report --plan \(plan) --abandon', undo it and plan again", path: path)
  }

  /// By which the ledger has its issues: other than the number of any input.
  var issueKey: Int64 { -id }
}

/// What a worker tried to save from a checkpoint that another worker has moved meanwhile: nothing of it is saved, and the
/// present checkpoint says where to go on.
struct CheckpointMoved: Error {}
