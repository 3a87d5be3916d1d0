import OpenCoreData

/// Decides by key what happens to each entry, compared with those in the store and those of the run so far.
struct EntryMatcher {
  /// A set of attributes whose values must be unique.
  struct Uniqueness: Sendable {
    let slots: [Int]
    let code: IssueCode
    /// The column, if it is a single one.
    let column: String?
    let names: String
    let severity: Severity
  }

  private let policy: DuplicatePolicy
  /// Whether the policy is to reject: comparing it for each record costs a call.
  private let rejects: Bool
  private let keyNames: String
  private let entityName: String
  private let uniquenesses: [Uniqueness]
  let digester: RowDigester
  private let keys: KeyIndex
  private let uniqueValues: [KeyIndex]

  /// - Parameter digester: What is compared; its value slots are the attributes that an update may change.
  init(
    _ definition: PipelineDefinition, _ digester: RowDigester, entity: NSEntityDescription, uniquenesses: [Uniqueness]
  ) {
    policy = definition.duplicates
    rejects = definition.duplicates == .reject
    keyNames = definition.key.joined(separator: ", ")
    entityName = definition.entity
    self.uniquenesses = uniquenesses
    self.digester = digester
    let limit = definition.limits.keysInMemoryMax
    keys = KeyIndex(keysInMemoryMax: limit, keepsOrders: digester.orderSlot != nil || digester.isWholeRecord)
    uniqueValues = uniquenesses.map { _ in KeyIndex(keysInMemoryMax: limit) }
  }

  /// Whether a record may become part of an earlier entry before that is saved: then each must be valid on its own.
  var needsValidEntries: Bool { policy.updates && !digester.keySlots.isEmpty && !digester.isWholeRecord }

  /// Whether it matters which records of an input were read before: of one that has grown only to count equal ones.
  func remembersInput(isGrown: Bool) -> Bool {
    digester.isWholeRecord || !digester.keySlots.isEmpty && policy != .reject && !isGrown
  }

  /// Allocates capacity for the entries of the store.
  func reserve(_ count: Int) { for index in [keys] + uniqueValues { index.reserve(count) } }

  /// Adds entries of the store in the order of their primary keys.
  ///
  /// - Parameter isReplaced: Whether the entry with a primary key is deleted to be replaced; nil where none is.
  func load(_ digests: RowDigests, storeKeys: [Int64], isReplaced: ((Int64) -> Bool)? = nil) throws {
    try KeyEntry.checkStoreKey(storeKeys.last ?? 0)
    if digester.isWholeRecord {
      try keys.count(digests.keys) { isReplaced?(storeKeys[$0]) ?? false }
    } else {
      try keys.load(digests.keys) { row in
        var entry = entry(digests, row: row, storeKey: storeKeys[row])
        // What the entry leads to is not read.
        if digester.comparesLinks { entry.values = KeyEntry.unknownValues }
        return entry
      }
    }
    for (index, digests) in zip(uniqueValues, digests.uniques) {
      let kept = isReplaced.map { isReplaced in
        digests.indices.map { isReplaced(storeKeys[$0]) ? .none : digests[$0] }
      }
      try index.load(kept ?? digests) { KeyEntry(storeKey: storeKeys[$0]) }
    }
  }

  private func entry(
    _ digests: RowDigests, row: Int, storeKey: Int64, input: KeyEntry.InputNumber = 0
  ) -> KeyEntry {
    KeyEntry(
      storeKey: storeKey, values: digests.values.isEmpty ? 0 : digests.values[row],
      order: digests.orders.isEmpty ? 0 : digests.orders[row], input: input)
  }

  /// Notes keys that an input had before the run that continues it.
  func noteEarlier(_ digests: [KeyDigest], input: KeyEntry.InputNumber) throws {
    try keys.beginChunk(digests)
    for digest in digests where digest != .none {
      if digester.isWholeRecord {
        // It is in the store, as the entry that it matched or that it became, unless that was edited or deleted since.
        let known = keys.entry(of: digest)
        var equal = EqualEntries(known, input: input)
        if equal.match() { keys.set(digest, equal.keyEntry, before: known) }
        continue
      }
      guard var known = keys.entry(of: digest) else { continue }
      known.input = input
      keys.set(digest, known)
    }
    try keys.endChunk()
  }

