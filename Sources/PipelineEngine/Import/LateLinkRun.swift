import OpenCoreData
import PersistentStores

/// Sets the links of a run that had to wait, when all entries are in the store.
struct LateLinkRun {
  private let late: LateLinks
  private let parts: [ImportPart]
  private let ledger: Ledger
  /// By input and element what it names; nil for nothing.
  private var targets: [[NSManagedObjectID?]] = []
  private static let chunk = 2000

  init(_ late: LateLinks, of parts: [ImportPart], _ ledger: Ledger) {
    (self.late, self.parts, self.ledger) = (late, parts, ledger)
  }

  private func link(_ naming: LateLinks.Naming, of input: LateLinks.Input) -> EntityLink {
    parts[input.part].environment.links[naming.link]
  }

  // MARK: Finding

  /// Finds what the records name, and notes those that can't be imported.
  mutating func find() throws {
    targets = late.inputs.map { Array(repeating: nil, count: $0.elements.count) }
    for (number, part) in parts.enumerated() {
      for (index, link) in part.environment.links.enumerated() where link.isLate && !link.isOwnName {
        try find(link, number: index, part: number)
      }
    }
    refuseDependents()
  }

  /// Finds the objects of one link, for all inputs of its part.
  private mutating func find(_ link: EntityLink, number: Int, part: Int) throws {
    let environment = parts[part].environment
    let context = environment.store.container.newBackgroundContext()
    let search: LateSearch =
      link.isByRecord
      ? .names(late.names[link.relationship.destinationEntity?.rootEntity.name ?? ""])
      : .index(LinkIndex(link, keysInMemoryMax: environment.definition.limits.keysInMemoryMax))
    if case .index(let index) = search { try index.load(context, unless: environment.monitor.isCancelled) }
    var owners = LateOwners(link)
    for (place, input) in late.inputs.enumerated() where input.part == part {
      let namings = input.namings.filter { $0.link == number }
      for start in stride(from: 0, to: namings.count, by: Self.chunk) {
        let chunk = namings[start..<min(start + Self.chunk, namings.count)]
        let found = try search.find(chunk.flatMap { $0.elements.map { input.elements[$0].digest } }, environment.store)
        var next = found.makeIterator()
        for naming in chunk {
          for element in naming.elements { note(next.next() ?? .none, for: element, of: naming, input: place, link) }
        }
        try compare(chunk, of: input, place, over: link, in: context)
        try own(chunk, of: input, place, over: link, owners: &owners, in: context)
      }
    }
  }

