import Foundation
import OpenCoreData
import PersistentStores

/// The contexts that a chunk passes on its way to the store.
///
/// Import context (private) → view context (main queue) → writer context (private) → coordinator: each save goes one
/// level up. A dry run has only the first and the last, both private, and discards the entries at the second.
struct ImportContexts {
  /// A record that could not be saved.
  struct Failure {
    /// Its row in the chunk's batch.
    let row: Int
    let code: IssueCode
    let message: String
  }

  /// The result of applying a plan.
  struct Outcome {
    /// The records that were refused, by a rule of the model or a constraint of the store. If there are any, nothing of
    /// the plan was saved and no context contains any of it: plan without them and save again.
    var failures: [Failure] = []
    /// The primary key of the first inserted entry; nil where none was inserted or kept.
    var firstKey: Int64?
    /// The related objects that were created, by group of links; empty in a dry run.
    var created: [Int: [NSManagedObjectID]] = [:]
    /// Whether only the store says that the plan was saved: the related objects that were created are not known.
    var isReadBack = false
  }

  let coordinator: NSPersistentStoreCoordinator
  let importContext: NSManagedObjectContext
  /// The contexts above the import context, in the order in which they are saved.
  let levels: [NSManagedObjectContext]
  private let isDryRun: Bool

  init(
    _ container: NSPersistentContainer, chain: RunOptions.ContextChain,
    notificationContents: ChangeNotificationContents,
    relationships: PipelineDefinition.RelationshipPolicy, isDryRun: Bool
  ) {
    coordinator = container.persistentStoreCoordinator
    self.isDryRun = isDryRun
    let writer = container.newBackgroundContext()
    writer.name = "writer"
    var levels = [writer]
    if isDryRun {
      importContext = NSManagedObjectContext(concurrencyType: .privateQueue)
      importContext.parent = writer
    } else if chain == .three {
      let view = NSManagedObjectContext(concurrencyType: .mainQueue)
      view.name = "view"
      view.parent = writer
      levels.insert(view, at: 0)
      importContext = NSManagedObjectContext(concurrencyType: .privateQueue)
      importContext.parent = view
    } else {
      importContext = writer
      levels = []
    }
    importContext.name = "import"
    self.levels = levels
    for context in levels + [importContext] {
      context.changeNotificationContents = notificationContents
      context.toleratesMissingRelationships = relationships == .ignore
    }
  }

  // MARK: Saving

  /// Applies the plan in the import context and saves it level by level. What the save participants add is written with
  /// it, even where the plan has no changes.
  ///
  /// - Parameters:
  ///   - lastStoredKey: Entries with a higher primary key are not in the store, as in a dry run for updates of new
  ///     entries.
  ///   - note: Called before the save with the entries that it updates, as they were, and with the objects that it links
  ///     entries to or unlinks.
  /// - Throws: Errors that are not caused by records.
  func save(
    _ plan: ChunkPlan, of chunk: ParsedChunk, lastStoredKey: Int64 = .max,
    noting note: ([OverwrittenEntries], LinkedKeys) -> Void = { _, _ in }
  ) throws -> Outcome {
    let updates = plan.updates.enumerated().filter { $0.element.storeKey <= lastStoredKey }
    let changesRelated = !plan.links.changes.isEmpty || plan.links.createdCount > 0
    guard plan.inserts.count > 0 || !updates.isEmpty || changesRelated else {
      if !isDryRun { try coordinator.saveParticipants() }
      return Outcome()
    }
    do {
      var inserted: ObjectIDCollection?
      var created: [Int: [NSManagedObjectID]] = [:]
      try importContext.performAndWait {
        let (overwritten, linked) = try importContext.throwingReadFailures {
          if plan.links.links.isEmpty {
            inserted = importContext.insert(plan.inserts)
          } else {
            (inserted, created) = insertLinked(plan)
          }
          let overwritten =
            updates.isEmpty ? OverwrittenEntries() : try apply(updates, plan, of: chunk, created: created)
          let all = [overwritten] + (try changeRelated(plan.links))
          return (all, isDryRun ? LinkedKeys() : linkedKeys(plan, all))
        }
        if !isDryRun { note(overwritten, linked) }
        // Updates that cancel each other out leave nothing to save; the participants write nevertheless.
        guard importContext.hasChanges else { return isDryRun ? () : try coordinator.saveParticipants() }
        try importContext.throwingReadFailures { try importContext.save() }
      }
      for context in levels {
        try context.performAndWait {
          if isDryRun { context.reset() } else { try context.throwingReadFailures { try context.save() } }
        }
      }
      return Outcome(
        firstKey: isDryRun ? nil : inserted?.first?.storeKey,
        created: isDryRun ? [:] : created.mapValues { $0.map(\.resolved) })
    } catch {
      let failures = failures(in: error as NSError, plan)
      rollBack()
      guard !failures.isEmpty else { throw error }
      return Outcome(failures: failures)
    }
  }

