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
    let results = try bench.run()
    let machine = try Machine(bench.place)
    let report = Report(results: results, machine: machine)
    print(report.text)
    if let path = options.markdown {
      try report.page.write(toFile: path, atomically: true, encoding: .utf8)
    }
    if let stored, !passes(results, stored, machine) { exit(1) }
    if options.storesRatios { try StoredRatios.store(results, machine: machine) }
  }

  private static func passes(_ results: Results, _ stored: StoredRatios, _ machine: Machine) -> Bool {
    let losses = stored.losses(results)
    print("\nCompared with the figures that were stored on \(stored.date) (\(stored.machine.joined(separator: ", "))):")
    for claim in stored.unknown(results) { print("NEW \(claim): nothing is stored; --store-ratios stores it") }
    if losses.isEmpty {
      print("SAME within \(Int(StoredRatios.tolerance * 100)) % and the noise")
    } else {
      losses.forEach { print($0) }
      print("Find the change that did it. If it is meant to be so, --store-ratios takes the new figures for granted.")
      if machine.lines != stored.machine { print("Mind that the machine or its programs are others now.") }
    }
    return losses.isEmpty && results.verdicts.allSatisfy(\.isKept)
  }
}

/// What went wrong, and what to do about it.
struct BenchmarkFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