  /// Notes what one of a record's names leads to, or that the record can't be imported because it leads to nothing.
  private mutating func note(
    _ found: LinkIndex.Found, for element: Int, of naming: LateLinks.Naming, input place: Int, _ link: EntityLink
  ) {
    let input = late.inputs[place]
    switch found {
    case .stored(let id): targets[place][element] = id
    case .none:
      if link.policy == .leave { return }
      refuse(naming, of: input, over: link, code: .missingObject, element: element) {
        "no \(link.destinationName) of the store or of this run is the one with \($0); import it too, correct the "
          + "record, or \(link.advice("set \"ifMissing\" to leave"))"
      }
    case .several:
      refuse(naming, of: input, over: link, code: .ambiguousObject, element: element) {
        "there are several \(link.destinationName) with \($0), and none of them is chosen; correct the store or the files, "
          + "or \(link.advice("name more attributes with \"by\""))"
      }
    }
  }

  /// Notes that a record can't be imported.
  ///
  /// - Parameter message: Made of the words for the object.
  private func refuse(
    _ naming: LateLinks.Naming, of input: LateLinks.Input, over link: EntityLink, code: IssueCode, element: Int,
    _ message: (String) -> String
  ) {
    let text = input.text(of: input.elements[element])
    let all = naming.elements.map { input.text(of: input.elements[$0]) }
    late.refuse(
      naming.record, of: input,
      LateLinks.Refusal(
        code: code, column: link.columnName,
        value: all.joined(separator: link.separator.map { String(decoding: $0, as: UTF8.self) } ?? ", "),
        message: message(link.isByRecord ? "the name \(text)" : "\(link.by.joined(separator: ", ")) \(text)")))
  }

  /// Refuses records that say something else of the objects than these have.
  private func compare(
    _ namings: ArraySlice<LateLinks.Naming>, of input: LateLinks.Input, _ place: Int, over link: EntityLink,
    in context: NSManagedObjectContext
  ) throws {
    if link.comparedSlots.isEmpty { return }
    let found = namings.flatMap { naming in
      naming.elements.compactMap { element in
        targets[place][element].map { (naming: naming, element: element, id: $0) }
      }
    }
    let rows = try context.performAndWait { try context.storedValues(withIDs: found.map(\.id)) }
    for (one, row) in zip(found, rows) {
      let first = input.elements[one.element].compared
      for (offset, slot) in link.comparedSlots.enumerated() where input.compared[first + offset] != .none {
        let name = link.entity.attributeSlots[slot].name
        let present = one.id.entity.slot(named: name).flatMap { row?[$0] } ?? .null
        if input.compared[first + offset] == RowDigester.digest(of: present) { continue }
        let has = present == .null ? "has none" : "has '\(link.text(present, slot: slot))'"
        refuse(one.naming, of: input, over: link, code: .differentObject, element: one.element) {
          "the record has another \(name) of the \(link.destinationName) with \($0), which \(has); correct one of the two, "
            + "or set \"ifDifferent\" to keep, which leaves the object as it is"
        }
      }
    }
  }

  /// Refuses records that would take objects from other entries.
  private func own(
    _ namings: ArraySlice<LateLinks.Naming>, of input: LateLinks.Input, _ place: Int, over link: EntityLink,
    owners: inout LateOwners, in context: NSManagedObjectContext
  ) throws {
    guard link.isExclusive else { return }
    let entity = parts[input.part].environment.store.entity
    let all = namings.flatMap { $0.elements.compactMap { targets[place][$0] } }
    try context.performAndWait { try owners.read(all, in: context) }
    for naming in namings where isSet(naming, of: input, place) {
      owners.release(naming.key)
      for element in naming.elements {
        guard let id = targets[place][element], let other = owners.take(id, for: naming.key) else { continue }
        refuse(naming, of: input, over: link, code: .takenObject, element: element) {
          "the \(link.destinationName) with \($0) belongs to \(entity.name ?? "") p\(other), and can belong to one only; "
            + "correct the record, or first import the other entry without it"
        }
      }
    }
  }

  /// Whether the relationship is set: names that are left out say nothing of where an updated entry leads.
  private func isSet(_ naming: LateLinks.Naming, of input: LateLinks.Input, _ place: Int) -> Bool {
    naming.state == .inserted || naming.elements.allSatisfy { targets[place][$0] != nil }
  }

  /// What leads to an entry that is not imported can't be imported either.
  private func refuseDependents() {
    if late.newlyRefused == 0 { return }
    struct Place {
      let input: Int
      let naming: Int
      let element: Int
    }
    var places: [NSManagedObjectID: [Place]] = [:]
    var refused: [NSManagedObjectID] = []
    for (number, input) in late.inputs.enumerated() {
      let entity = parts[input.part].environment.store.entity
      let coordinator = parts[input.part].environment.store.coordinator
      for (index, naming) in input.namings.enumerated() {
        if naming.state == .inserted, late.isRefused(naming.record, of: input) {
          refused += coordinator.objectID(of: entity, key: naming.key).map { [$0] } ?? []
        }
        guard link(naming, of: input).policy == .reject else { continue }
        for element in naming.elements {
          guard let id = targets[number][element] else { continue }
          places[id, default: []].append(Place(input: number, naming: index, element: element))
        }
      }
    }
    while let id = refused.popLast() {
      for place in places.removeValue(forKey: id) ?? [] {
        let input = late.inputs[place.input]
        let naming = input.namings[place.naming]
        if late.isRefused(naming.record, of: input) { continue }
        let link = link(naming, of: input)
        refuse(naming, of: input, over: link, code: .missingObject, element: place.element) {
          "the record of the \(link.destinationName) with \($0) is rejected; correct that one"
        }
        let environment = parts[input.part].environment
        if naming.state == .inserted {
          refused +=
            environment.store.coordinator.objectID(of: environment.store.entity, key: naming.key).map { [$0] } ?? []
        }
      }
    }
  }

  // MARK: Setting

  /// Sets what was found, in saves whose records the ledger has with the input.
  func set(_ totals: inout ImportTotals) throws {
    for (place, input) in late.inputs.enumerated() {
      guard var checkpoint = input.checkpoint else { continue }
      let part = parts[input.part]
      let contexts = part.contexts(isLate: true)
      let writer = CheckpointWriter(environment: part.environment, ledger: ledger)
      var rest = input.namings[...]
      while let first = rest.first {
        var entries: [RelinkedEntry] = []
        var counts: [LinkCounts] = []
        var current = RelinkedEntry(key: first.key, isNew: first.state == .inserted)
        var states: [Int64: LateLinks.EntryState] = [:]
        while let naming = rest.first, entries.count < Self.chunk || naming.key == current.key {
          rest.removeFirst()
          if naming.key != current.key {
            entries.append(current)
            current = RelinkedEntry(key: naming.key, isNew: naming.state == .inserted)
          }
          states[naming.key] = naming.state
          let link = link(naming, of: input)
          let ids = naming.elements.compactMap { targets[place][$0] }.reduce(into: [NSManagedObjectID]()) {
            if !$0.contains($1) { $0.append($1) }
          }
          let missing = naming.elements.count { targets[place][$0] == nil }
          let isSet = isSet(naming, of: input, place)
          if isSet { current.links.append((link.name, ids)) }
          counts.append(
            LinkCounts(entity: link.destinationName, linked: isSet ? ids.count : 0, leftOut: missing))
        }
        entries.append(current)
        let outcome = try contexts.relink(
          entries, of: part.environment.store.entity, noting: writer.note
        ) { changed in
          let updated = changed.count { states[$0] == .unchanged }
          checkpoint.noteLinks(LinkCounts.sum([], counts), updated: updated)
          totals.noteLinks(LinkCounts.sum([], counts), updated: updated, of: part.environment.definition.entity)
          writer.prepare(checkpoint, totals)
        }
        for (key, message) in outcome {
          guard let naming = input.namings.first(where: { $0.key == key }) else { continue }
          late.refuse(
            naming.record, of: input,
            LateLinks.Refusal(
              code: .modelError, column: link(naming, of: input).columnName, value: "", message: message))
        }
        if !outcome.isEmpty { return }
        writer.didSave(&checkpoint, inserted: 0, &totals)
      }
    }
  }
}

