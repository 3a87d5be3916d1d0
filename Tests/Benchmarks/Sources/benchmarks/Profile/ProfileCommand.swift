import Foundation

/// `benchmarks profile`: what a row of an import costs, by stage.
struct ProfileCommand {
  static let name = "profile"

  private var rows = 1_000_000
  private var runs = 3
  private var markdown: String?

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let name = rest.popFirst() {
      switch name {
      case "--rows": rows = try Options.number(of: name, &rest)
      case "--runs": runs = try Options.number(of: name, &rest)
      case "--markdown": markdown = try Options.value(of: name, &rest)
      default: throw Options.Misuse(description: "'profile' has no option '\(name)'; --help lists them")
      }
    }
  }

  func run() throws {
    let folder = try BenchmarkFolder()
    let recorder = try Recorder(folder)
    let log = try Inputs.log(rows: rows, folder)
    let (ours, limit) = try (folder.program("surfjournal"), folder.program("limit"))
    let store = folder.output("profile.sqlite")
    let plain = [ours, "import", log, "--store", store, "--quiet"]
    let gzip = try [ours, "import", Inputs.gzip(of: log), "--store", store, "--quiet"]
    let costs = try [("import", plain), ("gzip", gzip), ("C limit", [limit, "import", log, store])].map {
      try cost($0, of: $1, into: store, recorder)
    }
    let calls = try recorder.systemCalls(of: plain)
    folder.remove(store)
    let report = try ProfileReport(costs: costs, rows: rows, runs: runs, systemCalls: calls, machine: Machine(folder))
    print(try report.text())
    if let markdown { try report.write(to: URL(filePath: markdown)) }
  }

  private func cost(
    _ name: String, of command: [String], into store: String, _ recorder: Recorder
  ) throws -> ImportCost {
    let folder = recorder.folder
    var profile = Profile()
    var elapsed: [Double] = []
    for _ in 0..<runs {
      sync()
      elapsed.append(try Measurement(of: command, output: folder.output("printed"), in: folder).seconds)
      folder.remove(store)
      sync()
      profile.add(samples: try recorder.samples(of: command), sharedBy: rows * runs)
      try Checks.table("ZJOURNALENTRY", of: store, has: rows)
      folder.remove(store)
    }
    return ImportCost(name: name, profile: profile, elapsed: (Series(elapsed)?.median ?? 0) / Double(rows) * 1e9)
  }
}

/// What an import took for each row, in nanoseconds.
struct ImportCost {
  let name: String
  /// Processor time while the profiler watched.
  let profile: Profile
  /// Clock time while the profiler did not watch.
  let elapsed: Double
}
