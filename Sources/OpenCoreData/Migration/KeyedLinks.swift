import Foundation

/// The relationships of the instances of an entity mapping that are set by keys: no object is made for either end, and
/// one statement for each row writes them.
///
/// They are written at the end of a batch, and before the destination context reads, saves or changes a relationship.
final class KeyedLinks: UnwrittenLinks {
  let parts: [KeyedPart]
  private let instances: MappingAssociations
  private let source: SQLiteStore
  private let destination: SQLiteStore
  private let validation: DeferredValidation
  // Unowned: the manager holds it as long as the migration runs.
  private unowned let context: NSManagedObjectContext
  /// Whether the present batch is linked by keys; false from the moment on at which others may have written links.
  private(set) var isOpen = false
  /// The faults of the batch: one that fires loads the others too.
  private var batch: BatchObjects?
  private var rows: [LinkChanges.Target] = []
  private var sources: [Int64] = []

  /// Nil if no relationship of the step can be set by keys, or if a policy or an expression may look at the others
  /// meanwhile.
  init?(_ step: CustomMigration.Step, of migration: CustomMigration) throws {
    guard let plan = step.relationships, migration.destinationContext.graph.undo == nil,
      let source = migration.sourceContext.onlySQLiteStore,
      let destination = migration.destinationContext.onlySQLiteStore
    else { return nil }
    var found: [KeyedPart] = []
    for part in plan.parts {
      if let keyed = try KeyedPart(part, of: migration, from: source, to: destination) { found.append(keyed) }
    }
    // Both ends of a relationship change one column.
    let columns = Dictionary(grouping: found, by: \.changes.column)
    parts = found.filter { columns[$0.changes.column]?.count == 1 }
    guard !parts.isEmpty, parts.count == plan.parts.count || !step.mayLookAtLinks else { return nil }
    (self.source, self.destination, context) = (source, destination, migration.destinationContext)
    (instances, validation) = (step.associations, migration.validation)
  }

  // MARK: Indexes

  /// Many rows are about to be linked, and no code of the client looks at them: columns that lead nowhere so far are left
  /// out of their indexes until `restoreIndexes()`. Each object is linked once, so that these links need not be read.
  ///
  /// - Parameter indexes: What the first pass has left out.
  func deferIndexes(_ indexes: LinkIndexes) throws {
    for part in parts {
      part.isNew = try destination.deferIndex(of: part.changes.column) == true
      // The links of a column with values are read by its index.
      if !part.isNew, indexes.includes(part.changes.column) { try indexes.restore() }
    }
  }

  func restoreIndexes() throws {
    guard parts.contains(where: \.isNew) else { return }
    for part in parts { part.isNew = false }
    try destination.restoreIndexes()
  }

  // MARK: Batches

  /// Begins a batch: reads where its source objects lead to, and its instances lead to now.
  ///
  /// - Returns: False if an object is not one of those that the step makes or reads.
  func begin(_ pairs: [(destination: MappingAssociations.Instance, source: MappingAssociations.Instance)]) throws
    -> Bool
  {
    let targets = EntityFilter(instances, in: destination) { entity in
      self.parts.allSatisfy { $0.relationship.owner.map(entity.isKindOf) ?? false }
    }
    let origins = EntityFilter(instances, in: source) { entity in
      self.parts.allSatisfy { $0.old.owner.map(entity.isKindOf) ?? false }
    }
    rows.removeAll(keepingCapacity: true)
    sources.removeAll(keepingCapacity: true)
    for pair in pairs {
      guard let number = targets.number(Int(pair.destination.space)), origins.number(Int(pair.source.space)) != nil
      else {
        return false
      }
      rows.append(LinkChanges.Target(key: pair.destination.key, number: number))
      sources.append(pair.source.key)
    }
    let (ownKeys, sourceKeys) = (rows.map(\.key).ascending, sources.ascending)
    for part in parts {
      part.begin(
        related: try source.keysByOwner(part.related, of: sourceKeys),
        present: part.isNew ? KeysByOwner() : try destination.keysByOwner(part.present, of: ownKeys))
    }
    isOpen = true
    context.graph.packedLinks.keyed = self
    return true
  }

