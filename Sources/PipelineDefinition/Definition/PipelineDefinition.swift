import Foundation

/// A pipeline's definition, as declared in a JSON file of `Pipelines/` or in code.
///
/// The file is JSON with comments (JSON5). Every key but `name` has a default. Unknown keys, wrong types and values
/// out of range are mistakes; all of them are reported together, each with its key path, line and column, see
/// ``PipelineError``. Paths are relative to the definition's file; `-` is standard input or output. A file may extend
/// another one and use environment variables, see *Pipeline files* in the manual.
///
/// ```swift
/// var definition = PipelineDefinition(
///   name: "club",
///   columns: [ColumnDefinition("date", rules: [ValueRule(.required)]), ColumnDefinition("location")],
///   key: ["date"], entity: "JournalEntry")
/// definition.chunkRows = 10_000
/// try definition.check()
/// ```
public struct PipelineDefinition: Sendable, Hashable, Encodable {
  /// The treatment of a record that cannot be imported.
  public enum ErrorPolicy: String, Sendable, Codable, CaseIterable {
    /// Reject it and continue.
    case skip
    /// End the run, as with an error budget of 0; chunks that were already saved stay.
    case stop
  }

  /// The treatment of an entity whose objects must have relationships.
  public enum RelationshipPolicy: String, Sendable, Codable, CaseIterable {
    /// Refuse to import it.
    case require
    /// Import it and leave the relationships empty: the store then violates its model until they are set.
    case ignore
  }

  /// The treatment of labels that no column has, and of columns that the header lacks.
  public enum ColumnPolicy: String, Sendable, Codable, CaseIterable {
    /// The file is refused.
    case error
    /// The file is imported, and the report names the label or column.
    case warn
    /// They are not mentioned.
    case ignore
  }

  /// The treatment, in a pipeline without a key, of an input that was imported before and has changed since.
  public enum ChangedInputPolicy: String, Sendable, Codable, CaseIterable {
    /// Refuse it: its records would be stored twice.
    case refuse
    /// Delete what the earlier import inserted, and import the input, in one transaction.
    case replace
    /// Import only records that the store does not have, in one transaction. Whole records are compared, and equal ones
    /// are counted: of three equal records the third is new where the store has two.
    case onlyNew
  }

  /// Name in reports.
  public var name: String
  /// What the pipeline is for, as text for its readers.
  public var description: String?
  /// Input files in order, or patterns of file names, see *Pipeline files* in the manual.
  public var source: [String]
  /// The commands that read the inputs; nil for files.
  public var read: ReadDefinition?
  /// Whether a missing source, or a pattern without matches, is allowed.
  public var sourceOptional: Bool
  /// Whether the command `run` only reports what an import would do. `import` stores nevertheless, and `plan` refuses it.
  public var dryRun: Bool
  /// Whether each input must match the checksum file next to it, which an export writes.
  public var verifyHash: Bool
  /// A folder whose files are the inputs, instead of `source`.
  public var inbox: InboxDefinition?
  /// The form of the input.
  public var dialect: DialectDefinition
  /// Columns of the input; they may be empty only for a pipeline that exports.
  public var columns: [ColumnDefinition]
  /// The treatment of labels that no column has; their fields are not imported.
  public var extraColumns: ColumnPolicy
  /// The treatment of columns that the header lacks; their attributes stay empty. A column that is `required` is an
  /// error in any case.
  public var missingColumns: ColumnPolicy
  /// The zone of times that do not name theirs, an IANA name such as `Europe/Berlin`; UTC when nil.
  public var timeZone: String?
  /// Rules for whole records.
  public var recordRules: [RecordRule]
  /// Attributes that together identify an entry, in the input and in the store; empty for no such rule.
  public var key: [String]
  /// The treatment of a record whose key already exists.
  public var duplicates: DuplicatePolicy
  /// The store's file.
  public var store: String?
  /// The managed object model: the name of an embedded one, or the path of an `.xcdatamodeld`, `.xcdatamodel`,
  /// `.momd` or `.mom`. `nil` for the model that is compatible with the store, see *Pipeline files* in the manual.
  public var model: String?
  /// The entity of the model; empty if neither the pipeline nor the vocabulary names one, which a run refuses.
  public var entity: String
  /// The treatment of required relationships that no column fills.
  public var relationships: RelationshipPolicy
  /// Records per chunk, that is per save, 1…1,000,000. Where it was not set it is 5,000, and an import into a store in
  /// PostgreSQL saves 8,000: each save there waits some times for the server.
  public var chunkRows: Int {
    get { chunkRowsSet ?? Self.chunkRowsUsual }
    set { chunkRowsSet = newValue }
  }
  /// Nil where nothing was said.
  var chunkRowsSet: Int?
  /// The treatment of a record that cannot be imported.
  public var errorPolicy: ErrorPolicy
  /// When to stop although the policy is to continue.
  public var errorBudget: ErrorBudget?
  /// What is expected of all records together; nothing when `nil`.
  public var expect: ExpectDefinition?
  /// Whether the run is one transaction: at the end the store contains all of it, or nothing. Such a run can't be
  /// resumed.
  public var atomic: Bool
  /// Whether inputs only grow at their end: only the new records of an input that has grown are imported.
  public var appendOnly: Bool
  /// The treatment of an input that was imported before and has changed since, where no key identifies entries.
  public var changedInputs: ChangedInputPolicy
  /// The largest sizes of fields and records, and how much the ledger keeps.
  public var limits: LimitsDefinition
  /// Files that receive the report; their extensions determine the format, see ``ReportFormat``. Their names may have
  /// the placeholders `{date}`, `{time}`, `{run}` and `{pipeline}`.
  public var report: [String]
  /// Attributes whose values the report counts and shows as charts: dates by month, whole numbers, texts. When `nil`,
  /// the first date that a column fills and every whole number.
  public var charts: [String]?
  /// File for the rejected records; when `nil`, next to the report and named after the input.
  public var rejects: String?
  /// The event log of the run; none when `nil`.
  public var log: LogDefinition?
  /// What is notified of the runs; nothing when `nil`.
  public var notify: NotifyDefinition?
  /// What a run removes of what earlier ones have left; nothing when `nil`.
  public var retention: RetentionDefinition?
  /// Seconds after which the run ends at the next chunk border, 0 to 86,400; without limit when `nil` or 0.
  public var timeoutSeconds: Double?
  /// What an export writes; nil for a pipeline that only imports.
  public var export: ExportDefinition?
  /// The entities that one run fills, one after the other, each from inputs of its own; empty for a pipeline of one
  /// entity. A part inherits from the file what it does not say itself. In a run, the name, the store, the model and
  /// all else that is about the whole run are those of this definition, whatever the parts have.
  @PipelineParts public var parts: [PipelineDefinition]
  /// Folder that relative paths start from; not part of the file. The current directory when `nil`.
  public var baseDirectory: URL?
  /// The program's own names and defaults; not part of the file.
  public var vocabulary: DefinitionVocabulary
  /// The source locations of its parts, if it was read from a file.
  package var sourceMap = SourceMap()

