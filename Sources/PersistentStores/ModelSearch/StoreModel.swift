import ManagedObjectModel
import Foundation

/// The model to open a store with, and where it was found.
public struct StoreModel: Sendable {
  /// Where a model comes from, the surest first.
  public enum Origin: Sendable, Equatable {
    /// A version of the model file that was given, by its name without extension.
    case file(version: String)
    /// A version of a model that is embedded in this program, as `Model/Version`.
    case embedded(String)
    /// The model that the store keeps with its data.
    case cache
    /// The store's tables: all that can be known without a model.
    case tables
  }

  public let model: NSManagedObjectModel
  public let origin: Origin
  /// What is unknown or was left out, a sentence each.
  public let notes: [String]

  /// The model to open the store at `store` with: the first that fits the version hashes of the store, out of the
  /// versions in the model file, the embedded models, and what the store itself holds. An addition: Apple's framework
  /// always has to be given the model.
  ///
  /// - Parameters:
  ///   - store: The store's file; nil, or one that does not exist yet, for the current version of a model.
  ///   - file: An `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`. Where none of its versions fits, its current one
  ///     is the result, with a note: opening the store with it says which entities differ.
  ///   - embedded: The names of embedded models that may be the store's.
  /// - Returns: The model with its origin. One of origin `tables` has no hashes to compare: open its store with
  ///   `NSReadOnlyPersistentStoreOption` and `NSIgnorePersistentStoreVersioningOption`.
  /// - Throws: An `NSError` where the store or the model file can't be read, and where there is no model at all.
  public static func find(forStoreAt store: URL?, file: URL?, embedded: [String]) throws -> StoreModel {
    try StoreModelSearch(store: store, file: file, embedded: embedded).find()
  }
}
