import Foundation

/// The context in which a definition file is read: variables, the program's own names, and other pipelines by name.
public struct DefinitionEnvironment: Sendable {
  /// The definition that a name in `extends` refers to.
  public enum Base: Sendable {
    /// A definition file.
    case file(URL)
    /// A definition made in code. Its relative paths start where those of the extending definition start.
    case definition(PipelineDefinition)
  }

  /// Values of `${NAME}`.
  public var variables: [String: String]
  /// Names and defaults of the program.
  public var vocabulary: DefinitionVocabulary
  /// The names that `extends` may use; suggestions for a mistyped name are taken from them.
  public var names: [String]
  /// The definitions with a name, the nearest first; empty for an unknown name. A definition that extends its own
  /// name extends the next one: a file `log.json` extends the built-in pipeline `log`.
  public var bases: @Sendable (_ name: String) -> [Base]

  /// Creates an environment; by default with the variables of this process and no names.
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
