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

/// The steps of `StoreModel.find`.
private struct StoreModelSearch {
  let store: URL?
  let file: URL?
  let embedded: [String]

  /// A version that could be looked at.
  private struct Version {
    let model: NSManagedObjectModel
    let origin: StoreModel.Origin
  }

  func find() throws -> StoreModel {
    guard let store, FileManager.default.fileExists(atPath: store.path) else { return try currentVersion() }
    let metadata = StoreMetadata(dictionary: try SQLiteStore.metadata(at: store, options: nil))
    if let file { return try version(in: file, for: metadata, of: store) }
    if let version = try bestFit(embeddedVersions(), metadata) {
      return StoreModel(model: version.model, origin: version.origin, notes: [])
    }
    throw noModel("The store \(store.path) fits none of the models known here.")
  }

  /// What a new store is made with.
  private func currentVersion() throws -> StoreModel {
    if let file {
      let current = try ModelFile.currentVersion(at: file)
      return StoreModel(
        model: try NSManagedObjectModel.load(contentsOf: current), origin: .file(version: Self.name(current)), notes: []
      )
    }
    for name in embedded {
      guard let model = EmbeddedModels.model(named: name), let version = model.currentVersion else { continue }
      return StoreModel(
        model: try NSManagedObjectModel.load(xml: Data(version.xml.utf8)),
        origin: .embedded("\(model.name)/\(version.name)"), notes: [])
    }
    throw noModel("There is no store yet, and no model to make one with.")
  }

  private func version(in file: URL, for metadata: StoreMetadata, of store: URL) throws -> StoreModel {
    let versions = try ModelFile.versions(at: file).map { url in
      Version(model: try NSManagedObjectModel.load(contentsOf: url), origin: .file(version: Self.name(url)))
    }
    if let version = bestFit(versions, metadata) {
      return StoreModel(model: version.model, origin: version.origin, notes: [])
    }
    let current = try ModelFile.currentVersion(at: file)
    return StoreModel(
      model: try NSManagedObjectModel.load(contentsOf: current), origin: .file(version: Self.name(current)),
      notes: ["No version in \(file.lastPathComponent) is the one that \(store.lastPathComponent) was written with."])
  }

  private func embeddedVersions() throws -> [Version] {
    try embedded.flatMap { name in
      try EmbeddedModels.all.filter { $0.name == name }.flatMap { model in
        try model.versions.map { version in
          Version(
            model: try NSManagedObjectModel.load(xml: Data(version.xml.utf8)),
            origin: .embedded("\(model.name)/\(version.name)"))
        }
      }
    }
  }

  /// A version of which every hash is known goes before one that may have other derived attributes than the store.
  private func bestFit(_ versions: [Version], _ metadata: StoreMetadata) -> Version? {
    versions.first { $0.model.fits(metadata.versionHashes, exactly: true) }
      ?? versions.first { $0.model.fits(metadata.versionHashes, exactly: false) }
  }

  private static func name(_ version: URL) -> String { version.deletingPathExtension().lastPathComponent }

  private func noModel(_ problem: String) -> NSError {
    .coreData(
      .open,
      "\(problem) Give a model file (.xcdatamodeld, .xcdatamodel, .momd or .mom).")
  }
}

extension NSManagedObjectModel {
  /// Whether a store with these version hashes was written with the whole of this model or one of its configurations.
  /// Unless it must be so exactly, an entity whose hash can't be computed needs its name only.
  func fits(_ hashes: [String: Data], exactly: Bool) -> Bool {
    let configurations: [String?] = [nil] + configurations
    return configurations.contains { name in
      let entities = entities(forConfigurationName: name) ?? []
      return Set(entities.compactMap(\.name)) == Set(hashes.keys)
        && entities.allSatisfy { entity in
          guard let stored = entity.name.flatMap({ hashes[$0] }) else { return false }
          return stored == entity.versionHash || (!exactly && !entity.hasExactVersionHash)
        }
    }
  }
}
