import Foundation
import SystemSupport
import PipelineEngine
import SurfJournal

/// The named pipelines: definitions in `Pipelines` in the current folder or next to the program, then the built-in
/// ones.
struct PipelineCatalog {
  struct Item {
    let name: String
    /// The definition's file; nil for a built-in one.
    let path: String?
    let definition: Result<PipelineDefinition, PipelineError>
  }

  /// The folders of definitions; the first match takes precedence.
  private static var folders: [String] {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let shared = program.deletingLastPathComponent().appendingPathComponent("share/surfjournal")
    return ["Pipelines"] + [program, shared].map { $0.appendingPathComponent("Pipelines").path }
  }

  /// Every named pipeline, sorted by name.
  static var items: [Item] {
    var items: [String: Item] = [:]
    for preset in PipelineDefinition.presets {
      items[preset.name] = Item(name: preset.name, path: nil, definition: .success(preset))
    }
    for folder in folders.reversed() {
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      for file in files {
        guard let name = name(of: file) else { continue }
        let path = "\(folder)/\(file)"
        items[name] = Item(
          name: name, path: path, definition: Result { () throws(PipelineError) in try read(path) })
      }
    }
    return items.values.sorted { $0.name < $1.name }
  }

  /// The pipeline with a name or path: a text with a slash or ending in `.json` is a path.
  static func find(_ requested: String) throws(CommandFailure) -> PipelineDefinition {
    do throws(PipelineError) {
      switch try base(of: requested) {
      case .file(let file): return try PipelineDefinition(contentsOf: file, environment: environment)
      case .definition(let definition): return definition
      }
    } catch {
      throw CommandFailure(error)
    }
  }

  /// A reference to the pipeline that is independent of the current folder: a name, or a file's absolute path.
  static func reference(to requested: String) -> String {
    requested.contains("/") || requested.hasSuffix(".json") ? URL(fileURLWithPath: requested).path : requested
  }

  /// Reviews the pipeline as thoroughly as a run; an unknown name is an error of the review. `model` replaces the
  /// pipeline's own model.
  static func review(_ requested: String, model: String?) -> PipelineReview {
    do throws(PipelineError) {
      switch try base(of: requested) {
      case .file(let file): return PipelineReview(contentsOf: file, environment: environment, modelReference: model)
      case .definition(let definition): return PipelineReview(definition.using(model: model))
      }
    } catch {
      return PipelineReview(error)
    }
  }

  private static func base(of requested: String) throws(PipelineError) -> DefinitionEnvironment.Base {
    if requested.contains("/") || requested.hasSuffix(".json") { return .file(URL(fileURLWithPath: requested)) }
    if let base = bases(requested).first { return base }
    if [".yaml", ".yml", ".toml"].contains(where: requested.hasSuffix) {
      throw PipelineError(
        code: .sourceError, "'\(requested)' is not a pipeline; pipelines are JSON files, whose names end in .json")
    }
    if mayExist(requested) {
      throw PipelineError(
        code: .sourceError,
        "'\(requested)' is a file and not a pipeline; import it with 'surfjournal import \(requested) --store PATH', or name "
          + "a pipeline or its JSON file")
    }
    let hint = NearestName.hint(for: requested, in: names)
    throw PipelineError(
      code: .sourceError,
      "the pipeline '\(requested)' was not found\(hint); 'surfjournal pipelines' lists them, and a file is named by its "
        + "path, such as ./\(requested).json")
  }

  /// The environment of definitions.
  private static var environment: DefinitionEnvironment {
    DefinitionEnvironment(vocabulary: .journal, names: names, bases: bases)
  }

  /// The definitions with a name, the nearest first.
  @Sendable private static func bases(_ name: String) -> [DefinitionEnvironment.Base] {
    let files = folders.map { "\($0)/\(name).json" }.filter { mayExist($0) }
    let preset = PipelineDefinition.presets.first { $0.name == name }
    return files.map { .file(URL(fileURLWithPath: $0)) } + (preset.map { [.definition($0)] } ?? [])
  }

  private static var names: [String] {
    let files = folders.flatMap { (try? FileManager.default.contentsOfDirectory(atPath: $0)) ?? [] }
    return Set(files.compactMap(name) + PipelineDefinition.presets.map(\.name)).sorted()
  }

  /// The name of the pipeline that a file defines; nil for other files.
  private static func name(of file: String) -> String? {
    file.hasSuffix(".json") && !file.hasSuffix(".schema.json") ? String(file.dropLast(".json".count)) : nil
  }

  private static func read(_ path: String) throws(PipelineError) -> PipelineDefinition {
    try PipelineDefinition(contentsOf: URL(fileURLWithPath: path), environment: environment)
  }
}
