import Foundation
import TestSupport
import Testing

/// A folder of inputs in which one command is run, killed and run again.
struct Workload: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The command that is looked at.
  let command: [String]
  /// Names that may differ after a kill. A command that only reads may not remove a log, even if it is empty.
  var mayDiffer: Set<String> = []
  /// More members of the pipeline `p.json`.
  var members = ""
  /// Python that prepares the folder; `log(count, first)` makes a file's text, and `run(…)` the program.
  var preparation = ""

  private static let columns = """
    "columns": [{"name": "date"}, "location", {"name": "rating", "rules": [{"rule": "range", "min": 1, "max": 5}]}],
    "chunkRows": 7
    """

  private static let prologue = """
    import os, subprocess, sys
    def log(count, first=0):
        return "date,location,rating\\n" + "".join(
            f"2020-01-{n % 28 + 1:02},P{n},{9 if n % 3 == 0 else n % 5 + 1}\\n" for n in range(first, first + count))
    def write(name, text):
        open(name, "w").write(text)
    def run(*arguments):
        subprocess.run([sys.argv[1], *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    def correct(remaining):
        lines = open("rej.csv").read().replace(",9\\n", ",4\\n").split("\\n")
        for line in remaining: lines[line] = lines[line].replace(",4", ",8")
        write("rej.csv", "\\n".join(lines))
    write("a.csv", log(20))
    write("b.csv", log(20, 100))
    first = ["import", "a.csv", "--pipeline", "p.json", "--store", "s", "-q", "--rejects", "rej.csv"]

    """

  /// Makes the folder `name` anew.
  func prepare(_ name: String, in folder: TemporaryFolder) throws {
    try? FileManager.default.removeItem(at: folder.file(name))
    try folder.makeFolder(name)
    try folder.write("{\"name\": \"p\", \(Self.columns)\(members)}", to: "\(name)/p.json")
    let script = "import os; os.chdir('\(name)')\n" + Self.prologue + preparation
    try Programs.output(of: ["python3", "-c", script, Tool.url.path], in: folder)
  }

  static let all: [Workload] = [
    Workload(
      testDescription: "import",
      command: [
        "import", "a.csv", "--pipeline", "p.json", "--store", "s", "--rejects", "rej.csv", "--report", "r.json",
      ]),
    Workload(
      testDescription: "atomic import of two files",
      command: ["import", "a.csv", "b.csv", "--pipeline", "p.json", "--store", "s", "--atomic", "--report", "r.json"]),
    Workload(
      testDescription: "import of two files",
      command: [
        "import", "a.csv", "b.csv", "--pipeline", "p.json", "--store", "s", "--report", "r.json", "--report", "r.html",
      ]),
    Workload(
      testDescription: "replacement",
      command: ["import", "a.csv", "--replace", "--pipeline", "p.json", "--store", "s", "--report", "r.json"],
      preparation: "run(*first); write('a.csv', log(22).replace('P1,', 'Q1,'))"),
    Workload(
      testDescription: "only what is new of two files",
      command: [
        "import", "a.csv", "b.csv", "--only-new", "--pipeline", "p.json", "--store", "s", "--report", "r.json",
      ],
      preparation: "run(*first); write('a.csv', log(30))"),
    Workload(
      testDescription: "rest of an input that has another name now",
      command: ["import", "c.csv", "--pipeline", "p.json", "--store", "s", "--report", "r.json"],
      preparation: """
        run("import", "a.csv", *first[2:6], "--max-errors", "3")
        os.rename("a.csv", "c.csv")
        """),
    Workload(
      testDescription: "inbox", command: ["run", "p.json", "-q"],
      members: ", \"inbox\": {\"folder\": \"in\", \"settleSeconds\": 0}, \"store\": \"s\", \"report\": \"r.json\"",
      preparation: """
        os.mkdir("in")
        for number, name in enumerate(["a.csv", "b.csv", "c.csv"]):
            write("in/" + name, log(20, 50 * number) if number < 2 else "\\0\\1broken")
            os.utime("in/" + name, (number + 1, number + 1))
        """),
    Workload(
      testDescription: "replay", command: ["replay", "rej.csv", "--report", "r.json"],
      preparation: "run(*first); correct([])"),
    Workload(
      testDescription: "replay that rejects again", command: ["replay", "rej.csv", "--report", "r.json"],
      preparation: "run(*first); correct([1, 4])"),
    Workload(
      testDescription: "atomic replay that rejects again",
      command: ["replay", "rej.csv", "--atomic", "--report", "r.json"], preparation: "run(*first); correct([1, 4])"),
    Workload(
      testDescription: "replay of what was rejected whole before",
      command: ["replay", "rej.csv", "--report", "r.json"],
      members: ", \"key\": [\"date\", \"location\"]",
      preparation: """
        write("c.csv", log(20))
        run("import", "c.csv", *first[2:6])
        write("a.csv", log(19))
        run(*first)
        run("replay", "rej.csv")
        run("undo", "s", "c.csv", "--yes")
        """),
    Workload(
      testDescription: "seed",
      command: [
        "seed", "--from", "a.csv", "--from", "b.csv", "-o", "seed.sqlite", "--pipeline", "p.json", "--report", "r.json",
      ]),
    Workload(
      testDescription: "export", command: ["export", "--store", "s", "-o", "out.csv", "--hash", "--report", "r.json"],
      mayDiffer: ["s-wal", "s-shm"], preparation: "run(*first)"),
    Workload(
      testDescription: "undo", command: ["undo", "s", "--yes"],
      preparation: "run(*first); run('import', 'b.csv', *first[2:])"),
  ]
}

