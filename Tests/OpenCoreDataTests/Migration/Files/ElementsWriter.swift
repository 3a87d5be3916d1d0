import Foundation
import ModelTestSupport

@testable import ManagedObjectModel
@testable import OpenCoreData

/// Writes a model as the editor's own objects, as in an `elements` file and in a mapping model.
struct ElementsWriter {
  private let builder = ArchiveBuilder()
  private let entities: [String: [String: Any]]
  private let properties: [ObjectIdentifier: [String: Any]]

  static func base64(_ model: NSManagedObjectModel) throws -> String {
    try ElementsWriter(model).archive(model).base64EncodedString(options: .lineLength64Characters)
  }

  /// References go both ways, so all entities and properties have their places first.
  private init(_ model: NSManagedObjectModel) {
    let builder = builder
    entities = model.entitiesByName.mapValues { _ in builder.object("XDPMEntity") }
    properties = Dictionary(
      uniqueKeysWithValues: model.entities.flatMap(\.ownProperties).map {
        let kind = $0 is NSRelationshipDescription ? "XDPMRelationship" : "XDPMAttribute"
        return (ObjectIdentifier($0), builder.object(kind))
      })
  }

  private func archive(_ model: NSManagedObjectModel) throws -> Data {
    for entity in model.entities { fill(entity) }
    let package = builder.object(
      "XDModelPackage", ["XDBucketForClassesstorage": builder.dictionary(entities.map { ($0.key, $0.value) })])
    let root = builder.object(
      "XDPMModel", ["_xd_rootPackage": package, "_configurationsByName": builder.dictionary([])])
    return try builder.xml(root: root)
  }

  private func settings(_ values: [(String, [String: Any])]) -> [String: Any] {
    let parts = values.map { name, value in (name, builder.object("XDUMLPropertyImp", ["_default": value])) }
    let stereotype = builder.object(
      "XDUMLStereotypeImp", ["XDBucketForOwnedAttributesstorage": builder.dictionary(parts)])
    return builder.dictionary([("XD_PStereotype", stereotype)])
  }

  private func fill(_ entity: NSEntityDescription) {
    guard let name = entity.name, let place = entities[name] else { return }
    let above = entity.superentity?.name.flatMap { entities[$0] }.map {
      builder.object("XDUMLGeneralizationImp", ["_general": $0])
    }
    let constraints = entity.uniquenessConstraintNames.map { builder.list($0.map(builder.add)) }
    builder.set(
      place,
      [
        "_name": builder.add(name),
        "XDBucketForGeneralizationsstorage": builder.list([above].compactMap(\.self)),
        "XDBucketForOwnedAttributesstorage": builder.dictionary(
          entity.ownProperties.map { ($0.name, properties[ObjectIdentifier($0)] ?? builder.null) }),
        "XDBucketForStereotypesstorage": settings([
          ("XD_PSK_isAbstract", builder.add(entity.isAbstract)),
          ("XD_PSK_entityClassName", builder.add("NSManagedObject")),
          ("XD_PSK_versionHashModifier", builder.optional(entity.versionHashModifier)),
          ("XDPMUniquenessConstraints", builder.list(constraints)),
        ]),
      ])
    for property in entity.ownProperties { fill(property) }
  }

  private func fill(_ property: NSPropertyDescription) {
    guard let place = properties[ObjectIdentifier(property)] else { return }
    var values: [(String, [String: Any])] = [
      ("XD_PPSK_isOptional", builder.add(property.isOptional)),
      ("XD_PPSK_isTransient", builder.add(property.isTransient)),
      ("XD_PPSK_versionHashModifier", builder.optional(property.versionHashModifier)),
    ]
    if let attribute = property as? NSAttributeDescription {
      values += [
        ("XD_PAttK_attributeType", builder.add(Int(attribute.attributeType.rawValue))),
        ("XD_PAttK_defaultValueAsString", builder.optional(attribute.defaultValue.map { "\($0)" })),
        ("XD_PAttK_allowsExternalBinaryDataStorage", builder.add(attribute.allowsExternalBinaryDataStorage)),
      ]
    } else if let relationship = property as? NSRelationshipDescription {
      let inverse = relationship.inverseRelationship.flatMap { properties[ObjectIdentifier($0)] }
      values += [
        ("XD_PRK_isToMany", builder.add(relationship.isToMany)),
        ("XD_PRK_ordered", builder.add(relationship.isOrdered)),
        ("XD_PRK_deleteRule", builder.add(1)), ("XD_PRK_minCount", builder.add(relationship.minCount)),
        ("XD_PRK_maxCount", builder.add(relationship.maxCount)),
        ("XD_PRK_destination", relationship.destinationEntity?.name.flatMap { entities[$0] } ?? builder.null),
        ("XD_PRK_inverseRelationship", inverse ?? builder.null),
      ]
    }
    let owner = property.owner?.name.flatMap { entities[$0] }
    builder.set(
      place,
      [
        "_name": builder.add(property.name), "_owner": owner ?? builder.null,
        "XDBucketForStereotypesstorage": settings(values),
      ])
  }
}
