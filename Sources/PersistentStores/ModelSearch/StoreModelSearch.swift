import ManagedObjectModel
import Foundation
import SystemSupport

/// The steps of `StoreModel.find`.
struct StoreModelSearch {
  let store: URL?
  let file: URL?
  let embedded: [String]
  /// See `OpenedDatabase.openForReading`.
  let readsDamagedWAL: Bool
  let timeoutSeconds: Double

  /// A version that may be the store's model.
  private struct Version {
    let model: NSManagedObjectModel
    let origin: StoreModel.Origin
    var notes: [String] = []

    func storeModel(_ more: [String] = []) -> StoreModel {
      StoreModel(model: model, origin: origin, notes: more + notes)
    }
  }

  func find() throws -> StoreModel {
    guard let store, mayExist(store.path) else { return try currentVersion() }
    do {
      let opened = try OpenedDatabase.openForReading(
        store.path, readsDamagedWAL: readsDamagedWAL, timeoutSeconds: timeoutSeconds)
      return try withExtendedLifetime(opened) {
        let found = try model(of: opened.connection, store)
        try opened.checkUnchanged()
        return found
      }
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .open, message: "The model of \(store.path) can't be found")
    }
  }

  private func model(of connection: SQLiteConnection, _ store: URL) throws -> StoreModel {
    if try connection.hasNoTables() { return try currentVersion() }
    let metadata = try connection.storeMetadata(at: store).metadata
    return try model(for: metadata) ?? storedModel(of: connection, metadata)
  }

  /// The version of the caller's models; nil if no file is given and no embedded model is compatible.
  func model(for metadata: StoreMetadata) throws -> StoreModel? {
    if let file { return try version(in: file, for: metadata) }
    return try embeddedVersion(for: metadata)
  }

  /// The model for a new store.
  private func currentVersion() throws -> StoreModel {
    if let file { return try Self.version(ModelFile.currentVersion(at: file)).storeModel() }
    for name in embedded {
      guard let model = EmbeddedModels.model(named: name), let version = model.currentVersion else { continue }
      return try Self.version(version, of: model).storeModel()
    }
    throw NSError.coreData(
      .open,
      "The store does not exist yet, and no model is named. Give a model file (.xcdatamodeld, .xcdatamodel, .momd or "
        + ".mom).")
  }

  // MARK: Models from the caller

  private func version(in file: URL, for metadata: StoreMetadata) throws -> StoreModel {
    var unreadable: [String] = []
    var versions: [Version] = []
    var incompatible = IncompatibleTexts()
    // A model may have a hundred versions: only those that may fit are read, and none after the one that does.
    for url in try ModelFile.versions(at: file, likelyWith: metadata.versionHashes) where !incompatible.exclude(url) {
      do {
        let version = try Self.version(url)
        let whole = ModelCompatibility(metadata.versionHashes, version.model, configuration: nil, exactly: true)
        let isCompatible =
          whole.isCompatible || version.model.hasCompatibleConfiguration(metadata.versionHashes, exactly: true)
        if isCompatible { return version.storeModel() }
        incompatible.note(url, version.model, changed: whole.changed)
        versions.append(version)
      } catch {
        // Old versions that are no longer readable must not prevent finding the compatible one.
        unreadable.append((error as NSError).localizedDescription)
      }
    }
    let possible = versions.first { $0.model.isCompatible(metadata.versionHashes, exactly: false) }
    if let possible { return possible.storeModel() }
    let current = try Self.version(ModelFile.currentVersion(at: file))
    let count = try ModelFile.versions(at: file).count
    let names = count == 1 ? "it does not have" : "none of its \(count) versions has"
    return current.storeModel(
      ["The store was not written with the model \(file.lastPathComponent): \(names) the hashes of its entities."]
        + unreadable)
  }

  /// A version whose hashes are all known takes precedence over one whose derived attributes may differ from the
  /// store's.
  private func embeddedVersion(for metadata: StoreMetadata) throws -> StoreModel? {
    let models = EmbeddedModels.all.filter { embedded.contains($0.name) }
    for exactly in [true, false] {
      for model in models {
        for version in model.versions {
          let found = try Self.version(version, of: model)
          if found.model.isCompatible(metadata.versionHashes, exactly: exactly) { return found.storeModel() }
        }
      }
    }
    return nil
  }

  private static func version(_ url: URL) throws -> Version {
    let (model, notes) = try ModelFile.load(url)
    return Version(
      model: model, origin: .file(version: url.deletingPathExtension().lastPathComponent), notes: notes)
  }

  private static func version(_ version: EmbeddedModel.Version, of model: EmbeddedModel) throws -> Version {
    Version(model: try model.model(of: version), origin: .embedded("\(model.name)/\(version.name)"))
  }

  // MARK: Models in the store

  private func storedModel(of connection: SQLiteConnection, _ metadata: StoreMetadata) throws -> StoreModel {
    var notes: [String] = []
    do {
      if let compiled = try cachedModel(of: connection, metadata) {
        let version = Version(model: compiled.model, origin: .cache, notes: compiled.notes)
        return version.storeModel(Self.differences(of: compiled, metadata))
      }
      // If the store contains its model, a note that other models are incompatible is redundant.
      if !embedded.isEmpty {
        notes.append("The store was not written with a version of \(embedded.joined(separator: ", ")).")
      }
      notes.append("The store keeps no model of its own.")
    } catch let problem as ArchiveProblem {
      notes.append("\(StoreModel.unusableCacheNote): \(problem).")
    }
    let tables = try TableModel(connection)
    return StoreModel(model: tables.model, origin: .tables, notes: notes + tables.notes)
  }

  /// The model in Z_MODELCACHE; nil if it is empty.
  private func cachedModel(of connection: SQLiteConnection, _ metadata: StoreMetadata) throws -> CompiledModel? {
    let known = try connection.integer(
      "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'Z_MODELCACHE'")
    guard known == 1 else { return nil }
    let rows = try connection.rows(
      "SELECT substr(Z_CONTENT, 1, ?) FROM Z_MODELCACHE ORDER BY rowid LIMIT 1",
      [.integer(Int64(PropertyListData.bytesMax + 1))])
    guard case .blob(let content)? = rows.first?.first, !content.isEmpty else { return nil }
    guard content.count <= PropertyListData.bytesMax else {
      throw ArchiveProblem("it has more than \(PropertyListData.bytesMax >> 20) MiB")
    }
    let compiled = try CompiledModel(archive: try RawDeflate.inflate(content))
    let missing = Set(metadata.versionHashes.keys).subtracting(compiled.model.entities.compactMap(\.name))
    guard missing.isEmpty else {
      throw ArchiveProblem("it lacks the entities \(missing.sorted().joined(separator: ", "))")
    }
    return compiled
  }

  /// The store's version hashes also apply to its cached model; if they can be verified, they are.
  private static func differences(of compiled: CompiledModel, _ metadata: StoreMetadata) -> [String] {
    let different = compiled.model.entities.filter { entity in
      guard let stored = entity.name.flatMap({ metadata.versionHashes[$0] }) else { return false }
      return entity.hasExactVersionHash && entity.versionHash != stored
    }
    compiled.stateVersionHashes(metadata.versionHashes)
    return different.map { entity in
      "The entity '\(entity.name ?? "")' of the model that the store keeps has a different hash in the store's metadata."
    }
  }
}

extension NSManagedObjectModel {
  /// Whether a store with these version hashes was written with the whole of this model or one of its configurations.
  /// Unless `exactly` is set, an entity whose hash can't be computed is compared by name.
  func isCompatible(_ hashes: [String: Data], exactly: Bool) -> Bool {
    ModelCompatibility(hashes, self, configuration: nil, exactly: exactly).isCompatible
      || hasCompatibleConfiguration(hashes, exactly: exactly)
  }

  fileprivate func hasCompatibleConfiguration(_ hashes: [String: Data], exactly: Bool) -> Bool {
    configurations.contains { ModelCompatibility(hashes, self, configuration: $0, exactly: exactly).isCompatible }
  }
}
