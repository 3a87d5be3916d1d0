import Foundation

/// Times whole processes in turn, several rounds, and prints one table; see `Options.usage`.
@main
struct Benchmarks {
  static func main() async {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      let (first, rest) = (arguments.first ?? "", Array(arguments.dropFirst()))
      if let variant = ImportVariant(rawValue: first) {
        try await variant.run(rest)
      } else if let walk = StreamingFetch(rawValue: first) {
        try walk.run(rest)
      } else if let library = LibraryRun(rawValue: first) {
        try library.run(rest)
      } else if first == FetchLatency.name {
        try FetchLatency.run(rest)
      } else if first == ProfileCommand.name, !rest.contains("--help") {
        try ProfileCommand(rest).run()
      } else if arguments.contains("--help") {
        print(Options.usage)
      } else {
        try run(Options(arguments))
      }
    } catch {
      FileHandle.standardError.write(Data("benchmarks: \(error)\n".utf8))
      exit(error is Options.Misuse ? 64 : 70)
    }
  }

  private static func run(_ options: Options) throws {
    // What is missing is said before minutes are spent.
    let stored = options.checks ? try StoredRatios.read() : nil
    let bench = try Bench(options)
    if let stored, stored.rows != bench.rows {
      throw BenchmarkFailure(
        "\(StoredRatios.file.path) is of \(stored.rows) records, not of \(bench.rows); check without --rows and --input"
      )
    }
    let results = try bench.run()
    let machine = try Machine(bench.folder)
    let report = Report(results: results, machine: machine)
    print(report.text)
    if let path = options.markdown {
      try report.page.write(toFile: path, atomically: true, encoding: .utf8)
    }
    if options.storesRatios { try StoredRatios.store(results, machine: machine) }
    guard let stored else { return }
    print("\n" + stored.comparison(with: results, machine).joined(separator: "\n"))
    if !stored.losses(results).isEmpty || !results.verdicts.allSatisfy(\.passes) { exit(1) }
  }
}

/// What went wrong, and what to do about it.
struct BenchmarkFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
