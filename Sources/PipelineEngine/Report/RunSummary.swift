import Foundation

/// The results of a run: the one value from which every report format is made.
///
/// As JSON (``json()``) its keys are the names below, in alphabetical order; keys whose value is nil are omitted. The
/// keys and the values of enumerations and codes are stable within a `formatVersion`.
///
/// ```swift
/// let summary = try await runner.run()
/// print(summary.outcome, summary.counts.inserted, summary.counts.rejected)
/// if let failure = summary.failure { print(failure.message) }
/// ```
public struct RunSummary: Sendable, Hashable, Codable {
  /// What the run did.
  public enum Kind: String, Sendable, Codable {
    /// Inputs were imported into the store.
    case `import`
    /// A dry run: nothing was saved.
    case validate
    /// Entries were exported.
    case export
  }

  /// How the run ended.
  public enum Outcome: String, Sendable, Codable {
    /// The whole input was handled, or the whole export written.
    case completed
    /// The error policy or budget ended it early; what was saved before stays, unless the run was atomic.
    case stopped
    /// Cancelled at a chunk boundary; what was saved before stays.
    case cancelled
    /// It could not continue: see `failure`.
    case failed
  }

  /// Why a run could not continue.
  public struct Failure: Sendable, Hashable, Codable {
    /// The issue code if there is one, such as `source-error`.
    public var code: IssueCode?
    /// What is wrong, where, and what to do next.
    public var message: String
    /// The exit status of a process that ends because of it.
    public var exitCode: ExitCode

    /// Makes a failure. The parameters are the properties of the same names.
    public init(code: IssueCode? = nil, message: String, exitCode: ExitCode) {
      self.code = code
      self.message = message
      self.exitCode = exitCode
    }
  }

  /// What the ledger recorded for an input.
  public enum InputState: String, Sendable, Codable {
    /// It was read from its start.
    case imported
    /// It was imported before, and nothing was done.
    case known
    /// It was begun before, and reading continued from there; counts and issues are those of all its records.
    case resumed
    /// It had grown since it was imported, and only the new records were read.
    case grown
  }

  /// One input or output and its size.
  public struct File: Sendable, Hashable, Codable {
    /// The path as it was given; `-` is the standard input or output.
    public var path: String
    /// Bytes on disk; for a compressed file the compressed ones. For standard input the bytes read.
    public var bytes: Int
    /// Its number of records without the header, as far as it was read or written.
    public var records: Int
    /// XXH3 of the uncompressed content, as 32 hexadecimal digits; nil where no hash was computed.
    public var contentHash: String?
    /// Nil for an output.
    public var state: InputState?
    /// The first record that was read, for an input that was not read from its start.
    public var firstRecord: Int?
    /// When a known input was imported.
    public var importedAt: Date?
    /// What happened to the records of an input; nil for an output.
    public var counts: RunCounts?
    /// Where the file of an inbox is moved when the report is written; nil for one that stays.
    public var movedTo: String?
    /// Why the input, or the rest of it, was not imported; nil where it was.
    public var failure: String?

    /// Makes a file of a run. The parameters are the properties of the same names.
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
    /// Number of issues of the severity error.
    public var errors: Int
    /// Number of issues of the severity warning.
    public var warnings: Int
    /// Number of issues by code.
    public var counts: [IssueCode: Int]
    /// How many of `counts` are warnings.
    public var warningCounts: [IssueCode: Int]
    /// The first issues, in the order in which they were found.
    public var listed: [RecordIssue]
    /// Whether there were more than are listed.
    public var isTruncated: Bool

    /// The issues that `log` has counted and listed.
    public init(_ log: IssueLog = IssueLog()) {
      errors = log.errorsTotal
      warnings = log.warningsTotal
      counts = log.counts
      warningCounts = log.warningCounts
      listed = log.listed
      isTruncated = log.isTruncated
    }
  }

