import Foundation

/// What the default policy does with single objects.
extension CustomMigration {
  // MARK: Instances

  /// Makes the destination instance of a source object and associates both.
  func makeInstance(of source: NSManagedObject, _ mapping: NSEntityMapping) throws {
    guard let step = step(mapping), let entity = step.destination, let plan = step.attributes else {
      throw NSError.mapping(mapping, "it makes no instances of source objects")
    }
    guard !entity.isAbstract else {
      throw NSError.mapping(mapping, "\(entity.name ?? "") is abstract, and has no objects")
    }
    if let expected = step.source, source.entity !== expected, !source.entity.isKindOf(entity: expected) {
      throw NSError.mapping(
        mapping,
        "it reads objects of \(expected.name ?? ""), and \(source.objectID) is one of \(source.entity.name ?? "")")
    }
    let object = NSManagedObject(entity: entity, insertInto: destinationContext)
    plan.copy(source, to: object)
    if !plan.evaluations.isEmpty {
      step.set(source, for: NSMigrationSourceObjectKey)
      step.set(object, for: NSMigrationDestinationObjectKey)
      for part in plan.evaluations { try evaluate(part, for: object, of: source, in: step) }
    }
    step.associations.add(source, object)
  }

  private func evaluate(
    _ part: AttributePlan.Evaluation, for object: NSManagedObject, of source: NSManagedObject, in step: Step
  ) throws {
    step.set(part.mapping, for: NSMigrationPropertyMappingKey)
    let value = try part.expression.value(with: source, variables: step.variables)
    let attribute = object.entity.attributeSlots[part.slot]
    guard let stored = attribute.encodedValue(from: value is NSNull ? nil : value) else {
      throw NSError.coreData(
        .migration,
        "The value expression of \(object.entity.name ?? "").\(attribute.name) gives \(value.map { "\(type(of: $0))" } ?? "nil") "
          + "for \(source.objectID), which the attribute does not store. Change the expression, or CAST its value.")
    }
    object.setStoredValue(stored, at: part.slot)
  }

  // MARK: Relationships

  /// Sets the relationships of a destination instance, from the source object that it was made of first.
  func makeRelationships(of object: NSManagedObject, _ mapping: NSEntityMapping) throws {
    guard let step = step(mapping), let plan = step.relationships, !plan.parts.isEmpty else { return }
    if let linking, linking.object === object, linking.links.isOpen, !destinationContext.graph.hasChanges,
      linking.links.link(linking.index)
    {
      return
    }
    try linking?.prepare()
    try makeRelationships(of: object, step, plan.parts)
  }

  /// Sets some relationships of an instance, by objects.
  func makeRelationships(of object: NSManagedObject, _ step: Step, _ parts: [RelationshipPlan.Part]) throws {
    let source = step.associations.sources(of: object).first
    for part in parts {
      switch part.content {
      case .instances(let name, let old):
        guard let source else { continue }
        try link(object, part, to: try instances(of: related(old, source), by: name, for: part.relationship))
      case .expression(let expression):
        step.set(source.map(sourceContext.object(with:)), for: NSMigrationSourceObjectKey)
        step.set(object, for: NSMigrationDestinationObjectKey)
        step.set(part.mapping, for: NSMigrationPropertyMappingKey)
        let value = try expression.value(
          with: source.map(sourceContext.object(with:)), variables: step.variables)
        guard let found = objects(in: value) else { throw wrongEnd(part, of: object, "\(type(of: value))") }
        try link(object, part, to: found)
      }
    }
  }

  private func related(_ relationship: NSRelationshipDescription, _ source: NSManagedObjectID) throws
    -> [NSManagedObjectID]
  {
    if let known = relatedSources[ObjectIdentifier(relationship)]?[source.key] { return known }
    return try sourceContext.relatedIDs(relationship, of: [source])[0]
  }

  func instances(
    of sources: [NSManagedObjectID], by name: String?, for relationship: NSRelationshipDescription
  ) throws -> [NSManagedObject] {
    guard let name else {
      return sources.flatMap { instances(ofAnyMapping: $0.key) }.filter { relationship.mayLead(to: $0.entity) }
    }
    guard let table = associations(name) else { return [] }
    return sources.flatMap { table.destinations(of: $0.key, in: destinationContext) }
  }

  private func link(
    _ object: NSManagedObject, _ part: RelationshipPlan.Part, to ends: [NSManagedObject]
  ) throws {
    let relationship = part.relationship
    for end in ends {
      guard relationship.mayLead(to: end.entity), end.managedObjectContext === destinationContext else {
        throw wrongEnd(part, of: object, "\(end.objectID)")
      }
    }
    guard relationship.isToMany else {
      if object.related(relationship).first !== ends.first { object.setRelated(ends.first, relationship) }
      return
    }
    let before = try object.loadedIDs(relationship).map(\.key)
    let after = ends.map(\.key)
    if relationship.isOrdered ? before == after : Set(before) == Set(after) { return }
    var seen: Set<ObjectKey> = []
    object.setRelated(ends.filter { seen.insert($0.key).inserted }, relationship)
  }

  private func wrongEnd(_ part: RelationshipPlan.Part, of object: NSManagedObject, _ found: String) -> NSError {
    .coreData(
      .migration,
      "The value expression of \(object.entity.name ?? "").\(part.relationship.name) gives \(found), which can't be at its "
        + "other end. Ask the manager for destination instances of the entity "
        + "\(part.relationship.destinationEntity?.name ?? "").")
  }

  /// The objects of a single one, a list, a set or an ordered set; nil for other values.
  func objects(in value: Any?) -> [NSManagedObject]? {
    switch value {
    case nil, is NSNull: []
    case let object as NSManagedObject: [object]
    case let list as [Any?]: all(list)
    case let list as NSArray: all(list.map { $0 })
    case let set as NSSet: all(set.allObjects)
    case let set as NSOrderedSet: all(set.array)
    default: nil
    }
  }

  private func all(_ list: [Any?]) -> [NSManagedObject]? {
    let objects = list.compactMap { $0 as? NSManagedObject }
    return objects.count == list.count ? objects : nil
  }
}

extension NSRelationshipDescription {
  /// Whether an object of the entity can be at the other end.
  fileprivate func mayLead(to entity: NSEntityDescription) -> Bool {
    destinationEntity.map(entity.isKindOf) ?? false
  }
}
