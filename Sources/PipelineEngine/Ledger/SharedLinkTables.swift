import Foundation
import OpenCoreData
import PersistentStores

/// The tables of a server by which the workers of a plan find and create what records lead to. They are there as long as
/// the plan is open.
struct SharedLinkTables: Sendable {
  typealias Statement = LedgerTables.Statement

  /// A row for each object that the store had or that workers have created, by what identifies it. The unique digest
  /// decides who creates an object.
  let object: String
  /// The chunks that have created objects, with the primary key of the first one: a row is written before its object has
  /// one.
  private let chunk: String

  /// - Parameter names: The names of the tables that only one plan has.
  init(_ names: PlanTableNames) { (object, chunk) = (names.linkObject, names.linkChunk) }

  func create(_ dialect: ParticipantDialect) -> [Statement] {
    [
      """
      CREATE TABLE \(object) (linkGroup INTEGER NOT NULL, hash UUID NOT NULL, firstOrder INTEGER NOT NULL,
        chunk INTEGER NOT NULL, number INTEGER NOT NULL, entity TEXT NOT NULL, isAmbiguous INTEGER NOT NULL,
        earlierValues BLOB, PRIMARY KEY (linkGroup, hash))
      """,
      """
      CREATE TABLE \(chunk) (chunk INTEGER NOT NULL, linkGroup INTEGER NOT NULL, firstKey INTEGER NOT NULL,
        PRIMARY KEY (chunk, linkGroup))
      """,
    ].map { (dialect.definition($0), []) }
  }

  /// The group of the row that says that the objects of the store are known.
  private static let completionGroup: Int64 = -1

  /// Says that the objects of the store are known.
  var noteCompletion: Statement {
    ("INSERT INTO \(chunk) VALUES (0, ?, 0) ON CONFLICT DO NOTHING", [.integer(Self.completionGroup)])
  }

  /// Whether the objects of the store are known, so that workers can look them up.
  func isComplete(in coordinator: NSPersistentStoreCoordinator) throws -> Bool {
    try !coordinator.participantRows("SELECT 1 FROM \(chunk) WHERE linkGroup = ?", [Self.completionGroup]).isEmpty
  }

  var drop: [Statement] { [object, chunk].map { ("DROP TABLE IF EXISTS \($0)", []) } }

  // MARK: Reading

  /// What is known of one digest.
  struct Row {
    /// The index of the digest among those that were asked for.
    let index: Int
    let entity: String
    let storeKey: Int64
    /// Whether the store had several objects with it.
    let isAmbiguous: Bool
    /// The order of the first record that names it; nil for an object that the store had.
    let firstOrder: Int64?
  }

  /// The objects with these digests. The subquery makes the server look each up in the index, however many there are.
  func found(_ digests: [KeyDigest], group: Int, in coordinator: NSPersistentStoreCoordinator) throws -> [Row] {
    if digests.isEmpty { return [] }
    return try coordinator.participantRows(
      """
      SELECT n.number, o.entity, COALESCE(c.firstKey, 0) + o.number, o.isAmbiguous, o.chunk, o.firstOrder
      FROM unnest(CAST(?1 AS text)::uuid[]) WITH ORDINALITY AS n(hash, number)
        CROSS JOIN LATERAL (SELECT * FROM \(object) WHERE linkGroup = ?2 AND hash = n.hash OFFSET 0) o
        LEFT JOIN \(chunk) c ON c.chunk = o.chunk AND c.linkGroup = o.linkGroup
      """, [ServerArray.text(digests, \.hex), group]
    ).map { row in
      func integer(_ index: Int) -> Int64 { row[index] as? Int64 ?? 0 }
      return Row(
        index: Int(integer(0)) - 1, entity: row[1] as? String ?? "", storeKey: integer(2),
        isAmbiguous: integer(3) != 0, firstOrder: integer(4) > 0 ? integer(5) : nil)
    }
  }

  /// The objects whose values are those of a later record than the first one that names them, with the values of that.
  ///
  /// - Parameter last: The last one that was read; nil for the first ones.
  func withEarlierValues(
    after last: (group: Int64, hash: String)?, in coordinator: NSPersistentStoreCoordinator
  ) throws -> [(group: Int64, hash: String, entity: String, storeKey: Int64, values: OverwrittenEntries)] {
    try coordinator.participantRows(
      """
      SELECT o.linkGroup, CAST(o.hash AS text), o.entity, c.firstKey + o.number, o.earlierValues
      FROM \(object) o JOIN \(chunk) c ON c.chunk = o.chunk AND c.linkGroup = o.linkGroup
      WHERE o.earlierValues IS NOT NULL AND (o.linkGroup, o.hash) > (?1, CAST(CAST(?2 AS text) AS uuid))
      ORDER BY o.linkGroup, o.hash LIMIT 1000
      """, [last?.group ?? -1, last?.hash ?? KeyDigest.none.hex]
    ).compactMap { row in
      guard let group = row[0] as? Int64, let hash = row[1] as? String, let key = row[3] as? Int64,
        let values = OverwrittenEntries(encoded: row[4] as? Data ?? Data()), values.count == 1
      else { return nil }
      return (group, hash, row[2] as? String ?? "", key, values)
    }
  }