  /// Registers the instances of the batch together, as faults; nil if they are of several entities.
  func makeFaults(_ pairs: [(destination: MappingAssociations.Instance, source: MappingAssociations.Instance)])
    -> BatchObjects?
  {
    guard let space = pairs.first?.destination.space, pairs.allSatisfy({ $0.destination.space == space }) else {
      return nil
    }
    batch = context.registerFaults(pairs.map(\.destination.key), of: instances.spaces[Int(space)])
    return batch
  }

  /// The faults of the batch, if an object that fires is one of them.
  func faults(with object: NSManagedObject) -> FaultGroup? {
    guard let batch, object.storage === batch.storage else { return nil }
    return FaultGroup(batch.handles.objects.map(\.identity))
  }

  /// Sets the relationships of an instance of the batch.
  ///
  /// - Returns: False if that has to be done by objects, which may also be an error.
  func link(_ index: Int) -> Bool { parts.allSatisfy { $0.link(rows[index], from: sources[index]) } }

  /// Writes what was set, so that it can be read.
  func write() throws {
    guard parts.contains(where: { !$0.changes.areWritten }) else { return }
    try validation.write(to: destination) { try destination.write(parts.map(\.changes)) }
    for part in parts { part.noteWritten() }
    context.graph.invalidateRelated()
  }

  /// Writes what was set, and ends the batch.
  func close() throws {
    guard isOpen else { return }
    defer { discard() }
    try write()
  }

  /// Ends the batch. What is not written is lost.
  func discard() {
    isOpen = false
    context.graph.packedLinks.keyed = nil
    if let batch {
      self.batch = nil
      context.graph.release(batch)
    }
    for part in parts { part.end() }
  }
}

/// A relationship that is set by keys, and what a batch needs for it.
final class KeyedPart {
  let relationship: NSRelationshipDescription
  let old: NSRelationshipDescription
  let related: LinkSelect
  let present: LinkSelect
  // Unchecked, here and below: a check for each access would cost more than the access. Nothing that is called during a
  // change gets to the object again.
  @exclusivity(unchecked) private(set) var changes: LinkChanges
  /// Whether no row has the relationship, apart from those that were linked here.
  var isNew = false
  /// The entity mappings that may have made the objects at the other end.
  private let makers: [EntityFilter]
  private let tables: [MappingAssociations]
  /// Whether an instance that can't be at the other end is an error.
  private let isNamed: Bool
  /// The keys of what source objects lead to.
  private let space: PermanentIDSpace
  @exclusivity(unchecked) private var relatedKeys = KeysByOwner()
  @exclusivity(unchecked) private var presentKeys = KeysByOwner()
  @exclusivity(unchecked) private var relatedHint = 0
  @exclusivity(unchecked) private var presentHint = 0
  /// The last change of each row, as far as it was asked for.
  private var lastChanges: [Int64: Int] = [:]
  private var changesSeen = 0

  /// Nil for a relationship that objects have to set.
  init?(
    _ part: RelationshipPlan.Part, of migration: CustomMigration, from source: SQLiteStore, to destination: SQLiteStore
  ) throws {
    guard case .instances(let name, let old) = part.content, let end = old.destinationEntity,
      let wanted = part.relationship.destinationEntity, let related = try LinkSelect(old, in: source),
      let present = try LinkSelect(part.relationship, in: destination),
      let column = try LinkColumn(part.relationship, in: destination)
    else { return nil }
    (relationship, self.old, self.related, self.present) = (part.relationship, old, related, present)
    changes = LinkChanges(column)
    isNamed = name != nil
    tables = name.map { [migration.associations($0)].compactMap(\.self) } ?? migration.steps.map(\.associations)
    makers = tables.map { EntityFilter($0, in: destination) { $0.isKindOf(entity: wanted) } }
    space = PermanentIDSpace(source.identity, end)
  }

  func begin(related: KeysByOwner, present: KeysByOwner) {
    (relatedKeys, presentKeys) = (related, present)
    (relatedHint, presentHint) = (0, 0)
  }