/// Where names are looked up.
private enum LateSearch {
  case index(LinkIndex)
  /// Nil if no record has a name.
  case names(RecordNames?)

  func find(_ digests: [KeyDigest], _ store: ImportStore) throws -> [LinkIndex.Found] {
    switch self {
    case .index(let index):
      try index.beginChunk(digests)
      defer { try? index.endChunk() }
      return digests.map(index.find)
    case .names(let names):
      try names?.begin(digests)
      defer { try? names?.end() }
      return digests.map { digest in
        guard let (key, entity) = names?.find(digest), let id = store.coordinator.objectID(of: entity, key: key) else {
          return .none
        }
        return .stored(id)
      }
    }
  }
}

/// Which entries have the objects at the other end of a relationship that leads back to one; both by primary key.
private struct LateOwners {
  private let inverse: NSRelationshipDescription?
  /// Whether the relationship is its own inverse: then each of two entries has the other.
  private let isMutual: Bool
  private var owners: [Int64: Int64] = [:]
  private var owned: [Int64: [Int64]] = [:]
  private var isRead: Set<Int64> = []
  /// Entries that no longer have what the store says.
  private var released: Set<Int64> = []

  init(_ link: EntityLink) {
    inverse = link.relationship.inverseRelationship
    isMutual = inverse === link.relationship
  }

  /// Reads who has these objects in the store.
  mutating func read(_ ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws {
    guard let inverse else { return }
    let new = ids.filter { $0.storeKey.map { isRead.insert($0).inserted } ?? false }
    for (id, others) in zip(new, try context.related(inverse, of: new)) {
      guard let object = id.storeKey, let key = others.first?.storeKey, owners[object] == nil, !released.contains(key)
      else { continue }
      give(object, to: key)
    }
  }

  private mutating func give(_ object: Int64, to key: Int64) {
    owners[object] = key
    owned[key, default: []].append(object)
    if isMutual { owners[key] = object }
  }

  /// Called before what an entry leads to is replaced.
  mutating func release(_ key: Int64) {
    released.insert(key)
    for object in owned.removeValue(forKey: key) ?? [] where owners[object] == key {
      owners[object] = nil
      if isMutual { owners[key] = nil }
    }
  }

  /// Gives an object to an entry.
  ///
  /// - Returns: The entry that has it, or whom it has; nil if the object was free.
  mutating func take(_ id: NSManagedObjectID, for key: Int64) -> Int64? {
    guard let object = id.storeKey else { return nil }
    if let other = owners[object], other != key { return other }
    if isMutual, let other = owners[key], other != object { return other }
    give(object, to: key)
    return nil
  }
}
