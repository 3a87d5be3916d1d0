import Foundation
import TestSupport

/// An independent check for damage that nothing in the file can show: SQLite has no checksums of pages, so a flipped bit
/// in a value makes another store that is as good.
enum PlausibleStore {
  /// Whether SQLite and Python find a whole store in the damaged files that differs from the undamaged one in values
  /// only: the same schema, rows and types, and metadata with the same hashes.
  static func isOne(_ damaged: HarbourStore.Files, whole: HarbourStore.Files) throws -> Bool {
    let folder = try TemporaryFolder()
    for (name, files) in [("damaged", damaged), ("whole", whole)] {
      for (ending, data) in files { try data.write(to: folder.file(name + ending)) }
    }
    return try Programs.python(script, in: folder) == "plausible\n"
  }

  private static let script = #"""
    import plistlib, sqlite3, sys

    def read(name):
        store = sqlite3.connect(name)
        if store.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            raise ValueError("integrity")
        form = [store.execute(f"PRAGMA {key}").fetchall() for key in ("page_size", "encoding", "auto_vacuum")]
        schema = store.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid").fetchall()
        tables = {}
        for kind, table, _, _ in schema:
            if kind == "table":
                cursor = store.execute(f'SELECT rowid AS "ROWID", * FROM "{table}"')
                columns = [column[0] for column in cursor.description]
                tables[table] = {row[0]: dict(zip(columns, row)) for row in cursor}
        return (form, schema), tables

    # Only the name of a beach is mandatory.
    def types(table, column):
        declared = {row[1]: row[2].split("(")[0] for row in sqlite3.connect("whole").execute(f"PRAGMA table_info({table})")}
        known = {"INTEGER": [int], "FLOAT": [int, float], "TIMESTAMP": [int, float], "VARCHAR": [str], "BLOB": [bytes]}
        return known.get(declared.get(column), []) + ([] if column in ("ZNAME", "Z_NAME") else [type(None)])

    def hashes(row):
        return plistlib.loads(row["Z_PLIST"])["NSStoreModelVersionHashes"]

    def plausible():
        (shape, tables), (expected_shape, expected) = read("damaged"), read("whole")
        if shape != expected_shape or tables.keys() != expected.keys():
            return False
        for table, rows in tables.items():
            if rows.keys() != expected[table].keys():
                return False
            for key, row in rows.items():
                for column, value in row.items():
                    before = expected[table][key][column]
                    if value == before:
                        continue
                    if type(value) not in types(table, column):
                        return False
                    if table == "Z_PRIMARYKEY" and (column != "Z_MAX" or value < before):
                        return False
                    if table == "Z_METADATA" and (column == "Z_VERSION" or
                            column == "Z_PLIST" and hashes(row) != hashes(expected[table][key])):
                        return False
                    if column in ("Z_PK", "Z_ENT") or table.startswith("Z_1"):
                        return False
        return True

    try:
        print("plausible" if plausible() else "damaged")
    except Exception as error:
        print("damaged", error)
    """#
}
