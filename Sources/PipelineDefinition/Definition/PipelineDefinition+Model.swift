import Foundation

extension PipelineDefinition {
  /// A reference to a model that is independent of the current folder: a file's absolute path, or a name.
  package static func modelReference(_ text: String) -> String {
    isModelPath(text) ? DefinitionPath.url(text, from: nil).path : text
  }

  /// The definition with another model, whose path is relative to the current directory; unchanged for nil.
  package func using(model: String?) -> PipelineDefinition {
    guard let model else { return self }
    var definition = self
    definition.model = Self.modelReference(model)
    return definition
  }

  /// Whether a text is the path of a model file rather than the name of an embedded model.
  package static func isModelPath(_ text: String) -> Bool {
    let endings = [".xcdatamodeld", ".xcdatamodel", ".momd", ".mom"]
    return text.contains("/") || text.hasPrefix("~") || endings.contains { text.lowercased().hasSuffix($0) }
  }

  /// The model's name, regardless of its file's folder.
  package var modelName: String {
    guard let model else { return vocabulary.model ?? "" }
    guard Self.isModelPath(model) else { return model }
    return url(for: model).deletingPathExtension().lastPathComponent
  }

  /// A definition that reads and writes every attribute of an entity under its name and preserves every value:
  /// without rules, and with limits for large data. A run with ``RunOptions/fillsAttributesByName`` takes its columns
  /// from the model.
  public init(entity: String, vocabulary: DefinitionVocabulary = DefinitionVocabulary()) {
    var dialect = DialectDefinition.rfc4180
    dialect.nulBytes = .keep
    var limits = LimitsDefinition()
    limits.fieldBytesMax = 256 << 20
    limits.recordBytesMax = 256 << 20
    self.init(
      name: entity, dialect: dialect, missingColumns: .ignore, entity: entity, limits: limits,
      export: ExportDefinition(dateFormat: Self.exactDates, dialect: dialect), vocabulary: vocabulary)
  }

  /// Formats that together preserve any date.
  package static let exactDates = ["iso8601", "seconds"]
  /// Formats that read what ``exactDates`` write, and nothing else: a number of digits such as `20240101` could be
  /// meant otherwise.
  package static let exactlyReadDates = ["iso8601", DateFormat.infinity.text]
}