  /// Decides which of the uncertain updates change something: those of records that state
  /// some of the values only. One that changes nothing is removed, and counts as unchanged.
  func removeUnchanged(
    _ plan: inout ChunkPlan, of chunk: ParsedChunk, _ resolved: ResolvedLinks, isUpdated: (EntityLink) -> Bool,
    lastStoredKey: Int64
  ) throws {
    let doubtful = plan.updates.indices.filter {
      plan.updates[$0].isUncertain && plan.updates[$0].storeKey <= lastStoredKey
    }
    if doubtful.isEmpty { return }
    let (updates, slots) = (doubtful.map { plan.updates[$0] }, plan.updatedSlots)
    func isSame(_ update: ChunkPlan.Update, _ object: NSManagedObject) -> Bool {
      let stated = update.stated ?? slots
      let isLinked = resolved.links.allSatisfy { link in
        !isUpdated(link.link) || !link.isStated(update.row, chunk) || resolved.leads(update.row, link, as: object)
      }
      return isLinked && object.storedValues(at: stated) == stated.map { chunk.batch.value(row: update.row, slot: $0) }
    }
    let isSame = try importContext.performAndWait {
      try importContext.throwingReadFailures {
        let objects = try objects(of: updates, chunk.batch.entity)
        for link in resolved.links where isUpdated(link.link) { importContext.read(link.link.name, of: objects) }
        return zip(updates, objects).map(isSame)
      }
    }
    let same = Set(zip(doubtful, isSame).filter(\.1).map(\.0))
    plan.unchangedUpdates = plan.updates.indices.filter(same.contains).map { plan.updates[$0] }
    plan.updated -= same.count
    plan.unchanged += same.count
    plan.updates = plan.updates.enumerated().filter { !same.contains($0.offset) }.map(\.element)
  }

  private func objects(of updates: [ChunkPlan.Update], _ entity: NSEntityDescription) throws -> [NSManagedObject] {
    try importContext.loadedObjects(withIDs: updates.compactMap { coordinator.objectID(of: entity, key: $0.storeKey) })
  }

  /// - Returns: The entries that have other values now, as they were before.
  private func apply(
    _ updates: [(offset: Int, element: ChunkPlan.Update)], _ plan: ChunkPlan, of chunk: ParsedChunk,
    created: [Int: [NSManagedObjectID]]
  ) throws -> OverwrittenEntries {
    let (entity, slots) = (chunk.batch.entity, plan.updatedSlots)
    let objects = try objects(of: updates.map(\.element), entity)
    let linking = LinkedUpdates(plan.links, importContext, created: created)
    linking.read(objects)
    func values(_ object: NSManagedObject) -> [StoredValue] {
      // Reading a value loads the row, and with it the version.
      object.storedValues(at: slots) + linking.values(of: object)
    }
    var before: [OverwrittenEntries.Entry] = []
    before.reserveCapacity(updates.count)
    for ((number, update), object) in zip(updates, objects) {
      if slots.isEmpty { _ = object.storedValues(at: [0]) }
      let old = values(object)
      before.append(OverwrittenEntries.Entry(key: update.storeKey, version: object.rowVersion, values: old))
      object.setValues(at: update.stated ?? slots, of: chunk.batch, row: update.row)
      linking.set(number, object)
    }
    var overwritten = OverwrittenEntries(attributes: slots.map { entity.attributeSlots[$0].name } + linking.names)
    var seen: Set<Int64> = []
    for (entry, object) in zip(before, objects)
    where seen.insert(entry.key).inserted && values(object) != entry.values {
      overwritten.append(entry)
    }
    return overwritten
  }

  /// Validates entries as their insertion would. Needed where a record may become part of an entry before it is saved:
  /// its issues must be attributed to it.
  func validate(_ chunk: ParsedChunk) throws -> [Failure] {
    if chunk.batch.isCheckedByModelAlone {
      let isTolerant = importContext.toleratesMissingRelationships || !chunk.links.isEmpty
      return chunk.batch.violations(toleratingMissingRelationships: isTolerant).map {
        Failure(row: $0.row, code: .modelError, message: $0.message)
      }
    }
    return try validateByInserting(chunk)
  }

  /// For classes with validation code of their own: objects are created for the check, and discarded.
  private func validateByInserting(_ chunk: ParsedChunk) throws -> [Failure] {
    defer { rollBack() }
    do {
      try importContext.performAndWait {
        // Where the entries lead was checked before.
        let isTolerant = importContext.toleratesMissingRelationships
        importContext.toleratesMissingRelationships = isTolerant || !chunk.links.isEmpty
        defer { importContext.toleratesMissingRelationships = isTolerant }
        importContext.insert(chunk.batch)
        try importContext.validateInsertions()
      }
      return []
    } catch {
      let failures = failures(in: error as NSError, ChunkPlan(inserting: chunk))
      guard !failures.isEmpty else { throw error }
      return failures
    }
  }

  /// Removes everything of the failed chunk from the contexts.
  func rollBack() {
    for context in [importContext] + levels { context.performAndWait { context.rollback() } }
  }

  /// After a transaction was rolled back the state of the contexts is no longer valid.
  func reset() {
    for context in [importContext] + levels { context.performAndWait { context.reset() } }
  }
}
