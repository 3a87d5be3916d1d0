import OpenCoreData
import PersistentStores

/// What the records of a chunk name, looked up.
struct ResolvedLinks {
  /// An object that records can lead to.
  enum Target {
    case stored(NSManagedObjectID)
    /// One that is to be created.
    case new(KeyDigest)
    case missing
    case ambiguous
  }

  /// One relationship.
  struct Link {
    let link: EntityLink
    let values: LinkedValues
    /// By row of the values the index of its object; -1 for a row that names none.
    fileprivate(set) var targetOfRow: [Int32] = []
  }

  private(set) var links: [Link] = []
  /// Relationships whose objects are looked up at the end of the run.
  private(set) var late: [Link] = []
  /// The names that the records give themselves.
  private(set) var ownNames: Link?
  /// For each of them.
  private(set) var isToOne: [Bool] = []
  /// The different objects that the chunk names.
  private(set) var targets: [Target] = []
  /// Whether the store lacks one of them, or has several of a name.
  private var isAnyUnfound = false
  /// What the store has of them.
  var objects = LinkedObjects()
  /// By group of links, the index of each target.
  private var known: [Int: [KeyDigest: Int32]] = [:]

  /// Adds the names of one relationship, which `index` knows.
  mutating func add(_ link: EntityLink, _ values: LinkedValues, in index: any LinkLookup) {
    var added = Link(link: link, values: values)
    added.targetOfRow.reserveCapacity(values.digests.count)
    targets.reserveCapacity(targets.count + values.digests.count)
    var known = known.removeValue(forKey: link.group) ?? [:]
    known.reserveCapacity(known.count + values.digests.count)
    for digest in values.digests {
      if digest == .none {
        added.targetOfRow.append(-1)
        continue
      }
      let target = Self.number(of: &known[digest, default: -1], new: Int32(targets.count))
      added.targetOfRow.append(target)
      if target == targets.count { targets.append(self.target(digest, link, in: index)) }
    }
    self.known[link.group] = known
    links.append(added)
    isToOne.append(values.starts == nil)
  }

  /// The number that a name has, or gets. (One look at the table for both.)
  private static func number(of known: inout Int32, new: Int32) -> Int32 {
    if known < 0 { known = new }
    return known
  }

  /// Adds names that are looked up at the end of the run.
  mutating func addLate(_ link: EntityLink, _ values: LinkedValues) {
    let added = Link(link: link, values: values, targetOfRow: values.digests.map { $0 == .none ? -1 : 0 })
    if link.isOwnName { ownNames = added } else { late.append(added) }
  }

  /// Whether a row of the chunk names an object that is looked up at the end.
  func names(_ row: Int, late link: Link) -> Bool {
    link.values.elements(ofRow: row).contains { link.targetOfRow[$0] >= 0 }
  }

  /// Why a row whose objects are looked up at the end can't be imported.
  func problem(ofRow row: Int, late link: Link) -> (code: IssueCode, message: String)? {
    for element in link.values.elements(ofRow: row) {
      if let problem = link.targetOfRow[element] < 0 ? link.unnamed(element) : link.incomplete(element) {
        return problem
      }
    }
    return nil
  }

  private mutating func target(_ digest: KeyDigest, _ link: EntityLink, in index: any LinkLookup) -> Target {
    switch index.find(digest) {
    case .stored(let id): return .stored(id)
    case .none where link.policy == .create: return .new(digest)
    case .none:
      isAnyUnfound = true
      return .missing
    case .several:
      isAnyUnfound = true
      return .ambiguous
    }
  }

  /// The stored objects that elements of a link name, each once.
  func storedTargets(
    of link: Link, where isWanted: (Int) -> Bool
  ) -> [(target: Int32, id: NSManagedObjectID)] {
    var (seen, found) = (Set<Int32>(), [(target: Int32, id: NSManagedObjectID)]())
    for (element, target) in link.targetOfRow.enumerated() where target >= 0 && isWanted(element) {
      guard case .stored(let id) = targets[Int(target)], seen.insert(target).inserted else { continue }
      found.append((target, id))
    }
    return found
  }

  /// All stored objects that the chunk names, by their root entities.
  var storedIDs: [(root: NSEntityDescription, ids: [NSManagedObjectID])] {
    let ids = targets.compactMap { target in
      if case .stored(let id) = target { id } else { nil }
    }
    let byRoot = Dictionary(grouping: ids) { $0.entity.rootEntity.name ?? "" }
    return byRoot.values.compactMap { ids in ids.first.map { ($0.entity.rootEntity, ids) } }
  }

  /// Whether a row of the chunk leads to an object.
  func leads(_ row: Int, _ link: Link) -> Bool {
    link.values.elements(ofRow: row).contains { !isMissing($0, link) }
  }

