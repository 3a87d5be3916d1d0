import Foundation
import OpenCoreData

/// What one run does differently from its definition, and what only the caller can know.
///
/// Paths here are relative to the current directory, those of a definition to its own folder.
///
/// ```swift
/// var options = RunOptions()
/// options.inputs = ["surf-log.csv"]
/// options.store = "journal.sqlite"
/// options.reports = ["report.html"]
/// options.timeoutSeconds = 600
/// ```
public struct RunOptions: Sendable {
  /// Inputs instead of the definition's; `-` is standard input.
  ///
  /// ```swift
  /// options.inputs = ["2013.csv.gz", "2014.csv.gz"]
  /// ```
  public var inputs: [String]?
  /// The store's file instead of the definition's.
  public var store: String?
  /// Whether inputs that the ledger knows are imported again, from their start.
  public var again = false
  /// The treatment of an input that was imported before and has changed since, instead of the definition's.
  public var changedInputs: PipelineDefinition.ChangedInputPolicy?
  /// Whether each input must match the checksum file next to it, even where the definition does not require it.
  public var verifiesHash = false
  /// Whether the inputs are files of rejects that were corrected: one that is imported to its end is replaced by its
  /// records that were rejected again.
  public var isReplay = false
  /// Whether the summary has a profile of the entries, even where no report is written to a file.
  public var profilesEntries = false
  /// The name or path by which the program was given the pipeline, so that rejects can be imported with it again.
  public var pipelineReference: String?
  /// The model that the program was given instead of a pipeline's, as its name or path, so that rejects can be imported
  /// with it again.
  public var modelReference: String?
  /// The entity that the program was given instead of a pipeline, for the same purpose.
  public var entityReference: String?
  /// Formats of every date column, instead of the definition's.
  public var dateFormats: [String]?
  /// Options of the program, with their values, that say how the inputs are read: a replay of rejects needs them again.
  public var readingOptions: [String: [String]] = [:]
  /// The options of a program that were given and say how CSV is written: an input that is JSON Lines is refused, because
  /// they would have no effect on it.
  package var csvOptions: [String] = []
  /// Where rejected records go instead of the definition's path; a folder (ending in `/`) gets a file per input.
  public var rejects: String?
  /// Whether files of rejects name the store, so that a replay finds it.
  public var namesStoreInRejects = true
  /// The seed that is made of the store; files of rejects name it then instead of the store.
  var seedInRejects: String?
  /// Whether the pipeline's notifications are sent.
  public var notifies = true
  /// Identifies the run; a new number if nil.
  var runID: String?
  /// Whether the import is into a copy of the store, to find out what it would do.
  var isDryRunOnCopy = false
  /// The path of the store that the exported one is a private copy of: new files get no more rights than it has. Nil for
  /// a store that is not a copy.
  package var originalStore: String?
  /// Makes the store of an import, which must not exist yet, a seed that an app can ship. Nil for an ordinary import.
  public var seed: SeedOptions?
  /// Where an export goes instead of the definition's path; `-` is standard output.
  public var output: String?
  /// Whether an export joins the values of columns over to-many relationships that have no separator.
  package var joinsLists = false
  /// Files that receive the report instead of the definition's, each in the format of its extension.
  public var reports: [String]?
  /// The event log's file instead of the definition's; `-` is standard error. Any of these three turns the event log
  /// on.
  public var logFile: String?
  /// The least severe events that the event log has, instead of the definition's.
  public var logLevel: LogDefinition.Level?
  /// The form of the event log's lines, instead of the definition's.
  public var logFormat: LogDefinition.Format?
  /// The version of the program, for the gauges.
  package var programVersion: String?
  /// Whether an event log on standard error has only warnings and errors.
  public var isQuiet = false
  /// Called for what does not end the run, such as an event log that can't be written any more; once each.
  public var warn: @Sendable (String) -> Void = { _ in }
  /// Seconds after which the run ends at the next chunk boundary, instead of the definition's; 0 for no limit.
  public var timeoutSeconds: Double?
  /// How long to wait for a store that another program writes to, 0 or more.
  public var lockTimeoutSeconds = 10.0
  /// The clock of `notInFuture`, read once at the start of the run.
  public var now: @Sendable () -> Date = { Date() }
  /// The model of the entity, instead of the definition's.
  public var model: NSManagedObjectModel?
  /// Whether an import whose definition declares no columns fills each attribute from the column with its name.
  public var fillsAttributesByName = false
  /// The contexts that a chunk passes on its way to the store.
  public var contextChain = ContextChain.three
  /// What the notifications of these contexts carry. Sets of objects cost as much as all the rest of an import, and are
  /// only of use to a caller that observes the notifications.
  public var notificationContents = ChangeNotificationContents.objectIDs

  /// Whether a new store may lack what is not known of its model's triggers and indexes.
  package var allowsIncompleteSchema = false
  /// Whether values that Core Data would write to files next to the store stay in its rows.
  package var keepsLargeValues = false
  /// Whether an export reads a store whose write-ahead log is damaged, up to the first wrong page.
  package var readsDamagedWAL = false
  /// How many connections read the store of an export, which is on a server.
  package var readers = 1
  /// Whether an export leaves out values whose files next to the store are missing, with a warning for each.
  package var leavesOutMissingValues = false
  /// Whether an export reads a store whose metadata can't be used as one of the given model.
  package var ignoresMetadata = false
  /// Whether an export of a store whose model is unknown guesses names and types from its tables.
  package var guessesModel = false

  /// The contexts between the records and the coordinator.
  public enum ContextChain: Sendable, CaseIterable {
    /// One private context on the coordinator.
    case one
    /// A private import context, the main-queue view context, a private writer context.
    case three
  }

  /// Options that change nothing: the definition decides.
  public init() {}

  /// The treatment of an input that has changed since an import: the caller's, or else the pipeline's. A replay replaces
  /// nothing: what an earlier replay of the file has inserted is no longer in it.
  func changedInputs(_ definition: PipelineDefinition) -> PipelineDefinition.ChangedInputPolicy {
    let policy = changedInputs ?? definition.changedInputs
    return isReplay && policy == .replace ? .refuse : policy
  }
}

/// Progress of a run. Sent at chunk boundaries.
///
/// ```swift
/// for await state in runner.progress {
///   if let total = state.total { print("\(state.file): \(state.bytes) of \(total) bytes") }
/// }
/// ```
public struct RunProgress: Sendable, Hashable {
  /// The input being read, or the output being written.
  public var file: String
  /// Records read or written so far, of all files.
  public var records: Int
  /// Records rejected so far, of all files.
  public var rejected: Int
  /// Bytes of the current file consumed so far, as stored (compressed, if it is).
  public var bytes: Int
  /// Size of the current file, or number of entries to export; nil where it is not known.
  public var total: Int?
}
