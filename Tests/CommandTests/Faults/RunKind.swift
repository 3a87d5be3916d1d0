import Foundation
import TestSupport
import Testing

/// A kind of run that faults are tried on: what is there before, and the command.
struct RunKind: Sendable, CustomTestStringConvertible {
  let name: String
  let arguments: [String]
  /// The command of the repetition, if it is another one.
  var repetition: [String]?
  /// Statuses of a repetition that finds its work done.
  var repeated: Set<Int32> = []
  /// Whether a repetition that finds its work done opens the store for reading only, or not at all. What SQLite and the
  /// lock left next to the store then stays until the next run that writes.
  var mayOnlyRead = false
  /// Whether a file is one that the run removes without a sync: after a power cut it may be there again, and the next run
  /// removes it.
  var isRemovedAgain: @Sendable (_ name: String) -> Bool = { _ in false }
  /// Whether the ledger names all entries of the store.
  var isCounted = true
  let prepare: @Sendable (TemporaryFolder) throws -> Void

  var testDescription: String { name }

  /// All kinds, or the one that `KIND` names: `KIND=seed` repeats a long series without the others.
  static let all = {
    let all = [
      plain, keyed, atomic, continued, replacement, undo, replay, seed, seedOver, export,
      parts, increment, inbox, retention, edit, add, compact, guess,
    ]
    guard let name = ProcessInfo.processInfo.environment["KIND"] else { return all }
    let chosen = all.filter { $0.name == name }
    // A series without a kind would pass.
    precondition(!chosen.isEmpty, "KIND is one of \(all.map(\.name).joined(separator: ", ")).")
    return chosen
  }()

  static let plain = RunKind(name: "import", arguments: load("p.json")) { folder in
    try folder.write(records(0..<60), to: "log.csv")
  }

  static let keyed = RunKind(name: "keyed update", arguments: load("k.json")) { folder in
    try loadFirst(records(0..<60), as: "a.csv", with: "k.json", in: folder)
    try folder.write(records(30..<90, rating: 5), to: "log.csv")
  }

  /// The store has its log, as a run leaves it that is killed at its end.
  static let afterKill = RunKind(name: "import after a kill", arguments: load("k.json")) { folder in
    try folder.write(records(0..<60), to: "log.csv")
    let own = try TemporaryFolder()
    var fault = Fault(.kill, calls: [.unlink], at: 1)
    fault.nameEnd = "/s-shm"
    let environment = try Shim.environment(fault, in: folder, page: own.path("page"))
    let killed = try Programs.run(Tool.url.path, load("k.json"), in: folder, environment: environment)
    try #require(killed.status == 128 + 9 && folder.exists("s-shm"), "\(killed.messages)")
    try folder.write(records(30..<90, rating: 5), to: "log.csv")
  }

  static let atomic = RunKind(
    name: "atomic import", arguments: load("k.json") + ["--atomic"], prepare: keyed.prepare)

  /// The rejects take the name that those of the stopped import give up.
  static let again = RunKind(
    name: "import again after a stopped one", arguments: load("k.json") + ["--again"], repetition: load("k.json")
  ) { folder in
    try folder.write(records(0..<60, badEvery: 5), to: "log.csv")
    try tool(load("k.json") + ["--max-errors", "6"], in: folder, status: 65)
    try #require(folder.exists("log.csv.rejects.csv.part"))
  }

  /// The rejects of the part that was imported are cut back to its checkpoint.
  static let continued = RunKind(name: "import that goes on", arguments: load("k.json"), prepare: again.prepare)

  static let replacement = RunKind(name: "replacement", arguments: load("p.json") + ["--replace"]) { folder in
    try loadFirst(records(0..<60), as: "log.csv", with: "p.json", in: folder)
    try folder.write(records(10..<70), to: "log.csv")
  }

  /// A person has removed the rejects of the first content, and not their details.
  static let leftDetails = RunKind(name: "import next to left details", arguments: load("k.json")) { folder in
    try loadFirst(records(0..<60), as: "log.csv", with: "k.json", in: folder)
    try FileManager.default.removeItem(at: folder.file("log.csv.rejects.csv"))
    try folder.write(records(60..<120), to: "log.csv")
  }

  static let undo = RunKind(
    name: "undo", arguments: ["undo", "s", "log.csv", "-y", "-q"], repeated: [65, 66], mayOnlyRead: true
  ) { folder in
    try keyed.prepare(folder)
    try tool(keyed.arguments, in: folder, status: 65)
  }

  static let undoOfInterrupted = RunKind(
    name: "undo of an interrupted import", arguments: undo.arguments, repeated: [65, 66], mayOnlyRead: true,
    prepare: again.prepare)

