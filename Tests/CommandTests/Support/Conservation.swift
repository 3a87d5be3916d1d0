import Foundation
import TestSupport

/// The conservation law over what is in a folder: every record that was read is in exactly one count, its entry is in the
/// store or its rejected record in a file, and the store has no other entries. It holds between any two calls of a run,
/// not only at its end.
///
/// Python counts: the program's own check of the law must not vouch for itself.
enum Conservation {
  /// What breaks the law, for people.
  ///
  /// Copies of the stores are read: SQLite must not open one that is to be run again.
  ///
  /// - Parameters:
  ///   - name: The folder that has the stores and reports, in `folder`.
  ///   - deleted: Whether the stores may lack entries that an input has inserted, because a person has deleted them.
  ///   - seed: The name of a seed, whose rows must be those that its report counts: the one that was written, or the one
  ///     that is kept until then. A store that has a ledger is none yet.
  ///   - isMet: Whether another run may have made the seed. The report of one that was cancelled then takes the place of
  ///     the seed's.
  static func problems(
    in folder: TemporaryFolder, at name: String = ".", deleted: Bool = false, seed: String? = nil,
    isMet: Bool = false
  ) throws -> [String] {
    let service = try counter.get()
    let words = [folder.path(name), deleted ? "deleted" : "", seed ?? "", isMet ? "met" : ""]
    let question = try JSONEncoder().encode(words)
    let answer = try service.answer(String(decoding: question, as: UTF8.self))
    return try JSONDecoder().decode([String].self, from: Data(answer.utf8)).map { "conservation: \($0)" }
  }

  private static let counter = Result { try PythonService(script) }

