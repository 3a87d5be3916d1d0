import Foundation
import ManagedObjectModel
import PersistentStores

/// Migrates a store to a version of the model in one transaction: afterwards it is complete in the new form, or
/// unchanged. Others that read or write wait meanwhile.
struct ServerMigration {
  private let connection: PostgreSQLConnection
  private let location: String
  private let model: NSManagedObjectModel
  private let configuration: String?
  private let options: MigrationOptions

  init(
    _ connection: PostgreSQLConnection, at location: String, model: NSManagedObjectModel, configuration: String?,
    options: MigrationOptions
  ) {
    (self.connection, self.location, self.model) = (connection, location, model)
    (self.configuration, self.options) = (configuration, options)
  }

  private var inspection: SchemaInspection { SchemaInspection(connection: connection) }

  private func isCompatible(_ metadata: StoreMetadata) -> Bool {
    ModelCompatibility(metadata.versionHashes, model, configuration: configuration).isCompatible
  }

  /// Has no effect on a store that already has the requested version.
  ///
  /// - Parameters:
  ///   - milliseconds: How long it waits for other programs.
  ///   - check: Throws for a model whose stores can't be made.
  /// - Throws: `NSError` 134110 (incompatible data), 134130 (no source model), 134140 (no mapping), 134090 (locked).
  func runIfNeeded(
    _ given: [AnyHashable: Any]?, isReadOnly: Bool, milliseconds: Int, check: () throws -> Void
  ) throws {
    guard try !isCompatible(inspection.metadata(at: location).metadata) else { return }
    guard !isReadOnly else {
      throw NSError.migration(
        "The store \(location) was written with another version of the model, and a store that is opened for reading "
          + "only can't be migrated.",
        advice: "Give the version of the model that it was written with.")
    }
    guard given?[NSPersistentStoreStagedMigrationManagerOptionKey] == nil,
      MigrationOptions.mappingModels(given).isEmpty
    else {
      throw NSError.migration(
        "The store \(location) is in PostgreSQL, where only inferred mappings are carried out, and the options have a "
          + "mapping model or stages.",
        advice: "Copy the store into a SQLite file, migrate that, and copy it back; or leave these options out.")
    }
    try check()
    do {
      try connection.send(PostgreSQLConnection.beginWriting)
      try connection.send("SET LOCAL lock_timeout = \(milliseconds)")
      // Another program may migrate it at the same time.
      try connection.send("LOCK TABLE Z_METADATA IN ACCESS EXCLUSIVE MODE")
      let (uuid, metadata) = try inspection.metadata(at: location)
      if !isCompatible(metadata) { try run(from: metadata, uuid) }
      try connection.commit()
    } catch {
      _ = try? connection.query("ROLLBACK")
      guard let error = error as? PostgreSQLError else { throw error }
      throw error.coreDataError(.migration, "The store \(location) was left as it is: migrating it failed")
    }
  }

  private func run(from metadata: StoreMetadata, _ uuid: String) throws {
    let search = MigrationSearch(path: location, model: model, configuration: configuration, options: options)
    let source = try search.sourceModel(metadata)
    let plan = MigrationPlan(
      try search.mapping(from: source.model),
      source: try SQLSchema(model: source.model, configuration: source.configuration),
      destination: try SQLSchema(model: model, configuration: configuration), destinationModel: model)
    let old = TableCreation(plan.source, source.model)
    do {
      try inspection.check(old, plan.source, at: location)
    } catch {
      guard !(error is PostgreSQLError) else { throw error }
      throw NSError.migration(
        error.localizedDescription, advice: "Migrate it with the program that wrote it.",
        userInfo: [NSUnderlyingErrorKey: error])
    }
    var written = StoreMetadata(model: model, configuration: configuration)
    written.custom = metadata.custom
    written.storeType = NSPostgreSQLStoreType
    try ServerMigrationRun(connection, plan, at: location, old: old, new: TableCreation(plan.destination, model))
      .run(uuid: uuid, metadata: written)
  }
}

/// One migration inside its transaction: it renames the old tables, creates new ones as in a new store, moves the rows
/// and drops the old tables.
private struct ServerMigrationRun {
  private let connection: PostgreSQLConnection
  private let location: String
  private let plan: MigrationPlan
  private let old: TableCreation
  private let new: TableCreation
  private let others: OthersObjects

  init(
    _ connection: PostgreSQLConnection, _ plan: MigrationPlan, at location: String, old: TableCreation,
    new: TableCreation
  ) {
    (self.connection, self.location, self.plan) = (connection, location, plan)
    (self.old, self.new) = (old, new)
    others = OthersObjects(connection: connection, location: location)
  }

