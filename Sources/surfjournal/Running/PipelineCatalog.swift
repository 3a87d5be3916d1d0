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
      for file in files {
        guard let name = name(of: file) else { continue }
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
      switch try place(of: wish) {
      case .file(let file): return try PipelineDefinition(contentsOf: file, surroundings: surroundings)
      case .definition(let definition): return definition
      }
    } catch {
      throw CommandFailure(error.description, error.exitCode)
    }
  }

  /// How a later run can name the same pipeline, wherever it is started: a name, or a file's whole path.
  static func reference(to wish: String) -> String {
    wish.contains("/") || wish.hasSuffix(".json") ? URL(fileURLWithPath: wish).path : wish
  }

  /// Looks at it as closely as a run would; a name that nothing bears is an error of the review.
  /// `model` is one to take instead of its own.
  static func review(_ wish: String, model: String?) -> PipelineReview {
    do throws(PipelineError) {
      switch try place(of: wish) {
      case .file(let file): return PipelineReview(contentsOf: file, surroundings: surroundings, modelReference: model)
      case .definition(let definition): return PipelineReview(definition.using(model: model))
      }
    } catch {
      return PipelineReview(error)
    }
  }

  private static func place(of wish: String) throws(PipelineError) -> DefinitionSurroundings.Base {
    if wish.contains("/") || wish.hasSuffix(".json") { return .file(URL(fileURLWithPath: wish)) }
    if let base = bases(wish).first { return base }
    let hint = NearestName.hint(for: wish, in: names)
    throw PipelineError(
      code: .sourceError,
      "there is no pipeline '\(wish)'\(hint); 'surfjournal pipelines' lists them, and a file is named by its path, "
        + "such as ./\(wish).json")
  }

  /// What definitions may refer to.
  private static var surroundings: DefinitionSurroundings {
    DefinitionSurroundings(vocabulary: .journal, names: names, bases: bases)
  }

  /// What a name means, the nearest first.
  @Sendable private static func bases(_ name: String) -> [DefinitionSurroundings.Base] {
    let files = folders.map { "\($0)/\(name).json" }.filter { FileManager.default.fileExists(atPath: $0) }
    let preset = PipelineDefinition.presets.first { $0.name == name }
    return files.map { .file(URL(fileURLWithPath: $0)) } + (preset.map { [.definition($0)] } ?? [])
  }

  private static var names: [String] {
    let files = folders.flatMap { (try? FileManager.default.contentsOfDirectory(atPath: $0)) ?? [] }
    return Set(files.compactMap(name) + PipelineDefinition.presets.map(\.name)).sorted()
  }

  /// The name of the pipeline that a file defines, if it is a definition.
  private static func name(of file: String) -> String? {
    file.hasSuffix(".json") && !file.hasSuffix(".schema.json") ? String(file.dropLast(".json".count)) : nil
  }

  private static func read(_ path: String) throws(PipelineError) -> PipelineDefinition {
    try PipelineDefinition(contentsOf: URL(fileURLWithPath: path), surroundings: surroundings)
  }
}