  /// The permitted values of `chunkRows`.
  public static let chunkRowsRange = 1...1_000_000
  /// Records per chunk where nothing was said.
  package static let chunkRowsUsual = 5_000
  static let chunkRowsUsualOnServer = 8_000
  /// The permitted values of `timeoutSeconds`.
  public static let timeoutSecondsRange = 0.0...86_400.0

  /// Makes a definition. The parameters are the properties of the same names; `check()` finds mistakes in them.
  public init(
    name: String, description: String? = nil, source: [String] = [], sourceOptional: Bool = false, dryRun: Bool = false,
    verifyHash: Bool = false,
    inbox: InboxDefinition? = nil, dialect: DialectDefinition = .rfc4180, columns: [ColumnDefinition] = [],
    extraColumns: ColumnPolicy = .warn, missingColumns: ColumnPolicy = .warn, timeZone: String? = nil,
    recordRules: [RecordRule] = [], key: [String] = [], duplicates: DuplicatePolicy = .reject, store: String? = nil,
    model: String? = nil, entity: String? = nil, relationships: RelationshipPolicy = .require,
    chunkRows: Int? = nil,
    errorPolicy: ErrorPolicy = .skip, errorBudget: ErrorBudget? = nil, expect: ExpectDefinition? = nil,
    atomic: Bool = false, appendOnly: Bool = false, changedInputs: ChangedInputPolicy = .refuse,
    limits: LimitsDefinition = LimitsDefinition(), report: [String] = [],
    charts: [String]? = nil, rejects: String? = nil, log: LogDefinition? = nil,
    notify: NotifyDefinition? = nil, read: ReadDefinition? = nil, retention: RetentionDefinition? = nil,
    timeoutSeconds: Double? = nil,
    export: ExportDefinition? = nil, parts: [PipelineDefinition] = [], baseDirectory: URL? = nil,
    vocabulary: DefinitionVocabulary = DefinitionVocabulary()
  ) {
    self.name = name
    self.description = description
    self.source = source
    self.sourceOptional = sourceOptional
    self.dryRun = dryRun
    self.verifyHash = verifyHash
    self.inbox = inbox
    self.dialect = dialect
    self.columns = columns
    self.extraColumns = extraColumns
    self.missingColumns = missingColumns
    self.timeZone = timeZone
    self.recordRules = recordRules
    self.key = key
    self.duplicates = duplicates
    self.store = store
    self.model = model
    self.entity = entity ?? vocabulary.entity ?? ""
    self.relationships = relationships
    chunkRowsSet = chunkRows
    self.errorPolicy = errorPolicy
    self.errorBudget = errorBudget
    self.expect = expect
    self.atomic = atomic
    self.appendOnly = appendOnly
    self.changedInputs = changedInputs
    self.limits = limits
    self.report = report
    self.charts = charts
    self.rejects = rejects
    self.log = log
    self.notify = notify
    self.read = read
    self.retention = retention
    self.timeoutSeconds = timeoutSeconds
    self.export = export
    self.parts = parts
    self.baseDirectory = baseDirectory
    self.vocabulary = vocabulary
  }

  /// The keys of the file.
  enum CodingKeys: String, CodingKey, CaseIterable {
    case name, description, source, sourceOptional, dryRun, verifyHash, inbox, dialect, columns,
      extraColumns, missingColumns, timeZone, recordRules, key, duplicates, store, model, entity, relationships
    case chunkRowsSet = "chunkRows"
    case errorPolicy, errorBudget, expect, atomic, appendOnly, changedInputs, limits, report, charts, rejects
    case log, notify, read, retention, timeoutSeconds, export, parts
  }

  /// The URL of a path in this definition: `~` is the home directory, relative paths start at `baseDirectory`.
  public func url(for path: String) -> URL {
    DefinitionPath.url(path, from: baseDirectory)
  }
}