  private static let script = """
    import contextlib, glob, json, os, shutil, sqlite3, sys, tempfile

    KINDS = ["inserted", "updated", "unchanged", "duplicate", "repeated", "rejected"]
    problems, isDeleted, seed, isMet = [], False, "", False

    def say(text): problems.append(text)

    def check(place, counts, read):
        found = sum(counts[kind] for kind in KINDS)
        if read != found: say(f"{place}: {read} records were read, and {found} are accounted for")

    def lines(path, size, start=b""):
        with open(path, "rb") as file: return sum(line.startswith(start) for line in file.read(size).splitlines())

    def size_of(path): return os.path.getsize(path) if os.path.exists(path) else -1

    def rejects_of(entry):
        # A replay writes what it rejects next to the file that it reads, and then takes its place.
        path = (entry["rejectsPath"] or "").removesuffix(".next")
        return os.path.join(os.path.dirname(entry["location"] or ""), path) if path else ""

    def check_input(entry, earlier, later):
        place = f"input {entry['inputID']} ({entry['path']}, {entry['state']})"
        check(place, entry, entry["recordsRead"])
        if entry["record"] - entry["firstRecord"] != entry["recordsRead"]:
            say(f"{place}: the next record is {entry['record']}, after {entry['recordsRead']}")
        if entry["rejectsCount"] != entry["rejected"]:
            say(f"{place}: {entry['rejectsCount']} records in the file of {entry['rejected']} rejects")
        if entry["state"] == "undone": return
        path, rejects = entry["location"] or "", rejects_of(entry)
        # A file that was changed since, by a replay or for the next run, says nothing about this input.
        isReplay = path in map(rejects_of, earlier)
        isLast = all(path != other["location"] for other in later)
        if isLast and not isReplay and path.endswith(".csv") and size_of(path) >= entry["byte"]:
            found = lines(path, entry["byte"])
            if found != entry["record"]: say(f"{place}: record {entry['record']} is said to be in line {found}")
        if entry["rejected"] == 0 or any(rejects == other["location"] for other in later): return
        names = [name + end for name in [rejects, rejects + ".next"] for end in [".jsonl", ".jsonl.part"]]
        found = [lines(name, entry["rejectsDetailBytes"], b'{"record":') for name in names if os.path.exists(name)]
        if entry["rejected"] not in found: say(f"{place}: {found} of {entry['rejected']} rejects are in a file")

    def check_seed(path, base, tables):
        uuid = base.execute("SELECT Z_UUID FROM Z_METADATA").fetchone()[0]
        names = [name for name in ["r.json", "earlier.json", path + ".seeding/summary.json"] if os.path.exists(name)]
        reports = [json.load(open(name)) for name in names]
        # The report of a second run that was refused has taken the place of the seed's.
        messages = [(report.get("failure") or {}).get("message", "") for report in reports]
        if any("exists already" in message or "is in use by" in message for message in messages): return
        if isMet and any(report["outcome"] == "cancelled" for report in reports): return
        counts = [report["counts"]["inserted"] for report in reports if (report.get("seed") or {}).get("uuid") == uuid]
        tables = [name for name in tables if name.startswith("Z") and not name.startswith("Z_")]
        rows = sum(base.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables)
        if rows not in counts: say(f"seed {path}: {rows} entries, and its reports count {counts}")

    def check_store(base, name):
        base.row_factory = sqlite3.Row
        tables = {name for name, in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "SJ_INPUT" not in tables: return check_seed(name, base, tables) if name == seed else None
        for run in base.execute("SELECT * FROM SJ_RUN WHERE recordsRead IS NOT NULL"):
            check(f"run {run['runID']}", run, run["recordsRead"])
        inputs = base.execute("SELECT * FROM SJ_INPUT ORDER BY inputID").fetchall()
        for number, entry in enumerate(inputs): check_input(entry, inputs[:number], inputs[number + 1:])
        hasLinked = "SJ_LINKED" in tables and base.execute("SELECT 1 FROM SJ_LINKED").fetchone()
        for entity in {entry["entity"] for entry in inputs}:
            numbers = [entry["inputID"] for entry in inputs if entry["entity"] == entity]
            spans = [tuple(row) for number in numbers for row in base.execute(
                "SELECT firstKey, lastKey FROM SJ_INSERTED WHERE inputID = ? ORDER BY 1", (number,))]
            named = [key for first, last in spans for key in range(first, last + 1)]
            stored = {key for key, in base.execute(f"SELECT Z_PK FROM Z{entity.upper()}")}
            inserted = sum(entry["inserted"] for entry in inputs
                           if entry["entity"] == entity and entry["state"] != "undone")
            if len(named) != len(set(named)): say(f"{entity}: an entry was inserted twice: {spans}")
            if set(named) - stored and not isDeleted:
                say(f"{entity}: inserted, but not there: {sorted(set(named) - stored)}")
            if len(named) < inserted: say(f"{entity}: {inserted} are inserted, and {len(named)} are named")
            if stored - set(named) and not hasLinked:
                say(f"{entity}: there, but never inserted: {sorted(stored - set(named))}")

    def check_file(path):
        with open(path, "rb") as file: isStore = file.read(15) == b"SQLite format 3"
        if isStore or os.path.exists(path + "-wal"):
            with tempfile.TemporaryDirectory() as copy:
                for end in ["", "-wal", "-journal"]:
                    if os.path.exists(path + end): shutil.copy(path + end, copy + "/s" + end)
                with contextlib.closing(sqlite3.connect(copy + "/s")) as base: check_store(base, path)
        elif path in ["r.json", "report.json"]:
            with open(path) as file: report = json.load(file)
            check(path, report["counts"], report["counts"]["read"])

    for line in sys.stdin:
        folder, option, seed, met = json.loads(line)
        problems, isDeleted, isMet = [], option == "deleted", met == "met"
        os.chdir(folder)
        for path in sorted(glob.glob("*")):
            if not os.path.isfile(path) or path.endswith(("-wal", "-shm", "-journal")): continue
            try: check_file(path)
            except Exception as error: say(f"{path}: {error!r}")
        os.chdir("/")
        print(json.dumps(problems), flush=True)
    """
}
