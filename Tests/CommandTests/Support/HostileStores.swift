import TestSupport

/// Stores that are made to cost time or memory, written by another program.
enum HostileStores {
  /// Writes `<name>.sqlite` into the folder.
  ///
  /// - Parameter entities: How many entities `many` and `family` have, if not so many as below.
  static func write(_ name: String, entities: Int? = nil, in folder: TemporaryFolder) throws {
    try Programs.python(script, name, entities.map(String.init) ?? "", in: folder)
  }

  /// What each is: `many` has 4000 entities with tables, `family` 15,000 in one table, both numbered by name and below
  /// 16,000 as Core Data does, `deep` 20,000, each below the last; `names` has names of 5 MB; `double` has metadata of
  /// 40 lists that each contain the next twice, `shared` one long text many times over, `set` a set, `cache` such a model;
  /// `bomb` a model that inflates to 300 MB; the views never end.
  private static let script = #"""
    import plistlib, sqlite3, struct, sys, zlib
    name, count = sys.argv[1], int(sys.argv[2] or 0)
    store = sqlite3.connect(name + ".sqlite", isolation_level=None)
    def by_name(count):
        return sorted(f"E{i}" for i in range(1, count + 1))

    entities = {
        "many": lambda: [(i, name, 0, 0) for i, name in enumerate(by_name(count or 4000), 1)],
        "family": lambda: [(i, name, 0 if i == 1 else 1, 0) for i, name in enumerate(by_name(count or 15000), 1)],
        "deep": lambda: [(i, f"E{i}", i - 1, 0) for i in range(1, 20001)],
        "names": lambda: [(1, "E1", 0, 0)] + [(i, f"E{i}" + "n" * (5 << 20), 0, 0) for i in (2, 3)],
        "circle": lambda: [(1, "E1", 2, 0), (2, "E2", 1, 0)],
        "nameless": lambda: [(1, "E1", 0, 0), (2, "", 0, 0), (3, None, 0, 0)],
        "odd": lambda: [(1, "E1", 0, 0), (2, "E 2'\";--\x1b[31m", 0, 0)],
    }.get(name, lambda: [(1, "E1", 0, 0)])()

    def binary(objects):
        data, offsets = b"bplist00", b""
        for item in objects:
            offsets += struct.pack(">I", len(data))
            data += item
        return data + offsets + bytes([0] * 6 + [4, 2]) + struct.pack(">QQQ", len(objects), 0, len(data))

    def references(marker, *numbers):
        return bytes([marker]) + b"".join(struct.pack(">H", number) for number in numbers)

    top = [references(0xD1, 1, 2), b"\x51k"]
    doubling = binary(top + [references(0xA2, i + 3, i + 3) for i in range(40)] + [b"\x51a"])
    text = b"\x5f\x11" + struct.pack(">H", 60000) + b"a" * 60000
    lists = [b"\xaf\x12" + struct.pack(">I", count) + struct.pack(">H", part) * count
             for count, part in ((180000, 3), (2000, 4))]
    sharing = binary(top + lists + [text])

    hashed = entities if name in ("many", "family") else entities[:5]
    hashes = {n: b"h" * 32 for _, n, _, _ in hashed if n}
    usual = plistlib.dumps({"NSStoreType": "SQLite", "NSPersistenceFrameworkVersion": 1344,
        "NSStoreModelVersionHashes": hashes, "session_token": "s3cret-t0ken", "club": "Rincon\x1b[2J"},
        fmt=plistlib.FMT_BINARY)
    held = binary(top + [references(0xC1, 3), b"\x10\x05"])
    metadata = {"double": doubling, "shared": sharing, "set": held}.get(name, usual)

    def deflate(pieces):
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        return b"".join(packer.compress(piece) for piece in pieces) + packer.flush()
    cache = {"cache": lambda: deflate([doubling]), "bomb": lambda: deflate(bytes(1 << 20) for _ in range(300))}

    endless = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) "
    columns = {
        "Z_PRIMARYKEY": "i AS Z_ENT, 'E1' AS Z_NAME, 0 AS Z_SUPER, 0 AS Z_MAX",
        "Z_METADATA": "i AS Z_VERSION, 'B7C0BBAC-0D3F-4BAE-8AC4-3D7BDA4F8E11' AS Z_UUID, x'00' AS Z_PLIST",
        "Z_MODELCACHE": "x'00' AS Z_CONTENT", "ATRANSACTION": "i AS Z_PK",
        "ZE1": "i AS Z_PK, 1 AS Z_ENT, 1 AS Z_OPT, 'a' AS ZNAME",
    }
    store.execute("PRAGMA auto_vacuum = 2")
    store.execute("CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)")
    store.execute("CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
    store.execute("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
    store.execute("CREATE TABLE ZE1 (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)")
    store.execute("INSERT INTO ZE1 VALUES (1, 1, 1, 'a')")
    store.execute("BEGIN")
    store.executemany("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, ?)", entities)
    for _, entity, _, _ in entities[1:] if name == "many" else []:
        store.execute(f"CREATE TABLE Z{entity} (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER)")
    store.execute("COMMIT")
    store.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT = 1")
    store.execute("INSERT INTO Z_METADATA VALUES (1, 'B7C0BBAC-0D3F-4BAE-8AC4-3D7BDA4F8E11', ?)", (metadata,))
    if name in cache:
        store.execute("INSERT INTO Z_MODELCACHE VALUES (?)", (cache[name](),))
    if name in columns:
        store.execute(f"DROP TABLE IF EXISTS {name}")
        store.execute(f"CREATE VIEW {name} AS {endless}SELECT {columns[name]} FROM r")
    """#
}
