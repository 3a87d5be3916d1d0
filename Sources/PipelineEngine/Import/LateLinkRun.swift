import OpenCoreData
import PersistentStores

/// Sets the links of a run that had to wait, when all entries are in the store.
struct LateLinkRun {
  let late: LateLinks
  let parts: [ImportPart]
  private let ledger: Ledger
  /// By input and element what it names; nil for nothing.
  private(set) var targets: [[NSManagedObjectID?]] = []
  static let chunk = 2000

  init(_ late: LateLinks, of parts: [ImportPart], _ ledger: Ledger) {
    (self.late, self.parts, self.ledger) = (late, parts, ledger)
  }

  func link(_ naming: LateLinks.Naming, of input: LateLinks.Input) -> EntityLink {
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
    refuseContradictions()
    let dependents = LateDependents(self)
    refuse(dependents.records(leadingTo: refusedRecords(), by: [.reject]))
    try refuseTakers(dependents)
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
    for (inputIndex, input) in late.inputs.enumerated() where input.part == part {
      let namings = input.namings.filter { $0.link == number }
      for start in stride(from: 0, to: namings.count, by: Self.chunk) {
        let chunk = namings[start..<min(start + Self.chunk, namings.count)]
        let found = try search.find(chunk.flatMap { $0.elements.map { input.elements[$0].digest } }, environment.store)
        var next = found.makeIterator()
        for naming in chunk {
          for element in naming.elements {
            note(next.next() ?? .none, for: element, of: naming, input: inputIndex, link)
          }
        }
        try compare(chunk, of: input, inputIndex, over: link, in: context)
      }
    }
  }

  /// Notes what one of a record's names leads to, or that the record can't be imported because it leads to nothing.
  private mutating func note(
    _ found: FoundObject, for element: Int, of naming: LateLinks.Naming, input inputIndex: Int, _ link: EntityLink
  ) {
    let input = late.inputs[inputIndex]
    switch found {
    case .stored(let id): targets[inputIndex][element] = id
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
  func refuse(
    _ naming: LateLinks.Naming, of input: LateLinks.Input, over link: EntityLink, code: IssueCode, element: Int,
    _ message: (String) -> String
  ) {
    let text = input.text(of: input.elements[element])
    late.refuse(
      naming.record, of: input,
      LateLinks.Refusal(
        code: code, column: link.columnName, value: names(of: naming, in: input, over: link),
        message: message(link.isByRecord ? "the name \(text)" : "\(link.by.joined(separator: ", ")) \(text)")))
  }

  private func names(of naming: LateLinks.Naming, in input: LateLinks.Input, over link: EntityLink) -> String {
    naming.elements.map { input.text(of: input.elements[$0]) }
      .joined(separator: link.separator.map { String(decoding: $0, as: UTF8.self) } ?? ", ")
  }

  /// Refuses records that say something else of the objects than these have.
  private func compare(
    _ namings: ArraySlice<LateLinks.Naming>, of input: LateLinks.Input, _ inputIndex: Int, over link: EntityLink,
    in context: NSManagedObjectContext
  ) throws {
    if link.comparedSlots.isEmpty { return }
    let found = namings.flatMap { naming in
      naming.elements.compactMap { element in
        targets[inputIndex][element].map { (naming: naming, element: element, id: $0) }
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

  /// Whether the relationship is set: names that are left out say nothing of where an updated entry leads.
  func isSet(_ naming: LateLinks.Naming, of input: LateLinks.Input, _ inputIndex: Int) -> Bool {
    naming.state == .inserted || naming.elements.allSatisfy { targets[inputIndex][$0] != nil }
  }

  // MARK: Setting

  /// Sets what was found, in saves whose records the ledger has with the input.
  func set(_ totals: inout ImportTotals) throws {
    for (inputIndex, input) in late.inputs.enumerated() {
      guard var checkpoint = input.checkpoint else { continue }
      let part = parts[input.part]
      let contexts = part.contexts(isLate: true)
      let writer = CheckpointWriter(environment: part.environment, ledger: ledger)
      var rest = input.namings[...]
      while !rest.isEmpty {
        let saved = takeEntries(of: &rest, input, inputIndex)
        let outcome = try contexts.relink(
          saved.entries, of: part.environment.store.entity, noting: writer.note
        ) { changed in
          let (links, updated) = (LinkCounts.sum([], saved.counts), changed.count { saved.states[$0] == .unchanged })
          checkpoint.noteLinks(links, updated: updated)
          totals.noteLinks(links, updated: updated, of: part.environment.definition.entity)
          writer.prepare(checkpoint, totals)
        }
        refuse(outcome, of: input)
        if !outcome.isEmpty { return }
        writer.didSave(&checkpoint, inserted: 0, &totals)
      }
    }
  }

  /// What one save sets.
  private struct SavedEntries {
    var entries: [RelinkedEntry] = []
    var counts: [LinkCounts] = []
    /// By the keys of the entries.
    var states: [Int64: LateLinks.EntryState] = [:]
  }

  /// Takes the entries of the next save. An entry is not divided.
  private func takeEntries(
    of rest: inout ArraySlice<LateLinks.Naming>, _ input: LateLinks.Input, _ inputIndex: Int
  ) -> SavedEntries {
    var saved = SavedEntries()
    while let first = rest.first, saved.entries.count < Self.chunk {
      var entry = RelinkedEntry(key: first.key, isNew: first.state == .inserted)
      while let naming = rest.first, naming.key == first.key {
        rest.removeFirst()
        saved.states[naming.key] = naming.state
        add(naming, to: &entry, counting: &saved.counts, of: input, inputIndex)
      }
      saved.entries.append(entry)
    }
    return saved
  }

  private func add(
    _ naming: LateLinks.Naming, to entry: inout RelinkedEntry, counting counts: inout [LinkCounts],
    of input: LateLinks.Input, _ inputIndex: Int
  ) {
    let link = link(naming, of: input)
    let ids = naming.elements.compactMap { targets[inputIndex][$0] }.reduce(into: [NSManagedObjectID]()) {
      if !$0.contains($1) { $0.append($1) }
    }
    let isSet = isSet(naming, of: input, inputIndex)
    if isSet { entry.links.append((link.name, ids)) }
    let missing = naming.elements.count { targets[inputIndex][$0] == nil }
    counts.append(LinkCounts(entity: link.destinationName, linked: isSet ? ids.count : 0, leftOut: missing))
  }

  /// Refuses the records whose links the model refuses. Where several records have the key of one entry, the last one
  /// decides.
  private func refuse(_ failures: [RelinkingFailure], of input: LateLinks.Input) {
    let keys = Set(failures.map(\.key))
    let namings = Dictionary(grouping: input.namings.lazy.filter { keys.contains($0.key) }, by: \.key)
    for failure in failures {
      let said = namings[failure.key] ?? []
      let named = said.last { link($0, of: input).name == failure.link } ?? said.first
      guard let named else { continue }
      let over = link(named, of: input)
      late.refuse(
        named.record, of: input,
        LateLinks.Refusal(
          code: .modelError, column: over.columnName, value: names(of: named, in: input, over: over),
          message: failure.message))
    }
  }
}

/// Where names are looked up.
private enum LateSearch {
  case index(LinkIndex)
  /// Nil if no record has a name.
  case names(RecordNames?)

  func find(_ digests: [KeyDigest], _ store: ImportStore) throws -> [FoundObject] {
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
