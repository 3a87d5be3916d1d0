import Foundation
import ManagedObjectModel

extension StoreModel {
  /// Finds the version of a model that a store's tables fit exactly, for a store whose metadata can't be used, and which
  /// so does not say which version it was written with.
  ///
  /// - Parameters:
  ///   - store: The store's file.
  ///   - file: The model file; nil to search the embedded models.
  ///   - embedded: The names of embedded models, if there is no file.
  ///   - readsDamagedWAL: Whether a damaged WAL is read up to its first wrong frame instead of being refused.
  ///   - timeoutSeconds: How long to wait for a program that has locked the store.
  /// - Returns: The model, to open the store with `StoreOptions.ignoresMetadataKey`; nil if the metadata can be used.
  /// - Throws: An `NSError` if the store or the model can't be read, or if tables and model differ.
  package static func find(
    withoutMetadataOf store: URL, file: URL?, embedded: [String], readsDamagedWAL: Bool, timeoutSeconds: Double
  ) throws -> StoreModel? {
    do {
      let opened = try OpenedDatabase.openForReading(
        store.path, readsDamagedWAL: readsDamagedWAL, timeoutSeconds: timeoutSeconds)
      return try withExtendedLifetime(opened) {
        guard let problem = try opened.connection.metadataProblem(at: store) else { return nil }
        let tables = try ExactTables(opened.connection, path: store.path)
        var model = try tables.firstCompatible(of: try candidates(file, embedded))
        try opened.checkUnchanged()
        model = StoreModel(model: model.model, origin: model.origin, notes: [problem, Self.note(model)])
        return model
      }
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .open, message: "The store \(store.path) can't be read without its metadata")
    }
  }

  private static func note(_ model: StoreModel) -> String {
    let name =
      switch model.origin {
      case .file(let version): "The version '\(version)' of the model"
      case .embedded(let version): "The model \(version)"
      case .cache, .tables: "The model"
      }
    return "\(name) has the store's entities, tables, columns and column types; that the store was written with it is "
      + "not known."
  }

  /// The versions to try, the current one first.
  private static func candidates(_ file: URL?, _ embedded: [String]) throws -> [StoreModel] {
    guard let file else {
      return try EmbeddedModels.all.filter { embedded.contains($0.name) }.flatMap { model in
        let versions = model.versions.sorted { $0.name == model.currentVersion?.name && $1.name != $0.name }
        return try versions.map { version in
          StoreModel(
            model: try NSManagedObjectModel.load(xml: Data(version.xml.utf8)),
            origin: .embedded("\(model.name)/\(version.name)"), notes: [])
        }
      }
    }
    let current = try ModelFile.currentVersion(at: file)
    let others = try ModelFile.versions(at: file).filter { $0 != current }
    return try ([current] + others).compactMap { version in
      let model: NSManagedObjectModel
      do {
        model = try ModelFile.load(version).model
      } catch  where version != current {
        return nil
      }
      return StoreModel(
        model: model, origin: .file(version: version.deletingPathExtension().lastPathComponent), notes: [])
    }
  }
}

extension SQLiteConnection {
  /// Why the store's metadata can't be used; nil if they can.
  fileprivate func metadataProblem(at store: URL) throws -> String? {
    try checkTables(["Z_PRIMARYKEY"], at: store.path)
    guard try integer("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'Z_METADATA'") != nil else {
      return "The store \(store.path) has no Z_METADATA."
    }
    do {
      let hashes = try storeMetadata(at: store).metadata.versionHashes
      return hashes.isEmpty ? "The metadata of the store \(store.path) have no version hashes." : nil
    } catch let error as SQLiteError {
      if error.isBusy { throw error }
      return "The metadata of the store \(store.path) can't be read: \(error.message)."
    } catch {
      return (error as NSError).localizedDescription
    }
  }
}

/// Compares the tables of a store with those of models: exactly, because nothing else says which model is the store's.
private struct ExactTables {
  private let layout: StoreLayout
  private let path: String

  init(_ connection: SQLiteConnection, path: String) throws {
    layout = try StoreLayout(connection)
    self.path = path
  }

  /// The first model that is compatible with the tables.
  func firstCompatible(of models: [StoreModel]) throws -> StoreModel {
    var firstError: (any Error)?
    for model in models {
      do {
        try check(model.model)
        return model
      } catch {
        firstError = firstError ?? error
      }
    }
    guard models.count > 1, let first = firstError as? NSError else {
      throw firstError ?? mismatch("no model is given")
    }
    throw mismatch("none of the model's \(models.count) versions fits. Of the first: \(first.localizedDescription)")
  }

  private func check(_ model: NSManagedObjectModel) throws {
    let names = Set(model.entities.compactMap(\.name))
    let found = layout.entities.filter { !EntityNumbers.isHistory($0.number) }.map(\.name)
    if let other = found.first(where: { !names.contains($0) }) {
      throw mismatch("it has the entity '\(other)', which the model lacks")
    }
    if let missing = names.sorted().first(where: { !found.contains($0) }) {
      throw mismatch("it lacks the model's entity '\(missing)'")
    }
    let schema = try SQLSchema(model: model, configuration: nil, existing: layout, location: path)
    for (name, entities) in Dictionary(grouping: schema.entities, by: \.tableName) {
      guard let table = layout.table(name) else { throw mismatch("it has no table \(name)") }
      try check(table, entities, keys: keys(of: name, in: schema))
    }
  }

  /// The columns of a table that relationships use, from either side.
  private func keys(of table: String, in schema: SQLSchema) -> Set<String> {
    var result: Set<String> = []
    for entity in schema.entities {
      for relationship in entity.relationships.values {
        switch relationship {
        case .toOne(let column, _, _) where entity.tableName == table: result.insert(column.sqlFolded)
        case .toMany(table, let column, _): result.insert(column.sqlFolded)
        default: break
        }
      }
    }
    return result
  }

  private func check(_ table: StoreLayout.Table, _ entities: [SQLEntity], keys: Set<String>) throws {
    var known = keys
    for column in entities.flatMap(\.attributeColumns).compactMap(\.self) {
      known.insert(column.name.sqlFolded)
      guard table.has(column.name, column.type) else {
        throw mismatch("the column \(column.name) of \(table.name) is not declared as \(column.type.rawValue)")
      }
    }
    // Behind Z and a digit or underscore are the format's own columns: keys, entities and positions.
    let other = table.columns.first { column in
      column.sqlFolded.dropFirst().first?.isLetter == true && !known.contains(column.sqlFolded)
    }
    if let other { throw mismatch("its table \(table.name) has the column \(other), which the model lacks") }
  }

  private func mismatch(_ problem: String) -> NSError {
    .coreData(
      .incompatibleModel,
      "The tables of the store \(path) are not those of the model: \(problem). Give the version of the model that the "
        + "store was written with.")
  }
}
