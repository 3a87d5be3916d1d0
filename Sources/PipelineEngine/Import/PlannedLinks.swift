import OpenCoreData
import PersistentStores

/// Where the entries of a chunk lead, and what is created for that.
struct PlannedLinks {
  /// An object at the other end.
  enum Target {
    case stored(NSManagedObjectID)
    case created(group: Int, number: Int)
  }

  /// The objects of one entity that are created; in a dry run also those that earlier chunks would have created.
  struct Creation {
    fileprivate(set) var batch: ObjectBatch
    /// What identifies those that are new; in an import, all of them.
    fileprivate(set) var digests: [KeyDigest] = []
    /// The rows of the chunk that name each object, for errors.
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
  }

  private(set) var links: [Link] = []
  private(set) var targets: [Target] = []
  /// By group of links.
  private(set) var creations: [Int: Creation] = [:]
  private(set) var counts: [LinkCounts] = []
  /// By target of the chunk its index in `targets`, or -1.
  private var numbers: [Int32] = []
  /// By index in `targets`.
  private var isCreated: [Bool] = []

  /// For a chunk without links.
  init() {}

  /// - Parameter isUpdated: Whether updates change a relationship.
  init(_ resolved: ResolvedLinks, _ plan: ChunkPlan, of chunk: ParsedChunk, isUpdated: (EntityLink) -> Bool) {
    numbers = [Int32](repeating: -1, count: resolved.targets.count)
    var counted = resolved.links.map { LinkCounts(entity: $0.link.destinationName) }
    links = resolved.links.map { Link(link: $0.link) }
    takeInserts(resolved, plan, of: chunk, counts: &counted, isUpdated: resolved.links.map { isUpdated($0.link) })
    for update in plan.updates {
      for (index, link) in resolved.links.enumerated() {
        // Names that the store does not have say nothing of where the entry leads; it keeps what it has.
        let missing = resolved.missingCount(update.row, link)
        counted[index].leftOut += missing
        let isChanged = isUpdated(link.link) && link.isStated(update.row, chunk) && missing == 0
        links[index].listsOfUpdates.append(
          isChanged ? takeAll(row: update.row, link, resolved, counts: &counted[index]) : nil)
      }
    }
    counts = LinkCounts.sum([], counted)
    for (group, creation) in creations {
      guard let entity = links.first(where: { $0.link.group == group })?.link.destinationName else { continue }
      counts = LinkCounts.sum(counts, [LinkCounts(entity: entity, created: creation.digests.count)])
    }
  }

  /// Takes what inserted entries lead to, row by row, so that created objects have the order in which records name them.
  private mutating func takeInserts(
    _ resolved: ResolvedLinks, _ plan: ChunkPlan, of chunk: ParsedChunk, counts: inout [LinkCounts], isUpdated: [Bool]
  ) {
    let targetsOfRows = resolved.links.map(\.targetOfRow)
    var taken = resolved.links.map { _ in [Int32]() }
    for row in plan.insertedRows {
      for index in targetsOfRows.indices {
        // Most records lead to an object that an earlier one of the chunk has named.
        if resolved.isToOne[index], plan.laterRows.isEmpty, targetsOfRows[index][row] >= 0 {
          let number = numbers[Int(targetsOfRows[index][row])]
          if number >= 0, !isCreated[Int(number)] {
            taken[index].append(number)
            counts[index].linked += 1
            continue
          }
        }
        let link = resolved.links[index]
        let source = link.row(for: row, plan, chunk, isUpdated: isUpdated[index])
        if resolved.isToOne[index] {
          taken[index].append(take(element: source, row: source, link, resolved, counts: &counts[index]))
        } else {
          links[index].listsOfInserts.append(takeAll(row: source, link, resolved, counts: &counts[index]))
        }
      }
    }
    for index in taken.indices { links[index].ofInserts = taken[index] }
  }

  /// The indices of the objects that a row of the chunk leads to, each once.
  private mutating func takeAll(
    row: Int, _ link: ResolvedLinks.Link, _ resolved: ResolvedLinks, counts: inout LinkCounts
  ) -> [Int32] {
    var taken: [Int32] = []
    for element in link.values.elements(ofRow: row) {
      let number = take(element: element, row: row, link, resolved, counts: &counts)
      guard number >= 0 else { continue }
      if taken.contains(number) { counts.linked -= 1 } else { taken.append(number) }
    }
    return taken
  }

