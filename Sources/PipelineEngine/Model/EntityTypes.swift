import Foundation
import OpenCoreData

extension NSEntityDescription {
  /// The types of the attributes that a store keeps, by name.
  package var columnTypes: [String: ColumnType] {
    attributesByName.filter { !$0.value.isTransient }.compactMapValues { ColumnType($0.attributeType) }
  }

  /// The type of one of these attributes; nil for any other name.
  package func columnType(named name: String) -> ColumnType? {
    guard let attribute = attributesByName[name], !attribute.isTransient else { return nil }
    return ColumnType(attribute.attributeType)
  }

  /// The type of what a column fills: an attribute of the entity, or of a related one.
  package func columnType(of column: ColumnDefinition) -> ColumnType? {
    guard let (relationship, name) = column.relatedAttribute else { return columnType(named: column.attribute) }
    return relationshipsByName[relationship]?.destinationEntity?.columnType(named: name)
  }

  /// Those that a column can fill: the store computes derived attributes.
  package var fillableTypes: [String: ColumnType] {
    let attributes = attributesByName
    return columnTypes.filter { !(attributes[$0.key] is NSDerivedAttributeDescription) }
  }
}

extension NSRelationshipDescription {
  var destinationName: String { destinationEntity?.name ?? "" }
}

extension ColumnType {
  /// `nil` for a type that has no column in a store, or more than one.
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
  package func entity(in model: NSManagedObjectModel) throws(PipelineError) -> NSEntityDescription {
    if let found = model.entitiesByName[entity] { return found }
    if entity.isEmpty {
      throw PipelineError(path: "entity", "is not given; name the entity of the model that records become")
    }
    let names = model.entities.compactMap(\.name).sorted()
    let hint = NearestName.hint(for: entity, in: names)
    throw PipelineError(
      path: "entity",
      "the model has no entity '\(entity)'; it has \(names.joined(separator: ", ")). Name one of these, or another "
        + "model with --model or in the pipeline\(hint)")
  }
}
