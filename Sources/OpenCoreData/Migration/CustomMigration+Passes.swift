import Foundation

/// The three passes. (Apple's Core Data Model Versioning and Data Migration Programming Guide, "Three-Stage Migration".)
extension CustomMigration {
  /// Objects that are in memory at a time, unless their entity may have large values.
  private static let batchObjects = 1000
  private static let batchLargeObjects = 16

  /// To be called on the queues of both contexts.
  func run() throws {
    let indexes = try LinkIndexes(self)
    defer { indexes.endFirstPass() }
    for (number, step) in steps.enumerated() {
      try makeInstances(step, Stage(pass: 0, number: number, of: self), indexes: indexes)
    }
    indexes.endFirstPass()
    for (number, step) in steps.enumerated() {
      try makeLinks(step, Stage(pass: 1, number: number, of: self), indexes: indexes)
    }
    try indexes.restore()
    for (number, step) in steps.enumerated() {
      Stage(pass: 2, number: number, of: self).note(step.mapping, 0)
      try manager.checkCancellation()
      try step.policy.performCustomValidation(forMapping: step.mapping, manager: manager)
      try step.policy.end(step.mapping, manager: manager)
      try flush()
    }
    try validate()
    try manager.checkCancellation()
    // The metadata, where no object was made.
    try destinationContext.save()
  }

  /// One entity mapping in one pass.
  private struct Stage {
    let start: Int
    let total: Int
    let manager: NSMigrationManager

    init(pass: Int, number: Int, of migration: CustomMigration) {
      start = pass * migration.steps.count + number
      total = 3 * migration.steps.count
      manager = migration.manager
    }

    func note(_ mapping: NSEntityMapping, _ part: Float) {
      manager.note(mapping, fraction: (Float(start) + part) / Float(total))
    }
  }

  private func batchSize(_ entity: NSEntityDescription?) -> Int {
    entity?.attributeSlots.contains(where: \.allowsExternalBinaryDataStorage) == true
      ? Self.batchLargeObjects : Self.batchObjects
  }

  // MARK: First

  private func makeInstances(_ step: Step, _ stage: Stage, indexes: LinkIndexes) throws {
    stage.note(step.mapping, 0)
    try manager.checkCancellation()
    try step.policy.begin(step.mapping, with: manager)
    if step.makesInstances {
      try eachSource(of: step) { objects, done, total in
        for object in objects {
          try manager.checkCancellation()
          try step.policy.createDestinationInstances(forSource: object, in: step.mapping, manager: manager)
        }
        try flush()
        try indexes.leaveOut()
        stage.note(step.mapping, Float(done) / Float(max(total, done, 1)))
      }
    }
    try step.policy.endInstanceCreation(forMapping: step.mapping, manager: manager)
    try flush()
  }

  /// Calls `body` with each batch of the source objects, the number of objects up to its end, and that of all.
  private func eachSource(of step: Step, _ body: ([NSManagedObject], Int, Int) throws -> Void) throws {
    let size = batchSize(step.source)
    var done = 0
    switch try sources(of: step) {
    case .request(let request):
      let total = try sourceContext.count(for: request)
      try sourceContext.walkObjects(request, objectsPerBatch: size) { objects in
        done += objects.count
        try body(objects, done, total)
        return true
      }
    case .objects(let objects):
      for start in stride(from: 0, to: objects.count, by: size) {
        done = min(objects.count, start + size)
        try body(Array(objects[start..<done]), done, objects.count)
      }
    }
  }

  private enum Sources {
    case request(NSFetchRequest<NSManagedObject>)
    case objects([NSManagedObject])
  }

  private func sources(of step: Step) throws -> Sources {
    guard let expression = step.mapping.sourceExpression else {
      let request = NSFetchRequest<NSManagedObject>(entityName: step.source?.name ?? "")
      request.includesSubentities = false
      return .request(request)
    }
    // The request of a fetch is read in batches.
    let found = try (expression.fetchedRequest ?? expression).value(with: nil, variables: step.variables)
    if let request = found as? any FetchedByExpression { return .request(request.ofObjects) }
    guard let objects = objects(in: found) else {
      throw NSError.mapping(step.mapping, "its source expression is neither a fetch request nor a list of objects")
    }
    return .objects(objects)
  }

