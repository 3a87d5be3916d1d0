import Foundation
import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// The tables of a server by which the workers of a plan compare keys. They are there as long as the plan is open.
struct SharedKeyTables: Sendable {
  typealias Statement = LedgerTables.Statement

  /// A row for each key of the store and of the plan.
  let key: String
  /// The chunks that have inserted entries, with the primary key of the first one: a key is written before its entry has
  /// one.
  private let chunk: String

  /// - Parameter names: The names of the tables that only one plan has.
  init(_ names: PlanTableNames) { (key, chunk) = (names.key, names.keyChunk) }

  func create(_ dialect: ParticipantDialect) -> [Statement] {
    [
      """
      CREATE TABLE \(key) (hash UUID PRIMARY KEY, keyValues BLOB NOT NULL, version INTEGER NOT NULL,
        firstOrder INTEGER NOT NULL, lastOrder INTEGER NOT NULL, newest REAL NOT NULL, digest INTEGER NOT NULL,
        outcome INTEGER NOT NULL, inputs TEXT NOT NULL, chunk INTEGER NOT NULL, number INTEGER NOT NULL,
        storedDigest INTEGER, storedNewest REAL, updatedLinks TEXT NOT NULL, firstLinks TEXT NOT NULL)
      """,
      "CREATE TABLE \(chunk) (chunk INTEGER PRIMARY KEY, firstKey INTEGER NOT NULL, keyless INTEGER NOT NULL, "
        + "keylessLinks TEXT NOT NULL)",
      // That of the entries that the store had before.
      "INSERT INTO \(chunk) VALUES (0, 0, 0, '')",
    ].map { (dialect.definition($0), []) }
  }

  var drop: [Statement] { [key, chunk].map { ("DROP TABLE IF EXISTS \($0)", []) } }

  // MARK: Reading

  /// The keys with these digests, with their indices among these and the values of each. The subquery makes the server look
  /// each up in the index, however many keys there are.
  func found(
    _ digests: [KeyDigest], in coordinator: NSPersistentStoreCoordinator
  ) throws -> [(index: Int, values: Data, key: SharedKey)] {
    if digests.isEmpty { return [] }
    let rows = try coordinator.participantRows(
      """
      SELECT n.number, k.keyValues, c.firstKey + k.number, k.version, k.firstOrder, k.lastOrder, k.newest, k.digest,
        k.outcome, k.inputs, k.storedDigest, k.storedNewest, k.updatedLinks, k.firstLinks
      FROM unnest(CAST(? AS text)::uuid[]) WITH ORDINALITY AS n(hash, number)
        CROSS JOIN LATERAL (SELECT * FROM \(key) WHERE hash = n.hash OFFSET 0) k JOIN \(chunk) c ON c.chunk = k.chunk
      """, [ServerArray.text(digests, \.hex)])
    return rows.map { row in
      func integer(_ index: Int) -> Int64 { row[index] as? Int64 ?? 0 }
      let stored = (row[10] as? Int64).map {
        SharedKey.Stored(values: UInt64(bitPattern: $0), newest: row[11] as? Double ?? 0)
      }
      return (
        Int(integer(0)) - 1, row[1] as? Data ?? Data(),
        SharedKey(
          storeKey: integer(2), version: integer(3), first: integer(4), last: integer(5),
          newest: row[6] as? Double ?? 0, values: UInt64(bitPattern: integer(7)),
          outcome: SharedKey.Outcome(rawValue: integer(8)) ?? .inserted,
          inputs: InputSet(text: row[9] as? String ?? ""), updatedLinks: LinkTally(text: row[12] as? String ?? ""),
          firstLinks: LinkTally(text: row[13] as? String ?? ""), stored: stored)
      )
    }
  }

  /// What the first records of all keys count as, by input.
  func outcomes(in coordinator: NSPersistentStoreCoordinator) throws -> [Int64: [SharedKey.Outcome: Int]] {
    var all: [Int64: [SharedKey.Outcome: Int]] = [:]
    func add(_ sql: String, _ values: [Any?] = []) throws {
      for row in try coordinator.participantRows(sql, values) {
        guard let input = row[0] as? Int64, let count = row[2] as? Int64,
          let outcome = SharedKey.Outcome(rawValue: row[1] as? Int64 ?? 0)
        else { continue }
        all[input, default: [:]][outcome, default: 0] += Int(count)
      }
    }
    try add(
      "SELECT \(SharedKey.input(ofOrder: "firstOrder")), outcome, count(*) FROM \(key) WHERE firstOrder < ? GROUP BY 1, 2",
      [Int64.max])
    // Entries without a key are new.
    try add(
      "SELECT \(SharedKey.input(ofOrder: "chunk")), CAST(0 AS bigint), CAST(SUM(keyless) AS bigint) FROM \(chunk) "
        + "WHERE chunk > 0 GROUP BY 1")
    return all
  }

