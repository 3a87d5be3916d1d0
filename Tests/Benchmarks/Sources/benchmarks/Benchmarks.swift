import Foundation

/// Times whole processes in turn, several rounds, and prints one table; see `Options.usage`.
@main
struct Benchmarks {
  static func main() async {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      if arguments.first == OneContextImport.command {
        try await OneContextImport.run(Array(arguments.dropFirst()))
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
    let bench = try Bench(options)
    let results = try bench.run()
    let report = Report(results: results, machine: try Machine(bench.place))
    print(report.text)
    if let path = options.markdown {
      try report.markdown.write(toFile: path, atomically: true, encoding: .utf8)
    }
    if options.checksFloors, !results.verdicts.allSatisfy(\.isKept) { exit(1) }
  }
}

/// What went wrong, and what to do about it.
struct BenchmarkFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
