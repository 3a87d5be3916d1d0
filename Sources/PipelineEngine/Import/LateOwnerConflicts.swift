import OpenCoreData
import PersistentStores

/// Finds the records that would take objects from other entries, of the relationships whose objects can belong to one
/// entry only.
///
/// Records are processed in their order, each with all its relationships: a record that is rejected takes nothing and gives
/// nothing up.
struct LateOwnerConflicts {
  /// A record that would take an object.
  struct Conflict {
    let record: LateRecord
    let naming: Int
    let element: Int
    /// The primary key of the entry that has the object.
    let owner: Int64
  }

  /// What a record says of one of these relationships.
  private struct Claim {
    let naming: Int
    /// The index of the relationship in `owners`.
    let relationship: Int
    let key: Int64
    let objects: [Int64]
  }

  private let run: LateLinkRun
  private let dependents: LateDependents
  /// Who has what before the run, by relationship.
  private var owners: [LateOwners] = []
  /// By part and link the index of the relationship; nil for one whose objects can belong to several entries.
  private var relationships: [[Int?]] = []

  /// Reads who has the objects that records name.
  init(_ run: LateLinkRun, _ dependents: LateDependents) throws {
    (self.run, self.dependents) = (run, dependents)
    for part in run.parts {
      relationships.append(
        part.environment.links.map { link in
          guard link.isLate, link.isExclusive, !link.isOwnName else { return nil }
          owners.append(LateOwners(link))
          return owners.count - 1
        })
    }
    for (inputIndex, input) in run.late.inputs.enumerated()
    where relationships[input.part].contains(where: { $0 != nil }) {
      let context = run.parts[input.part].environment.store.container.newBackgroundContext()
      for start in stride(from: 0, to: input.namings.count, by: LateLinkRun.chunk) {
        try context.performAndWait {
          for (index, relationship) in relationships[input.part].enumerated() {
            guard let relationship else { continue }
            let namings = input.namings[start..<min(start + LateLinkRun.chunk, input.namings.count)]
            let ids = namings.filter { $0.link == index }.flatMap {
              $0.elements.compactMap { run.targets[inputIndex][$0] }
            }
            try owners[relationship].read(ids, in: context)
          }
        }
      }
    }
  }

  /// The records that take objects, whatever becomes of those that are not decided yet.
  ///
  /// - Parameter refused: Those that are not imported for other reasons.
  func find(without refused: [LateRecord]) -> [Conflict] {
    if owners.isEmpty { return [] }
    let others = Set(refused)
    var unclear = Set(dependents.records(leadingTo: refused, by: [.leave, .reject]).map(\.record))
    var first: Conflict?
    while true {
      let (taken, undecided) = play(without: others, unclear)
      first = first ?? taken.first { !dependents.records(leadingTo: [$0.record], by: [.leave, .reject]).isEmpty }
      let more = dependents.records(leadingTo: taken.map(\.record) + undecided, by: [.leave, .reject])
        .map(\.record).filter { !others.contains($0) && !unclear.contains($0) }
      if more.isEmpty {
        // Each of several records depends on another of them. What nothing leads to makes nothing else unclear.
        return taken.isEmpty && refused.isEmpty ? first.map { [$0] } ?? [] : taken
      }
      unclear.formUnion(more)
    }
  }

  private func play(
    without refused: Set<LateRecord>, _ unclear: Set<LateRecord>
  ) -> (taken: [Conflict], undecided: [LateRecord]) {
    var owners = owners
    var (taken, undecided) = ([Conflict](), [LateRecord]())
    for (inputIndex, input) in run.late.inputs.enumerated()
    where relationships[input.part].contains(where: { $0 != nil }) {
      var next = 0
      while next < input.namings.count {
        let record = LateRecord(input: inputIndex, number: input.namings[next].record)
        var claims: [Claim] = []
        while next < input.namings.count, input.namings[next].record == record.number {
          if let claim = claim(next, of: input, inputIndex) { claims.append(claim) }
          next += 1
        }
        if claims.isEmpty || refused.contains(record) { continue }
        if unclear.contains(record) || claims.contains(where: { owners[$0.relationship].isUnclear($0.key, $0.objects) })
        {
          for claim in claims { owners[claim.relationship].noteUnclear(claim.key, claim.objects) }
          undecided.append(record)
        } else if let taking = taking(claims, owners, of: input, record: record) {
          taken.append(taking)
        } else {
          for claim in claims { owners[claim.relationship].replace(claim.key, claim.objects) }
        }
      }
    }
    return (taken, undecided)
  }

