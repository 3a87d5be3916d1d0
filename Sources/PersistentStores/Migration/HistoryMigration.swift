import Foundation
import ManagedObjectModel

/// The persistent history in an inferred migration. Objects keep their keys and the store its UUID, so the transactions stay
/// as they are, and a token leads to the same one as before. A change names its entity by number and its properties by
/// position: both are rewritten for the new model.
package struct HistoryMigration {
  private let plan: MigrationPlan
  private let connection: any TableStatements
  /// The store's name in messages.
  private let path: String
  /// The database's type for bytes.
  private let bytes: String

  package init(_ plan: MigrationPlan, _ connection: any TableStatements, path: String, bytes: String) {
    (self.plan, self.connection, self.path, self.bytes) = (plan, connection, path, bytes)
  }

  /// - Parameters:
  ///   - tombstones: The number of columns for preserved values: those of both models have room.
  ///   - namesProperties: Whether changes have a column for their properties.
  package func carry(tombstones: Int, namesProperties: Bool) throws {
    try moveTombstones((0..<tombstones).map { "ZTOMBSTONE\($0)" })
    if namesProperties { try moveColumns() }
    try renumberChanges()
  }

  /// The old and the new entity of each number in changes whose objects are carried over. No object can be of an entity
  /// that is abstract now.
  private var carried: [(number: Int, old: NSEntityDescription, new: NSEntityDescription, newNumber: Int)] {
    plan.source.entities.compactMap { entity in
      guard let old = plan.mapping.sourceModel.entitiesByName[entity.name], let new = plan.match.destination(of: old),
        !new.isAbstract, let newNumber = plan.destination.entity(named: new.name ?? "")?.number
      else { return nil }
      return (entity.number, old, new, newNumber)
    }
  }

  /// A change of an entity that the source model does not have can't be read by any model.
  package func checkChanges() throws {
    let known = MigrationStatements.list(Set(plan.source.entities.map(\.number)))
    let strangers = try connection.integer(
      "SELECT count(*) FROM ACHANGE WHERE ZENTITY IS NULL OR ZENTITY NOT IN (\(known))", [])
    guard let strangers, strangers > 0 else { return }
    throw NSError.migration(
      "\(path) has \(strangers) changes in its history whose entity its model does not have.",
      advice: "Delete the history with NSPersistentHistoryChangeRequest.deleteHistory(before:) first.")
  }

  /// The values that deletions have kept, from the position in the old entity to that in the new one.
  private func moveTombstones(_ tombstones: [String]) throws {
    for (number, old, new, _) in carried {
      let (before, after) = (PreservedAttributes(old).names, PreservedAttributes(new).names)
      let sources = plan.match.properties(of: new).sources
      let settings = tombstones.enumerated().map { position, column -> String in
        let former = after.indices.contains(position) ? sources[after[position]]?.name : nil
        let place = former.flatMap(before.firstIndex)
        return "\(column) = \(place.map { "ZTOMBSTONE\($0)" } ?? "NULL")"
      }
      guard !settings.isEmpty, before != after || before.contains(where: { sources[$0]?.name != $0 }) else { continue }
      try connection.run("UPDATE ACHANGE SET \(settings.joined(separator: ", ")) WHERE ZENTITY = \(number)", [])
    }
  }

  /// The bits of changed properties, which are sorted by name.
  private func moveColumns() throws {
    try connection.run("CREATE TEMP TABLE OCD_BITS (E INTEGER, B \(bytes), N \(bytes), PRIMARY KEY (E, B))", [])
    defer { try? connection.run("DROP TABLE OCD_BITS", []) }
    for (number, old, new, _) in carried {
      let (before, after) = (TrackedProperties(old), TrackedProperties(new))
      let sources = plan.match.properties(of: new).sources
      let found = try connection.rows(
        "SELECT DISTINCT ZCOLUMNS FROM ACHANGE WHERE ZENTITY = ? AND ZCOLUMNS IS NOT NULL", [.integer(Int64(number))])
      for case .blob(let bits)? in found.map(\.first) {
        let changed = before.names(in: bits).map { names in
          Set(after.names.filter { sources[$0].map { names.contains($0.name) } ?? false })
        }
        try connection.run(
          "INSERT INTO OCD_BITS VALUES (?, ?, ?)",
          [.integer(Int64(number)), .blob(bits), changed.map(after.bits) ?? .null])
      }
    }
    try connection.run(
      """
      UPDATE ACHANGE SET ZCOLUMNS = (SELECT N FROM OCD_BITS WHERE E = ZENTITY AND B = ZCOLUMNS)
        WHERE ZCOLUMNS IS NOT NULL
      """, [])
  }

  /// Changes of objects whose entity is removed go with them. Their transactions stay, so that tokens lead to them.
  private func renumberChanges() throws {
    let all = carried
    try connection.run(
      "DELETE FROM ACHANGE WHERE ZENTITY NOT IN (\(MigrationStatements.list(Set(all.map(\.number)))))", [])
    guard !all.isEmpty else { return }
    let cases = all.map { "WHEN \($0.number) THEN \($0.newNumber)" }.joined(separator: " ")
    try connection.run("UPDATE ACHANGE SET ZENTITY = CASE ZENTITY \(cases) END", [])
  }
}
