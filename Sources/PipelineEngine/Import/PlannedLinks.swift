import OpenCoreData
import PersistentStores

/// Where the entries of a chunk lead, and what is created for that.
struct PlannedLinks {
  /// An object at the other end.
  enum Target {
    case stored(NSManagedObjectID)
    case created(group: Int, number: Int)
  }

  /// The objects of one entity that are created.
  struct Creation {
    fileprivate(set) var batch: ObjectBatch
    /// What identifies them.
    fileprivate(set) var digests: [KeyDigest] = []
    /// The first row that names each object.
    fileprivate(set) var firstRows: [Int] = []
    /// The relationship and the element that each object is made from.
    fileprivate var origins: [(link: Int, element: Int)] = []
    /// The rows of the chunk that name each object with the values that it is made from, for errors: without them, others
    /// may make it from other values.
    fileprivate(set) var rowsOfObject: [[Int]] = []
  }

  /// One relationship.
  struct Link {
    let link: EntityLink
    /// For each inserted entry the index of its object, or `BatchLink.none`; for a to-one relationship.
    fileprivate(set) var ofInserts: [Int32] = []
    /// For each inserted entry the indices of its objects; for a to-many relationship.
    fileprivate(set) var listsOfInserts: [[Int32]] = []
    /// The same for each update; nil for one that leaves the relationship as it is.
    fileprivate(set) var listsOfUpdates: [[Int32]?] = []
    /// By number of an inserted entry the row of a later record that says where it leads.
    fileprivate(set) var laterRows: [Int: Int] = [:]
  }

  private(set) var links: [Link] = []
  private(set) var targets: [Target] = []
  /// By group of links.
  private(set) var creations: [Int: Creation] = [:]
  private(set) var counts: [LinkCounts] = []
  /// The values that records give to objects of the store.
  private(set) var changes: [NSManagedObjectID: LinkConflicts.Change] = [:]
  /// Records that can't be linked; the plan is made again without them.
  private(set) var conflicts = LinkConflicts(LinkedObjects())
  /// By target of the chunk its index in `targets`, or -1.
  private var numbers: [Int32] = []
  /// By index in `targets`.
  private var isCreated: [Bool] = []

  /// For a chunk without links.
  init() {}

  /// - Parameter isUpdated: Whether updates change a relationship.
  init(_ resolved: ResolvedLinks, _ plan: ChunkPlan, of chunk: ParsedChunk, isUpdated: (EntityLink) -> Bool) {
    numbers = [Int32](repeating: -1, count: resolved.targets.count)
    conflicts = LinkConflicts(resolved.objects)
    var counted = resolved.links.map { LinkCounts(entity: $0.link.destinationName) }
    links = resolved.links.map { Link(link: $0.link) }
    takeAll(resolved, plan, of: chunk, counts: &counted, isUpdated: resolved.links.map { isUpdated($0.link) })
    counts = LinkCounts.sum([], counted)
    for (group, creation) in creations {
      guard let entity = links.first(where: { $0.link.group == group })?.link.destinationName else { continue }
      counts = LinkCounts.sum(counts, [LinkCounts(entity: entity, created: creation.digests.count)])
    }
  }

