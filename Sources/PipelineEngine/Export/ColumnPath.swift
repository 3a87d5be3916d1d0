import ManagedObjectModel
import OpenCoreData

/// An attribute of an entity, or one that is reached from it over to-one relationships: `author.address.city`.
struct ColumnPath: Sendable, Hashable {
  /// Relationships, and the attribute at the end.
  let names: [String]
  let type: ColumnType

  var text: String { names.joined(separator: ".") }
  /// The attribute of the entity itself; nil for a path over a relationship.
  var ownAttribute: String? { names.count == 1 ? names.first : nil }

  /// A path over a to-many relationship, whose values a column joins.
  init(listing text: String, of entity: NSEntityDescription) throws(PipelineError) {
    names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard names.count == 2, let relationship = entity.relationshipsByName[names[0]], relationship.isToMany,
      let destination = relationship.destinationEntity
    else {
      let known = entity.relationshipsByName.filter { $0.value.isToMany }.keys.sorted()
      throw PipelineError(
        "'\(text)' is not a to-many relationship of \(entity.name ?? "") and an attribute behind it, whose values a "
          + "separator could divide; \(known.isEmpty ? "it has none" : "it has \(ObjectReader.list(known))")")
    }
    guard let type = destination.columnType(named: names[1]) else {
      throw Self.noAttribute(names[1], destination, front: names.dropLast())
    }
    self.type = type
  }

  /// Whether it ends at the number of an object instead of an attribute, by which the files of an export name it.
  var isOfRecord: Bool { names.last == PipelineDefinition.recordName }

  /// A path to the numbers of the entries, or of the objects that a relationship leads to.
  init(toRecords text: String, of entity: NSEntityDescription) throws(PipelineError) {
    (names, type) = (text.split(separator: ".").map(String.init), .text)
    guard names.count <= 2, names.count == 1 || entity.relationshipsByName[names[0]] != nil else {
      throw PipelineError(
        "'\(text)' is not '\(PipelineDefinition.recordName)' of \(entity.name ?? "") or of an object that a "
          + "relationship leads to; remove the column")
    }
  }

  /// Throws what of `text` does not exist or has no single value.
  init(_ text: String, of entity: NSEntityDescription) throws(PipelineError) {
    names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let path: AttributePath
    do {
      path = try AttributePath(following: names, of: entity)
    } catch {
      throw Self.problem(error, names)
    }
    let last = names.last ?? ""
    if case .object = path.end, let relationship = path.relationships.last, relationship.name == last {
      throw Self.noAttribute(last, relationship.entity, front: names.dropLast())
    }
    let owner = path.relationships.last?.destinationEntity ?? entity
    guard case .attribute = path.end, let type = owner.columnType(named: last) else {
      throw Self.noAttribute(last, owner, front: names.dropLast())
    }
    self.type = type
  }

  private static func problem(_ problem: AttributePath.Problem, _ names: [String]) -> PipelineError {
    switch problem {
    case .leadsToMany(let relationship):
      PipelineError(
        "'\(relationship.name)' of \(relationship.entity.name ?? "") leads to many objects, and a column has one "
          + "value; "
          + "join their values with \"separator\": \";\", or export \(relationship.destinationEntity?.name ?? "") "
          + "by itself"
          + (relationship.inverseRelationship.map { ", with a column '\($0.name).…' of this side" } ?? ""))
    case .unknown(let name, let entity):
      name == names.last ? noAttribute(name, entity, front: names.dropLast()) : noRelationship(name, entity)
    }
  }

  private static func noRelationship(_ name: String, _ entity: NSEntityDescription) -> PipelineError {
    let owner = entity.name ?? ""
    if entity.attributesByName[name] != nil {
      return PipelineError("'\(name)' of \(owner) is an attribute, and nothing lies beyond it; end the path there")
    }
    let known = entity.relationshipsByName.filter { !$0.value.isToMany }.keys.sorted()
    let rest = known.isEmpty ? "it has none that leads to one object" : "it has \(ObjectReader.list(known))"
    return PipelineError("\(owner) has no relationship '\(name)'; \(rest)\(NearestName.hint(for: name, in: known))")
  }

  private static func noAttribute(
    _ name: String, _ entity: NSEntityDescription, front: ArraySlice<String>
  ) -> PipelineError {
    let (owner, types) = (entity.name ?? "", entity.columnTypes)
    if let destination = entity.relationshipsByName[name]?.destinationEntity {
      let attribute = destination.columnTypes.keys.sorted().first ?? "…"
      let path = (front + [name, attribute]).joined(separator: ".")
      return PipelineError("'\(name)' of \(owner) is a relationship; name an attribute behind it, such as \(path)")
    }
    if entity.attributesByName[name] != nil {
      return PipelineError("'\(name)' of \(owner) is not kept in stores, so it has no value to write; leave it out")
    }
    let known = types.keys.sorted()
    let rest = known.isEmpty ? "it has none" : "it has \(ObjectReader.list(known))"
    return PipelineError(
      "\(owner) has no attribute '\(name)' that can be written as CSV; \(rest)\(NearestName.hint(for: name, in: known))"
    )
  }
}
