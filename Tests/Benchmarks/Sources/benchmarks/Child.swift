import Foundation
import PipelineEngine
import SurfJournal

/// The work of one measured process: `child import|import-one|validate|export INPUT-OR-OUTPUT STORE`.
enum Child {
  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 3 else { throw Options.Misuse(description: "child KIND FILE STORE") }
    var options = RunOptions()
    var definition = PipelineDefinition.surfLog
    let kind: RunSummary.Kind
    switch arguments[0] {
    case "validate": kind = .validate
    case "export":
      kind = .export
      options.output = arguments[1]
      let columns = ["date", "height", "period", "wind", "location", "rating"]
      definition.export = ExportDefinition(columns: columns.map { .init($0) })
    default:
      kind = .import
      if arguments[0] == "import-one" { options.contextChain = .one }
    }
    if kind != .export { options.inputs = [arguments[1]] }
    options.store = arguments[2]
    let summary = try await PipelineRunner(definition, kind, options).run()
    guard summary.exitCode == .ok else {
      FileHandle.standardError.write(Data(summary.text().utf8))
      exit(summary.exitCode.rawValue)
    }
  }
}
