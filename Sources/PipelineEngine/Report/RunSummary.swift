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
    /// The error policy ended it early; what was saved before stays.
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

  /// One input or output and its size.
  public struct File: Sendable, Hashable, Codable {
    public var path: String
    /// Bytes on disk; of a gzip file the compressed ones. For standard input the bytes read.
    public var bytes: Int
    /// Records in it, header excluded, as far as it was read or written.
    public var records: Int

    public init(path: String, bytes: Int, records: Int) {
      self.path = path
      self.bytes = bytes
      self.records = records
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
  /// Seconds since 1970-01-01 UTC would hide it from people: ISO 8601 in JSON.
  public var startedAt: Date
  public var seconds: Double
  public var inputs: [File]
  /// The exported file; empty for imports.
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
  /// Largest memory of the process so far, in bytes.
  public var memoryPeakBytes: Int

  public init(
    kind: Kind, pipeline: String, outcome: Outcome = .completed, failure: Failure? = nil, startedAt: Date,
    seconds: Double, inputs: [File] = [], outputs: [File] = [], store: String? = nil,
    counts: RunCounts = RunCounts(), exported: Int = 0, issues: IssueLog = IssueLog(), rejects: String? = nil,
    memoryPeakBytes: Int = ProcessMemory.peakBytes
  ) {
    self.kind = kind
    self.pipeline = pipeline
    self.outcome = outcome
    self.failure = failure
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
  }
}

extension RunSummary {
  /// Records read, or entries exported, per second; 0 for a run too short to tell.
  public var rowsPerSecond: Double {
    let rows = kind == .export ? exported : counts.read
    return seconds > 0 ? Double(rows) / seconds : 0
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
