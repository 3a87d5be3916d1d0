import Foundation

/// What a definition file may refer to that it does not hold: variables, the program's own names, and other pipelines
/// by name.
public struct DefinitionEnvironment: Sendable {
  /// What a name in `extends` stands for.
  public enum Base: Sendable {
    case file(URL)
    /// One made in code. Its paths are those of the definition that extends it.
    case definition(PipelineDefinition)
  }

  /// Values of `${NAME}`.
  public var variables: [String: String]
  /// Names and defaults of the program.
  public var vocabulary: DefinitionVocabulary
  /// The names that `extends` may use, offered for a mistyped one.
  public var names: [String]
  /// What a name stands for, the nearest first; empty for an unknown one. A definition that extends its own name
  /// means the one behind it: a file `log.json` the built-in pipeline `log`.
  public var bases: @Sendable (_ name: String) -> [Base]

  /// Without anything else the variables of this process, and no names.
  public init(
    variables: [String: String] = ProcessInfo.processInfo.environment,
    vocabulary: DefinitionVocabulary = DefinitionVocabulary(), names: [String] = [],
    bases: @escaping @Sendable (_ name: String) -> [Base] = { _ in [] }
  ) {
    self.variables = variables
    self.vocabulary = vocabulary
    self.names = names
    self.bases = bases
  }
}
