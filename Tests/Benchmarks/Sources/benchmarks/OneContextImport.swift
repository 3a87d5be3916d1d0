import Foundation
import PipelineEngine
import SurfJournal

/// What the command has no option for, since nobody but a benchmark wants it: the import with one context on the
/// coordinator. It runs in a process of its own: `benchmarks import-one-context LOG STORE`.
enum OneContextImport {
  static let command = "import-one-context"

  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 2 else { throw Options.Misuse(description: "\(command) takes a log and a store") }
    var options = RunOptions()
    options.inputs = [arguments[0]]
    options.store = arguments[1]
    options.contextChain = .one
    let summary = try await PipelineRunner(.surfLog, .import, options).run()
    print(summary.text())
    exit(summary.exitCode.rawValue)
  }
}