  // MARK: Writing

  /// Inserts objects of one entity that the store has. A digest that several of them have leads to none.
  func insert(_ digests: [KeyDigest], storeKeys: [Int64], entity: String, group: Int) -> Statement {
    var rows: [KeyDigest: (key: Int64, isAmbiguous: Bool)] = [:]
    for (digest, key) in zip(digests, storeKeys) where digest != .none {
      rows[digest] = (rows[digest]?.key ?? key, rows[digest] != nil)
    }
    let all = rows.map { (digest: $0.key, key: $0.value.key, isAmbiguous: $0.value.isAmbiguous) }
    return (
      """
      INSERT INTO \(object) AS o (linkGroup, hash, firstOrder, chunk, number, entity, isAmbiguous)
      SELECT ?1, hash, 0, 0, number, ?2, isAmbiguous
      FROM unnest(CAST(?3 AS text)::uuid[], CAST(?4 AS text)::bigint[], CAST(?5 AS text)::bigint[])
        AS n(hash, number, isAmbiguous)
      ORDER BY hash ON CONFLICT (linkGroup, hash) DO UPDATE SET isAmbiguous = 1
      WHERE o.chunk = 0 AND (o.number <> excluded.number OR o.entity <> excluded.entity OR excluded.isAmbiguous = 1)
      """,
      [
        .integer(Int64(group)), .text(entity), .text(ServerArray.text(all, \.digest.hex)),
        .text(ServerArray.text(all) { "\($0.key)" }), .text(ServerArray.text(all) { $0.isAmbiguous ? "1" : "0" }),
      ]
    )
  }

  /// Inserts objects that a chunk creates, in the order of their digests. Only those are counted that no other worker has inserted.
  func take(_ new: [LinkClaims.New], chunk: Int64) -> Statement {
    (
      """
      INSERT INTO \(object) (linkGroup, hash, firstOrder, chunk, number, entity, isAmbiguous)
      SELECT linkGroup, hash, firstOrder, ?1, number, entity, 0
      FROM unnest(CAST(?2 AS text)::bigint[], CAST(?3 AS text)::uuid[], CAST(?4 AS text)::bigint[],
        CAST(?5 AS text)::bigint[], CAST(?6 AS text)::text[]) AS n(linkGroup, hash, firstOrder, number, entity)
      ORDER BY linkGroup, hash ON CONFLICT (linkGroup, hash) DO NOTHING
      """,
      [
        .integer(chunk), .text(ServerArray.text(new) { "\($0.group)" }), .text(ServerArray.text(new, \.digest.hex)),
        .text(ServerArray.text(new) { "\($0.order)" }), .text(ServerArray.text(new) { "\($0.number)" }),
        .text(ServerArray.text(new) { "\"\($0.entity)\"" }),
      ]
    )
  }

  /// Notes the values of records that precede those from which workers have created their objects.
  func note(_ earlier: [LinkClaims.Earlier]) -> Statement {
    (
      """
      INSERT INTO \(object) AS o (linkGroup, hash, firstOrder, chunk, number, entity, isAmbiguous, earlierValues)
      SELECT linkGroup, hash, firstOrder, 0, 0, '', 0, decode(earlierValues, 'hex')
      FROM unnest(CAST(?1 AS text)::bigint[], CAST(?2 AS text)::uuid[], CAST(?3 AS text)::bigint[],
        CAST(?4 AS text)::text[]) AS n(linkGroup, hash, firstOrder, earlierValues)
      ORDER BY linkGroup, hash ON CONFLICT (linkGroup, hash) DO UPDATE SET firstOrder = excluded.firstOrder,
        earlierValues = excluded.earlierValues
      WHERE o.chunk > 0 AND o.firstOrder > excluded.firstOrder
      """,
      [
        .text(ServerArray.text(earlier) { "\($0.group)" }), .text(ServerArray.text(earlier, \.digest.hex)),
        .text(ServerArray.text(earlier) { "\($0.order)" }),
        .text(ServerArray.text(earlier) { "\"\(ServerArray.hex($0.values))\"" }),
      ]
    )
  }

  /// Finds rows of the store, and locks them in the order of their keys: against deletion, or against other writers, too.
  func lock(_ keys: [Int64], of table: String, isWritten: Bool) -> (sql: String, keys: String) {
    (
      "SELECT Z_PK FROM \(table) WHERE Z_PK = ANY(CAST(? AS text)::bigint[]) ORDER BY Z_PK FOR "
        + (isWritten ? "NO KEY UPDATE" : "KEY SHARE"),
      ServerArray.text(keys) { "\($0)" }
    )
  }

  func record(chunk: Int64, group: Int, firstKey: Int64) -> Statement {
    (
      "INSERT INTO \(self.chunk) VALUES (?, ?, ?)", [.integer(chunk), .integer(Int64(group)), .integer(firstKey)]
    )
  }
}