  /// The index of the object that an element names; `BatchLink.none` if there is none.
  private mutating func take(
    element: Int, row: Int, _ link: ResolvedLinks.Link, _ resolved: ResolvedLinks, counts: inout LinkCounts
  ) -> Int32 {
    let target = link.targetOfRow[element]
    if target < 0 { return BatchLink.none }
    if numbers[Int(target)] < 0 {
      switch resolved.targets[Int(target)] {
      case .stored(let id): targets.append(.stored(id))
      case .new(let digest, let isKnown):
        let number = create(link, element: element, isKnown ? nil : digest)
        targets.append(.created(group: link.link.group, number: number))
      case .missing, .ambiguous:
        counts.leftOut += 1
        return BatchLink.none
      }
      numbers[Int(target)] = Int32(targets.count - 1)
      if case .created? = targets.last { isCreated.append(true) } else { isCreated.append(false) }
    }
    let number = numbers[Int(target)]
    if case .created(let group, let made) = targets[Int(number)] {
      creations[group]?.rowsOfObject[made].append(row)
    }
    counts.linked += 1
    return number
  }

  /// Creates an object with the values that a record has for it.
  private mutating func create(_ link: ResolvedLinks.Link, element: Int, _ digest: KeyDigest?) -> Int {
    let (entity, values) = (link.link.entity, link.values.batch)
    var creation = creations.removeValue(forKey: link.link.group) ?? Creation(batch: ObjectBatch(entity: entity))
    creation.batch.appendRow()
    let row = creation.batch.count - 1
    for slot in 0..<values.slotCount {
      creation.batch.setValue(values.value(row: element, slot: slot), row: row, slot: slot)
    }
    for (slot, value) in link.link.defaults { creation.batch.setValue(value, row: row, slot: slot) }
    if let digest { creation.digests.append(digest) }
    creation.rowsOfObject.append([])
    creations[link.link.group] = creation
    return row
  }

  /// The stored objects that packed relationships lead to and that know of it by an inverse.
  var packedTargets: [NSManagedObjectID] {
    links.filter { $0.link.relationship.inverseRelationship != nil }.flatMap { link in
      var isUsed = [Bool](repeating: false, count: targets.count)
      for target in link.ofInserts where target != BatchLink.none { isUsed[Int(target)] = true }
      return targets.indices.compactMap { index -> NSManagedObjectID? in
        guard isUsed[index], case .stored(let id) = targets[index] else { return nil }
        return id
      }
    }
  }

  /// The number of objects that a save creates.
  var createdCount: Int { creations.values.reduce(0) { $0 + $1.batch.count } }

  /// The rows of the chunk that name an object which was created with this ID; nil for another object.
  func rows(ofCreated id: NSManagedObjectID) -> [Int]? {
    guard let row = id.batchRow else { return nil }
    let creation = creations.values.first { $0.batch.entity === id.entity }
    return creation.flatMap { row < $0.rowsOfObject.count ? $0.rowsOfObject[row] : nil }
  }

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

extension PlannedLinks.Link {
  /// A to-one relationship of the inserted entries, packed; `ids` are those of all targets.
  func packed(_ ids: [NSManagedObjectID]) -> BatchLink {
    var (own, places) = ([NSManagedObjectID](), [Int32](repeating: BatchLink.none, count: ids.count))
    let indices = ofInserts.map { target -> Int32 in
      if target == BatchLink.none { return target }
      if places[Int(target)] == BatchLink.none {
        places[Int(target)] = Int32(own.count)
        own.append(ids[Int(target)])
      }
      return places[Int(target)]
    }
    return BatchLink(link.relationship, targets: own, indices: indices)
  }
}

extension ResolvedLinks.Link {
  /// Whether a record says what it leads to: one of JSON Lines may have no such member.
  func isStated(_ row: Int, _ chunk: ParsedChunk) -> Bool {
    !chunk.absent.slots(ofRow: row).contains(AbsentValues.slot(ofLink: values.link, chunk.batch.entity))
  }

  /// The row that says where a new entry leads: its own, or that of a later record with its key.
  fileprivate func row(for row: Int, _ plan: ChunkPlan, _ chunk: ParsedChunk, isUpdated: Bool) -> Int {
    guard isUpdated, let later = plan.laterRows[row] else { return row }
    return later.last { isStated($0, chunk) } ?? row
  }
}
