import OpenCoreData
import PersistentStores

/// Finds the related objects that the records of a run name, chunk by chunk.
final class Linker {
  let environment: ImportEnvironment
  /// By group of links.
  private(set) var indexes: [Int: any LinkLookup] = [:]
  private var links: [EntityLink] { environment.links }
  /// The state of the related objects as they were read, or as the run itself has left them. Nil if nothing was read, and
  /// in a dry run, which sees the store as it began.
  private(set) var state: RelatedState?
  /// The values of objects that records have led to, where they are compared.
  private var values: [NSManagedObjectID: [StoredValue]] = [:]

  /// Reads what identifies the related objects of the store.
  init(_ environment: ImportEnvironment) throws(RunFailure) {
    self.environment = environment
    let limit = environment.definition.limits.keysInMemoryMax
    for link in environment.links where !link.isLate && indexes[link.group] == nil {
      indexes[link.group] =
        environment.sharesLinks
        ? SharedLinkIndex(link, environment.sharedLinks, in: environment.store.coordinator)
        : LinkIndex(link, keysInMemoryMax: limit)
    }
    guard environment.store.isOpen else { return }
    do {
      try read()
    } catch {
      throw RunFailure(saving: error)
    }
  }

  private static let readingsMax = 10

  /// Reads what identifies the related objects of the store, as often as another program writes meanwhile. Workers of a
  /// plan ask for what they need, chunk by chunk.
  func read() throws {
    values = [:]
    if environment.sharesLinks {
      for case let index as SharedLinkIndex in indexes.values { index.forget() }
      return
    }
    for _ in 0..<Self.readingsMax {
      let before = try stateNow()
      for case let index as LinkIndex in indexes.values {
        try index.load(environment.store.container.newBackgroundContext(), unless: environment.monitor.isCancelled)
      }
      guard try before?.value == stateNow()?.value else { continue }
      state = before
      return
    }
    throw RunFailure(
      code: nil, exitCode: .temporaryFailure,
      message:
        "another program keeps writing to the store, so that the related objects can't be read; run it again later")
  }

  private func stateNow() throws -> RelatedState? {
    if environment.isDryRun || indexes.isEmpty { return nil }
    let coordinator = environment.store.coordinator
    let mark = try coordinator.changeMark(
      of: links.filter { !$0.isLate }.compactMap(\.relationship.destinationEntity))
    return RelatedState(mark: mark, value: try coordinator.participantRows(mark.query).first?.first as? Int64 ?? 0)
  }

  /// Looks up what the records of a chunk name.
  func resolve(_ chunk: ParsedChunk) throws -> ResolvedLinks {
    var resolved = try find(chunk)
    if resolved.links.contains(where: { $0.link.isExclusive || !$0.link.comparedSlots.isEmpty }) {
      let context = environment.store.container.newBackgroundContext()
      do {
        resolved.objects = try context.performAndWait { try LinkedObjects(resolved, in: context, &values) }
      } catch let error as NSError where error.isOfMissingObject && !environment.sharesLinks {
        // Another program has deleted it since the objects were read.
        throw OutdatedLinks()
      }
    }
    return resolved
  }

  private func find(_ chunk: ParsedChunk) throws -> ResolvedLinks {
    var resolved = ResolvedLinks()
    for (group, index) in indexes {
      let digests = chunk.links.filter { links[$0.link].group == group && !links[$0.link].isLate }.flatMap(\.digests)
      if !digests.isEmpty { try index.beginChunk(digests) }
    }
    for values in chunk.links {
      let link = links[values.link]
      if link.isLate {
        resolved.addLate(link, values)
      } else if let index = indexes[link.group] {
        resolved.add(link, values, in: index)
      }
    }
    return resolved
  }

  /// The digests of the whole records of a chunk that is only read.
  func wholeKeys(of chunk: ParsedChunk, _ digester: RowDigester) throws -> [KeyDigest] {
    if digester.linksOfWhole.isEmpty { return chunk.digests.keys }
    let keys = try find(chunk).wholeKeys(of: chunk, digester)
    for index in indexes.values { try index.endChunk() }
    return keys
  }