  /// The digests of the chunk's whole records. Names that are left out do not count: no entry leads to them.
  func wholeKeys(of chunk: ParsedChunk, _ digester: RowDigester) -> [KeyDigest] {
    let compared = digester.linksOfWhole.compactMap { index in links.first { $0.values.link == index } }
    var keys = chunk.digests.keys
    var hasher = WholeRecordHasher()
    for row in keys.indices {
      hasher.begin(keys[row])
      for link in compared {
        let named = link.values.elements(ofRow: row).lazy.filter { !isMissing($0, link) }
        hasher.append(named.map { link.values.digests[$0] }, isOrdered: link.link.isOrderOfWhole)
      }
      keys[row] = hasher.digest
    }
    return keys
  }

  private func isMissing(_ element: Int, _ link: Link) -> Bool {
    guard link.targetOfRow[element] >= 0 else { return true }
    if case .missing = targets[Int(link.targetOfRow[element])] { return true }
    return false
  }

  /// Whether `problem(ofRow:_:)` can find anything: most often all objects are named by one value, and are there.
  func mayHaveProblems(_ link: Link) -> Bool {
    isAnyUnfound || link.link.by.count > 1 || !link.link.otherSlots.isEmpty
  }

  /// Why a row of the chunk can't be imported.
  func problem(ofRow row: Int, _ link: Link) -> (code: IssueCode, message: String)? {
    for element in link.values.elements(ofRow: row) {
      let target = link.targetOfRow[element]
      if target < 0 {
        if let problem = link.unnamed(element) { return problem }
        continue
      }
      if let problem = link.incomplete(element) { return problem }
      switch targets[Int(target)] {
      case .stored, .new: continue
      case .missing where link.link.policy == .leave: continue
      case .missing:
        return (
          .missingObject,
          "the store has no \(link.link.destinationName) with \(link.words(element)); import it first, correct the "
            + "record, or \(link.link.advice("set \"ifMissing\" to create or leave"))"
        )
      case .ambiguous:
        return (
          .ambiguousObject,
          "the store has several \(link.link.destinationName) with \(link.words(element)), and none of them is chosen; "
            + "correct the store, or \(link.link.advice("name more attributes with \"by\""))"
        )
      }
    }
    return nil
  }
}

extension ResolvedLinks.Link {
  /// What is wrong with an object that has values and no name.
  fileprivate func unnamed(_ element: Int) -> (code: IssueCode, message: String)? {
    guard link.separator == nil else { return nil }
    let others = link.otherSlots.filter { values.batch.cell(row: element, slot: $0).kind != .null }
    guard let first = others.first else { return nil }
    return (
      .missingObject,
      "the record has a value for \(link.name).\(link.entity.attributeSlots[first].name), and "
        + "\(link.by.map { "\(link.name).\($0)" }.joined(separator: ", ")) is empty, which says whose it is; fill it in"
    )
  }

  /// Why the object can't be found if only some of the values that identify it are given; nil if all or none are.
  fileprivate func incomplete(_ element: Int) -> (code: IssueCode, message: String)? {
    guard link.incomplete == .reject, link.by.count > 1,
      let empty = link.identifyingSlots.first(where: { values.batch.cell(row: element, slot: $0).kind == .null })
    else { return nil }
    let named = link.by.map { "\(link.name).\($0)" }.joined(separator: ", ")
    return (
      .missingObject,
      "\(named) together say which \(link.destinationName) is meant, and "
        + "\(link.name).\(link.entity.attributeSlots[empty].name) is empty; fill it in, or set \"ifIncomplete\" to match if "
        + "an object without it is meant"
    )
  }

  func words(_ element: Int) -> String {
    link.identifyingSlots.map { "\(link.entity.attributeSlots[$0].name) \(text(element, slot: $0))" }
      .joined(separator: ", ")
  }

  /// The names in a row of the chunk.
  func shownValue(ofRow row: Int) -> String {
    values.elements(ofRow: row).map { element in
      link.identifyingSlots.map { text(element, slot: $0) }.joined(separator: ", ")
    }.joined(separator: link.separator.map { String(decoding: $0, as: UTF8.self) } ?? "")
  }

  func text(_ element: Int, slot: Int) -> String {
    link.text(values.batch.value(row: element, slot: slot), slot: slot)
  }
}

extension ResolvedLinks.Link {
  /// Whether a record says what it leads to: one of JSON Lines may have no such member.
  func isStated(_ row: Int, _ chunk: ParsedChunk) -> Bool {
    !chunk.absent.slots(ofRow: row).contains(AbsentValues.slot(ofLink: values.link, chunk.batch.entity))
  }

  /// The row that says where a new entry leads: its own, or that of a later record with its key.
  func row(for row: Int, _ plan: ChunkPlan, _ chunk: ParsedChunk, isUpdated: Bool) -> Int {
    guard isUpdated, let later = plan.laterRows[row] else { return row }
    return later.last { isStated($0, chunk) } ?? row
  }
}
