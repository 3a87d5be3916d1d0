import Foundation
import ManagedObjectModel
import PersistentStores

/// A connection to a server, and how to make others.
struct OpenedServer {
  let address: PostgreSQLAddress
  let settings: ServerOptions
  let make: @Sendable () throws -> PostgreSQLConnection
  let connection: PostgreSQLConnection

  /// - Throws: `NSError` 134080 for an address that can't be used, and a server that can't be reached or that is not one for
  ///   stores.
  init(_ url: URL, options: [AnyHashable: Any]?) throws {
    let library = try PostgreSQLLibrary.load()
    let (address, settings) = (try PostgreSQLAddress(url, library), ServerOptions(options))
    self.address = address
    self.settings = settings
    make = { try PostgreSQLConnection(address, library, timeoutSeconds: settings.timeoutSeconds) }
    connection = try Self.reporting(address) { [make] in try make() }
    guard connection.setting("server_encoding") == "UTF8" else {
      throw NSError.coreData(
        .open,
        "The database of \(address.shown) has the encoding \(connection.setting("server_encoding") ?? "of none"), which can't "
          + "keep every text. Make the database with ENCODING 'UTF8' TEMPLATE template0.")
    }
  }

  static func reporting<Result>(_ address: PostgreSQLAddress, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PostgreSQLError {
      throw error.coreDataError(.open, "The store \(address.shown) can't be opened")
    }
  }

  func reporting<Result>(_ body: () throws -> Result) throws -> Result { try Self.reporting(address, body) }
}

