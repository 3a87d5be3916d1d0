import Foundation

/// Reads a `.cdm`: a keyed archive of an `NSMappingModel`. Like compiled models it is read as a table of values.
struct CompiledMappingReader {
  private let archive: KeyedArchive

  static func read(_ data: Data) throws(ArchiveProblem) -> [FileEntityMapping] {
    let reader = CompiledMappingReader(archive: try KeyedArchive(data))
    guard let model = reader.archive.object(reader.archive.root), model.className == "NSMappingModel",
      let members = reader.archive.members(model.values["NSEntityMappings"])
    else { throw ArchiveProblem("it has no list of entity mappings") }
    var result: [FileEntityMapping] = []
    for member in members { result.append(try reader.entity(member)) }
    return result
  }

  private func entity(_ value: ArchiveValue) throws(ArchiveProblem) -> FileEntityMapping {
    guard let mapping = archive.object(value), mapping.className == "NSEntityMapping",
      let name = archive.text(mapping.values["NSMappingName"])
    else { throw ArchiveProblem("one of its entity mappings has no name") }
    guard let type = archive.integer(mapping.values["NSMappingType"]), (0...5).contains(type) else {
      throw ArchiveProblem("the type of the entity mapping '\(name)' is not known")
    }
    return FileEntityMapping(
      name: name, type: type,
      source: try entity(mapping.values["NSSourceEntityName"], hash: mapping.values["NSSourceEntityVersionHash"], name),
      destination: try entity(
        mapping.values["NSDestinationEntityName"], hash: mapping.values["NSDestinationEntityVersionHash"], name),
      sourceExpression: try archive.mappingExpression(mapping.values["NSSourceExpression"], of: "'\(name)'"),
      policyClassName: archive.text(mapping.values["NSEntityMigrationPolicyClassName"]),
      attributes: try properties(mapping.values["NSAttributeMappings"], of: name),
      relationships: try properties(mapping.values["NSRelationshipMappings"], of: name),
      userInfo: try archive.userInfo(mapping.values["NSUserInfo"]))
  }

  private func entity(
    _ name: ArchiveValue?, hash: ArchiveValue?, _ mapping: String
  ) throws(ArchiveProblem) -> FileEntity? {
    guard let name = archive.text(name) else { return nil }
    switch archive.foundationValue(hash) {
    case let hash as Data: return FileEntity(name: name, versionHash: hash)
    case nil where archive.resolved(hash) == .null: return FileEntity(name: name, versionHash: nil)
    default: throw ArchiveProblem("the version hash of '\(name)' in the entity mapping '\(mapping)' is not data")
    }
  }

  private func properties(_ value: ArchiveValue?, of entity: String) throws(ArchiveProblem) -> [FilePropertyMapping] {
    guard archive.resolved(value) != .null else { return [] }
    guard let members = archive.members(value) else {
      throw ArchiveProblem("the properties of the entity mapping '\(entity)' are not a list")
    }
    var result: [FilePropertyMapping] = []
    for member in members {
      guard let mapping = archive.object(member), mapping.className == "NSPropertyMapping",
        let name = archive.text(mapping.values["NSDestinationPropertyName"])
      else { throw ArchiveProblem("a property mapping of '\(entity)' has no name") }
      guard archive.resolved(mapping.values["NSPropertyTransforms"]) == .null else {
        throw ArchiveProblem("'\(entity).\(name)' has transforms, whose form is not known")
      }
      result.append(
        FilePropertyMapping(
          name: name,
          expression: try archive.mappingExpression(mapping.values["NSValueExpression"], of: "'\(entity).\(name)'"),
          userInfo: try archive.userInfo(mapping.values["NSUserInfo"])))
    }
    return result
  }
}
