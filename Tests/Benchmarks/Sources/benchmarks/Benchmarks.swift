import Foundation
import PipelineEngine

/// `benchmarks [--rows N] [--rounds N] [--input FILE] [--markdown FILE] [--check]`
///
/// Times whole processes in turn, several rounds, and prints one table. The work itself is done by this program
/// started anew as `benchmarks child …`, so that a run's memory and start-up are its own.
@main
struct Benchmarks {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "child" {
      try await Child.run(Array(arguments.dropFirst()))
      return
    }
    let options = try Options(arguments)
    let bench = try Bench(options)
    let table = try bench.run()
    print(table.text)
    if let path = options.markdown { try table.markdown.write(toFile: path, atomically: true, encoding: .utf8) }
    if options.checksFloors, !table.failures.isEmpty {
      for failure in table.failures { FileHandle.standardError.write(Data("too slow: \(failure)\n".utf8)) }
      exit(1)
    }
  }
}

struct Options {
  var rows = 1_000_000
  var rounds = 5
  var input: String?
  var markdown: String?
  var checksFloors = false

  struct Misuse: Error, CustomStringConvertible {
    let description: String
  }

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let name = rest.popFirst() {
      if name == "--check" {
        checksFloors = true
        continue
      }
      guard let value = rest.popFirst() else { throw Misuse(description: "\(name) needs a value") }
      switch name {
      case "--rows": rows = try Self.number(value, name)
      case "--rounds": rounds = try Self.number(value, name)
      case "--input": input = value
      case "--markdown": markdown = value
      default:
        throw Misuse(
          description: "unknown option \(name); there are --rows, --rounds, --input, --markdown and --check")
      }
    }
  }

  private static func number(_ text: String, _ name: String) throws -> Int {
    guard let number = Int(text), number > 0 else { throw Misuse(description: "\(name) takes a number above 0") }
    return number
  }
}
