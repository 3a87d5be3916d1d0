import Foundation
import OpenCoreData

extension NSEntityDescription {
  /// The attributes that a store keeps, and what their text is like.
  package var columnTypes: [String: ColumnType] {
    attributesByName.filter { !$0.value.isTransient }.compactMapValues { ColumnType($0.attributeType) }
  }

  /// Those that a column can fill: a derived attribute is the store's to compute.
  package var fillableTypes: [String: ColumnType] {
    let attributes = attributesByName
    return columnTypes.filter { !(attributes[$0.key] is NSDerivedAttributeDescription) }
  }
}

extension NSEntityDescription {
  /// What validation asks of every object beside its attributes, by name: a to-one that is set, a to-many that has
  /// `minCount` members. (A to-many without them is an empty set, which is a value.)
  var mandatoryRelationships: [NSRelationshipDescription] {
    relationshipsByName.values.filter { !$0.isOptional && !$0.isTransient && (!$0.isToMany || $0.minCount > 0) }
      .sorted { $0.name < $1.name }
  }
}

extension NSRelationshipDescription {
  var destinationName: String { destinationEntity?.name ?? "" }
}

extension ColumnType {
  /// `nil` for what has no column in a store, or more than one.
  init?(_ type: NSAttributeType) {
    switch type {
    case .integer16AttributeType: self = .integer16
    case .integer32AttributeType: self = .integer32
    case .integer64AttributeType: self = .integer64
    case .doubleAttributeType: self = .real
    case .floatAttributeType: self = .single
    case .decimalAttributeType: self = .decimal
    case .booleanAttributeType: self = .boolean
    case .dateAttributeType: self = .date
    case .stringAttributeType: self = .text
    case .UUIDAttributeType: self = .uuid
    case .URIAttributeType: self = .uri
    case .binaryDataAttributeType: self = .binary
    case .transformableAttributeType: self = .archive
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: return nil
    }
  }
}

extension PipelineDefinition {
  /// The entity that the definition names.
  func entity(in model: NSManagedObjectModel) throws(PipelineError) -> NSEntityDescription {
    if let found = model.entitiesByName[entity] { return found }
    let names = model.entities.compactMap(\.name).sorted()
    let hint = NearestName.hint(for: entity, in: names)
    throw PipelineError(
      path: "entity",
      "the model has no entity '\(entity)'; it has \(names.joined(separator: ", ")). Name one with --entity, or in "
        + "the pipeline\(hint)")
  }

  /// The store of a run; `nil` where neither the caller nor the definition names one.
  func storePath(_ options: RunOptions) -> String? {
    options.store.map { URL(fileURLWithPath: $0).path } ?? store.map(path)
  }

  /// A path as the command line or the file gives it, made a file's place.
  func path(_ path: String) -> String { path == "-" ? path : url(for: path).path }
}
