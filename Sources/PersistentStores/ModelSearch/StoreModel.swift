import ManagedObjectModel
import Foundation

/// The model to open a store with, and its origin.
///
/// ```swift
/// let found = try StoreModel.find(forStoreAt: url, file: nil, embedded: ["SurfJournalModel"])
/// for note in found.notes { print(note) }
/// let coordinator = NSPersistentStoreCoordinator(managedObjectModel: found.model)
/// ```
public struct StoreModel: Sendable {
  /// The origins of models, the most reliable first.
  public enum Origin: Sendable, Equatable {
    /// A version of the given model file, by its name without extension.
    case file(version: String)
    /// A version of a model that is embedded in this program, as `Model/Version`.
    case embedded(String)
    /// The model that the store contains in addition to its data.
    case cache
    /// The store's tables: the only information without a model.
    case tables
  }

  /// The model that was found.
  public let model: NSManagedObjectModel
  /// Where the model comes from.
  public let origin: Origin
  /// One sentence about each unknown or omitted part.
  public let notes: [String]

  /// How the note begins that says why the model in a store's cache was not used.
  package static let unusableCacheNote = "The model that the store keeps can't be used"

  /// Finds the model to open the store at `store` with: the first whose version hashes match those of the store, from
  /// the versions in the model file, the embedded models, and the contents of the store itself. An addition: Apple's
  /// framework always requires a model.
  ///
  /// - Parameters:
  ///   - store: The store's file; nil, or a file that does not exist yet, for the current version of a model.
  ///   - file: An `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`. If none of its versions is compatible, the result
  ///     is its current version, with a note; opening the store with it reports which entities differ.
  ///   - embedded: The names of embedded models that may belong to the store.
  /// - Returns: The model with its origin. A model of origin `tables` has no hashes to compare: open its store with
  ///   `NSReadOnlyPersistentStoreOption` and `NSIgnorePersistentStoreVersioningOption`.
  /// - Throws: An `NSError` if the store or the model file can't be read, and if no model is found.
  public static func find(forStoreAt store: URL?, file: URL?, embedded: [String]) throws -> StoreModel {
    try find(forStoreAt: store, file: file, embedded: embedded, readsDamagedWAL: false)
  }

  /// The version among the caller's models that a store with this metadata was written with; nil if no file is given and
  /// no embedded model is compatible.
  package static func find(for metadata: StoreMetadata, file: URL?, embedded: [String]) throws -> StoreModel? {
    try StoreModelSearch(
      store: nil, file: file, embedded: embedded, readsDamagedWAL: false,
      timeoutSeconds: StoreOptions.timeoutSecondsDefault
    ).model(for: metadata)
  }

  /// - Parameters:
  ///   - readsDamagedWAL: Whether a damaged WAL is read up to its first wrong frame instead of being refused.
  ///   - timeoutSeconds: How long to wait for a program that has locked the store.
  package static func find(
    forStoreAt store: URL?, file: URL?, embedded: [String], readsDamagedWAL: Bool,
    timeoutSeconds: Double = StoreOptions.timeoutSecondsDefault
  ) throws -> StoreModel {
    try StoreModelSearch(
      store: store, file: file, embedded: embedded, readsDamagedWAL: readsDamagedWAL, timeoutSeconds: timeoutSeconds
    ).find()
  }
}