extension PostgreSQLStore {
  /// Opens the store of a database, and creates it if the database has none.
  ///
  /// - Throws: `NSError` 134080 (can't be opened, or not a store), 134090 (locked), 134100 (incompatible model).
  package static func open(
    _ url: URL, model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]?
  ) throws -> PostgreSQLStore {
    let schema = try SQLSchema(model: model, configuration: configuration)
    let creation = TableCreation(schema, model)
    let opened = try OpenedServer(url, options: options)
    return try opened.reporting {
      let inspection = SchemaInspection(connection: opened.connection)
      if try !inspection.hasStore() {
        guard !opened.settings.isReadOnly else {
          throw NSError.coreData(
            .open, "The database of \(opened.address.shown) has no store, and it is opened for reading only.",
            userInfo: [NSError.missingStoreKey: true])
        }
        try checkComplete(schema, opened)
        let metadata = StoreMetadata(model: model, configuration: configuration)
        try create(creation, metadata, on: opened.connection)
      }
      if !opened.settings.isReadOnly { try inspection.checkTransactions(at: opened.address.shown) }
      if !opened.settings.ignoresVersions, let migration = MigrationOptions(options) {
        let run = ServerMigration(
          opened.connection, at: opened.address.shown, model: model, configuration: configuration, options: migration)
        let settings = opened.settings
        try run.runIfNeeded(
          options, isReadOnly: settings.isReadOnly, milliseconds: settings.timeoutMilliseconds
        ) { try checkComplete(schema, opened) }
      }
      let (uuid, metadata) = try inspection.metadata(at: opened.address.shown)
      if !opened.settings.ignoresVersions {
        try metadata.checkCompatible(
          with: model, configuration: configuration, options: options, location: opened.address.shown)
      }
      try inspection.check(creation, schema, at: opened.address.shown)
      try inspection.checkCollations(creation, at: opened.address.shown)
      let entities = schema.entities.compactMap { model.entitiesByName[$0.name] }
      return try PostgreSQLStore(
        opened, schema: schema, model: model, uuid: uuid, metadata: metadata,
        tracksHistory: try prepareHistory(opened, schema, of: entities))
    }
  }

  /// Derived attributes are kept up to date by triggers, which a store in PostgreSQL does not have.
  private static func checkComplete(_ schema: SQLSchema, _ opened: OpenedServer) throws {
    let derived = schema.hasDerivations ? ["derived attributes or location trees"] : []
    let missing = schema.unsupportedParts + derived
    guard !missing.isEmpty, !opened.settings.allowsIncompleteSchema else { return }
    throw NSError.coreData(
      .open,
      "A new store of this model can't be made in PostgreSQL: it would lack \(missing.joined(separator: ", ")).",
      suggestion: "Or add it with OCDIncompleteSchemaOption.")
  }

  /// Creates the tables of a new store in one transaction: a store exists completely or not at all.
  private static func create(
    _ creation: TableCreation, _ metadata: StoreMetadata, on connection: PostgreSQLConnection
  ) throws {
    let (tables, others) = try creation.statements()
    var metadata = metadata
    metadata.storeType = NSPostgreSQLStoreType
    do {
      try connection.send(PostgreSQLConnection.beginWriting)
      for statement in tables + others { try connection.send(statement) }
      try connection.send(
        "INSERT INTO Z_METADATA(Z_VERSION, Z_UUID, Z_PLIST) VALUES(1, ?, ?)",
        [.text(UUID().uuidString), .blob(try metadata.propertyList())])
      try connection.commit()
    } catch {
      _ = try? connection.query("ROLLBACK")
      // Another process may have created it in the meantime.
      if let error = error as? PostgreSQLError, ["42P07", "23505"].contains(error.state),
        try SchemaInspection(connection: connection).hasStore()
      {
        return
      }
      throw error
    }
  }

  // MARK: Stores that are not open

  package static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
    try withStore(at: url, options) { opened in
      let (uuid, metadata) = try SchemaInspection(connection: opened.connection).metadata(at: opened.address.shown)
      return metadata.dictionary.merging([NSStoreUUIDKey: uuid]) { $1 }
    }
  }

  package static func setMetadata(_ new: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws {
    try withStore(at: url, options) { opened in
      var (_, metadata) = try SchemaInspection(connection: opened.connection).metadata(at: opened.address.shown)
      metadata.custom = StoreMetadata(dictionary: new).custom
      try opened.connection.send(PostgreSQLConnection.beginWriting)
      try opened.connection.send("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(try metadata.propertyList())])
      try opened.connection.commit()
    }
  }

  /// Removes the tables of the store, with their views and rows.
  package static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
    let opened = try OpenedServer(url, options: options)
    try opened.reporting {
      defer { opened.connection.close() }
      guard try SchemaInspection(connection: opened.connection).hasStore() else { return }
      let tables = try opened.connection.rows(tablesOfStore, [])
      try opened.connection.send(PostgreSQLConnection.beginWriting)
      for case .text(let table)? in tables.map(\.first) {
        try opened.connection.send("DROP TABLE IF EXISTS \(table) CASCADE")
      }
      try opened.connection.send("DROP VIEW IF EXISTS Z_PRIMARYKEY")
      for table in ServerHistoryTables.names { try opened.connection.send("DROP TABLE IF EXISTS \(table)") }
      try opened.connection.commit()
    }
  }

  /// Tables of entities by the columns that all of them have, and join tables, which have keys and positions only.
  private static let tablesOfStore = """
    SELECT quote_ident(c.relname) FROM pg_class c, LATERAL (
      SELECT array_agg(a.attname::text) AS columns,
        bool_and(a.attname ~ '^(Z_|REFLEXIVE$)' AND a.atttypid = 'bigint'::regtype) AS are_keys
      FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) found
    WHERE c.relkind IN ('r', 'p') AND c.oid = to_regclass(quote_ident(c.relname))
      AND (c.relname = 'Z_METADATA' OR c.relname ~ '^Z' AND found.columns @> ARRAY['Z_PK', 'Z_ENT', 'Z_OPT']
        OR c.relname ~ '^Z_[0-9]' AND found.are_keys)
    """

  private static func withStore<Result>(
    at url: URL, _ options: [AnyHashable: Any]?, _ body: (OpenedServer) throws -> Result
  ) throws -> Result {
    let opened = try OpenedServer(url, options: options)
    defer { opened.connection.close() }
    return try opened.reporting {
      guard try SchemaInspection(connection: opened.connection).hasStore() else {
        throw NSError.coreData(
          .open, "The database of \(opened.address.shown) has no store.", userInfo: [NSError.missingStoreKey: true])
      }
      return try body(opened)
    }
  }
}

extension NSError {
  static let missingStoreKey = "OpenCoreDataMissingStore"

  /// Whether a database was asked for its store and has none.
  package var isOfMissingStore: Bool { userInfo[Self.missingStoreKey] as? Bool == true }
}
