import Foundation
import OpenCoreData
import PersistentStores

/// The names of the tables that a plan has for itself, as long as it is open: of the keys that its workers compare, and of
/// what their records lead to.
struct PlanTableNames: Sendable {
  let key: String
  let keyChunk: String
  let linkObject: String
  let linkChunk: String

  private static let kinds = ["KEY", "KEYCHUNK", "LINK", "LINKCHUNK"]

  /// - Parameters:
  ///   - id: The number of the plan.
  ///   - part: The number of a part of the plan. Each part has its own tables.
  init(plan id: String, part: Int, _ vocabulary: DefinitionVocabulary) {
    let ending = part == 0 ? "" : "_\(part)"
    let names = Self.kinds.map { "\(vocabulary.ledgerPrefix)\($0)_\(Self.text(id))\(ending)" }
    (key, keyChunk, linkObject, linkChunk) = (names[0], names[1], names[2], names[3])
  }

  private static func text(_ id: String) -> String { id.filter { $0 != "-" } }

  /// The names of the tables of all plans; none in a file.
  static func all(_ connection: LedgerConnection, _ vocabulary: DefinitionVocabulary) throws -> [String] {
    guard connection.isOfServer else { return [] }
    return try connection.plainRows(query(vocabulary)).compactMap { $0.first as? String }
  }

  /// The statement that finds the names of all tables of these kinds of a server.
  private static func query(_ vocabulary: DefinitionVocabulary) -> String {
    let conditions = kinds.map { "relname LIKE lower('\(vocabulary.ledgerPrefix)\($0)\\_%')" }
    return "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid) "
      + "AND (\(conditions.joined(separator: " OR ")))"
  }

  /// The statements that remove the tables of plans that are not open: a killed program has left them.
  static func dropAbandoned(
    _ coordinator: NSPersistentStoreCoordinator, of plans: PlanTables, _ vocabulary: DefinitionVocabulary
  ) throws -> [LedgerTables.Statement] {
    let names = try coordinator.participantRows(query(vocabulary)).compactMap { $0.first as? String }
    if names.isEmpty { return [] }
    let hasPlans = try !coordinator.participantDialect().tables([plans.plan]) { try coordinator.participantRows($0) }
      .isEmpty
    let open =
      hasPlans
      ? try coordinator.participantRows("SELECT planID FROM \(plans.plan) WHERE state = 'open'")
        .compactMap { $0.first as? String } : []
    return names.filter { name in !open.contains { name.contains("_\(text($0))") } }
      .map { ("DROP TABLE IF EXISTS \($0)", []) }
  }
}
