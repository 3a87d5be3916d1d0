import OpenCoreData
import PersistentStores

/// The records of a chunk that contradict the objects that they lead to, or would take them away from another entry; and
/// the values that records give these objects, where the pipeline says so. Records are played in their order.
struct LinkConflicts {
  enum Problem {
    /// The object has another value.
    case different(slot: Int, present: StoredValue)
    /// Another entry leads to the object, which can belong to one only.
    case taken(LinkedObjects.Holder)
  }

  struct Conflict {
    /// The record's row in the chunk.
    let row: Int
    /// The index of the relationship among those of the chunk.
    let link: Int
    let element: Int
    let problem: Problem
  }

  private(set) var found: [Conflict] = []
  /// By target the values that records have given it.
  private(set) var changes: [Int32: Change] = [:]
  /// By link how often a record has given an object other values.
  private(set) var changeCounts: [Int: Int] = [:]

  /// What records have given one object.
  struct Change {
    /// By slot of the link's entity.
    fileprivate(set) var values: [Int: StoredValue] = [:]
    /// The rows of the records.
    fileprivate(set) var rows: [Int] = []
  }
  private var values: [Int32: [Int: StoredValue]]
  private var digests: [Int32: [Int: KeyDigest]] = [:]
  /// Objects whose state depends on records that are rejected: what leads to them is decided when the plan is made again.
  private var uncertain: Set<Int32> = []
  /// The entry that is checked, and the objects that it has had to do with.
  private var current: (owner: LinkedObjects.Holder?, targets: [Int32], isUncertain: Bool) = (nil, [], false)
  private var holders: [[Int32: LinkedObjects.Holder]]
  /// For each link the objects that a holder has, of those that the chunk names.
  private var held: [[LinkedObjects.Holder: Set<Int32>]]

  init(_ objects: LinkedObjects) {
    (values, holders) = (objects.values, objects.holders)
    held = holders.map { holders in
      Dictionary(grouping: holders.keys) { holders[$0] ?? .row(-1) }.mapValues(Set.init)
    }
  }

  /// Notes the values of an object that the chunk creates.
  mutating func noteCreated(_ target: Int32, slot: Int, _ value: StoredValue) {
    values[target, default: [:]][slot] = value
    digests[target]?[slot] = nil
  }

  /// Called before what an entry leads to is replaced: others may have it from then on.
  mutating func release(link: Int, by owner: LinkedObjects.Holder) {
    guard held.indices.contains(link), let targets = held[link].removeValue(forKey: owner) else { return }
    for target in targets {
      touch(target, by: owner)
      holders[link][target] = nil
    }
  }

  private mutating func touch(_ target: Int32, by owner: LinkedObjects.Holder) {
    if current.owner != owner { current = (owner, [], false) }
    current.targets.append(target)
    if current.isUncertain || uncertain.contains(target) { doubt() }
  }

  /// Called when the entry is rejected, or depends on one that is.
  private mutating func doubt() {
    current.isUncertain = true
    uncertain.formUnion(current.targets)
  }

  private mutating func note(_ conflict: Conflict) {
    if !current.isUncertain { found.append(conflict) }
    doubt()
  }

  /// Notes that an entry leads to an object, or why it can't.
  mutating func check(
    _ element: Int, ofRow row: Int, _ link: ResolvedLinks.Link, number: Int, owner: LinkedObjects.Holder
  ) {
    let target = link.targetOfRow[element]
    guard checkValues(element, ofRow: row, link, number: number, owner: owner) else { return }
    guard link.link.isExclusive, holders.indices.contains(number) else { return }
    if let holder = holders[number][target], holder != owner {
      return note(Conflict(row: row, link: number, element: element, problem: .taken(holder)))
    }
    holders[number][target] = owner
    held[number][owner, default: []].insert(target)
  }

  /// Notes that a record has another value than the object that it names; false if it has.
  @discardableResult mutating func checkValues(
    _ element: Int, ofRow row: Int, _ link: ResolvedLinks.Link, number: Int, owner: LinkedObjects.Holder
  ) -> Bool {
    let target = link.targetOfRow[element]
    touch(target, by: owner)
    var isChanged = false
    for (index, slot) in link.link.comparedSlots.enumerated() {
      let stated = link.values.compared[index][element]
      if stated == .none || stated == digest(target, slot) { continue }
      if link.link.different == .update {
        let value = link.values.batch.value(row: element, slot: slot)
        values[target, default: [:]][slot] = value
        digests[target, default: [:]][slot] = stated
        changes[target, default: Change()].values[slot] = value
        isChanged = true
        continue
      }
      note(
        Conflict(
          row: row, link: number, element: element,
          problem: .different(slot: slot, present: values[target]?[slot] ?? .null)))
      return false
    }
    if isChanged {
      changes[target]?.rows.append(row)
      changeCounts[number, default: 0] += 1
    }
    return true
  }

  private mutating func digest(_ target: Int32, _ slot: Int) -> KeyDigest {
    if let known = digests[target]?[slot] { return known }
    let digest = RowDigester.digest(of: values[target]?[slot] ?? .null)
    digests[target, default: [:]][slot] = digest
    return digest
  }
}

extension LinkConflicts.Conflict {
  /// What a report says about it.
  ///
  /// - Parameters:
  ///   - entity: The entity of the entries.
  ///   - numbers: The numbers of records by row.
  func words(
    _ link: ResolvedLinks.Link, entity: String, recordOfRow: (Int) -> Int
  ) -> (code: IssueCode, message: String) {
    let object = "\(link.link.destinationName) with \(link.words(element))"
    switch problem {
    case .different(let slot, let present):
      let name = link.link.entity.attributeSlots[slot].name
      let has = present == .null ? "has none" : "has '\(link.link.text(present, slot: slot))'"
      return (
        .differentObject,
        "the record has '\(link.text(element, slot: slot))' as \(name) of the \(object), which \(has); correct one of the "
          + "two, or set \"ifDifferent\" to keep, which leaves the object as it is, or to update, which changes it"
      )
    case .taken(let holder):
      let owner =
        switch holder {
        case .stored(let key): "\(entity) p\(key)"
        case .row(let row): "the entry of record \(recordOfRow(row))"
        }
      return (
        .takenObject,
        "the \(object) belongs to \(owner), and can belong to one \(entity) only; correct the record, or first import "
          + "the other entry without it"
      )
    }
  }
}