  // MARK: Chunks

  /// The primary keys of a chunk's entries, as far as they are known beforehand.
  struct Keys {
    /// The primary key of the first inserted entry.
    var next: Int64
    /// The highest primary key in the store when the input was begun: entries with higher ones are from the input
    /// itself.
    var base: Int64
    /// The keys of other entries that are from the input itself.
    var own: InsertedRanges.Sorted = []
    /// Distinguishes the input from the others of the run.
    var input: KeyEntry.InputNumber

    /// Entries that the store has not numbered yet count as those with the keys above.
    static let notGiven = KeyEntry.storeKeyMax
  }

  /// Matches the entries in order. `refused` has an issue for each row that is known not to be storable.
  func plan(_ chunk: ParsedChunk, _ storeKeys: Keys, refused: [Int: RecordIssue], input: String) throws -> ChunkPlan {
    var builder = PlanBuilder(chunk, storeKeys: storeKeys, inputName: input)
    if !chunk.digests.keys.isEmpty { try keys.beginChunk(chunk.digests.keys) }
    for (index, digests) in zip(uniqueValues, chunk.digests.uniques) { try index.beginChunk(digests) }
    let digests = chunk.digests.keys
    for row in 0..<chunk.batch.count {
      if !digests.isEmpty { keys.approach(row, of: digests) }
      if let issue = refused[row] {
        builder.reject(row, issue)
      } else if !applyPolicy(row, of: chunk, to: &builder), !violates(row, of: chunk, in: &builder) {
        note(row, chunk.digests, storeKey: builder.insert(row), input: builder.input)
      }
    }
    return builder.finish(digester.valueSlots)
  }

  /// Handles a record whose key exists already; false for a new one.
  private func applyPolicy(_ row: Int, of chunk: ParsedChunk, to builder: inout PlanBuilder) -> Bool {
    let digests = chunk.digests
    guard digester.hasKey, digests.keys[row] != .none else { return false }
    if digester.isWholeRecord { return matchWhole(row, digests.keys[row], in: &builder) }
    let found =
      rejects
      ? keys.entry(of: digests.keys[row]) : keys.entry(of: digests.keys[row], noting: builder.input)
    guard let known = found else { return false }
    let isRepeated = builder.isOfThisInput(known)
    if isRepeated, !rejects { builder.noteRepetition(row, keyNames: keyNames, policy: policy) }
    switch policy {
    case .reject:
      if isRepeated {
        builder.rejectRepetition(row, keyNames: keyNames)
      } else {
        builder.reject(row, keyNames: keyNames, of: entityName, storeKey: known.storeKey)
      }
    case .skip:
      builder.leave(as: .duplicate, isRepeated: isRepeated)
    case .update:
      update(row, known: known, of: chunk, in: &builder)
    case .keepNewest:
      let order = digests.orders[row]
      if order > known.order {
        update(row, known: known, of: chunk, in: &builder)
      } else {
        let isEqual = order == known.order && digests.values[row] == known.values
        builder.leave(as: isEqual ? .unchanged : .duplicate, isRepeated: isRepeated)
      }
    }
    return true
  }

  /// Leaves a record out if the store had an equal entry before the input that no earlier record of it equals.
  private func matchWhole(_ row: Int, _ digest: KeyDigest, in builder: inout PlanBuilder) -> Bool {
    let known = keys.entry(of: digest)
    var equal = EqualEntries(known, input: builder.input)
    equal.replaced = Int(known?.order ?? 0)
    let isStored = equal.match()
    keys.set(digest, equal.keyEntry, before: known)
    if isStored {
      builder.leave(as: .unchanged, isRepeated: false)
      builder.plan.matchedRows.append(row)
    }
    return isStored
  }

