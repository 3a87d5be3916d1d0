import Foundation

extension PipelineDefinition {
  /// A text that names a model, such that it means the same from any folder: a file's whole path, or a name.
  package static func modelReference(_ text: String) -> String {
    isModelPath(text) ? DefinitionPath.url(text, from: nil).path : text
  }

  /// The definition with another model, named from the current directory; the same for nil.
  package func using(model: String?) -> PipelineDefinition {
    guard let model else { return self }
    var definition = self
    definition.model = Self.modelReference(model)
    return definition
  }

  /// Whether a text names a model file, and not an embedded model.
  package static func isModelPath(_ text: String) -> Bool {
    let endings = [".xcdatamodeld", ".xcdatamodel", ".momd", ".mom"]
    return text.contains("/") || text.hasPrefix("~") || endings.contains { text.lowercased().hasSuffix($0) }
  }

  /// How the model is called, wherever its file lies.
  package var modelName: String {
    guard let model else { return vocabulary.model ?? "" }
    guard Self.isModelPath(model) else { return model }
    return url(for: model).deletingPathExtension().lastPathComponent
  }

  /// What reads and writes every attribute of an entity under its name, whatever its value: without rules, and with room
  /// for large data. Its columns are looked up in the model by a run with ``RunOptions/fillsAttributesByName``.
  public init(entity: String, vocabulary: DefinitionVocabulary = DefinitionVocabulary()) {
    var dialect = DialectDefinition.rfc4180
    dialect.nulBytes = .keep
    var limits = LimitsDefinition()
    limits.fieldBytesMax = 256 << 20
    limits.recordBytesMax = 256 << 20
    self.init(
      name: entity, dialect: dialect, entity: entity, limits: limits,
      export: ExportDefinition(dateFormat: Self.exactDates, dialect: dialect), vocabulary: vocabulary)
  }

  /// Formats of which one brings back any date.
  package static let exactDates = ["iso8601", "seconds"]
}
