import Foundation
import ManagedObjectModel

/// The persistent history in an inferred migration. Objects keep their keys and the store its UUID, so the transactions stay
/// as they are, and a token leads to the same one as before. A change names its entity by number and its properties by
/// position: both are rewritten for the new model.
extension MigrationRun {
  private static let historyNumbers = "Z_ENT > 16000"

  /// Called while the old tables stand aside, after the key rows of the new ones are written.
  func carryHistory(_ present: Set<String>) throws {
    guard present.contains("Z_PRIMARYKEY") else { return }
    try connection.execute(
      "INSERT INTO Z_PRIMARYKEY SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM \(Self.oldTableName("Z_PRIMARYKEY")) "
        + "WHERE \(Self.historyNumbers)")
    guard present.contains("ACHANGE") else { return }
    try checkChanges()
    let kept = destinationEntities.values.filter { destination.entity(named: $0.name ?? "") != nil }
    try HistoryTables(connection: connection).addTombstones(for: Array(kept))
    try moveTombstones()
    try moveColumns()
    try renumberChanges()
  }

  /// The old and the new entity of each number in changes whose objects are carried over. No object can be of an entity
  /// that is abstract now.
  private var carried: [(number: Int, old: NSEntityDescription, new: NSEntityDescription, newNumber: Int)] {
    source.entities.compactMap { entity in
      guard let old = mapping.sourceModel.entitiesByName[entity.name], let new = match.destination(of: old),
        !new.isAbstract, let newNumber = destination.entity(named: new.name ?? "")?.number
      else { return nil }
      return (entity.number, old, new, newNumber)
    }
  }

  /// A change of an entity that the source model does not have can't be read by any model.
  private func checkChanges() throws {
    let known = MigrationStatements.list(Set(source.entities.map(\.number)))
    let strangers = try connection.integer(
      "SELECT count(*) FROM ACHANGE WHERE ZENTITY IS NULL OR ZENTITY NOT IN (\(known))")
    guard let strangers, strangers > 0 else { return }
    throw NSError.migration(
      "\(path) has \(strangers) changes in its history whose entity its model does not have.",
      advice: "Delete the history with NSPersistentHistoryChangeRequest.deleteHistory(before:) first.")
  }

  /// The values that deletions have kept, from the position in the old entity to that in the new one.
  private func moveTombstones() throws {
    let columns = try HistoryTables(connection: connection).columns(of: .change)
    let tombstones = (0...).lazy.map { "ZTOMBSTONE\($0)" }.prefix { columns.contains($0) }
    for (number, old, new, _) in carried {
      let (before, after) = (PreservedAttributes(old).names, PreservedAttributes(new).names)
      let sources = match.properties(of: new).sources
      let settings = tombstones.enumerated().map { position, column -> String in
        let former = after.indices.contains(position) ? sources[after[position]]?.name : nil
        let place = former.flatMap(before.firstIndex)
        return "\(column) = \(place.map { "ZTOMBSTONE\($0)" } ?? "NULL")"
      }
      guard !settings.isEmpty, before != after || before.contains(where: { sources[$0]?.name != $0 }) else { continue }
      try connection.execute("UPDATE ACHANGE SET \(settings.joined(separator: ", ")) WHERE ZENTITY = \(number)")
    }
  }

  /// The bits of changed properties, which are sorted by name.
  private func moveColumns() throws {
    guard try HistoryTables(connection: connection).columns(of: .change).contains("ZCOLUMNS") else { return }
    try connection.execute("CREATE TEMP TABLE OCD_BITS (E INTEGER, B BLOB, N BLOB, PRIMARY KEY (E, B))")
    defer { try? connection.execute("DROP TABLE temp.OCD_BITS") }
    for (number, old, new, _) in carried {
      let (before, after) = (TrackedProperties(old), TrackedProperties(new))
      let sources = match.properties(of: new).sources
      let found = try connection.rows(
        "SELECT DISTINCT ZCOLUMNS FROM ACHANGE WHERE ZENTITY = ? AND ZCOLUMNS NOT NULL", [.integer(Int64(number))])
      for case .blob(let bits)? in found.map(\.first) {
        let changed = before.names(in: bits).map { names in
          Set(after.names.filter { sources[$0].map { names.contains($0.name) } ?? false })
        }
        try connection.run(
          "INSERT INTO temp.OCD_BITS VALUES (?, ?, ?)",
          [.integer(Int64(number)), .blob(bits), changed.map(after.bits) ?? .null])
      }
    }
    try connection.execute(
      """
      UPDATE ACHANGE SET ZCOLUMNS = (SELECT N FROM temp.OCD_BITS WHERE E = ZENTITY AND B = ZCOLUMNS)
        WHERE ZCOLUMNS NOT NULL
      """)
  }

  /// Changes of objects whose entity is removed go with them. Their transactions stay, so that tokens lead to them.
  private func renumberChanges() throws {
    let all = carried
    try connection.execute(
      "DELETE FROM ACHANGE WHERE ZENTITY NOT IN (\(MigrationStatements.list(Set(all.map(\.number)))))")
    guard !all.isEmpty else { return }
    let cases = all.map { "WHEN \($0.number) THEN \($0.newNumber)" }.joined(separator: " ")
    try connection.execute("UPDATE ACHANGE SET ZENTITY = CASE ZENTITY \(cases) END")
  }
}