  private func update(_ row: Int, known: KeyEntry, of chunk: ParsedChunk, in builder: inout PlanBuilder) {
    var entry = entry(chunk.digests, row: row, storeKey: known.storeKey, input: builder.input)
    let isRepeated = builder.isOfThisInput(known)
    if entry.values == known.values {
      builder.leave(as: .unchanged, isRepeated: isRepeated)
      if digester.comparesLinks { builder.plan.repeatedRows.append(row) }
    } else {
      var update = ChunkPlan.Update(storeKey: known.storeKey, row: row)
      let absent = chunk.absent.slots(ofRow: row)
      if !absent.isEmpty { update.stated = digester.valueSlots.filter { !absent.contains($0) } }
      let lacksLink = digester.comparesLinks && absent.contains { $0 >= chunk.batch.slotCount }
      let isPartial = lacksLink || update.stated.map { $0.count < digester.valueSlots.count } ?? false
      update.isUncertain = !isRepeated && (isPartial || known.values == KeyEntry.unknownValues)
      if isPartial { entry.values = KeyEntry.unknownValues }
      builder.update(update)
      builder.leave(as: .updated, isRepeated: isRepeated)
    }
    var noted = known
    noted.input = builder.input
    if entry != noted { keys.set(chunk.digests.keys[row], entry, before: noted) }
  }

  private func violates(_ row: Int, of chunk: ParsedChunk, in builder: inout PlanBuilder) -> Bool {
    for (index, uniqueness) in uniquenesses.enumerated() {
      let digest = chunk.digests.uniques[index][row]
      guard digest != .none, let known = uniqueValues[index].entry(of: digest) else { continue }
      builder.note(row, uniqueness, at: index, known: known, of: entityName)
      if uniqueness.severity == .error {
        builder.plan.rejected.append(Int(chunk.recordOfRow[row]))
        return true
      }
    }
    return false
  }

  /// Adds the key and the unique values of a row's new entry, whose key has no previous owner.
  private func note(_ row: Int, _ digests: RowDigests, storeKey: Int64, input: KeyEntry.InputNumber) {
    if hasKey(row, digests) {
      keys.set(digests.keys[row], entry(digests, row: row, storeKey: storeKey, input: input), before: nil)
    }
    for (index, digest) in zip(uniqueValues, digests.uniques) where digest[row] != .none {
      index.set(digest[row], KeyEntry(storeKey: storeKey, input: input))
    }
  }

  private func hasKey(_ row: Int, _ digests: RowDigests) -> Bool {
    !digester.keySlots.isEmpty && digests.keys[row] != .none && !digester.isWholeRecord
  }

  /// Called when the chunk is saved, its entries with primary keys from `first` on, which may differ from the expected
  /// ones.
  func endChunk(_ chunk: ParsedChunk, _ plan: ChunkPlan, expected: Int64, first: Int64) throws {
    if expected != first {
      try KeyEntry.checkStoreKey(first + Int64(plan.insertedRows.count))
      for row in plan.insertedRows {
        if hasKey(row, chunk.digests) { keys.renumber(chunk.digests.keys[row], from: expected, to: first) }
        for (index, digest) in zip(uniqueValues, chunk.digests.uniques) where digest[row] != .none {
          index.renumber(digest[row], from: expected, to: first)
        }
      }
    }
    for index in [keys] + uniqueValues { try index.endChunk() }
  }

  /// Called when the chunk will be planned again.
  func undoChunk() {
    for index in [keys] + uniqueValues { index.undoChunk() }
  }
}

extension KeyIndex {
  /// Gives the entry of a key its number in the store, if it counts as one of those from `expected` on.
  fileprivate func renumber(_ digest: KeyDigest, from expected: Int64, to first: Int64) {
    guard let known = entry(of: digest), known.storeKey >= expected else { return }
    var numbered = known
    numbered.storeKey += first - expected
    set(digest, numbered, before: known)
  }
}
