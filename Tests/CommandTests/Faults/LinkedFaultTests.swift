import Foundation
import Glibc
import TestSupport
import Testing

/// Runs of two parts that link entries, with large values in files, are killed at any call on files, or refused by the
/// system there: the store is sound then, both ends of each link agree, no row is without its file, and a repetition
/// reaches what an undisturbed run reaches. Python checks the tables.
@Suite(.seeded) struct LinkedFaultTests {
  /// What is run, and what precedes it.
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case first = "import", replacement, bothEnds = "both ends", undo

    var testDescription: String { rawValue }

  }

  private func command(_ kind: Kind) throws -> [String] {
    switch kind {
    case .first: return ["run", "./p.json", "-q"]
    case .replacement: return ["run", "./p.json", "--replace", "-q"]
    case .bothEnds: return ["run", "./e.json", "-q"]
    case .undo:
      // Without its number a repetition would take back the run before.
      let run = try Programs.sqlite(
        "s.sqlite", "SELECT runID FROM SJ_INPUT ORDER BY inputID DESC LIMIT 1", in: work
      ).dropLast()
      return ["undo", "s.sqlite", String(run), "-y", "-q", "--model", SurfModel.name]
    }
  }

  private let work: TemporaryFolder
  private let base: TemporaryFolder
  private let own: TemporaryFolder

  init() throws {
    (work, base, own) = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder())
    try SurfModel.write(to: work)
    try work.makeFolder("tmp")
    try work.write(Self.parts, to: "p.json")
    try work.write(Self.ends, to: "e.json")
    try writeFirst()
  }

  private static func pipeline(_ spots: String, _ sessions: String) -> String {
    """
    { "name": "surf", "model": "\(SurfModel.name)", "store": "s.sqlite", "parts": [
      { "entity": "Spot", "source": "spots.csv", "chunkRows": 2, "key": "name", "duplicates": "update",
        "columns": ["name"\(spots)] },
      { "entity": "Session", "source": "sessions.csv", "chunkRows": 2, \(sessions) }] }
    """
  }

  /// Spots have keys, and sessions change the codes of spots.
  private static let parts = pipeline(
    "",
    """
    "columns": ["date", "photo",
      { "name": "spot", "attribute": "spot.name", "link": { "ifMissing": "create", "ifDifferent": "update" } },
      { "name": "code", "attribute": "spot.code" },
      { "name": "tags", "attribute": "tags.label", "link": { "ifMissing": "create", "separator": ";" } }]
    """)

  private static let ends = pipeline(
    #", { "name": "sessions", "attribute": "sessions.date", "link": { "separator": ";" } }"#,
    """
    "key": "date", "duplicates": "update", "extraColumns": "ignore", "columns": ["date", "photo",
      { "name": "spot", "attribute": "spot.name", "link": {} }]
    """)

  private static func session(_ day: Int, photo: Int, of spot: String, code: Int, _ tags: String) -> String {
    let photo = photo == 0 ? "" : Data(repeating: UInt8(photo), count: 131_073).base64EncodedString()
    let code = "00000000-0000-0000-0000-00000000000\(code)"
    return "2024-01-0\(day),\(photo),\(spot),\(code),\(tags)\n"
  }

  private func writeFirst() throws {
    try work.write("name,sessions\nRincon,2024-01-01;2024-01-03\nBells,2024-01-02\nPico,\n", to: "spots.csv")
    try work.write(
      "date,photo,spot,code,tags\n" + Self.session(1, photo: 1, of: "Rincon", code: 1, "calm;long")
        + Self.session(2, photo: 2, of: "Bells", code: 2, "")
        + Self.session(3, photo: 0, of: "Rincon", code: 3, "calm"), to: "sessions.csv")
  }

  private func writeSecond() throws {
    try work.write("name,sessions\nRincon,\nJaws,\n", to: "spots.csv")
    try work.write(
      "date,photo,spot,code,tags\n" + Self.session(1, photo: 1, of: "Jaws", code: 4, "calm")
        + Self.session(2, photo: 5, of: "Bells", code: 5, "huge")
        + Self.session(4, photo: 6, of: "Rincon", code: 6, "long;huge")
        + Self.session(5, photo: 7, of: "New", code: 7, ""), to: "sessions.csv")
  }

  private func prepare(_ kind: Kind) throws {
    if kind == .replacement || kind == .undo {
      try tool(command(.first))
      try writeSecond()
    }
    // What is taken back has added sessions and changed spots.
    if kind == .undo { try tool(["run", "./p.json", "--only-new", "-q"]) }
    for name in try work.names { try FileManager.default.copyItem(at: work.file(name), to: base.file(name)) }
  }

  private func tool(_ arguments: [String]) throws {
    let output = try Programs.run(Tool.url.path, arguments, in: work)
    try #require(output.status == 0, "\(arguments): \(output.messages)")
  }

  private func run(_ command: [String], _ fault: Fault) throws -> (ProgramOutput, ShimReport) {
    for name in try work.names { try FileManager.default.removeItem(at: work.file(name)) }
    for name in try base.names { try FileManager.default.copyItem(at: base.file(name), to: work.file(name)) }
    let page = own.path("page")
    var environment = try Shim.environment(fault, in: work, page: page)
    environment["TMPDIR"] = work.path("tmp")
    let output = try Programs.run(Tool.url.path, command, in: work, environment: environment)
    return (output, try Shim.report(page))
  }

  // MARK: Judging

  /// Prints the graph of a copy of the store, and what is wrong with it. SQLite must not open the store that is run again.
  private static let checker = """
    import os, shutil, sqlite3, sys, tempfile
    copy = tempfile.mkdtemp()
    for end in ["", "-wal", "-journal"]:
        if os.path.exists("s.sqlite" + end): shutil.copy("s.sqlite" + end, os.path.join(copy, "s" + end))
    base = sqlite3.connect(os.path.join(copy, "s"))
    def rows(query): return base.execute(query).fetchall()
    wrong = []
    if rows("PRAGMA integrity_check") != [("ok",)]: wrong.append("integrity")
    tables = {name for name, in rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "ZSESSION" in tables:
        join = next(name for name in tables if name.startswith("Z_") and name.endswith("TAGS"))
        columns = [row[1] for row in rows(f"PRAGMA table_info({join})")]
        session, tag = sorted(columns, key=lambda name: "TAGS" in name)
        for query in ["SELECT * FROM ZSESSION WHERE ZSPOT NOT IN (SELECT Z_PK FROM ZSPOT)",
                      f"SELECT * FROM {join} WHERE {session} NOT IN (SELECT Z_PK FROM ZSESSION)",
                      f"SELECT * FROM {join} WHERE {tag} NOT IN (SELECT Z_PK FROM ZTAG)",
                      f"SELECT 1 FROM {join} GROUP BY {session}, {tag} HAVING count(*) > 1",
                      "SELECT ZNAME FROM ZSPOT GROUP BY 1 HAVING count(*) > 1"]:
            if rows(query): wrong.append(query)
        for name, key in rows("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY"):
            table = "Z" + name.upper()
            if table in tables and (rows(f"SELECT max(Z_PK) FROM {table}")[0][0] or 0) > key: wrong.append("Z_MAX of " + name)
        for row in rows("SELECT Z_PK, Z_OPT, ZNAME, hex(ZCODE) FROM ZSPOT ORDER BY 1"): print("spot", *row)
        for row in rows("SELECT Z_PK, Z_OPT, ZLABEL FROM ZTAG ORDER BY 1"): print("tag", *row)
        for key, version, date, spot, photo in rows("SELECT Z_PK, Z_OPT, ZDATE, ZSPOT, ZPHOTO FROM ZSESSION ORDER BY 1"):
            tags = sorted(row[0] for row in rows(f"SELECT {tag} FROM {join} WHERE {session} = {key}"))
            content = None
            if photo is not None and len(photo) < 100:
                path = ".s_SUPPORT/_EXTERNAL_DATA/" + bytes(photo[1:37]).decode()
                try: content = (open(path, "rb").read(1)[0], os.path.getsize(path))
                except OSError: wrong.append("no file for the photo of %d" % key)
            print("session", key, version, date, spot, tags, content)
        for row in rows("SELECT entity, path, state, recordsRead, inserted, updated, unchanged FROM SJ_INPUT ORDER BY inputID") \\
                if "SJ_INPUT" in tables and sys.argv[1] == "end" else []: print("input", *row)
        files = len(os.listdir(".s_SUPPORT/_EXTERNAL_DATA")) if os.path.exists(".s_SUPPORT/_EXTERNAL_DATA") else 0
        if sys.argv[1] == "end": print(files, "files", os.path.exists(".s_SUPPORT/_OPENCOREDATA_PENDING"))
    shutil.rmtree(copy)
    print("wrong:", wrong)
    """

  private func stateFound(isEnd: Bool) throws -> String {
    guard isEnd || work.exists("s.sqlite") else { return "wrong: []\n" }
    return try Programs.python(Self.checker, isEnd ? "end" : "", in: work)
  }

  @Test(arguments: Kind.allCases)
  func `Killed at any call, or refused by the system there, both ends agree, and a repetition ends well`(
    _ kind: Kind
  ) throws {
    try prepare(kind)
    let command = try command(kind)
    let (output, undisturbed) = try run(command, .none)
    try #require(output.status == 0, "\(output.messages)")
    let end = try stateFound(isEnd: true)
    try #require(end.hasSuffix("wrong: []\n") && end.contains("session "), "\(end)")
    var random = Randomness.generator()
    let actions: [Fault.Action] = [.kill, .fail(EIO), .fail(ENOSPC)]
    let rounds = TestLength.rounds(9, long: 3 * undisturbed.counted)
    var happened = 0
    for round in 0..<rounds {
      let all = rounds > undisturbed.counted
      let point = all ? round / 3 + 1 : Int.random(in: 1...undisturbed.counted, using: &random)
      let (_, met) = try run(command, Fault(actions[round % 3], at: point))
      if met.fired == 0 { continue }
      happened += 1
      let place = "\(kind), \(actions[round % 3]) at call \(point): \(met.call)"
      let between = try stateFound(isEnd: false)
      #expect(between.hasSuffix("wrong: []\n"), "\(place): \(between)")
      expectNone(try Conservation.problems(in: work).map { "\(place): \($0)" })
      let again = try Programs.run(Tool.url.path, command, in: work)
      let isDone = kind == .undo && [65, 66].contains(again.status)
      #expect(again.status == 0 || isDone, "\(place): \(again.messages)")
      expectNone(try Conservation.problems(in: work).map { "\(place), run again: \($0)" })
      // One that finds its work done only reads: the next command that writes removes the files.
      let (reached, expected) = (try stateFound(isEnd: true), end)
      if again.status == 0 || !reached.contains("files True") {
        #expect(reached == expected, "\(place): \(reached)")
      } else {
        let bare = [reached, expected].map { $0.split(separator: "\n").filter { !$0.contains(" files ") } }
        #expect(bare[0] == bare[1], "\(place): \(reached)")
      }
    }
    #expect(happened * 2 > rounds)
    Figures.add("faults: \(kind.rawValue)", happened, suite: Self.self)
    if FaultPoint.areAll { Figures.add("series of a fault at every call: \(kind.rawValue)", 1, suite: Self.self) }
    print("\(kind): \(happened) faults of \(undisturbed.counted) calls, seed \(Randomness.seed)")
  }

  @Test func `The checker can fail: a link to nothing, a lost file and a lost row are found`() throws {
    try prepare(.first)
    try tool(command(.first))
    for harm in ["UPDATE ZSESSION SET ZSPOT = 99 WHERE Z_PK = 1", "DELETE FROM ZTAG WHERE Z_PK = 1"] {
      let copy = try work.data("s.sqlite")
      _ = try Programs.sqlite("s.sqlite", harm, in: work)
      #expect(try !stateFound(isEnd: false).hasSuffix("wrong: []\n"), "\(harm)")
      try copy.write(to: work.file("s.sqlite"))
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: work.path(".s_SUPPORT/_EXTERNAL_DATA")) {
      try FileManager.default.removeItem(at: work.file(".s_SUPPORT/_EXTERNAL_DATA/\(name)"))
    }
    #expect(try stateFound(isEnd: false).contains("no file for the photo"))
  }
}
