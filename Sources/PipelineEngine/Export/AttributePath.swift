import OpenCoreData

/// An attribute of an entity, or one that to-one relationships lead to from it: `author.address.city`.
struct AttributePath: Sendable, Hashable {
  /// Relationships, and the attribute at the end.
  let names: [String]
  let type: ColumnType

  var text: String { names.joined(separator: ".") }
  /// The attribute of the entity itself; nil where a relationship leads elsewhere.
  var ownAttribute: String? { names.count == 1 ? names.first : nil }

  /// Throws what of `text` is not there, or has no single value.
  init(_ text: String, of entity: NSEntityDescription) throws(PipelineError) {
    names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var place = entity
    for name in names.dropLast() { place = try Self.destination(of: name, place) }
    let last = names.last ?? ""
    guard let type = place.columnTypes[last] else { throw Self.noAttribute(last, place, front: names.dropLast()) }
    self.type = type
  }

  private static func destination(
    of name: String, _ entity: NSEntityDescription
  ) throws(PipelineError) -> NSEntityDescription {
    let place = entity.name ?? ""
    guard let relationship = entity.relationshipsByName[name], let destination = relationship.destinationEntity else {
      if entity.attributesByName[name] != nil {
        throw PipelineError("'\(name)' of \(place) is an attribute, and nothing lies beyond it; end the path there")
      }
      let known = entity.relationshipsByName.filter { !$0.value.isToMany }.keys.sorted()
      let rest = known.isEmpty ? "it has none that leads to one object" : "it has \(ObjectReader.list(known))"
      throw PipelineError("\(place) has no relationship '\(name)'; \(rest)\(NearestName.hint(for: name, in: known))")
    }
    guard !relationship.isToMany else {
      throw PipelineError(
        "'\(name)' of \(place) leads to many objects, and a column has one value; export \(destination.name ?? "") by "
          + "itself" + (relationship.inverseRelationship.map { ", with a column '\($0.name).…' of this side" } ?? ""))
    }
    return destination
  }

  private static func noAttribute(
    _ name: String, _ entity: NSEntityDescription, front: ArraySlice<String>
  ) -> PipelineError {
    let (place, types) = (entity.name ?? "", entity.columnTypes)
    if let destination = entity.relationshipsByName[name]?.destinationEntity {
      let attribute = destination.columnTypes.keys.sorted().first ?? "…"
      let path = (front + [name, attribute]).joined(separator: ".")
      return PipelineError("'\(name)' of \(place) is a relationship; name an attribute behind it, such as \(path)")
    }
    if entity.attributesByName[name] != nil {
      return PipelineError("'\(name)' of \(place) is not kept in stores, so there is nothing to write; leave it out")
    }
    let known = types.keys.sorted()
    let rest = known.isEmpty ? "it has none" : "it has \(ObjectReader.list(known))"
    return PipelineError(
      "\(place) has no attribute '\(name)' that can be written as CSV; \(rest)\(NearestName.hint(for: name, in: known))"
    )
  }
}