  /// The version of the JSON's keys and values.
  public var formatVersion = 1
  /// What the run did.
  public var kind: Kind
  /// The name of the definition.
  public var pipeline: String
  /// How the run ended.
  public var outcome: Outcome
  /// Why the run could not continue; nil unless the outcome is `failed`.
  public var failure: Failure?
  /// Why the run was stopped, and what of it is in the store.
  public var stopReason: String?
  /// Identifies the run in the ledger and in the files of rejects; nil for an export.
  public var run: String?
  /// When the run began. ISO 8601 in JSON, which unlike seconds since 1970 is readable.
  public var startedAt: Date
  /// How long the run took.
  public var seconds: Double
  /// The files that were read, in order; empty for an export.
  public var inputs: [File]
  /// The exported files in the order of their entries; empty for imports, and where nothing was new.
  public var outputs: [File]
  /// The path of the store; nil where the run had none.
  public var store: String?
  /// What happened to the records that were read. Zero for an export.
  public var counts: RunCounts
  /// The counts of each entity, where an import fills several; nil for a pipeline of one entity.
  public var entities: [EntityCounts]?
  /// What an import did with related objects, by entity; nil for a pipeline without links.
  public var links: [LinkCounts]?
  /// Entries written by an export.
  public var exported: Int
  /// What is wrong with the records: all counted, the first ones listed.
  ///
  /// ```swift
  /// for issue in summary.issues.listed { print(issue) }
  /// if summary.issues.isTruncated { print("of \(summary.issues.errors) errors") }
  /// ```
  public var issues: Issues
  /// Inputs that could not be opened, with the reason; nil for none.
  public var unreadInputs: [File]?
  /// What was exported; nil for an import.
  public var exportedAs: Exported?
  /// What the entries have in each column; nil where it was not counted.
  public var columns: [EntryProfile.Column]?
  /// The rules of the pipeline, with the number of records that break each; nil where no report shows them.
  public var rules: [Rule]?
  /// What could not be notified, and why; nil where everything was.
  public var undelivered: [String]?
  /// The distribution of the entries' values; nil where it was not counted.
  public var profile: EntryProfile?
  /// The path of the rejected records; nil when there are none.
  public var rejects: String?
  /// The seed that was made from the import; nil for an ordinary import.
  public var seed: Seed?
  /// What a user should know that no number states.
  public var note: String?
  /// Peak memory of the process so far, in bytes.
  public var memoryPeakBytes: Int
  /// How a run that was stopped is made to go on: what to change in the pipeline or the options. Not part of the JSON.
  package var stopAdvice: String?
  /// A folder of the run that could not be removed, and why. Not part of the JSON.
  package var leftFolder: String?
  /// Where the files of an inbox are that have to be corrected. Not part of the JSON.
  package var failedPaths: [String] = []
  /// The files of rejects, as single paths. Not part of the JSON.
  package var rejectsFiles: [String] = []
  /// What the gauges say in addition. Not part of the JSON.
  package var gauges = RunGauges()
  /// The runs before this one, the oldest first. Not part of the JSON.
  package var recentRuns: [RunPoint] = []
  /// The program's name in reports for users and in the names of metrics; not part of the JSON.
  public var program = DefinitionVocabulary().program

  private enum CodingKeys: String, CodingKey {
    case formatVersion, kind, pipeline, outcome, failure, stopReason, run, startedAt, seconds, inputs, outputs, store
    case counts, entities, links, exported, issues, profile, rejects, seed, note, memoryPeakBytes
    case unreadInputs, exportedAs, columns, rules, undelivered
  }

  package init(
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
  /// Records read, or entries exported, per second; 0 for a run too short to measure.
  public var rowsPerSecond: Double {
    let rows = kind == .export ? exported : counts.read
    return seconds > 0 ? Double(rows) / seconds : 0
  }

  /// Warnings about whole columns or the whole run: a run that is quiet about success reports them too.
  public var columnWarnings: [RecordIssue] {
    issues.listed.filter { $0.severity == .warning && ($0.code.scope == .header || $0.code.scope == .run) }
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

  /// The name of the rejects file of an input: `log.csv` → `log.csv.rejects.csv`, `-` → `stdin.rejects.csv`. The whole
  /// name is kept, so that `log.csv` and `log.csv.gz` in one folder have different files. Rejected records are written
  /// as plain text, even for a compressed input.
  /// An input that turns out to be JSON Lines gets the ending `.rejects.jsonl` instead.
  public static func rejectsName(for input: String) -> String {
    let name = input == "-" ? "stdin" : URL(fileURLWithPath: input).lastPathComponent
    return name + rejectsEnding
  }

  static let rejectsEnding = ".rejects.csv"
  static let rejectsEndingOfJSONLines = ".rejects.jsonl"
}
