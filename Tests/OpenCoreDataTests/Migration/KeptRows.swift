import Foundation
import TestSupport

/// The conservation law of a migration: the rows that a query finds in the old store are those that another one finds in
/// the new store. Every table that has rows is in one of the queries.
///
/// Python counts: the library's own reading must not vouch for itself.
struct KeptRows: Sendable, Encodable {
  /// What the old store has, with the values that the new one is to have.
  let old: String
  let new: String

  /// A query that both stores answer.
  static func same(_ query: String) -> KeptRows { KeptRows(old: query, new: query) }

  /// What breaks the law, for people: a store is as it was before its migration, or accounts for every row of it.
  static func problems(
    _ law: [KeptRows], from base: TemporaryFolder, to work: TemporaryFolder
  ) throws -> [String] {
    let copy = try TemporaryFolder()
    try MigrationStage.copyStore(of: base, to: copy, as: "base")
    try MigrationStage.copyStore(of: work, to: copy, as: "work")
    let queries = String(decoding: try JSONEncoder().encode(law), as: UTF8.self)
    return try Programs.python(counter, queries, in: copy).split(separator: "\n").map { "conservation: \($0)" }
  }

  private static let counter = """
    import collections, json, re, sqlite3, sys

    law = json.loads(sys.argv[1])
    base, work = sqlite3.connect("base"), sqlite3.connect("work")

    def rows(store, side): return [collections.Counter(map(repr, store.execute(pair[side]))) for pair in law]

    def unnamed(store, side):
        named = set(re.findall(r"\\w+", " ".join(pair[side] for pair in law)))
        named |= {"Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"}
        for table, in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%'").fetchall():
            if table not in named and store.execute(f'SELECT 1 FROM "{table}"').fetchone(): yield table

    def problems(side):
        try: found = rows(work, side)
        except sqlite3.OperationalError as error: return [f"as the {side} store: {error}"]
        differences = [(pair[side], expected - counts, counts - expected)
                       for pair, expected, counts in zip(law, rows(base, "old"), found) if counts != expected]
        return [f"{query}: {sum(lost.values())} lost, {sum(more.values())} too many: {str((lost, more))[:300]}"
                for query, lost, more in differences] + [f"no query asks for {table}" for table in unnamed(work, side)]

    for table in unnamed(base, "old"): print("no query asks for", table)
    asNew, asOld = problems("new"), problems("old")
    if asNew and asOld: print(*(asNew + asOld), sep="\\n")
    """
}
