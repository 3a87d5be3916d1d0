import OpenCoreData

extension NSEntityDescription {
  /// The attributes a column can fill, and what its text is read as.
  package var columnTypes: [String: ColumnType] {
    attributesByName.filter { !$0.value.isTransient }.compactMapValues { attribute in
      switch attribute.attributeType {
      case .integer16AttributeType: .integer16
      case .integer32AttributeType: .integer32
      case .integer64AttributeType: .integer64
      case .doubleAttributeType, .floatAttributeType: .real
      case .booleanAttributeType: .boolean
      case .dateAttributeType: .date
      case .stringAttributeType: .text
      default: nil
      }
    }
  }
}

extension PipelineDefinition {
  /// The entity that the definition names.
  func entity(in model: NSManagedObjectModel) throws(PipelineError) -> NSEntityDescription {
    if let found = model.entitiesByName[entity], !found.isAbstract { return found }
    let names = model.entities.filter { !$0.isAbstract }.compactMap(\.name).sorted()
    let hint = NearestName.hint(for: entity, in: names)
    throw PipelineError(
      path: "entity", "the model has no entity '\(entity)'; it has \(names.joined(separator: ", "))\(hint)")
  }

  /// A path as the command line or the file gives it, made a file's place.
  func path(_ path: String) -> String { path == "-" ? path : url(for: path).path }
}