  /// What the entries of the plan lead to in the end, by the input of the first record of each.
  func linkTallies(in coordinator: NSPersistentStoreCoordinator) throws -> [Int64: LinkTally] {
    var all: [Int64: LinkTally] = [:]
    func add(_ sql: String) throws {
      for row in try coordinator.participantRows(sql) {
        guard let input = row[0] as? Int64, let text = row[1] as? String, let count = row[2] as? Int64 else { continue }
        all[input, default: LinkTally()].add(LinkTally(text: text), times: Int(count))
      }
    }
    let first = "SELECT \(SharedKey.input(ofOrder: "firstOrder"))"
    // An entry that the store had, and that has its values, is as it was.
    let changed = "FROM \(key) WHERE firstOrder < \(Int64.max) AND storedDigest IS DISTINCT FROM digest"
    try add("\(first), updatedLinks, count(*) \(changed) GROUP BY 1, 2")
    try add("\(first), firstLinks, count(*) FROM \(key) WHERE firstOrder < \(Int64.max) GROUP BY 1, 2")
    try add(
      "SELECT \(SharedKey.input(ofOrder: "chunk")), keylessLinks, count(*) FROM \(chunk) WHERE chunk > 0 GROUP BY 1, 2")
    return all
  }

  // MARK: Writing

  /// Inserts the keys of entries of the store. If two have the same, the first counts.
  func insert(_ digests: RowDigests, storeKeys: [Int64]) -> Statement {
    var known: Set<KeyDigest> = [.none]
    let claims = storeKeys.indices.filter { known.insert(digests.keys[$0]).inserted }.map { row in
      let stored = SharedKey.Stored(
        values: digests.values.isEmpty ? 0 : digests.values[row],
        newest: digests.orders.isEmpty ? 0 : digests.orders[row])
      return KeyClaims.Claim(
        digest: digests.keys[row], keyValues: digests.keyValues?[row] ?? [], row: Int(storeKeys[row]),
        key: SharedKey(
          storeKey: storeKeys[row], newest: stored.newest, values: stored.values, outcome: .unchanged, stored: stored))
    }
    return take(claims, chunk: 0)
  }

  /// Inserts new keys, and changes others if they are as they were read: only these rows are counted. The rows are locked
  /// in the order of the digests.
  func take(_ claims: [KeyClaims.Claim], chunk: Int64) -> Statement {
    func array(_ text: (KeyClaims.Claim) -> String) -> StoredValue { .text(ServerArray.text(claims, text)) }
    let isStored = claims.contains { $0.key.stored != nil && $0.key.version == 0 }
    return (
      """
      INSERT INTO \(key) AS k (hash, keyValues, version, firstOrder, lastOrder, newest, digest, outcome, inputs, chunk,
        number, storedDigest, storedNewest, updatedLinks, firstLinks)
      SELECT hash, decode(keyValues, 'hex'), version + 1, firstOrder, lastOrder, newest, digest, outcome, inputs, ?1,
        number, storedDigest, storedNewest, updatedLinks, firstLinks
      FROM unnest(CAST(?2 AS text)::uuid[], CAST(?3 AS text)::text[], CAST(?4 AS text)::bigint[],
        CAST(?5 AS text)::bigint[], CAST(?6 AS text)::bigint[], CAST(?7 AS text)::float8[], CAST(?8 AS text)::bigint[],
        CAST(?9 AS text)::bigint[], CAST(?10 AS text)::text[], CAST(?11 AS text)::bigint[],
        CAST(?12 AS text)::bigint[], CAST(?13 AS text)::float8[], CAST(?14 AS text)::text[], CAST(?15 AS text)::text[])
        AS n(hash, keyValues, version, firstOrder, lastOrder, newest, digest, outcome, inputs, number, storedDigest,
          storedNewest, updatedLinks, firstLinks)
      ORDER BY hash ON CONFLICT (hash) DO UPDATE SET version = excluded.version, firstOrder = excluded.firstOrder,
        lastOrder = excluded.lastOrder, newest = excluded.newest, digest = excluded.digest, outcome = excluded.outcome,
        inputs = excluded.inputs, updatedLinks = excluded.updatedLinks, firstLinks = excluded.firstLinks
      WHERE k.version = excluded.version - 1
      """,
      [
        .integer(chunk), array { $0.digest.hex }, array { "\"\(ServerArray.hex($0.keyValues))\"" },
        array { "\($0.key.version)" }, array { "\($0.key.first)" }, array { "\($0.key.last)" },
        array { ServerArray.number($0.key.newest) }, array { "\(Int64(bitPattern: $0.key.values))" },
        array { "\($0.key.outcome.rawValue)" }, array { $0.key.inputs.text }, array { "\($0.row)" },
        isStored ? array { "\(Int64(bitPattern: $0.key.stored?.values ?? 0))" } : .null,
        isStored ? array { ServerArray.number($0.key.stored?.newest ?? 0) } : .null,
        array { "\"\($0.key.updatedLinks.text)\"" }, array { "\"\($0.key.firstLinks.text)\"" },
      ]
    )
  }

  /// Notes the primary key of the first entry that a chunk has inserted.
  func record(_ claims: KeyClaims, firstKey: Int64) -> Statement {
    (
      "INSERT INTO \(chunk) VALUES (?, ?, ?, ?)",
      [
        .integer(claims.chunk), .integer(firstKey), .integer(Int64(claims.keylessCount)),
        .text(claims.keylessLinks.text),
      ]
    )
  }
}
