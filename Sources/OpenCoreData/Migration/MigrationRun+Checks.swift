import Foundation

/// What must hold of a store before its tables are touched, and of its rows afterwards.
extension MigrationRun {
  /// The tables and columns that the source model tells of must be there: a store that was laid out otherwise would lose
  /// what is not found.
  func checkLayout(_ present: Set<String>) throws {
    var wanted: [(table: String, columns: [String])] = source.tables.map {
      ($0.name, ["Z_PK", "Z_ENT", "Z_OPT"] + $0.columns.map(\.name))
    }
    wanted += source.joinTables.map { ($0.name, [$0.firstColumn, $0.secondColumn] + $0.orderColumns) }
    for (table, columns) in wanted {
      let found = Set(
        try connection.rows("SELECT name FROM pragma_table_info(?)", [.text(table)]).compactMap(\.first))
      guard let missing = columns.first(where: { !found.contains(.text($0)) }) else { continue }
      throw NSError.migration(
        "\(path) is not laid out as its model says: the "
          + (present.contains(table) ? "table \(table) has no column \(missing)." : "table \(table) is missing."),
        "Migrate it with the program that wrote it.")
    }
  }

  /// What only Apple's framework keeps up, or what would get lost with a table.
  func checkOthers(_ present: Set<String>, _ tables: [String]) throws {
    let history = ["ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"].filter(present.contains)
    guard history.isEmpty else {
      throw NSError.migration(
        "\(path) keeps a persistent history (\(history.joined(separator: ", "))), which can't be carried over.",
        "Migrate it with Apple's framework, or turn its history off there.")
    }
    let triggers = try connection.rows("SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'")
    let ofStore = triggers.filter { row in tables.contains { row.last == .text($0) } }
    guard case .text(let name)? = ofStore.first?.first else { return }
    throw NSError.migration(
      "\(path) has the trigger \(name) on a table of Core Data's, which would be lost.",
      "Drop the trigger, and make it again afterwards; or migrate the store with the program that made it.")
  }

  /// A row of an entity that the source model does not know would be left behind in silence.
  func checkNumbers(_ numbers: [String: Int]) throws {
    for table in source.tables {
      let known = source.entities.filter { $0.tableName == table.name }.compactMap { numbers[$0.name] }
      let list = known.map(String.init).joined(separator: ", ")
      let strangers =
        try connection.integer("SELECT count(*) FROM \(table.name) WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(list))") ?? 0
      guard strangers > 0 else { continue }
      throw NSError.migration(
        "\(path) has \(strangers) rows in \(table.name) of no entity that its model knows.",
        "Restore the file from a copy, or give these rows the Z_ENT of an entity.")
    }
  }

  /// What can be known from the rows only.
  func checkRows() throws {
    for entity in destination.entities {
      guard let new = destinationEntities[entity.name], let old = match.source(of: new) else { continue }
      if new.isAbstract, !old.isAbstract {
        try demandNone(
          entity, "Z_ENT = \(entity.number)", "\(entity.name) is abstract in the new model, but has",
          "Delete them first, or let it stay.")
      }
      for relationship in new.ownProperties.compactMap({ $0 as? NSRelationshipDescription })
      where !relationship.isTransient && !relationship.isOptional && !relationship.isToMany {
        guard case .toOne(let column, _, _)? = entity.relationships[relationship.name],
          match.source(of: relationship, in: new)?.isOptional == true
        else { continue }
        try demandNone(
          entity, "\(column) IS NULL AND Z_ENT BETWEEN \(entity.numbers.lowerBound) AND \(entity.numbers.upperBound)",
          "\(entity.name).\(relationship.name) is mandatory in the new model, but leads nowhere from",
          "Set it first, or let it stay optional.")
      }
    }
  }

  private func demandNone(_ entity: SQLEntity, _ condition: String, _ problem: String, _ advice: String) throws {
    let count = try connection.integer("SELECT count(*) FROM \(entity.tableName) WHERE \(condition)") ?? 0
    guard count > 0 else { return }
    throw NSError.migration("\(path) can't be migrated: \(problem) \(count) objects.", advice)
  }
}