  /// As a run leaves it that was killed before its report.
  static let undoOfUnreported = RunKind(
    name: "undo of an import without a report", arguments: undo.arguments, repeated: [65, 66], mayOnlyRead: true
  ) { folder in
    try loadFirst(records(0..<60, badEvery: 5), as: "log.csv", with: "k.json", in: folder)
    try sqlite(folder.path("s"), "UPDATE SJ_INPUT SET state = 'unreported'")
    for name in ["log.csv.rejects.csv", "log.csv.rejects.csv.jsonl"] {
      try FileManager.default.moveItem(at: folder.file(name), to: folder.file(name + ".part"))
    }
  }

  /// Half of the rejects are corrected.
  static let replay = RunKind(name: "replay", arguments: ["replay", "log.csv.rejects.csv", "-q"], mayOnlyRead: true) {
    folder in
    try loadFirst(records(0..<60, badEvery: 3), as: "log.csv", with: "p.json", in: folder)
    var lines = try folder.text("log.csv.rejects.csv").split(separator: "\n").map(String.init)
    for index in lines.indices.dropFirst() where index.isMultiple(of: 2) { lines[index] = record(100 + index) }
    try folder.write(lines.joined(separator: "\n") + "\n", to: "log.csv.rejects.csv")
  }

  static let seed = RunKind(
    name: "seed",
    arguments: ["seed", "--from", "log.csv", "-o", "seed", "--pipeline", "p.json", "--force", "-q"]
      + ["--report", "r.json"]
  ) { folder in
    try folder.write(records(0..<60), to: "log.csv")
  }

  /// The seed takes the place of an earlier one.
  static let seedOver = RunKind(name: "seed over a store", arguments: seed.arguments) { folder in
    try folder.write(records(20..<50), to: "log.csv")
    try tool(seed.arguments, in: folder, status: 65)
    try FileManager.default.moveItem(at: folder.file("r.json"), to: folder.file("earlier.json"))
    try folder.write(records(0..<60), to: "log.csv")
  }

  static let export = RunKind(
    name: "export", arguments: ["export", "--store", "s", "-o", "out.csv", "--hash", "-q"], mayOnlyRead: true
  ) { folder in
    try loadFirst(records(0..<60, badEvery: nil), as: "log.csv", with: "p.json", in: folder)
  }

  static let parts = RunKind(
    name: "export in compressed parts",
    arguments: ["export", "--store", "s", "-o", "out-{part}.csv.gz", "--split-rows", "25", "-q"], mayOnlyRead: true,
    prepare: export.prepare)

  static let increment = RunKind(
    name: "incremental export", arguments: ["export", "--store", "s", "-o", "new.csv", "--incremental", "-q"],
    mayOnlyRead: true
  ) { folder in
    try export.prepare(folder)
    try tool(["export", "--store", "s", "-o", "new.csv", "--incremental", "-q"], in: folder)
    try FileManager.default.moveItem(at: folder.file("new.csv"), to: folder.file("old.csv"))
    try loadFirst(records(200..<240, badEvery: nil), as: "more.csv", with: "p.json", in: folder)
  }

  static let inbox = RunKind(name: "inbox", arguments: ["run", "n.json", "-q"], repeated: [0]) { folder in
    try folder.makeFolder("in")
    try folder.write(records(0..<40), to: "in/a.csv")
    try folder.write(records(40..<80), to: "in/b.csv")
  }

  /// Of earlier nights there are an imported file, rejects that were replayed, and a report, all of which are old.
  static let retention = RunKind(
    name: "retention of an inbox", arguments: ["run", "o.json", "-q"], repeated: [0],
    isRemovedAgain: { $0.contains("2014-07-14") || $0.contains(".replayed") }
  ) { folder in
    try folder.makeFolder("in")
    try folder.makeFolder("reports")
    try folder.write(records(0..<40), to: "in/a.csv")
    try tool(["run", "o.json", "-q"], in: folder, status: 65)
    let rejects = "reports/a.csv.rejects.csv"
    try folder.write(try folder.text(rejects).replacing("soon", with: "2020-01-02"), to: rejects)
    try tool(["replay", rejects, "-q"], in: folder)
    let script = """
      mv in/processed/* in/processed/2014-07-14
      mv reports/*.json reports/2014-07-14.json
      touch -d 2014-07-14 reports/*
      """
    try Programs.output(of: ["bash", "-ec", script], in: folder)
    try folder.write(records(40..<80), to: "in/b.csv")
  }

  static let edit = RunKind(
    name: "edit by hand", arguments: ["edit", "7", "--store", "s", "--rating", "1", "-y", "-q"], mayOnlyRead: true,
    prepare: export.prepare)