  func run(uuid: String, metadata: StoreMetadata) throws {
    let tables = plan.source.tableNames
    try connection.send("LOCK TABLE \(tables.joined(separator: ", ")) IN ACCESS EXCLUSIVE MODE")
    try others.checkTables(old.columns.map { ($0.table, $0.columns.map(\.name)) })
    let nextKeys = try nextKeys()
    let checks = MigrationChecks(plan, connection, path: location)
    try checks.checkBefore()
    let indexes = try others.indexes(of: tables)
    let views = try others.views().filter { old.views.has($0.name, columns: $0.columns) }.map(\.name)
    let rights = try others.rights(on: tables + views + ["Z_METADATA", "Z_PRIMARYKEY"])
    try dropViews(views)
    try renameOldTables(tables)
    try connection.send("DROP TABLE Z_METADATA")

    let statements = try new.statements()
    for statement in statements.tables { try connection.send(statement) }
    for move in plan.moves { try connection.send(move.text, move.bindings) }
    try checks.checkAfter()
    for statement in statements.others { try create(statement) }
    try writeKeys(nextKeys)
    try carryHistory()
    try connection.send(
      "INSERT INTO Z_METADATA(Z_VERSION, Z_UUID, Z_PLIST) VALUES(1, ?, ?)",
      [.text(uuid), .blob(try metadata.propertyList())])
    try dropOldTables(tables)
    try others.restore(indexes: indexes)
    try others.restore(rights)
    try connection.finish()
  }

  // MARK: Old tables

  private func dropViews(_ views: [String]) throws {
    try others.notingDependents("a view of the store") {
      for view in views.map(\.quotedName) + ["\"Z_PRIMARYKEY\""] { _ = try connection.query("DROP VIEW \(view)") }
    }
  }

  /// Renames tables and sequences, and drops indexes, whose names the new ones need.
  private func renameOldTables(_ tables: [String]) throws {
    for root in plan.source.entities where root.superNumber == 0 {
      try connection.send(
        "ALTER SEQUENCE \(KeyBlocks.sequence(ofRoot: root.rootNumber)) RENAME TO ocd_old_keys_\(root.rootNumber)")
    }
    for table in tables {
      let indexes = try connection.rows(
        "SELECT x.indexrelid::regclass::text, x.indexrelid::bigint, c.oid IS NOT NULL FROM pg_index x "
          // Foreign keys of a table to itself name the index that they lead to, too.
          + "LEFT JOIN pg_constraint c ON c.conindid = x.indexrelid AND c.conrelid = x.indrelid AND c.contype <> 'f' "
          + "WHERE x.indrelid = to_regclass(?) ORDER BY 2", [.text(table.quotedName)])
      for row in indexes {
        guard case .text(let name) = row[0], case .integer(let number) = row[1] else { continue }
        try connection.send(
          row[2] == .integer(0) ? "DROP INDEX \(name)" : "ALTER INDEX \(name) RENAME TO ocd_old_\(number)")
      }
      try connection.send("ALTER TABLE \(table) RENAME TO \(MigrationPlan.oldTableName(table))")
    }
  }

  private func dropOldTables(_ tables: [String]) throws {
    let names = tables.map(MigrationPlan.oldTableName).joined(separator: ", ")
    try others.notingDependents("a table of the store") { _ = try connection.query("DROP TABLE \(names)") }
  }

  // MARK: Keys

  /// The next key of each hierarchy of the source, by the name of its root.
  private func nextKeys() throws -> [String: Int64] {
    var next: [String: Int64] = [:]
    for root in plan.source.entities where root.superNumber == 0 {
      next[root.name] = try connection.integer(
        "SELECT CASE WHEN is_called THEN last_value + \(KeyBlocks.size) ELSE last_value END FROM "
          + KeyBlocks.sequence(ofRoot: root.rootNumber), [])
    }
    return next
  }

  /// Keys continue where those of the source's hierarchy ended, so that keys are never reused.
  private func writeKeys(_ nextKeys: [String: Int64]) throws {
    for entity in plan.destination.entities where entity.superNumber == 0 {
      guard let root = plan.destinationEntities[entity.name],
        let next = plan.sourceRoots(of: root).compactMap({ nextKeys[$0] }).max()
      else { continue }
      try connection.send("ALTER SEQUENCE \(KeyBlocks.sequence(ofRoot: entity.rootNumber)) RESTART WITH \(next)")
    }
  }

  // MARK: History

  private func carryHistory() throws {
    let tables = ServerHistoryTables(connection: connection)
    guard try tables.areThere() else { return }
    let history = HistoryMigration(plan, connection, path: location, bytes: "bytea")
    try history.checkChanges()
    let kept = plan.destination.entities.compactMap { plan.destinationEntities[$0.name] }
    try tables.addTombstones(kept)
    try history.carry(tombstones: try tables.tombstoneCount(), namesProperties: true)
  }

  // MARK: New tables

  /// Runs a statement of the new schema. An error about rows that the new model does not allow says what to do.
  private func create(_ statement: String) throws {
    do {
      _ = try connection.query(statement)
    } catch let error as PostgreSQLError where error.isUniqueness {
      throw NSError.migration(
        "\(location) can't be migrated: objects have equal values where the new model requires unique ones "
          + "(\(error.message)).",
        advice: "Make the values of these attributes different, or leave the uniqueness constraint out.")
    } catch let error as PostgreSQLError where error.isReference {
      throw NSError.migration(
        "\(location) can't be migrated: objects lead to objects that are not there (\(error.message)).",
        advice: "Set these relationships to nil first.")
    }
  }
}
