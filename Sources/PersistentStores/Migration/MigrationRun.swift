import ManagedObjectModel
import Foundation

/// One migration inside its transaction: it renames the old tables, creates new ones as in a new store, moves the rows
/// and drops the old tables. The layout therefore is that of a new store, independent of the old one's history.
struct MigrationRun {
  let connection: SQLiteConnection
  let path: String
  let plan: MigrationPlan
  /// Nil for a store in memory.
  let largeValues: ExternalFolder?

  var mapping: InferredMapping { plan.mapping }
  var source: SQLSchema { plan.source }
  var destination: SQLSchema { plan.destination }
  var destinationEntities: [String: NSEntityDescription] { plan.destinationEntities }
  var match: ModelMatch { plan.match }

  private static let ownTables = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]

  func run(uuid: String, metadata: StoreMetadata) throws {
    try connection.restoreIndexes()
    // Made again for the new tables.
    for removal in source.derivations.flatMap(\.removalStatements) { try connection.execute(removal) }
    let present = try tableNames()
    let old = source.tableNames
    try checkTriggers(on: old + Self.ownTables)
    let lastKeys = try lastKeys()
    let checks = MigrationChecks(plan, connection, path: path)
    try checks.checkBefore()

    let foreignIndexes = try renameOldTables(old + Self.ownTables.filter(present.contains))
    let creations = destination.creationStatements
    let tables = creations.prefix { $0.hasPrefix("CREATE TABLE") && !SQLNaming.frameworkTables.contains($0) }
    for statement in tables { try connection.execute(statement) }
    for move in plan.moves { try connection.run(move.text, move.bindings) }
    try checks.checkAfter()
    try markReleasedFiles()
    for statement in creations.dropFirst(tables.count) { try create(statement) }
    for derivation in destination.derivations { try connection.execute(derivation.fillStatement) }
    try fillComputedColumns()
    try writeKeys(lastKeys)
    try carryHistory(present)
    try connection.run(
      "INSERT INTO Z_METADATA(Z_VERSION, Z_UUID, Z_PLIST) VALUES(1, ?, ?)",
      [.text(uuid), .blob(try metadata.propertyList())])
    for table in old + Self.ownTables where present.contains(table) {
      try connection.execute("DROP TABLE \(MigrationPlan.oldTableName(table))")
    }
    for index in foreignIndexes { try remake(index) }
  }

  /// Computes the derived attributes for which the new file has no triggers.
  private func fillComputedColumns() throws {
    let triggers = destination.derivations.flatMap(\.triggers).map(\.name)
    for entity in destination.entities {
      guard let described = destinationEntities[entity.name] else { continue }
      for column in ComputedColumns(destination.entities).columns(of: described)
      where !column.isKept(by: triggers) {
        if let statement = column.fillStatement { try connection.execute(statement) }
      }
    }
  }

  /// Triggers that would be lost with a table.
  func checkTriggers(on tables: [String]) throws {
    let triggers = try connection.rows("SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'")
    let ofStore = triggers.filter { row in tables.contains { row.last == .text($0) } }
    guard case .text(let name)? = ofStore.first?.first else { return }
    throw NSError.migration(
      "\(path) has the trigger \(name) on a table of Core Data's, which would be lost.",
      advice: "Drop the trigger, and create it again afterwards; or migrate the store with the program that made it.")
  }

  private func tableNames() throws -> Set<String> {
    Set(try texts("SELECT name FROM sqlite_master WHERE type = 'table'"))
  }

  private func texts(_ sql: String) throws -> [String] {
    try connection.rows(sql).compactMap { row in
      if case .text(let text)? = row.first { text } else { nil }
    }
  }

  /// Renames tables and drops their indexes, whose names the new ones need.
  ///
  /// - Returns: The statements of indexes that are not Core Data's, to create them again.
  private func renameOldTables(_ tables: [String]) throws -> [String] {
    var foreign: [String] = []
    for table in tables {
      let indexes = try connection.rows(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ? ORDER BY rowid",
        [.text(table)])
      for index in indexes {
        guard case .text(let name)? = index.first, case .text(let sql)? = index.last else { continue }
        if !name.hasPrefix("Z") { foreign.append(sql) }
        try connection.execute("DROP INDEX \"\(name.replacingOccurrences(of: "\"", with: "\"\""))\"")
      }
      try connection.execute("ALTER TABLE \(table) RENAME TO \(MigrationPlan.oldTableName(table))")
    }
    return foreign
  }

  /// Creates another program's index again; what it indexed may have been removed.
  private func remake(_ index: String) throws {
    do {
      try connection.execute(index)
    } catch let error as SQLiteError {
      throw NSError.migration(
        "\(path) has an index that conflicts with the new model (\(error.message)): \(index).",
        advice: "Drop the index, and create another one afterwards.",
        userInfo: [NSUnderlyingErrorKey: NSError.sqlite(error, .sqlite, message: index)])
    }
  }

  // MARK: Keys

  /// The last key of each hierarchy of the source, by the name of its root.
  private func lastKeys() throws -> [String: Int64] {
    var result: [String: Int64] = [:]
    for root in source.entities where root.superNumber == 0 {
      result[root.name] = try connection.integer(
        "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(Int64(root.number))])
    }
    return result
  }

  /// Keys continue where those of the source's hierarchy ended, so that keys are never reused.
  private func writeKeys(_ lastKeys: [String: Int64]) throws {
    for entity in destination.entities {
      var last: Int64 = 0
      if entity.superNumber == 0, let root = destinationEntities[entity.name] {
        last = max(
          plan.sourceRoots(of: root).compactMap { lastKeys[$0] }.max() ?? 0,
          try connection.integer("SELECT max(Z_PK) FROM \(entity.tableName)") ?? 0)
      }
      try connection.run(
        "INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, ?, ?)",
        [.integer(Int64(entity.number)), .text(entity.name), .integer(Int64(entity.superNumber)), .integer(last)])
    }
  }

  private static let historyNumbers = "Z_ENT > 16000"

  /// Called while the old tables stand aside, after the key rows of the new ones are written.
  private func carryHistory(_ present: Set<String>) throws {
    guard present.contains("Z_PRIMARYKEY") else { return }
    try connection.execute(
      "INSERT INTO Z_PRIMARYKEY SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM "
        + "\(MigrationPlan.oldTableName("Z_PRIMARYKEY")) WHERE \(Self.historyNumbers)")
    guard present.contains("ACHANGE") else { return }
    let (history, tables) = (
      HistoryMigration(plan, connection, path: path, bytes: "BLOB"), HistoryTables(connection: connection)
    )
    try history.checkChanges()
    let kept = destinationEntities.values.filter { destination.entity(named: $0.name ?? "") != nil }
    try tables.addTombstones(for: Array(kept))
    let columns = try tables.columns(of: .change)
    try history.carry(
      tombstones: (0...).prefix { columns.contains("ZTOMBSTONE\($0)") }.count,
      namesProperties: columns.contains("ZCOLUMNS"))
  }

  // MARK: Uniqueness

  /// Runs a statement of the new schema. An error about equal values under a new uniqueness constraint includes an
  /// example.
  private func create(_ statement: String) throws {
    do {
      try connection.execute(statement)
    } catch let error as SQLiteError where error.isUniqueness {
      throw NSError.migration(
        "\(path) can't be migrated: objects have equal values where the new model requires "
          + "unique ones (\(error.message)).",
        advice: "Make the values of these attributes different, or leave the uniqueness constraint out.",
        userInfo: [NSUnderlyingErrorKey: NSError.sqlite(error, .sqlite, message: statement)])
    }
  }
}