  /// Takes what entries lead to, row by row, so that created objects have the order in which records name them.
  private mutating func takeAll(
    _ resolved: ResolvedLinks, _ plan: ChunkPlan, of chunk: ParsedChunk, counts: inout [LinkCounts], isUpdated: [Bool]
  ) {
    let targetsOfRows = resolved.links.map(\.targetOfRow)
    let isChecked = resolved.links.map { $0.link.isExclusive || !$0.link.comparedSlots.isEmpty }
    var taken = resolved.links.map { _ in [Int32]() }
    var others = OtherRecord.all(plan)[...]
    /// Those of the records before a row.
    func takeOthers(before row: Int) {
      while let other = others.first, other.row < row {
        others.removeFirst()
        switch other {
        case .update(let update): take(update, resolved, of: chunk, counts: &counts, isUpdated: isUpdated)
        case .later(let row, let number):
          let owner = LinkedObjects.Holder.row(plan.insertedRows[number])
          for (index, link) in resolved.links.enumerated() where isUpdated[index] {
            guard isSet(link, by: row, resolved, of: chunk, counts: &counts[index]) else { continue }
            conflicts.release(link: index, by: owner)
            links[index].laterRows[number] = row
            let end = End(row: row, owner: owner, link: index)
            if resolved.isToOne[index] {
              taken[index][number] = take(element: row, end, resolved, counts: &counts[index])
            } else {
              links[index].listsOfInserts[number] = takeAll(end, resolved, counts: &counts[index])
            }
          }
        case .unchanged(let update):
          check(update.row, of: .stored(key: update.storeKey), resolved, of: chunk, isUpdated: isUpdated)
        case .passed(let row):
          for index in resolved.links.indices where isUpdated[index] { takeNames(ofRow: row, index, resolved) }
        case .repeated(let row): checkValues(ofRow: row, resolved) { isUpdated[$0] && $1.isStated(row, chunk) }
        case .matched(let row): checkValues(ofRow: row, resolved) { _, _ in true }
        }
      }
    }
    for row in plan.insertedRows {
      takeOthers(before: row)
      for index in targetsOfRows.indices {
        // Most records lead to an object of the store, with nothing to compare.
        if resolved.isToOne[index], !isChecked[index], targetsOfRows[index][row] >= 0 {
          let number = takeStored(targetsOfRows[index][row], resolved)
          if number >= 0 {
            taken[index].append(number)
            counts[index].linked += 1
            continue
          }
        }
        let end = End(row: row, owner: .row(row), link: index)
        if resolved.isToOne[index] {
          taken[index].append(take(element: row, end, resolved, counts: &counts[index]))
        } else {
          links[index].listsOfInserts.append(takeAll(end, resolved, counts: &counts[index]))
        }
      }
    }
    takeOthers(before: .max)
    for index in taken.indices { links[index].ofInserts = taken[index] }
    takeChanges(resolved, counts: &counts)
  }

  /// The index of a target that is an object of the store; `BatchLink.none` for another one.
  private mutating func takeStored(_ target: Int32, _ resolved: ResolvedLinks) -> Int32 {
    let number = numbers[Int(target)]
    if number >= 0 { return isCreated[Int(number)] ? BatchLink.none : number }
    guard case .stored(let id) = resolved.targets[Int(target)] else { return BatchLink.none }
    return append(.stored(id), for: target)
  }

  private mutating func append(_ new: Target, for target: Int32) -> Int32 {
    let number = Int32(targets.count)
    if case .created = new { isCreated.append(true) } else { isCreated.append(false) }
    targets.append(new)
    numbers[Int(target)] = number
    return number
  }

  /// A record that makes no entry and says something of related objects.
  private enum OtherRecord {
    case update(ChunkPlan.Update)
    /// It updates an entry that an earlier record of the chunk inserts: the one with this number.
    case later(row: Int, number: Int)
    /// Its entry has its values already.
    case unchanged(ChunkPlan.Update)
    /// An earlier record has its key and its values.
    case repeated(row: Int)
    /// It equals an entry as a whole.
    case matched(row: Int)
    /// Other workers have records with its key, and the entry has the values of these.
    case passed(row: Int)

    var row: Int {
      switch self {
      case .update(let update), .unchanged(let update): update.row
      case .later(let row, _), .repeated(let row), .matched(let row), .passed(let row): row
      }
    }

    /// Those of a plan, in the order of the records.
    static func all(_ plan: ChunkPlan) -> [OtherRecord] {
      let all =
        plan.updates.map(OtherRecord.update) + plan.unchangedUpdates.map(OtherRecord.unchanged)
        + plan.repeatedRows.map(OtherRecord.repeated) + plan.matchedRows.map(OtherRecord.matched) + later(plan)
        + plan.passedRows.map(OtherRecord.passed)
      return all.sorted { $0.row < $1.row }
    }

    private static func later(_ plan: ChunkPlan) -> [OtherRecord] {
      if plan.laterRows.isEmpty { return [] }
      return plan.insertedRows.enumerated().flatMap { number, row in
        (plan.laterRows[row] ?? []).map { .later(row: $0, number: number) }
      }
    }
  }

