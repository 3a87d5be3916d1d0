import Foundation

/// The programs that mark the limit, and how contenders are made.
struct Contenders {
  let folder: BenchmarkFolder
  let inputs: Inputs
  let checks: Checks
  /// A store of ours with the rows of the input, and one that the limit's program wrote.
  let store: String
  let limitStore: String
  /// What the C cursor says of the rows.
  let steppedText: String

  var rows: Int { inputs.rows }
  static let columns = ["--columns", "date,height,period,wind,location,rating"]

  /// Makes the stores that exports and walks start from, and proves them.
  init(_ folder: BenchmarkFolder, _ inputs: Inputs) throws {
    let (limit, copy) = (try folder.program("limit"), folder.output("check.csv"))
    self.folder = folder
    self.inputs = inputs
    store = folder.output("source.sqlite")
    limitStore = folder.output("source-limit.sqlite")
    try Tool.run([limit, "import", inputs.plain, limitStore])
    try Tool.run([limit, "export", limitStore, copy])
    try Checks.same(copy, as: inputs.plain)
    folder.remove(copy)
    checks = try Checks(store: limitStore)
    try Tool.run([folder.program("surfjournal"), "import", inputs.plain, "--store", store])
    try checks.store(store)
    steppedText = try Tool.run([limit, "step", limitStore])
  }

  func limits() throws -> [Contender] {
    let program = try folder.program("limit")
    let core = try Machine.onFirstCore
    return [
      loading(.limitImport) { [program, "import", inputs.plain, $0] },
      loading(.limitImportOneThread, .core) { core + [program, "import-alone", inputs.plain, $0] },
      loading(.limitImportByRow, .core) { core + [program, "import-by-row", inputs.plain, $0] },
      Contender(
        subject: .limitCheck, groups: [.validate], command: [program, "check", inputs.plain], rows: rows,
        check: { try Checks.text(of: $0, is: "good \(rows), rejected 0\n") }),
      exporting(.limitExport) { [program, "export", limitStore, $0] },
      exporting(.limitExportByDate, .sorted, check: { try Checks.sorted($0, from: inputs.plain) }) {
        [program, "export-by-date", limitStore, $0]
      },
      Contender(
        subject: .limitStep, groups: [.stream], command: [program, "step", limitStore], rows: rows,
        check: { try Checks.text(of: $0, is: steppedText + "\n") }),
      starting(.limitVersion, [program, "--version"]),
    ]
  }

  /// The yardsticks next to the repository, to see that our own limit is not easily reached.
  func yardsticks() throws -> [Contender] {
    guard let source = folder.yardsticks else {
      throw BenchmarkFailure("--yardstick needs ../shared/bench, or SURFJOURNAL_SHARED to name the folder it lies in")
    }
    let bin = folder.output("bin")
    try Tool.run(["make", "-s", "-C", source, "BIN=\(bin)"])
    return [
      loading(.yardstickImport) {
        [bin + "/imp", inputs.plain, $0, "vtab=1", "pipe=1", "ckthread=1"]
      },
      Contender(
        subject: .yardstickCheck, groups: [.validate], command: [bin + "/parse", inputs.plain, "level=2"],
        rows: inputs.rows, check: { _ in }),
      exporting(.yardstickExport) { [bin + "/exp", limitStore, $0, "order=pk", "page=cursor"] },
    ]
  }

  /// A contender that makes a store from the input.
  func loading(_ subject: Subject, _ groups: Group..., command: (_ store: String) -> [String]) -> Contender {
    let path = folder.output("\(subject).sqlite")
    return Contender(
      subject: subject, groups: groups.isEmpty ? [.import] : groups, command: command(path), outputs: [path],
      rows: rows, check: { _ in try checks.store(path) })
  }

  /// A contender that makes a log, which is the input again unless `check` says otherwise.
  func exporting(
    _ subject: Subject, _ groups: Group..., name: String? = nil, check: ((String) throws -> Void)? = nil,
    command: (_ log: String) -> [String]
  ) -> Contender {
    let path = folder.output(name ?? "\(subject).csv")
    return Contender(
      subject: subject, groups: groups.isEmpty ? [.export] : groups, command: command(path), outputs: [path],
      rows: rows, check: { _ in if let check { try check(path) } else { try Checks.same(path, as: inputs.plain) } })
  }

  /// A contender that is gone again in no time.
  func starting(
    _ subject: Subject, _ command: [String], outputs: [String] = [], prepare: @escaping () throws -> Void = {},
    check: @escaping (String) throws -> Void = { _ in }
  ) -> Contender {
    Contender(
      subject: subject, groups: [.start], command: command, outputs: outputs, runsPerRound: 5, prepare: prepare,
      check: check)
  }
}
