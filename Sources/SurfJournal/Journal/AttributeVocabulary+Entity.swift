import OpenCoreData
import PipelineEngine
import TableGuessing

extension AttributeVocabulary {
  /// The attributes of an entity that columns can fill. A column is one of them by its label only.
  init(_ entity: NSEntityDescription) {
    let attributes = entity.fillableTypes.sorted { $0.key < $1.key }.map { name, type in
      let description = entity.attributesByName[name]
      let isRequired = description.map { !$0.isOptional && $0.defaultValue == nil } ?? false
      return Attribute(name, Kind(type), isRequired: isRequired)
    }
    self.init(
      attributes: attributes, timeLabels: Self.journal.timeLabels, dayFirstLabels: Self.journal.dayFirstLabels,
      needsLabels: true)
  }

  /// The attributes of the entity with a name.
  ///
  /// - Parameters:
  ///   - name: The entity.
  ///   - model: The model's file or name, from the current directory; nil for that of the store.
  ///   - store: The store's file, which may not exist yet.
  /// - Throws: A `PipelineError` for a name that the model does not have; an error of OpenCoreData for a model or a store
  ///   that can't be read.
  package init(entity name: String, model: String?, store: String?) throws {
    let definition = PipelineDefinition(entity: name, vocabulary: .journal).using(model: model)
    let found = try RunModel(definition, given: nil, store: store)
    let entity = try definition.entity(in: found.model)
    guard !entity.isAbstract else {
      throw PipelineError(path: "entity", "the entity '\(name)' is abstract and has no objects; name a subentity of it")
    }
    self.init(entity)
  }
}

extension AttributeVocabulary.Kind {
  fileprivate init(_ type: ColumnType) {
    self =
      switch type {
      case .date: .date
      case .integer: .whole
      case .real, .single, .decimal: .decimal
      case .boolean: .boolean
      case .text, .uuid, .uri, .binary, .archive: .text
      }
  }
}
