import Foundation
import SystemSupport
import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// The model of a run: the caller's, the one that the definition names, or one that is compatible with the store.
///
/// The run freezes it: an entity that can still be changed derives its layout at every access, which would make the cost
/// of a wide table grow with the square of its columns.
package struct RunModel {
  package let model: NSManagedObjectModel
  /// What the store does not contain, where the model was derived from its content; a sentence each.
  let notes: [String]
  /// Whether only the store's tables are known: the store is then only read, and nothing is compared.
  package let isOfTables: Bool

  /// How a store is read for its model.
  package struct Access: Sendable {
    /// Whether a store whose write-ahead log is damaged is read.
    package var readsDamagedWAL = false
    /// How long to wait for a program that has locked the store.
    package var timeoutSeconds = StoreOptions.timeoutSecondsDefault

    package init(readsDamagedWAL: Bool = false, timeoutSeconds: Double = StoreOptions.timeoutSecondsDefault) {
      (self.readsDamagedWAL, self.timeoutSeconds) = (readsDamagedWAL, timeoutSeconds)
    }

    fileprivate func find(_ store: URL?, file: URL?, embedded: [String]) throws -> StoreModel {
      try StoreModel.find(
        forStoreAt: store, file: file, embedded: embedded, readsDamagedWAL: readsDamagedWAL,
        timeoutSeconds: timeoutSeconds)
    }
  }

  /// Finds the model.
  ///
  /// - Parameters:
  ///   - definition: Its `model` is an embedded model's name or a model file. Without one, any compatible embedded
  ///     model is used, and what the store itself contains.
  ///   - given: The caller's model, which takes precedence.
  ///   - store: The store's file; one that does not exist yet gets the current version.
  ///   - access: How the store is read.
  ///   - ignoresMetadata: Whether the store's metadata can't be used, so that its tables decide which version of the
  ///     definition's model is its.
  /// - Throws: An error of OpenCoreData for a model file or a store that can't be read; a `PipelineError` for a name
  ///   that no embedded model has.
  package init(
    _ definition: PipelineDefinition, given: NSManagedObjectModel?, store: String?, access: Access = Access(),
    ignoresMetadata: Bool = false
  ) throws {
    if let given {
      self.init(model: given)
      return
    }
    if let store, StoreAddress.isAddress(store) {
      self = try Self.ofServer(StoreLocation(store), definition)
      return
    }
    let store = store.map { URL(fileURLWithPath: $0) }
    guard let name = definition.model else {
      self = try Self.ofStore(store, definition, access: access)
      return
    }
    if PipelineDefinition.isModelPath(name) {
      let file = definition.url(for: name)
      guard mayExist(file.path) else { throw MissingModel(path: file.path) }
      if ignoresMetadata, let store {
        self = try Self.ofTables(store, file: file, names: [], access)
      } else {
        self.init(try Self.find(store, file: file, access))
      }
      return
    }
    guard let current = NSManagedObjectModel.embedded(named: name) else {
      throw PipelineError(path: "model", Self.unknown(name))
    }
    if ignoresMetadata, let store {
      self = try Self.ofTables(store, file: nil, names: [name], access)
      return
    }
    // The compatible version, or else the current one: opening the store reports the differences.
    let found = try? access.find(store, file: nil, embedded: [name])
    if let found, case .embedded = found.origin { self.init(found) } else { self.init(model: current) }
  }

  init(model: NSManagedObjectModel) {
    (self.model, notes, isOfTables) = (model, [], false)
    model.freeze()
  }

  private init(_ found: StoreModel) {
    var model = found.model
    if case .embedded(let version) = found.origin, let name = version.split(separator: "/").first,
      let current = NSManagedObjectModel.embedded(named: String(name)), current !== model,
      current.versionChecksum == model.versionChecksum
    {
      // The instance that the rest of the program uses.
      model = current
    }
    (self.model, notes, isOfTables) = (model, found.notes, found.origin == .tables)
    model.freeze()
  }

  /// For a definition without a model: that of the existing store, or the vocabulary's.
  private static func ofStore(
    _ store: URL?, _ definition: PipelineDefinition, access: Access
  ) throws -> RunModel {
    // The first is that of a store without tables, as a run leaves it that was killed while it made the store.
    let own = definition.vocabulary.model
    let names = [own].compactMap(\.self) + EmbeddedModels.all.map(\.name).filter { $0 != own }
    guard let store, mayExist(store.path) else {
      guard let name = definition.vocabulary.model else {
        throw PipelineError(
          path: "model", "no model is named, and no store keeps one; name one in the pipeline")
      }
      guard let model = NSManagedObjectModel.embedded(named: name) else {
        throw PipelineError(path: "model", unknown(name))
      }
      return RunModel(model: model)
    }
    do {
      return RunModel(try access.find(store, file: nil, embedded: names))
    } catch {
      guard let model = definition.vocabulary.model.flatMap(NSManagedObjectModel.embedded(named:)),
        model.entitiesByName[definition.firstEntity] != nil
      else { throw error }
      return RunModel(model: model)
    }
  }

  /// The version in `file` that is compatible with the store. If the store can't be read now, because another run is
  /// creating it for example, opening it later reports what is wrong.
  private static func find(_ store: URL?, file: URL, _ access: Access) throws -> StoreModel {
    let found = try? access.find(store, file: file, embedded: [])
    return try found ?? StoreModel.find(forStoreAt: nil, file: file, embedded: [])
  }

  /// The version whose tables are those of a store without usable metadata.
  private static func ofTables(
    _ store: URL, file: URL?, names: [String], _ access: Access
  ) throws -> RunModel {
    let found =
      mayExist(store.path)
      ? try StoreModel.find(
        withoutMetadataOf: store, file: file, embedded: names, readsDamagedWAL: access.readsDamagedWAL,
        timeoutSeconds: access.timeoutSeconds)
      : try StoreModel.find(forStoreAt: nil, file: file, embedded: names)
    guard let found else { throw UsableMetadata(path: store.path) }
    return RunModel(found)
  }

  static func unknown(_ name: String) -> String {
    let names = EmbeddedModels.all.map(\.name)
    let known = names.isEmpty ? "it has none" : "known are \(names.joined(separator: ", "))"
    return "no model '\(name)' is part of this program\(NearestName.hint(for: name, in: names)); \(known), and a model "
      + "file is named by its path, such as ./\(name).xcdatamodeld"
  }

  /// A model file that does not exist.
  struct MissingModel: LocalizedError, CustomNSError {
    let path: String
    var errorDescription: String? { "the model \(path) does not exist; check the path" }
    // The code is that of a model that can't be read: it decides the exit status of every command.
    static var errorDomain: String { NSCocoaErrorDomain }
    var errorCode: Int { NSFileReadNoSuchFileError }
    var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: errorDescription ?? ""] }
  }

  /// A store whose metadata need not be ignored.
  struct UsableMetadata: LocalizedError {
    let path: String
    var errorDescription: String? { "the metadata of the store \(path) can be used; leave --without-metadata out" }
  }

  // MARK: Imports

  /// The definition with a column for each attribute that a column can fill, if it declares none and the options
  /// request it.
  static func completed(
    _ definition: PipelineDefinition, options: RunOptions, model: NSManagedObjectModel
  ) throws(PipelineError) -> PipelineDefinition {
    var definition = definition
    if options.fillsAttributesByName, definition.columns.isEmpty {
      definition.columns = try definition.entity(in: model).fillableTypes.sorted { $0.key < $1.key }.map { name, type in
        ColumnDefinition(name, formats: type == .date ? PipelineDefinition.exactlyReadDates : [])
      }
    }
    if let formats = options.dateFormats {
      let types = try definition.entity(in: model).columnTypes
      for index in definition.columns.indices where types[definition.columns[index].attribute] == .date {
        definition.columns[index].formats = formats
      }
    }
    return definition
  }
}
