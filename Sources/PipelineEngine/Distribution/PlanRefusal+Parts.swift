import OpenCoreData

/// What a part must be so that its workers know what the parts before it have imported.
extension PlanRefusal {
  static func check(
    _ part: ImportEnvironment, after earlier: ImportEnvironment
  ) throws(PipelineError) {
    let (entity, root) = (part.definition.entity, part.store.entity.rootEntity)
    let created = earlier.links.filter { $0.policy == .create }
    if !part.definition.key.isEmpty {
      let isFilled = earlier.store.entity.rootEntity === root
      if isFilled || created.contains(where: { $0.entity.rootEntity === root }) {
        throw refused(
          "key",
          "the part of \(earlier.definition.entity) imports or creates \(entity) entries too, whose keys are not known when "
            + "this one is planned; plan the parts one after the other, or import them with 'import'")
      }
    }
    // Values of objects that workers have created are final when the plan is reported.
    for link in part.links {
      let compared = Set(
        link.by + (link.different == .reject ? link.otherSlots : []).map { link.entity.attributeSlots[$0].name })
      let unsettled = created.filter { $0.entity.rootEntity === link.entity.rootEntity }.flatMap { other in
        other.otherSlots.map { other.entity.attributeSlots[$0].name }
      }
      guard let name = compared.intersection(unsettled).min() else { continue }
      throw refused(
        part.definition.columnPath(link.columns[0]),
        "records of \(earlier.definition.entity) create \(link.destinationName) objects, whose '\(name)' is known when the plan "
          + "is reported; plan the parts one after the other, or import them with 'import'")
    }
  }
}