  // MARK: Second

  private func makeLinks(_ step: Step, _ stage: Stage, indexes: LinkIndexes) throws {
    stage.note(step.mapping, 0)
    try manager.checkCancellation()
    let isNeeded = step.hasOwnPolicy || step.relationships?.parts.isEmpty == false
    let (count, size) = (step.associations.count, batchSize(step.destination))
    let links = isNeeded ? try KeyedLinks(step, of: self) : nil
    if isNeeded, step.mayLookAtLinks || links?.parts.count != step.relationships?.parts.count { try indexes.restore() }
    if !step.mayLookAtLinks { try links?.deferIndexes(indexes) }
    for start in stride(from: 0, to: isNeeded ? count : 0, by: size) {
      // A policy may forget all associations.
      let end = min(count, start + size, step.associations.count)
      guard start < end else { break }
      try linkInstances(step, start..<end, by: links)
      try flush()
      stage.note(step.mapping, Float(end) / Float(count))
    }
    try links?.restoreIndexes()
    try step.policy.endRelationshipCreation(forMapping: step.mapping, manager: manager)
    try flush()
  }

  private func linkInstances(_ step: Step, _ range: Range<Int>, by links: KeyedLinks?) throws {
    if let links, let pairs = step.associations.keys(range), try links.begin(pairs) {
      // After an error.
      defer { links.discard() }
      if step.mayLookAtLinks { return try linkInstances(pairs, step, by: links) }
      if try linkAll(pairs.count, links) {
        let rest = step.relationships?.parts.filter { part in
          !links.parts.contains { $0.relationship === part.relationship }
        }
        guard let rest, !rest.isEmpty else { return }
        return try linkInstances(step, range, parts: rest)
      }
    }
    // From now on others set these relationships too.
    try links?.restoreIndexes()
    try linkInstances(step, range, parts: step.relationships?.parts ?? [])
  }

  /// Links a batch that no code of the client looks at.
  ///
  /// - Returns: False if the batch has to be linked by objects.
  private func linkAll(_ count: Int, _ links: KeyedLinks) throws -> Bool {
    for index in 0..<count {
      try manager.checkCancellation()
      guard links.link(index) else {
        try links.close()
        return false
      }
    }
    try links.close()
    return true
  }

  /// Links a batch by keys, each object when the policy asks for that.
  private func linkInstances(
    _ pairs: [(destination: MappingAssociations.Instance, source: MappingAssociations.Instance)], _ step: Step,
    by links: KeyedLinks
  ) throws {
    let batch = links.makeFaults(pairs)
    func object(_ index: Int) -> NSManagedObject {
      batch?.handles[index] ?? destinationContext.object(with: step.associations.id(pairs[index].destination))
    }
    var ends: [NSManagedObject]?
    let prepare = {
      guard ends == nil else { return }
      ends = []
      let all = pairs.indices.map { (object($0), step.associations.id(pairs[$0].source)) }
      ends = try self.prepareLinks(of: all, step, parts: step.relationships?.parts ?? [])
    }
    defer { (linking, relatedSources) = (nil, [:]) }
    for index in pairs.indices {
      try manager.checkCancellation()
      let object = object(index)
      // A policy may have deleted it with another one.
      guard !object.isDeleted else { continue }
      linking = Linking(links: links, object: object, index: index, prepare: prepare)
      try step.policy.createRelationships(forDestination: object, in: step.mapping, manager: manager)
    }
    linking = nil
    try withExtendedLifetime(ends) { try links.close() }
  }

