import Foundation
import PipelineEngine

struct PipelinesCommand: Command {
  static let name = "pipelines"
  static let usage = """
    Usage: surfjournal pipelines [options]

    Lists the named pipelines: the definitions in the folder Pipelines of the
    current folder and next to the program, and the built-in ones. If two have the
    same name, the nearer one is used and listed.

    Options:
          --json                 print the list as JSON
      -h, --help                 show this help
          --version              show the version

    Exit status 78 says that a definition can't be used.

    """

  private struct Row: Encodable {
    let name: String
    let description: String?
    /// Omitted for a built-in pipeline.
    let path: String?
  }

  private let isJSON: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    try arguments.requireNoOperands()
    isJSON = arguments.has("json")
  }

  func run() async -> ExitCode {
    var rows: [Row] = []
    var code = ExitCode.ok
    for item in PipelineCatalog.items {
      switch item.definition {
      case .success(let definition):
        rows.append(Row(name: item.name, description: definition.description, path: item.path))
      case .failure(let error):
        Console.report(error.description)
        code = error.exitCode
      }
    }
    do throws(CommandFailure) {
      try Console.print(isJSON ? try Console.json(rows) : Self.text(rows))
    } catch {
      return error.report()
    }
    return code
  }

  private static func text(_ rows: [Row]) -> String {
    rows.map { row in
      let description = row.description.map { "    \($0)\n" } ?? ""
      return "\(row.name)  (\(row.path ?? "built in"))\n\(description)"
    }
    .joined()
  }
}