  private func claim(_ naming: Int, of input: LateLinks.Input, _ inputIndex: Int) -> Claim? {
    let said = input.namings[naming]
    guard let relationship = relationships[input.part][said.link], run.isSet(said, of: input, inputIndex) else {
      return nil
    }
    let objects = said.elements.compactMap { run.targets[inputIndex][$0]?.storeKey }
    return Claim(naming: naming, relationship: relationship, key: said.key, objects: objects)
  }

  private func taking(
    _ claims: [Claim], _ owners: [LateOwners], of input: LateLinks.Input, record: LateRecord
  ) -> Conflict? {
    for claim in claims {
      for element in input.namings[claim.naming].elements {
        guard let object = run.targets[record.input][element]?.storeKey,
          let owner = owners[claim.relationship].owner(of: object, besides: claim.key)
        else { continue }
        return Conflict(record: record, naming: claim.naming, element: element, owner: owner)
      }
    }
    return nil
  }
}

extension LateLinkRun {
  /// Refuses records that would take objects from other entries.
  func refuseTakers(_ dependents: LateDependents) throws {
    let conflicts = try LateOwnerConflicts(self, dependents)
    while true {
      let found = conflicts.find(without: refusedRecords())
      if found.isEmpty { return }
      for conflict in found {
        let input = late.inputs[conflict.record.input]
        let naming = input.namings[conflict.naming]
        let (link, entity) = (link(naming, of: input), parts[input.part].environment.store.entity)
        refuse(naming, of: input, over: link, code: .takenObject, element: conflict.element) {
          "the \(link.destinationName) with \($0) belongs to \(entity.name ?? "") p\(conflict.owner), and can belong to one "
            + "only; correct the record, or first import the other entry without it"
        }
      }
      refuse(dependents.records(leadingTo: found.map(\.record), by: [.reject]))
    }
  }
}

/// Which entries have the objects at the other end of a relationship that leads back to one; both by primary key.
private struct LateOwners {
  private let relationship: NSRelationshipDescription
  /// Whether the relationship is its own inverse: then each of two entries has the other.
  private let isMutual: Bool
  private var owners: [Int64: Int64] = [:]
  private var owned: [Int64: [Int64]] = [:]
  private var isRead: Set<Int64> = []
  /// Objects that records name about which nothing is decided.
  private var unclear: Set<Int64> = []

  init(_ link: EntityLink) {
    relationship = link.relationship
    isMutual = relationship.inverseRelationship === relationship
  }

  /// Reads who has these objects in the store.
  mutating func read(_ ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws {
    let new = ids.filter { $0.storeKey.map { isRead.insert($0).inserted } ?? false }
    if new.isEmpty { return }
    for (id, owner) in zip(new, try context.owners(of: new, over: relationship)) {
      guard let object = id.storeKey, let key = owner?.storeKey, owners[object] == nil else { continue }
      assign(object, to: key)
      // What the store has, each of the two can give up.
      if isMutual { owned[object, default: []].append(key) }
    }
  }

  private mutating func assign(_ object: Int64, to key: Int64) {
    owners[object] = key
    owned[key, default: []].append(object)
    if isMutual { owners[key] = object }
  }

  /// Gives an entry these objects, and none that it had.
  mutating func replace(_ key: Int64, _ objects: [Int64]) {
    for object in owned.removeValue(forKey: key) ?? [] where owners[object] == key {
      owners[object] = nil
      guard isMutual else { continue }
      owners[key] = nil
      owned[object]?.removeAll { $0 == key }
    }
    // A record without a name says that its entry has nothing, also if an earlier one has named it.
    if isMutual, objects.isEmpty, let other = owners.removeValue(forKey: key) {
      owners[other] = nil
      owned[other]?.removeAll { $0 == key }
    }
    for object in objects { assign(object, to: key) }
  }

  /// The entry that has an object, or whom it has, after another has given up what it had; nil if the object is free.
  func owner(of object: Int64, besides key: Int64) -> Int64? {
    if let other = owners[object], other != key { return other }
    guard isMutual, let other = owners[key], other != object, owned[key]?.contains(other) != true else { return nil }
    return other
  }

  private func concerned(_ key: Int64, _ objects: [Int64]) -> [Int64] {
    (owned[key] ?? []) + objects + (isMutual ? [key] : [])
  }

  func isUnclear(_ key: Int64, _ objects: [Int64]) -> Bool {
    !unclear.isEmpty && concerned(key, objects).contains(where: unclear.contains)
  }

  mutating func noteUnclear(_ key: Int64, _ objects: [Int64]) { unclear.formUnion(concerned(key, objects)) }
}
