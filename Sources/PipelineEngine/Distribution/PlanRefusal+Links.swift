import OpenCoreData

/// What a link must be so that the result does not depend on which worker is first.
extension PlanRefusal {
  static func check(_ link: EntityLink, _ environment: ImportEnvironment) throws(PipelineError) {
    let definition = environment.definition
    func refuse(_ reason: String) throws(PipelineError) {
      throw refused(definition.columnPath(link.columns[0]), reason)
    }
    let (entity, object) = (definition.entity, link.destinationName)
    if environment.isDryRun {
      try refuse(
        "where '\(link.name)' leads is looked up in the store, and these workers have none; check it with 'validate', or "
          + "plan it with --store")
    }
    if link.isLate {
      try refuse(
        "'\(link.isOwnName ? link.columnName : link.name)' is about records of the files themselves, and which of them are "
          + "imported is known only when all are in the store; import it with 'import'")
    }
    if link.isExclusive {
      try refuse(
        "each \(object) can belong to one \(entity) only, so of two records that name it the second one is rejected, and "
          + "workers don't come to them in their order; import it with 'import'")
    }
    try checkOtherEnd(of: link, refuse)
    try checkValues(of: link, refuse)
    if link.policy == .create { try checkCreation(by: link, environment, refuse) }
    if !definition.key.isEmpty { try checkRepetition(of: link, environment, refuse) }
  }

  private typealias Refuse = (String) throws(PipelineError) -> Void

  private static func checkOtherEnd(of link: EntityLink, _ refuse: Refuse) throws(PipelineError) {
    guard let inverse = link.relationship.inverseRelationship else { return }
    if inverse.isOrdered {
      try refuse(
        "'\(inverse.name)' of \(link.destinationName) is a list in the order of the records, and workers don't come to them "
          + "in this order; import it with 'import'")
    }
    if inverse.maxCount > 0 || inverse.minCount > 1 {
      try refuse(
        "the model limits '\(inverse.name)' of \(link.destinationName), and which records exceed that depends on their "
          + "order; import it with 'import'")
    }
  }

  /// The other columns of a related object.
  private static func checkValues(of link: EntityLink, _ refuse: Refuse) throws(PipelineError) {
    if link.otherSlots.isEmpty { return }
    switch link.different {
    case .keep: return
    case .update:
      try refuse(
        "records change the \(link.destinationName) that they lead to, the last one decides, and workers don't come to them "
          + "in their order; set \"ifDifferent\" to keep, or import it with 'import'")
    case .reject where link.policy == .create:
      try refuse(
        "a record with other values than the \(link.destinationName) that an earlier one has created is rejected, and a worker "
          + "may come to the later one first; set \"ifDifferent\" to keep, which takes the values of the first record, or "
          + "import it with 'import'")
    case .reject: return
    }
  }

  /// What records with the key of another one say of related objects must not depend on which of them come before.
  private static func checkRepetition(
    of link: EntityLink, _ environment: ImportEnvironment, _ refuse: Refuse
  ) throws(PipelineError) {
    let (object, isUpdated) = (link.destinationName, environment.keys.updates(link))
    if isUpdated, link.policy == .leave {
      try refuse(
        "a record that names a missing \(object) leaves where the record with its key before it has led, and a worker may "
          + "not have come to that; set \"ifMissing\" to reject, or import it with 'import'")
    }
    // An update takes each record, whatever it says; other policies leave some out, with what they say of objects.
    if isUpdated, case .update = environment.definition.duplicates { return }
    if link.policy == .create {
      try refuse(
        "a record that changes nothing because of its key creates no \(object), and a worker may come to it before the one "
          + "that it comes after; set \"duplicates\" to update, or \"ifMissing\" to reject and import the \(object) objects "
          + "first, or import it with 'import'")
    }
    if !link.comparedSlots.isEmpty {
      try refuse(
        "a record that changes nothing because of its key is not compared with its \(object), and a worker may come to it "
          + "before the one that it comes after; set \"ifDifferent\" to keep, or import it with 'import'")
    }
  }

  /// Whether an object can be created must depend on what identifies it alone: otherwise a record would be rejected unless
  /// another one has created it before.
  private static func checkCreation(
    by link: EntityLink, _ environment: ImportEnvironment, _ refuse: Refuse
  ) throws(PipelineError) {
    let entity = link.entity
    for slot in link.otherSlots {
      let attribute = entity.attributeSlots[slot]
      let columns = link.columns.map { environment.definition.columns[$0] }
      let isFilled = columns.contains { column in
        column.relatedAttribute?.name == attribute.name
          && column.rules.contains { $0.kind == .required && $0.severity == .error }
      }
      let isNeeded = !attribute.isOptional && attribute.defaultStoredValue == .null && !isFilled
      guard isNeeded || attribute.hasRules else { continue }
      try refuse(
        "the model restricts '\(attribute.name)' of \(link.destinationName), and a record with a value that it refuses is "
          + "rejected unless an earlier one has created the object, which a worker can't know; import it with 'import'")
    }
    let constraints = entity.ancestry.flatMap(\.uniquenessConstraintNames)
    if let names = constraints.first(where: { !Set(link.by).isSubset(of: $0) }) {
      try refuse(
        "the model has a uniqueness constraint for \(link.destinationName) (\(names.joined(separator: ", "))), and which "
          + "record violates it depends on their order; name the same attributes with \"by\", or import it with 'import'"
      )
    }
  }
}
