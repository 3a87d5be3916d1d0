import Foundation
import PipelineEngine
import SurfJournal

/// The pipelines that have a name: definitions in `Pipelines` here or beside the program, then the built-in ones.
struct PipelineCatalog {
  struct Item {
    let name: String
    /// The definition's file; nil for a built-in one.
    let path: String?
    let definition: Result<PipelineDefinition, PipelineError>
  }

  /// Where definitions are looked for, first match wins.
  private static var folders: [String] {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let shared = program.deletingLastPathComponent().appendingPathComponent("share/surfjournal")
    return ["Pipelines"] + [program, shared].map { $0.appendingPathComponent("Pipelines").path }
  }

  /// Every pipeline that a name means, in the order of their names.
  static var items: [Item] {
    var items: [String: Item] = [:]
    for preset in PipelineDefinition.presets {
      items[preset.name] = Item(name: preset.name, path: nil, definition: .success(preset))
    }
    for folder in folders.reversed() {
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      for file in files where file.hasSuffix(".json") && !file.hasSuffix(".schema.json") {
        let name = String(file.dropLast(".json".count))
        let path = "\(folder)/\(file)"
        items[name] = Item(
          name: name, path: path, definition: Result { () throws(PipelineError) in try read(path) })
      }
    }
    return items.values.sorted { $0.name < $1.name }
  }

  /// The pipeline that a person means by a name, or by a path: anything with a slash or ending in `.json`.
  static func find(_ wish: String) throws(CommandFailure) -> PipelineDefinition {
    do throws(PipelineError) {
      if wish.contains("/") || wish.hasSuffix(".json") { return try read(wish) }
      for folder in folders {
        let path = "\(folder)/\(wish).json"
        if FileManager.default.fileExists(atPath: path) { return try read(path) }
      }
    } catch {
      throw CommandFailure(error.description, error.exitCode)
    }
    if let preset = PipelineDefinition.presets.first(where: { $0.name == wish }) { return preset }
    let hint = NearestName.hint(for: wish, in: items.map(\.name))
    throw CommandFailure(
      "there is no pipeline '\(wish)'\(hint); 'surfjournal pipelines' lists them, and a file is named by its path, "
        + "such as ./\(wish).json", .noInput)
  }

  /// How a later run can name the same pipeline, wherever it is started: a name, or a file's whole path.
  static func reference(to wish: String?) -> String {
    guard let wish else { return PipelineDefinition.surfLog.name }
    return wish.contains("/") || wish.hasSuffix(".json") ? URL(fileURLWithPath: wish).path : wish
  }

  private static func read(_ path: String) throws(PipelineError) -> PipelineDefinition {
    try PipelineDefinition(contentsOf: URL(fileURLWithPath: path))
  }
}
