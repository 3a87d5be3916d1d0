import Foundation

/// The programs of the project and those that mark the limit.
struct Contenders {
  let place: Workplace
  let inputs: Inputs
  let checks: Checks
  /// A store of ours with the rows of the input, and one that the limit's program wrote.
  let store: String
  let limitStore: String

  private var rows: Int { inputs.rows }

  func ours() throws -> [Contender] {
    let program = try place.program("surfjournal")
    let small = place.output("small.sqlite")
    let oneContext = try [place.program("benchmarks"), OneContextImport.command]
    return [
      loading(.importPlain) { [program, "import", inputs.plain, "--store", $0] },
      loading(.importGzip) { [program, "import", inputs.gzip, "--store", $0] },
      loading(.importOneContext) { oneContext + [inputs.plain, $0] },
      Contender(
        subject: .validate, group: .validate, command: [program, "validate", inputs.plain, "--json"], rows: rows,
        check: { try Contenders.checkDryRun($0, rows: rows) }),
      exporting(.export, .export) { [program, "export", "--store", store, "--output", $0] + columns },
      exporting(.exportGzip, .export, name: "ours.csv.gz", check: { try Checks.gzip($0, holds: inputs.plain) }) {
        [program, "export", "--store", store, "--output", $0] + columns
      },
      exporting(.exportByDate, .sorted, check: { try Checks.sorted($0, from: inputs.plain) }) {
        [program, "export", "--store", store, "--output", $0, "--sort", "date"] + columns
      },
      Contender(subject: .version, group: .start, command: [program, "--version"], check: { _ in }),
      Contender(
        subject: .importSmall, group: .start,
        command: [program, "import", inputs.small, "--store", small], outputs: [small],
        check: { _ in try Checks.table("ZJOURNALENTRY", of: small, has: Inputs.smallRows) }),
    ]
  }

  func limits() throws -> [Contender] {
    let program = try place.program("limit")
    return [
      loading(.limitImport) { [program, "import", inputs.plain, $0] },
      Contender(
        subject: .limitCheck, group: .validate, command: [program, "check", inputs.plain], rows: rows,
        check: { try Checks.text(of: $0, is: "good \(rows), rejected 0\n") }),
      exporting(.limitExport, .export) { [program, "export", limitStore, $0] },
      exporting(.limitExportByDate, .sorted, check: { try Checks.sorted($0, from: inputs.plain) }) {
        [program, "export-by-date", limitStore, $0]
      },
      Contender(subject: .limitVersion, group: .start, command: [program, "--version"], check: { _ in }),
    ]
  }

  /// The yardsticks beside the repository, to see that our own limit is none that is easily reached.
  func yardsticks() throws -> [Contender] {
    guard let source = place.yardsticks else {
      throw BenchmarkFailure("--yardstick needs ../shared/bench, or SURFJOURNAL_SHARED to name the folder it lies in")
    }
    let bin = place.output("bin")
    try Tool.run(["make", "-s", "-C", source, "BIN=\(bin)"])
    return [
      loading(.yardstickImport) {
        [bin + "/imp", inputs.plain, $0, "vtab=1", "pipe=1", "ckthread=1"]
      },
      exporting(.yardstickExport, .export) { [bin + "/exp", limitStore, $0, "order=pk", "page=cursor"] },
    ]
  }

  private let columns = ["--columns", "date,height,period,wind,location,rating"]

  /// A contender that makes a store from the input.
  private func loading(_ subject: Subject, _ command: (_ store: String) -> [String]) -> Contender {
    let path = place.output("\(subject).sqlite")
    return Contender(
      subject: subject, group: .import, command: command(path), outputs: [path], rows: rows,
      check: { _ in try checks.store(path) })
  }

  /// A contender that makes a log, which is the input again unless `check` says otherwise.
  private func exporting(
    _ subject: Subject, _ group: Group, name: String? = nil, check: ((String) throws -> Void)? = nil,
    _ command: (_ log: String) -> [String]
  ) -> Contender {
    let path = place.output(name ?? "\(subject).csv")
    return Contender(
      subject: subject, group: group, command: command(path), outputs: [path], rows: rows,
      check: { _ in if let check { try check(path) } else { try Checks.same(path, as: inputs.plain) } })
  }

  private static func checkDryRun(_ printed: String, rows: Int) throws {
    struct Summary: Decodable {
      let counts: [String: Int]
    }
    let data = try Data(contentsOf: URL(filePath: printed))
    let counts = try JSONDecoder().decode(Summary.self, from: data).counts
    guard counts["read"] == rows, counts["inserted"] == rows else {
      throw BenchmarkFailure("the dry run counted \(counts) instead of \(rows) good records")
    }
  }
}
