import Foundation

/// What a definition file may refer to that it does not hold: variables, and other pipelines by name.
public struct DefinitionSurroundings: Sendable {
  /// What a name in `extends` stands for.
  public enum Base: Sendable {
    case file(URL)
    /// One made in code. Its paths are those of the definition that extends it.
    case definition(PipelineDefinition)
  }

  /// Values of `${NAME}`.
  public var environment: [String: String]
  /// The names that `extends` may use, offered for a mistyped one.
  public var names: [String]
  /// What a name stands for, the nearest first; empty for an unknown one. A definition that extends its own name
  /// means the one behind it: a file `surf-log.json` the built-in pipeline.
  public var bases: @Sendable (_ name: String) -> [Base]

  /// Without anything else the variables of this process, and no names.
  public init(
    environment: [String: String] = ProcessInfo.processInfo.environment, names: [String] = [],
    bases: @escaping @Sendable (_ name: String) -> [Base] = { _ in [] }
  ) {
    self.environment = environment
    self.names = names
    self.bases = bases
  }
}