  /// Links a batch by objects.
  ///
  /// - Parameter parts: The relationships that are left, if no code of the client looks at them.
  private func linkInstances(_ step: Step, _ range: Range<Int>, parts: [RelationshipPlan.Part]) throws {
    let pairs = step.associations.instances(range, in: destinationContext)
    groupFaults(pairs.map(\.0))
    let ends = try prepareLinks(of: pairs, step, parts: parts)
    defer { relatedSources = [:] }
    // The context holds unchanged objects weakly: without an owner they would be read again one by one.
    try withExtendedLifetime(ends) {
      for (object, _) in pairs {
        try manager.checkCancellation()
        // A policy may have deleted it with another one.
        guard !object.isDeleted else { continue }
        if step.hasOwnPolicy {
          try step.policy.createRelationships(forDestination: object, in: step.mapping, manager: manager)
        } else {
          try makeRelationships(of: object, step, parts)
        }
      }
    }
  }

  /// One that fires loads the others too.
  private func groupFaults(_ objects: [NSManagedObject]) {
    let group = FaultGroup(objects.map(\.objectID))
    for object in objects where object.isFault && !object.hasValues { object.faultGroup = group }
  }

  /// Reads what the relationships of a batch need, in one read for each.
  ///
  /// - Returns: The objects that to-many relationships are going to lead to.
  private func prepareLinks(
    of pairs: [(NSManagedObject, NSManagedObjectID)], _ step: Step, parts: [RelationshipPlan.Part]
  ) throws -> [NSManagedObject] {
    var ends: [NSManagedObject] = []
    let (objects, sources) = (pairs.map(\.0), pairs.map(\.1))
    for part in parts {
      let same = objects.filter { $0.entity.isKindOf(entity: part.relationship.owner ?? $0.entity) }
      try destinationContext.readTogether(part.relationship, of: same)
      guard case .instances(let name, let old) = part.content, relatedSources[ObjectIdentifier(old)] == nil else {
        continue
      }
      let related = try sourceContext.relatedIDs(old, of: sources)
      relatedSources[ObjectIdentifier(old)] = Dictionary(
        zip(sources.map(\.key), related), uniquingKeysWith: { first, _ in first })
      guard part.relationship.isToMany, let inverse = part.relationship.inverseRelationship else { continue }
      // They are changed too, and leave the objects that they lead to now.
      let others = try instances(of: related.flatMap { $0 }, by: name, for: part.relationship)
      try destinationContext.load(others)
      let owning = others.filter { $0.entity.isKindOf(entity: inverse.owner ?? $0.entity) }
      try destinationContext.readTogether(inverse, of: owning)
      ends += others
    }
    return ends
  }

  // MARK: Third

  /// The rules of the model, which were not checked so far.
  private func validate() throws {
    var failures: [(id: NSManagedObjectID, error: any Error)] = []
    func check(_ objects: [NSManagedObject]) {
      for object in objects {
        do { try object.validateForInsert() } catch { failures.append((object.objectID, error)) }
      }
    }
    for entity in manager.destinationModel.entities where !entity.isAbstract {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      request.returnsObjectsAsFaults = false
      let (checked, size) = (entity.checkedRelationships, batchSize(entity))
      if checked.isEmpty {
        guard validation.mayBreakRules(entity, in: destinationStore) else { continue }
        try destinationContext.walk(request, rowsPerBatch: size) { batch, ids in
          try manager.checkCancellation()
          let broken = batch.violations(toleratingMissingRelationships: true).map { ids[$0.row] }
          check(try destinationContext.loadedObjects(withIDs: broken).map { $0.fired() })
          return failures.count < Self.failuresMax
        }
        continue
      }
      try destinationContext.walkObjects(request, objectsPerBatch: size) { objects in
        try manager.checkCancellation()
        for relationship in checked { try destinationContext.readTogether(relationship, of: objects) }
        check(objects)
        return failures.count < Self.failuresMax
      }
    }
    if let error = NSError.validation(failures.map(\.error), of: failures.map(\.id)) { throw error }
  }
  private static let failuresMax = 1000
}

extension NSManagedObject {
  /// The object, no fault any more.
  fileprivate func fired() -> NSManagedObject {
    if isFault { fireFault() }
    return self
  }
}