  /// Checks what a record says of the values of objects, whose entry has its own values already.
  private mutating func checkValues(
    ofRow row: Int, _ resolved: ResolvedLinks, where isSaid: (Int, ResolvedLinks.Link) -> Bool
  ) {
    for (index, link) in resolved.links.enumerated() where !link.link.comparedSlots.isEmpty && isSaid(index, link) {
      for element in link.values.elements(ofRow: row) where isKnown(link.targetOfRow[element], resolved) {
        conflicts.checkValues(element, ofRow: row, link, number: index, owner: .row(row))
      }
    }
  }

  /// Checks where an entry leads that has the values of its record already: other values of the object may differ.
  private mutating func check(
    _ row: Int, of owner: LinkedObjects.Holder, _ resolved: ResolvedLinks, of chunk: ParsedChunk, isUpdated: [Bool]
  ) {
    for (index, link) in resolved.links.enumerated() where isUpdated[index] && link.isStated(row, chunk) {
      for element in link.values.elements(ofRow: row) where isKnown(link.targetOfRow[element], resolved) {
        conflicts.check(element, ofRow: row, link, number: index, owner: owner)
      }
    }
  }

  /// Whether a target is an object of the store, or one that an earlier record creates.
  private func isKnown(_ target: Int32, _ resolved: ResolvedLinks) -> Bool {
    guard target >= 0 else { return false }
    if case .stored = resolved.targets[Int(target)] { return true }
    return numbers[Int(target)] >= 0
  }

  /// Takes the values that records have given to objects.
  private mutating func takeChanges(_ resolved: ResolvedLinks, counts: inout [LinkCounts]) {
    for (link, count) in conflicts.changeCounts { counts[link].updated += count }
    for (target, change) in conflicts.changes {
      let number = numbers[Int(target)]
      switch resolved.targets[Int(target)] {
      case .stored(let id): changes[id] = change
      case .new where number >= 0:
        guard case .created(let group, let made) = targets[Int(number)] else { continue }
        for (slot, value) in change.values { creations[group]?.batch.setValue(value, row: made, slot: slot) }
      case .new, .missing, .ambiguous: continue
      }
    }
  }

  /// Takes what an updated entry leads to from now on.
  private mutating func take(
    _ update: ChunkPlan.Update, _ resolved: ResolvedLinks, of chunk: ParsedChunk, counts: inout [LinkCounts],
    isUpdated: [Bool]
  ) {
    for (index, link) in resolved.links.enumerated() {
      let isChanged =
        isUpdated[index]
        ? update.links.contains(.updated) && isSet(link, by: update.row, resolved, of: chunk, counts: &counts[index])
        : update.links.contains(.first)
      if isUpdated[index], !update.links.contains(.updated) { takeNames(ofRow: update.row, index, resolved) }
      let owner = LinkedObjects.Holder.stored(key: update.storeKey)
      if isChanged { conflicts.release(link: index, by: owner) }
      let end = End(row: update.row, owner: owner, link: index)
      links[index].listsOfUpdates.append(isChanged ? takeAll(end, resolved, counts: &counts[index]) : nil)
    }
  }

  /// Creates what a record names whose entry leads elsewhere. An import would have created it before the entry did.
  private mutating func takeNames(ofRow row: Int, _ index: Int, _ resolved: ResolvedLinks) {
    var counts = LinkCounts(entity: resolved.links[index].link.destinationName)
    _ = takeAll(End(row: row, owner: .row(row), link: index), resolved, counts: &counts)
  }

  /// Whether a later record says where its entry leads. Names that the store does not have say nothing of that: the entry
  /// keeps what it has, and they are counted.
  private func isSet(
    _ link: ResolvedLinks.Link, by row: Int, _ resolved: ResolvedLinks, of chunk: ParsedChunk, counts: inout LinkCounts
  ) -> Bool {
    let missing = resolved.missingCount(row, link)
    counts.leftOut += missing
    return missing == 0 && link.isStated(row, chunk)
  }

  /// An entry and one of its relationships.
  private struct End {
    /// The row of the chunk that says where it leads.
    let row: Int
    let owner: LinkedObjects.Holder
    /// The index of the relationship.
    let link: Int
  }

  /// The indices of the objects that a row of the chunk leads to, each once.
  private mutating func takeAll(_ end: End, _ resolved: ResolvedLinks, counts: inout LinkCounts) -> [Int32] {
    var taken: [Int32] = []
    for element in resolved.links[end.link].values.elements(ofRow: end.row) {
      let number = take(element: element, end, resolved, counts: &counts)
      guard number >= 0 else { continue }
      if taken.contains(number) { counts.linked -= 1 } else { taken.append(number) }
    }
    return taken
  }

