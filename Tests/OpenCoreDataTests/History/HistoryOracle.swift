import Foundation
import TestSupport

/// Compares what the history says with how the rows of a `LinkedGraph`'s store have changed since the last call: a Python
/// program that reads the tables.
struct HistoryOracle {
  let folder: TemporaryFolder

  /// - Returns: What is wrong; nil if nothing is.
  func disagreement() throws -> String? {
    let found = try Programs.python(Self.script, in: folder)
    return found.isEmpty ? nil : found
  }

  private static let script = """
    import json, os, sqlite3
    store = sqlite3.connect("file:Graph.sqlite?mode=ro", uri=True)
    names = {1: ["items", "number"],
      2: ["box", "children", "friends", "note", "number", "parent", "partner", "rankings", "tags"],
      3: ["box", "children", "colour", "friends", "note", "number", "parent", "partner", "rankings", "tags"],
      4: ["nodes", "number", "ranked"]}
    columns = {"ZBOX": "box", "ZNUMBER": "number", "ZNOTE": "note", "ZPARENT": "parent", "ZPARTNER": "partner",
      "ZCOLOUR": "colour"}
    joins = {"Z_2FRIENDS": [("Z_2FRIENDS", "ZNODE", "friends"), ("REFLEXIVE", "ZNODE", "friends")],
      "Z_2TAGS": [("Z_2NODES", "ZNODE", "tags"), ("Z_4TAGS", "ZTAG", "nodes")],
      "Z_2RANKINGS": [("Z_2RANKED", "ZNODE", "rankings"), ("Z_4RANKINGS", "ZTAG", "ranked")]}
    store.row_factory = sqlite3.Row
    rows = {f"{t}:{r['Z_PK']}": dict(r) for t in ("ZBOX", "ZNODE", "ZTAG") for r in store.execute(f"SELECT * FROM {t}")}
    pairs = [[t] + [r[c] for c, _, _ in ends] for t, ends in joins.items() for r in store.execute(f"SELECT * FROM {t}")]
    last = (store.execute("SELECT max(Z_PK) FROM ATRANSACTION").fetchone()[0] or 0) \\
      if store.execute("SELECT count(*) FROM sqlite_master WHERE name = 'ATRANSACTION'").fetchone()[0] else 0
    before = json.load(open("seen")) if os.path.exists("seen") else {"rows": {}, "pairs": [], "last": 0}
    json.dump({"rows": rows, "pairs": pairs, "last": last}, open("seen", "w"))
    old, wrong = before["rows"], []
    tables = {1: "ZBOX", 2: "ZNODE", 3: "ZNODE", 4: "ZTAG"}
    changes, order = {}, []
    for c in store.execute("SELECT * FROM ACHANGE WHERE ZTRANSACTIONID > ? ORDER BY Z_PK", [before["last"]]):
      row = f"{tables[c['ZENTITY']]}:{c['ZENTITYPK']}"
      if row in changes: wrong.append(f"{row} has two changes")
      bits = c["ZCOLUMNS"]
      count = len(names[c["ZENTITY"]])
      if (bits is None) != (c["ZCHANGETYPE"] != 1) or bits is not None and len(bits) != (count + 7) // 8:
        wrong.append(f"{row} has the columns {bits}")
      number = 0 if bits is None else int.from_bytes(bits, "big") >> (-count % 8)
      said = {n for i, n in enumerate(names[c["ZENTITY"]]) if number >> (count - 1 - i) & 1}
      changes[row] = (c["ZCHANGETYPE"], said, c["ZENTITY"])
      order.append(c["ZCHANGETYPE"])
    if order != sorted(order): wrong.append(f"the order is {order}")
    if last - before["last"] != (1 if order else 0): wrong.append(f"{last - before['last']} transactions")
    for row in rows.keys() | old.keys() | changes.keys():
      kind, said, entity = changes.get(row, (None, set(), None))
      if row not in old and row not in rows: expected = None
      elif row not in old: expected = 0
      elif row not in rows: expected = 2
      else:
        moved = {p for c, p in columns.items() if old[row].get(c) != rows[row].get(c)}
        expected = 1 if moved or old[row]["Z_OPT"] != rows[row]["Z_OPT"] else None
        if not moved <= said: wrong.append(f"{row}: {moved} changed, the history says {said}")
      if kind != expected: wrong.append(f"{row}: kind {kind}, expected {expected}")
      if row in rows and entity not in (None, rows[row]["Z_ENT"]): wrong.append(f"{row}: entity {entity}")
    for pair in [p for p in pairs if p not in before["pairs"]] + [p for p in before["pairs"] if p not in pairs]:
      for (column, table, name), key in zip(joins[pair[0]], pair[1:]):
        kind, said, _ = changes.get(f"{table}:{key}", (None, set(), None))
        if kind is None or kind == 1 and name not in said: wrong.append(f"{table}:{key}: {name} changed, said {said}")
    print("; ".join(sorted(set(wrong))), end="")
    """
}
