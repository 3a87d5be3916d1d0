import ManagedObjectModel
import Foundation

/// The text of a new store's statements, identical to Apple's including whitespace.
extension SQLNaming {
  /// Each root's table followed by the join tables of its entities, then the indexes in the same order, then
  /// R-trees and triggers, then the framework's own tables.
  var creationStatements: [String] {
    let roots = zip(numbered.filter { $0.superentity == nil }, tables)
    let tableStatements = roots.flatMap { root, table in
      [creation(of: table)] + members(of: root).flatMap(joinTables).map(creation(of:))
    }
    let indexStatements = roots.flatMap { root, _ in
      indexes(of: root) + members(of: root).flatMap(joinTables).map(index(of:))
    }
    return tableStatements + indexStatements + derivations.flatMap(\.creationStatements) + Self.frameworkTables
  }

  static let frameworkTables = [
    "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
    "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
  ]

  private func creation(of table: SQLTable) -> String {
    let fixed = ["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"]
    let columns = fixed + table.columns.map { "\($0.name) \($0.type.rawValue)" }
    return "CREATE TABLE \(table.name) ( \(columns.joined(separator: ", ")) )"
  }

  private func creation(of table: SQLJoinTable) -> String {
    let columns = [table.firstColumn, table.secondColumn] + table.orderColumns
    let text = columns.map { "\($0) INTEGER, " }.joined()
    return "CREATE TABLE \(table.name) ( \(text)PRIMARY KEY (\(table.firstColumn), \(table.secondColumn)) )"
  }

  private func index(of table: SQLJoinTable) -> String {
    "CREATE INDEX \(table.name)_\(table.secondColumn)_INDEX "
      + "ON \(table.name) (\(table.secondColumn), \(table.firstColumn))"
  }
}