  /// The index of the object that an element names; `BatchLink.none` if there is none.
  private mutating func take(
    element: Int, _ end: End, _ resolved: ResolvedLinks, counts: inout LinkCounts
  ) -> Int32 {
    let link = resolved.links[end.link]
    let target = link.targetOfRow[element]
    if target < 0 { return BatchLink.none }
    if numbers[Int(target)] < 0 {
      switch resolved.targets[Int(target)] {
      case .stored(let id): _ = append(.stored(id), for: target)
      case .new(let digest):
        let number = create(link, element: element, digest, for: end)
        noteCreated(target, number, group: link.link.group)
        _ = append(.created(group: link.link.group, number: number), for: target)
      case .missing, .ambiguous:
        counts.leftOut += 1
        return BatchLink.none
      }
    }
    let number = numbers[Int(target)]
    if case .created(let group, let made) = targets[Int(number)] {
      if isSame(element, link, as: creations[group]?.origins[made], of: resolved) {
        creations[group]?.rowsOfObject[made].append(end.row)
      }
    }
    conflicts.check(element, ofRow: end.row, link, number: end.link, owner: end.owner)
    counts.linked += 1
    return number
  }

  /// Creates an object with the values that a record has for it.
  private mutating func create(
    _ link: ResolvedLinks.Link, element: Int, _ digest: KeyDigest, for end: End
  ) -> Int {
    let (entity, values) = (link.link.entity, link.values.batch)
    var creation = creations.removeValue(forKey: link.link.group) ?? Creation(batch: ObjectBatch(entity: entity))
    creation.batch.appendRow()
    let row = creation.batch.count - 1
    for slot in 0..<values.slotCount {
      creation.batch.setValue(values.value(row: element, slot: slot), row: row, slot: slot)
    }
    for (slot, value) in link.link.defaults where creation.batch.cell(row: row, slot: slot).kind == .null {
      creation.batch.setValue(value, row: row, slot: slot)
    }
    creation.digests.append(digest)
    creation.firstRows.append(end.row)
    creation.rowsOfObject.append([])
    creation.origins.append((end.link, element))
    creations[link.link.group] = creation
    return row
  }

  /// Whether an element has the values of the one that an object is made from.
  private func isSame(
    _ element: Int, _ link: ResolvedLinks.Link, as origin: (link: Int, element: Int)?, of resolved: ResolvedLinks
  ) -> Bool {
    guard let origin else { return false }
    let other = resolved.links[origin.link].values.batch
    let batch = link.values.batch
    return (0..<batch.slotCount).allSatisfy {
      batch.value(row: element, slot: $0) == other.value(row: origin.element, slot: $0)
    }
  }

  /// Later records are compared with a created object as with a stored one.
  private mutating func noteCreated(_ target: Int32, _ number: Int, group: Int) {
    guard let batch = creations[group]?.batch else { return }
    for link in links where link.link.group == group {
      for slot in link.link.comparedSlots {
        conflicts.noteCreated(target, slot: slot, batch.value(row: number, slot: slot))
      }
    }
  }

  /// The entity whose slots the changes of an object name.
  func changedEntity(of id: NSManagedObjectID) -> NSEntityDescription? {
    links.first { $0.link.different == .update && $0.link.entity.rootEntity === id.entity.rootEntity }?.link.entity
  }

  /// The attributes of an entity that records can change.
  func changedAttributes(of entity: NSEntityDescription) -> [String] {
    let slots = links.filter { $0.link.different == .update && $0.link.entity === entity }.flatMap(\.link.otherSlots)
    return Set(slots).sorted().map { entity.attributeSlots[$0].name }
  }

  /// The number of objects that a save creates.
  var createdCount: Int { creations.values.reduce(0) { $0 + $1.batch.count } }

  /// The IDs of the objects, given those that were created.
  func ids(_ created: [Int: [NSManagedObjectID]]) -> [NSManagedObjectID] {
    targets.compactMap { target in
      switch target {
      case .stored(let id): id
      case .created(let group, let number): created[group]?[number]
      }
    }
  }
}
