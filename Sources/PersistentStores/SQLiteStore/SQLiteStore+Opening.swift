import ManagedObjectModel
import Foundation
import SystemSupport

extension SQLiteStore {
  /// Opens the store at `url` (nil: in memory) and creates it if it does not exist: empty, or as a copy of `original`.
  ///
  /// - Throws: `NSError` 134080 (cannot open, or not a store), 134090 (locked), 134100 (incompatible model), and the
  ///   errors of `StoreMigration.runIfNeeded()`.
  package static func open(
    _ url: URL?, type: String, model: NSManagedObjectModel, configuration: String?,
    options: [AnyHashable: Any]?, from original: SQLiteStore? = nil
  ) throws -> SQLiteStore {
    let settings = try StoreOptions(options)
    var schema = try SQLSchema(model: model, configuration: configuration)
    var fresh = StoreMetadata(model: model, configuration: configuration)
    fresh.storeType = type
    do {
      if let url, !settings.isReadOnly, !mayExist(url.path) {
        try checkComplete(schema, settings, at: url)
        try createInMemory(schema, fresh)
      }
      let opened = try OpenedDatabase.open(url, options: settings)
      try opened.connection.registerPredicateFunctions()
      try original?.fill(opened.connection, url, type: type)
      let isNew = try opened.connection.hasNoTables() && !opened.isReadOnly
      if !isNew, !settings.ignoresVersions, let migration = MigrationOptions(options) {
        try StoreMigration(
          opened: opened, url: url, model: model, configuration: configuration, options: migration
        ).runIfNeeded()
      }
      // Before any setting: the file may be another program's database.
      if !isNew {
        let found = try metadata(in: opened.connection, at: url, settings, orElse: fresh).metadata
        if !settings.ignoresVersions {
          try found.checkCompatible(
            with: model, configuration: configuration, options: options, location: url?.path ?? "")
        }
        schema = try SQLSchema(
          model: model, configuration: configuration, existing: StoreLayout(opened.connection),
          location: url?.path ?? "in memory")
        if !opened.isReadOnly {
          try checkHistory(opened.connection, settings, metadata: found, location: url?.path ?? "in memory")
          try opened.connection.registerDerivationFunctions(of: model.entities)
          try ForeignWriting(connection: opened.connection, schema: schema, path: url?.path ?? "in memory").check()
        }
      }
      if isNew, let url { try checkComplete(schema, settings, at: url) }
      try prepare(opened, settings, isNew: isNew, isInMemory: url == nil)
      if isNew { try create(schema, fresh, in: opened.connection) }
      let (uuid, metadata) = try metadata(in: opened.connection, at: url, settings, orElse: fresh)
      if !settings.ignoresVersions {
        try metadata.checkCompatible(
          with: model, configuration: configuration, options: options, location: url?.path ?? "")
      }
      let tracksHistory = try prepareHistory(
        opened, settings, metadata: metadata, entities: schema.entities.compactMap { model.entitiesByName[$0.name] })
      let store = try SQLiteStore(
        opened: opened, url: url, type: type, model: model, configuration: configuration, options: options,
        schema: schema, uuid: uuid, metadata: metadata, tracksHistory: tracksHistory)
      try store.watchExternalData(opened.connection)
      try store.computeDerivedColumns(opened.connection)
      try opened.checkUnchanged()
      // What can't be removed now is removed by the next opening.
      if !settings.ignoresVersions {
        try? store.removeUnusedFiles(opened.connection)
        if !opened.isReadOnly { try? opened.connection.restoreIndexesAtOnce() }
      }
      if !settings.keepsWALUntilCommit { opened.connection.checkpointWALOnClose() }
      return store
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .open, message: "The store \(url?.path ?? "in memory") can't be opened")
    }
  }

  /// The store's UUID and metadata; those of a new store of the model if the store is read without its own.
  private static func metadata(
    in connection: SQLiteConnection, at url: URL?, _ settings: StoreOptions, orElse fresh: StoreMetadata
  ) throws -> (uuid: String, metadata: StoreMetadata) {
    guard settings.ignoresMetadata else { return try connection.storeMetadata(at: url) }
    let row = try? connection.metadataRow()
    return (row?.uuid ?? UUID().uuidString, fresh)
  }

  static func prepare(
    _ opened: OpenedDatabase, _ settings: StoreOptions, isNew: Bool, isInMemory: Bool
  ) throws {
    let connection = opened.connection
    if !opened.isReadOnly {
      if isNew {
        // Both must be set before the first page is written.
        try connection.execute("PRAGMA page_size = 4096; PRAGMA auto_vacuum = 2")
      }
      if !isInMemory { _ = try connection.rows("PRAGMA journal_mode = WAL") }
      try connection.execute("PRAGMA synchronous = NORMAL")
    }
    for pragma in settings.pragmas { _ = try connection.rows("PRAGMA \(pragma.name) = \(pragma.value)") }
    guard !opened.isReadOnly, !isNew else { return }
    if settings.vacuums { try connection.execute("VACUUM") }
    if settings.analyzes { try connection.execute("ANALYZE") }
  }

  /// A store without triggers that its model needs is complete for this library only.
  private static func checkComplete(_ schema: SQLSchema, _ settings: StoreOptions, at url: URL) throws {
    guard !settings.allowsIncompleteSchema, !schema.unsupportedParts.isEmpty else { return }
    throw NSError.coreData(
      .open,
      "A new store of this model can't be made at \(url.path): it would lack \(schema.unsupportedParts.joined(separator: ", ")). "
        + "Make the store with the app, and open it here.",
      suggestion: "Or add it with OCDIncompleteSchemaOption.", userInfo: [NSError.incompleteSchemaKey: true])
  }

  /// Makes a new store in memory: a model whose tables can't be made must not leave a file.
  private static func createInMemory(_ schema: SQLSchema, _ metadata: StoreMetadata) throws {
    let connection = try SQLiteConnection(path: "", mode: .privateTemporary)
    defer { connection.close() }
    try connection.registerPredicateFunctions()
    try create(schema, metadata, in: connection)
  }

  /// Creates the tables of a new store in one transaction: a store exists completely or not at all.
  private static func create(
    _ schema: SQLSchema, _ metadata: StoreMetadata, in connection: SQLiteConnection
  ) throws {
    try connection.transaction {
      // Another process may have created it in the meantime.
      guard try connection.hasNoTables() else { return }
      for statement in schema.creationStatements { try connection.execute(statement) }
      for entity in schema.entities {
        try connection.run(
          "INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, ?, 0)",
          [.integer(Int64(entity.number)), .text(entity.name), .integer(Int64(entity.superNumber))])
      }
      try connection.run(
        "INSERT INTO Z_METADATA(Z_VERSION, Z_UUID, Z_PLIST) VALUES(1, ?, ?)",
        [.text(UUID().uuidString), .blob(try metadata.propertyList())])
    }
  }
}

extension NSError {
  fileprivate static let incompleteSchemaKey = "OpenCoreDataIncompleteSchema"

  /// Whether a new store was refused that `OCDIncompleteSchemaOption` would allow.
  package var isOfIncompleteSchema: Bool { userInfo[Self.incompleteSchemaKey] as? Bool == true }
}