  static let add = RunKind(
    name: "add by hand",
    arguments: ["add", "--store", "s", "--date", "2020-01-02", "--location", "Pipe", "-y", "-q"],
    isCounted: false, prepare: export.prepare)

  /// What the ledger records of the first import is old.
  static let compact = RunKind(
    name: "compaction of the ledger", arguments: ["ledger", "compact", "s", "--keep", "30", "-q"],
    mayOnlyRead: true, isCounted: false
  ) { folder in
    try export.prepare(folder)
    try sqlite(
      folder.path("s"),
      "UPDATE SJ_RUN SET startedAt = '2020-01-01T00:00:00Z'; UPDATE SJ_INPUT SET savedAt = '2020-01-01T00:00:00Z'")
    try loadFirst(records(200..<240, badEvery: nil), as: "more.csv", with: "p.json", in: folder)
  }

  static let modelled = RunKind(
    name: "import with a model",
    arguments: ["import", "spots.csv", "--store", "s", "--entity", "Spot", "--model", "Surfing.xcdatamodeld", "-q"]
  ) { folder in
    try LinkedSample.prepare(folder)
    try folder.write("name,country\nRincon,US\nBells,AU\n", to: "spots.csv")
  }

  /// A definition that names its model.
  static let check = RunKind(name: "check", arguments: ["check", "spots.json"], mayOnlyRead: true) { folder in
    try LinkedSample.prepare(folder)
    try folder.write(
      #"{"name": "spots", "model": "Surfing.xcdatamodeld", "entity": "Spot", "columns": ["name"]}"#, to: "spots.json")
  }

  static let schema = RunKind(
    name: "pipelines export", arguments: ["pipelines", "export", "./spots.json", "--as", "tableschema"],
    mayOnlyRead: true, prepare: check.prepare)

  static let guess = RunKind(name: "guess", arguments: ["guess", "log.csv", "-o", "g.json", "--force", "-q"]) {
    folder in
    try folder.write(records(0..<60, badEvery: nil), to: "log.csv")
  }

  // MARK: Inputs and definitions

  static func load(_ pipeline: String) -> [String] {
    ["import", "log.csv", "--store", "s", "--pipeline", pipeline, "-q"]
  }

  private static func loadFirst(
    _ text: String, as name: String, with pipeline: String, in folder: TemporaryFolder
  ) throws {
    try folder.write(text, to: name)
    try tool(
      ["import", name, "--store", "s", "--pipeline", pipeline, "-q"], in: folder,
      status: text.contains("soon") ? 65 : 0)
  }

  static func tool(_ arguments: [String], in folder: TemporaryFolder, status: Int32 = 0) throws {
    let output = try Programs.run(Tool.url.path, arguments, in: folder)
    guard output.status == status else {
      throw ProgramFailure(description: "\(arguments) ended with \(output.status): \(output.messages)")
    }
  }

  static func record(_ number: Int, rating: Int? = nil) -> String {
    let month = String(format: "%02d-%02d", number / 28 % 12 + 1, number % 28 + 1)
    return "2014-\(month)T\(String(format: "%02d", number % 24)):00:00Z,\(number % 9)ft,Place \(number),"
      + "\(rating ?? number % 5 + 1)"
  }

  static func records(_ numbers: Range<Int>, badEvery: Int? = 20, rating: Int? = nil) -> String {
    let lines = numbers.map { number in
      guard let badEvery, number % badEvery == 1 else { return record(number, rating: rating) }
      return "soon,1ft,Nowhere \(number),3"
    }
    return "date,height,location,rating\n" + lines.joined(separator: "\n") + "\n"
  }

  private static let columns = #"[{"name": "date", "rules": ["required"]}, "height", "location", "rating"]"#

  static let definitions = [
    "p.json": #"{"name": "p", "chunkRows": 20, "columns": \#(columns)}"#,
    "k.json": """
    {"name": "k", "chunkRows": 20, "columns": \(columns), "key": ["date", "location"], "duplicates": "update"}
    """,
    "n.json": """
    {"name": "n", "chunkRows": 20, "columns": \(columns), "inbox": {"folder": "in", "settleSeconds": 0}, "store": "s",
      "report": "r.json"}
    """,
    "o.json": """
    {"name": "o", "chunkRows": 20, "columns": \(columns), "inbox": {"folder": "in", "settleSeconds": 0}, "store": "s",
      "report": "reports/{date}.json",
      "retention": {"processed": {"days": 30}, "rejects": {"days": 30}, "reports": {"days": 30}}}
    """,
  ]
}
