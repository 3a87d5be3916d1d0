import Foundation
import PipelineEngine

struct PipelinesCommand: Command {
  static let name = "pipelines"
  static let usage = """
    Usage: surfjournal pipelines [options]
           surfjournal pipelines export PIPELINE --as tableschema

    Lists the named pipelines: the definitions in the folder Pipelines of the
    current folder and next to the program, and the built-in ones. If two have the
    same name, the nearer one is used and listed.

    With export, prints the columns of a pipeline as a Table Schema, which other
    programs read; what it can't say is listed on standard error. A pipeline with
    parts becomes a Data Package, with foreign keys for its links. A Table Schema or
    a Data Package can be given wherever the path of a pipeline can.

    Options:
          --as FORMAT            how to print the pipeline: tableschema
          --json                 print the list as JSON
      \(SharedOptions.help)

    Examples:
      surfjournal pipelines
      surfjournal pipelines export surf-log --as tableschema

    Exit status 78 says that a definition can't be used.

    """

  private struct Row: Encodable {
    let name: String
    let description: String?
    /// Omitted for a built-in pipeline.
    let path: String?
  }

  private let isJSON: Bool
  /// The pipeline to print as a schema; nil to list all.
  private let exported: String?

  init(_ arguments: Arguments) throws(CommandFailure) {
    isJSON = arguments.has("json")
    guard let verb = arguments.operands.first else {
      exported = nil
      if arguments.has("as") { throw arguments.mistake("--as is for pipelines export PIPELINE; name a pipeline") }
      return
    }
    guard verb == "export" else { throw arguments.unexpected(verb) }
    exported = try arguments.onlyOperand("a pipeline", after: 1)
    guard arguments.string("as") == "tableschema" else {
      throw arguments.mistake("no form is given; add --as tableschema")
    }
  }

  /// Prints a pipeline's columns as a Table Schema.
  private func export(_ name: String) -> ExitCode {
    let review = PipelineCatalog.review(name, model: nil)
    do {
      guard let schema = try review.tableSchema() else {
        let reason = review.error?.description ?? "\(name): the pipeline has no columns, for it only exports"
        return CommandFailure(reason, review.error?.exitCode ?? .configuration).report()
      }
      for omission in schema.omissions { Console.report(omission) }
      try Console.print(String(decoding: schema.json, as: UTF8.self), as: .json)
      return .ok
    } catch {
      return (error as? CommandFailure ?? CommandFailure("\(error)", .software)).report()
    }
  }

  func run() async -> ExitCode {
    if let exported { return export(exported) }
    var rows: [Row] = []
    var code = ExitCode.ok
    for item in PipelineCatalog.items {
      switch item.definition {
      case .success(let definition):
        rows.append(Row(name: item.name, description: definition.description, path: item.path))
      case .failure(let error):
        Console.report(lines: error.lines)
        code = error.exitCode
      }
    }
    do throws(CommandFailure) {
      try Console.print(isJSON ? try Console.json(rows) : Self.text(rows), as: isJSON ? .json : .text)
    } catch {
      return error.report()
    }
    return code
  }

  private static func text(_ rows: [Row]) -> String {
    rows.map { row in
      let description = row.description.map { "    \(RawText.oneLine($0))\n" } ?? ""
      return RawText.oneLine("\(row.name)  (\(row.path ?? "built in"))") + "\n" + description
    }
    .joined()
  }
}
