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
    let place = try Workplace()
    let recorder = try Recorder(place)
    let log = try Inputs.log(rows: rows, place)
    let program = try place.program("surfjournal")
    let store = place.output("profile.sqlite")
    func command(_ log: String) -> [String] { [program, "import", log, "--store", store, "--quiet"] }

    var costs: [ImportCost] = []
    for input in [log, try Inputs.gzip(of: log)] {
      var profile = Profile()
      var elapsed: [Double] = []
      for _ in 0..<runs {
        place.remove(store)
        sync()
        elapsed.append(try Measurement(of: command(input), output: place.output("printed"), in: place).seconds)
        place.remove(store)
        sync()
        profile.add(samples: try recorder.samples(of: command(input)), sharedBy: rows * runs)
        try Checks.table("ZJOURNALENTRY", of: store, has: rows)
      }
      costs.append(ImportCost(profile: profile, elapsed: (Series(elapsed)?.median ?? 0) / Double(rows) * 1e9))
    }
    place.remove(store)
    let calls = try recorder.systemCalls(of: command(log))
    place.remove(store)
    let report = try ProfileReport(
      plain: costs[0], gzip: costs[1], rows: rows, runs: runs, systemCalls: calls, machine: Machine(place))
    print(try report.text())
    if let markdown { try report.write(to: URL(filePath: markdown)) }
  }
}

/// What an import took for each row, in nanoseconds.
struct ImportCost {
  /// Of the processors' time, while it was watched.
  let profile: Profile
  /// Of the clock's, while nobody watched.
  let elapsed: Double
}
