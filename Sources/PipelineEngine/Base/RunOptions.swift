import Foundation
import OpenCoreData

/// What one run wants differently from its definition, and what only the caller can know.
///
/// Paths here start from the current directory, those of a definition from its own folder.
public struct RunOptions: Sendable {
  /// Inputs instead of the definition's; `-` is standard input.
  public var inputs: [String]?
  /// The store's file instead of the definition's.
  public var store: String?
  /// Whether inputs that the ledger knows are imported all the same, from their front.
  public var again = false
  /// Whether each input must be as the hash file beside it says, also where the definition does not ask for it.
  public var verifiesHash = false
  /// Whether the inputs are files of rejects that were mended: one that is imported to its end is replaced by what of
  /// it was rejected again.
  public var isReplay = false
  /// Whether the summary is to have a profile of the entries, also where no report is written to a file.
  public var profilesEntries = false
  /// How the pipeline was named to the program, a name or a path: so that rejects can be fed to it again.
  public var pipelineReference: String?
  /// Likewise the model and the entity that were named instead of the pipeline's.
  public var modelReference: String?
  public var entityReference: String?
  /// Formats of every date column, instead of the definition's.
  public var dateFormats: [String]?
  /// Options of the program, with their values, that say how the inputs are read: a replay of rejects needs them again.
  public var readingOptions: [String: [String]] = [:]
  /// Where rejected records go instead of the definition's place; a folder (ending in `/`) gets a file per input.
  public var rejects: String?
  /// Whether files of rejects name the store, so that a replay finds it.
  public var namesStoreInRejects = true
  /// Makes the store of an import, which must not be there yet, one that an app can ship. Nil for an ordinary import.
  public var seed: SeedOptions?
  /// Where an export goes instead of the definition's place; `-` is standard output.
  public var output: String?
  /// Files that receive the report instead of the definition's, each as its ending says.
  public var reports: [String]?
  /// The log's file instead of the definition's; `-` is standard error. One of these three is enough to have a log.
  public var logFile: String?
  public var logLevel: LogDefinition.Level?
  public var logFormat: LogDefinition.Format?
  /// Whether a log on standard error tells only what is wrong.
  public var isQuiet = false
  /// Is told of what does not end the run, such as a log that can't be written any more; once each.
  public var warn: @Sendable (String) -> Void = { _ in }
  /// Seconds after which the run ends at the next chunk border, instead of the definition's; 0 for no end.
  public var timeoutSeconds: Double?
  /// How long to wait for a store that another program writes to, 0 or more.
  public var lockTimeoutSeconds = 10.0
  /// The clock of `notInFuture`, read once at the start of the run.
  public var now: @Sendable () -> Date = { Date() }
  /// The model of the entity, instead of the definition's.
  public var model: NSManagedObjectModel?
  /// Whether an import whose definition declares no columns fills every attribute from the column of its name.
  public var fillsAttributesByName = false
  /// How many contexts a chunk passes on its way to the store.
  public var contextChain = ContextChain.three
  /// What the notifications of these contexts carry. Sets of objects cost as much as all the rest of an import, and
  /// nobody but who asks for them listens.
  public var notificationContents = ChangeNotificationContents.objectIDs

  /// The contexts between the records and the coordinator.
  public enum ContextChain: Sendable, CaseIterable {
    /// One private context on the coordinator.
    case one
    /// A private import context, the main-queue view context, a private writer context.
    case three
  }

  public init() {}
}

/// How far a run has come. Sent at chunk borders.
public struct RunProgress: Sendable, Hashable {
  /// The input being read, or the output being written.
  public var file: String
  /// Records read or written so far, of all files.
  public var records: Int
  public var rejected: Int
  /// Bytes of the current file consumed so far, as stored (compressed, if it is).
  public var bytes: Int
  /// Size of the current file, or entries to export in all; nil where nobody knows.
  public var total: Int?
}