  /// Issues for records that contradict what they lead to, by row.
  func refusals(
    _ conflicts: LinkConflicts, _ resolved: ResolvedLinks, of chunk: ParsedChunk, input: String
  ) -> [Int: RecordIssue] {
    let entity = environment.definition.entity
    let pairs = conflicts.found.map { conflict in
      let link = resolved.links[conflict.link]
      let (code, message) = conflict.words(link, entity: entity) { row in
        chunk.block.number(ofRecordAt: Int(chunk.recordOfRow[row]))
      }
      let issue = RecordIssue(
        code, at: chunk.position(ofRow: conflict.row, input: input), column: link.link.columnName,
        value: link.shownValue(ofRow: conflict.row), message: message)
      return (conflict.row, issue)
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// Records that can't be imported, by row: the object that they name does not exist or is not the only one, or is
  /// missing where the model needs it.
  func refusals(_ resolved: ResolvedLinks, of chunk: ParsedChunk, input: String) -> [Int: RecordIssue] {
    var refused = environment.late?.refusals(of: chunk, part: environment.part, input: input) ?? [:]
    for (link, isLate) in resolved.links.map({ ($0, false) }) + resolved.late.map({ ($0, true) }) {
      let isNeeded = environment.definition.relationships == .require && !link.link.relationship.isOptional
      guard isLate || isNeeded || resolved.mayHaveProblems(link) else { continue }
      for row in 0..<chunk.batch.count where refused.isEmpty || refused[row] == nil {
        var problem = isLate ? resolved.problem(ofRow: row, late: link) : resolved.problem(ofRow: row, link)
        if problem == nil, isNeeded, !(isLate ? resolved.names(row, late: link) : resolved.leads(row, link)) {
          problem = absence(of: link, row: row, chunk)
        }
        guard let problem else { continue }
        let value = link.shownValue(ofRow: row)
        refused[row] = RecordIssue(
          problem.code, at: chunk.position(ofRow: row, input: input), column: link.link.columnName,
          value: value.isEmpty ? chunk.shownValue(ofRecord: Int(chunk.recordOfRow[row])) : value,
          message: problem.message)
      }
    }
    return refused
  }

  /// What is wrong with a record that names nothing, where every entry needs an object. One that does not state the
  /// relationship may be an update.
  private func absence(
    of link: ResolvedLinks.Link, row: Int, _ chunk: ParsedChunk
  ) -> (code: IssueCode, message: String)? {
    let slot = AbsentValues.slot(ofLink: link.values.link, chunk.batch.entity)
    guard !chunk.absent.slots(ofRow: row).contains(slot) else { return nil }
    return (
      .modelError,
      "every \(environment.definition.entity) needs its \(link.link.name), and the record leads to no "
        + "\(link.link.destinationName); fill it in"
    )
  }

  /// Where the entries of a plan lead, and what is created for that.
  func plan(_ resolved: ResolvedLinks, _ plan: ChunkPlan, of chunk: ParsedChunk) -> PlannedLinks {
    PlannedLinks(resolved, plan, of: chunk) { environment.keys.updates($0) }
  }

  /// Called when a chunk was saved whose links to other entries of the run wait for its end.
  func noteLate(
    _ chunk: ParsedChunk, _ resolved: ResolvedLinks, plan: ChunkPlan, firstKey: Int64?, input: String
  ) throws {
    if resolved.late.isEmpty, resolved.ownNames == nil { return }
    try environment.late?.note(
      chunk, resolved, plan: plan, firstKey: firstKey, part: environment.part, input: input
    ) { environment.keys.updates($0) }
  }

  /// Called when the plan was saved.
  ///
  /// - Parameters:
  ///   - created: The IDs of the objects that were created, by group.
  ///   - state: The state of the related objects after the save.
  func didSave(_ plan: PlannedLinks, created: [Int: [NSManagedObjectID]], state: RelatedState?) throws {
    if self.state != nil, let state { self.state = state }
    for id in plan.changes.keys { values[id] = nil }
    for (group, index) in indexes {
      if let creation = plan.creations[group] {
        for (digest, id) in zip(creation.digests, created[group] ?? []) { try index.noteCreated(digest, id) }
      }
      try index.endChunk()
    }
  }
}