/// What a run has left in a folder: names, and contents without the numbers of runs and times.
struct Remains: Equatable {
  private(set) var files: [String: String] = [:]

  init(of name: String, in folder: TemporaryFolder) throws {
    let root = folder.path(name)
    var stores: [String] = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: root) {
      guard let data = FileManager.default.contents(atPath: "\(root)/\(path)") else {
        files[path] = "folder"
        continue
      }
      if data.starts(with: Data("SQLite".utf8)) { stores.append(path) }
      files[path] = ["-wal", "-shm"].contains { path.hasSuffix($0) } ? "" : try Self.plain(data, path)
    }
    for store in stores { files[store] = try Self.rows(of: "\(name)/\(store)", in: folder) }
  }

  /// A file's text without the numbers of runs and times.
  static func plain(_ data: Data, _ path: String) throws -> String {
    if path == "r.html" { return "a page" }
    if path == "r.json" {
      let summary = try JSONDecoder().decode(Summary.self, from: data)
      let codes = summary.issues.counts.map { "\($0.key) \($0.value)" }.sorted()
      return "\(summary.counts) \(codes) \(summary.issues.listed) \(summary.rejects ?? "-")"
    }
    return String(decoding: data, as: UTF8.self)
      .replacing(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/, with: "RUN")
  }

  private static func rows(of store: String, in folder: TemporaryFolder) throws -> String {
    let hasLedger = try Programs.sqlite(store, "SELECT 1 FROM sqlite_master WHERE name = 'SJ_INPUT'", in: folder)
    let ledger = """
      SELECT inputID, path, state, record, rejectsPath, rejectsBytes, rejectsDetailBytes, recordsRead, inserted, rejected
        FROM SJ_INPUT; SELECT count(*) FROM SJ_ISSUE;
      """
    return try Programs.sqlite(
      store,
      "PRAGMA integrity_check; SELECT * FROM ZJOURNALENTRY ORDER BY Z_PK; SELECT * FROM Z_PRIMARYKEY;"
        + (hasLedger.isEmpty ? "" : ledger), in: folder)
  }

  /// The names that are not in both, or have other contents.
  func differences(from other: Remains, ignoring ignored: Set<String> = []) -> [String] {
    Set(files.keys).union(other.files.keys).subtracting(ignored).sorted().compactMap { name in
      switch (files[name], other.files[name]) {
      case (nil, _?): "\(name) is missing"
      case (_?, nil): "\(name) is left"
      case let (own?, expected?): own == expected ? nil : "\(name): \(own), expected \(expected)"
      case (nil, nil): nil
      }
    }
  }
}
