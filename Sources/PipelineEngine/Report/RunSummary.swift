import Foundation

/// Everything a run has to say for itself: the one value behind every rendering of the report.
///
/// As JSON (``json()``) its keys are the names below, in alphabetical order; keys whose value is nil are left out. The
/// keys and the values of enumerations and codes stay as they are within a `formatVersion`.
public struct RunSummary: Sendable, Hashable, Codable {
  /// What the run was for.
  public enum Kind: String, Sendable, Codable {
    case `import`, validate, export
  }

  /// How the run ended.
  public enum Outcome: String, Sendable, Codable {
    /// The whole input was handled, or the whole export written.
    case completed
    /// The error policy or budget ended it early; what was saved before stays, unless the run was atomic.
    case stopped
    /// Someone cancelled it at a chunk border; what was saved before stays.
    case cancelled
    /// It could not go on: see `failure`.
    case failed
  }

  /// Why a run could not go on.
  public struct Failure: Sendable, Hashable, Codable {
    /// An issue code where one fits, such as `source-error`.
    public var code: IssueCode?
    /// What is wrong, where, and what to do next.
    public var message: String
    public var exitCode: ExitCode

    public init(code: IssueCode? = nil, message: String, exitCode: ExitCode) {
      self.code = code
      self.message = message
      self.exitCode = exitCode
    }
  }

  /// What the ledger made of an input.
  public enum InputState: String, Sendable, Codable {
    /// It was read from its front.
    case imported
    /// It was imported before, and nothing was done.
    case known
    /// It was begun before, and read on from there; counts and issues are those of all its records.
    case resumed
    /// It had grown since it was imported, and only the new records were read.
    case grown
  }

  /// One input or output and its size.
  public struct File: Sendable, Hashable, Codable {
    public var path: String
    /// Bytes on disk; of a gzip file the compressed ones. For standard input the bytes read.
    public var bytes: Int
    /// Records in it, header excluded, as far as it was read or written.
    public var records: Int
    /// XXH3 of the content, unpacked, as 32 hexadecimal digits; nil for what was not hashed.
    public var contentHash: String?
    /// Nil for an output.
    public var state: InputState?
    /// The first record that was read, of an input that was not read from its front.
    public var firstRecord: Int?
    /// When a known input was imported.
    public var importedAt: Date?

    public init(
      path: String, bytes: Int, records: Int, contentHash: String? = nil, state: InputState? = nil
    ) {
      self.path = path
      self.bytes = bytes
      self.records = records
      self.contentHash = contentHash
      self.state = state
    }
  }

  /// The issues, counted in full and listed up to a limit.
  public struct Issues: Sendable, Hashable, Codable {
    public var errors: Int
    public var warnings: Int
    /// Number of issues by code.
    public var counts: [IssueCode: Int]
    /// How many of `counts` are warnings.
    public var warningCounts: [IssueCode: Int]
    public var listed: [RecordIssue]
    /// Whether there were more than are listed.
    public var isTruncated: Bool

    public init(_ log: IssueLog = IssueLog()) {
      errors = log.errorsTotal
      warnings = log.warningsTotal
      counts = log.counts
      warningCounts = log.warningCounts
      listed = log.listed
      isTruncated = log.isTruncated
    }
  }

  public var formatVersion = 1
  public var kind: Kind
  public var pipeline: String
  public var outcome: Outcome
  public var failure: Failure?
  /// Why the run was stopped, and what of it is in the store.
  public var stopReason: String?
  /// Names the run in the ledger and in the files of rejects; nil for an export.
  public var run: String?
  /// Seconds since 1970-01-01 UTC would hide it from people: ISO 8601 in JSON.
  public var startedAt: Date
  public var seconds: Double
  public var inputs: [File]
  /// The exported files in the order of their entries; empty for imports, and where nothing was new.
  public var outputs: [File]
  public var store: String?
  public var counts: RunCounts
  /// Entries written by an export.
  public var exported: Int
  public var issues: Issues
  /// What the entries that were taken look like; nil where nobody counted.
  public var profile: EntryProfile?
  /// Where the rejected records are; nil when there are none.
  public var rejects: String?
  /// The seed that was made of the import; nil for an ordinary one.
  public var seed: Seed?
  /// What a person should know that no number says.
  public var note: String?
  /// Largest memory of the process so far, in bytes.
  public var memoryPeakBytes: Int
  /// What the program is called in reports for people, and before the names of metrics; not part of the JSON.
  public var program = DefinitionVocabulary().program

  private enum CodingKeys: String, CodingKey {
    case formatVersion, kind, pipeline, outcome, failure, stopReason, run, startedAt, seconds, inputs, outputs, store
    case counts, exported, issues, profile, rejects, seed, note, memoryPeakBytes
  }

  public init(
    kind: Kind, pipeline: String, outcome: Outcome = .completed, failure: Failure? = nil, stopReason: String? = nil,
    run: String? = nil, startedAt: Date,
    seconds: Double, inputs: [File] = [], outputs: [File] = [], store: String? = nil,
    counts: RunCounts = RunCounts(), exported: Int = 0, issues: IssueLog = IssueLog(), rejects: String? = nil,
    memoryPeakBytes: Int = ProcessMemory.peakBytes, program: String = DefinitionVocabulary().program
  ) {
    self.kind = kind
    self.pipeline = pipeline
    self.outcome = outcome
    self.failure = failure
    self.stopReason = stopReason
    self.run = run
    self.startedAt = startedAt
    self.seconds = seconds
    self.inputs = inputs
    self.outputs = outputs
    self.store = store
    self.counts = counts
    self.exported = exported
    self.issues = Issues(issues)
    self.rejects = rejects
    self.memoryPeakBytes = memoryPeakBytes
    self.program = program
  }
}

extension RunSummary {
  /// Records read, or entries exported, per second; 0 for a run too short to tell.
  public var rowsPerSecond: Double {
    let rows = kind == .export ? exported : counts.read
    return seconds > 0 ? Double(rows) / seconds : 0
  }

  /// Warnings about whole columns: a run that was told to be quiet about success reports them too.
  public var columnWarnings: [RecordIssue] {
    issues.listed.filter { $0.severity == .warning && $0.code.scope == .header }
  }

  /// Whether every input was imported before, so that there was nothing to do.
  public var isNothingNew: Bool {
    !inputs.isEmpty && inputs.allSatisfy { $0.state == .known && $0.records == 0 } && issues.errors == 0
  }

  /// By cause: 0 clean; 65 an issue of severity error, or stopped by one; 75 cancelled; otherwise the failure's.
  public var exitCode: ExitCode {
    switch outcome {
    case .failed: failure?.exitCode ?? .software
    case .cancelled: .temporaryFailure
    case .stopped: .dataError
    case .completed: issues.errors > 0 ? .dataError : .ok
    }
  }

  /// The name of the rejects file of an input: `log.csv` → `log.csv.rejects.csv`, `-` → `stdin.rejects.csv`. The
  /// whole name is kept, so that `log.csv` and `log.csv.gz` of one folder have files of their own. Rejected records
  /// are written as plain text, also those of a compressed input.
  public static func rejectsName(for input: String) -> String {
    let name = input == "-" ? "stdin" : URL(fileURLWithPath: input).lastPathComponent
    return name + ".rejects.csv"
  }
}