  func noteWritten() { changes.noteWritten() }

  func end() {
    changes.removeAll()
    begin(related: KeysByOwner(), present: KeysByOwner())
    (lastChanges, changesSeen) = ([:], 0)
  }

  /// - Returns: False if an end has no key yet, or can't be there.
  func link(_ row: LinkChanges.Target, from source: Int64) -> Bool {
    relationship.isToMany ? linkMany(row, from: source) : linkOne(row, from: source)
  }

  private func linkOne(_ row: LinkChanges.Target, from source: Int64) -> Bool {
    var target: LinkChanges.Target?
    guard forEachEnd(of: source, { if target == nil { target = $0 } }) else { return false }
    let isSet = changes.rows.last == row.key
    let position = presentKeys.range(of: row.key, from: &presentHint).first
    let before = isSet ? changes.targets.last.flatMap { $0?.key } : position.map { presentKeys.keys[$0] }
    if before != target?.key { changes.set(row.key, to: target) }
    return true
  }

  private func linkMany(_ owner: LinkChanges.Target, from source: Int64) -> Bool {
    let members = presentKeys.keys[presentKeys.range(of: owner.key, from: &presentHint)]
    if members.isEmpty { return forEachEnd(of: source) { changes.set($0.key, to: owner) } }
    var ends: [Int64] = []
    guard forEachEnd(of: source, { ends.append($0.key) }) else { return false }
    let (before, after) = (Set(members), Set(ends))
    // Members that have moved to another owner in this batch are left there.
    for member in members where !after.contains(member) && lastChange(of: member) == nil {
      changes.set(member, to: nil)
    }
    for end in ends where !before.contains(end) || lastChange(of: end) != nil { changes.set(end, to: owner) }
    return true
  }

  private func lastChange(of row: Int64) -> Int? {
    for index in changesSeen..<changes.rows.count { lastChanges[changes.rows[index]] = index }
    changesSeen = changes.rows.count
    return lastChanges[row]
  }

  /// Calls `body` with what the objects at the other end of the old relationship have become.
  private func forEachEnd(of source: Int64, _ body: (LinkChanges.Target) -> Void) -> Bool {
    for position in relatedKeys.range(of: source, from: &relatedHint) {
      let key = space.key(relatedKeys.keys[position])
      for (table, maker) in zip(tables, makers) {
        var mayAllBe = true
        let areSaved = table.forEachDestination(of: key) { space, key in
          if let number = maker.number(space) {
            body(LinkChanges.Target(key: key, number: number))
          } else {
            mayAllBe = false
          }
        }
        guard areSaved, mayAllBe || !isNamed else { return false }
      }
    }
    return true
  }
}

/// The numbers of the entities of associated objects, of those that meet a condition.
private final class EntityFilter {
  private let table: MappingAssociations
  private let store: SQLiteStore
  private let isIncluded: (NSEntityDescription) -> Bool
  /// By space of the table; -1 for an entity that is left out.
  // Unchecked, as in the table.
  @exclusivity(unchecked) private var numbers: [Int] = []

  init(_ table: MappingAssociations, in store: SQLiteStore, _ isIncluded: @escaping (NSEntityDescription) -> Bool) {
    (self.table, self.store, self.isIncluded) = (table, store, isIncluded)
  }

  func number(_ space: Int) -> Int? {
    while numbers.count <= space {
      let next = table.spaces[numbers.count]
      let number = next.store === store.identity ? store.schema.entity(named: next.entity.name ?? "")?.number : nil
      numbers.append(isIncluded(next.entity) ? number ?? -1 : -1)
    }
    return numbers[space] < 0 ? nil : numbers[space]
  }
}

extension NSManagedObjectContext {
  fileprivate var onlySQLiteStore: SQLiteStore? {
    guard parent == nil, let stores = persistentStoreCoordinator?.rowStores, stores.count == 1 else { return nil }
    return stores[0] as? SQLiteStore
  }
}

extension [Int64] {
  /// The elements in ascending order, each once.
  fileprivate var ascending: [Int64] { zip(self, dropFirst()).allSatisfy(<) ? self : Set(self).sorted() }
}
