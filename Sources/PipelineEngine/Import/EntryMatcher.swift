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
  private let keyNames: String
  private let entityName: String
  private let uniquenesses: [Uniqueness]
  /// Attributes that an update may change.
  private let updatedSlots: [Int]
  let digester: RowDigester
  private let keys: KeyIndex
  private let uniqueValues: [KeyIndex]

  init(
    _ definition: PipelineDefinition, entity: NSEntityDescription, uniquenesses: [Uniqueness], updatedSlots: [Int]
  ) {
    policy = definition.duplicates
    keyNames = definition.key.joined(separator: ", ")
    entityName = definition.entity
    self.uniquenesses = uniquenesses
    self.updatedSlots = policy.updates ? updatedSlots : []
    digester = Self.digester(definition, entity: entity, uniquenesses: uniquenesses, updatedSlots: self.updatedSlots)
    let limit = definition.limits.keysInMemoryMax
    keys = KeyIndex(keysInMemoryMax: limit, keepsOrders: digester.orderSlot != nil)
    uniqueValues = uniquenesses.map { _ in KeyIndex(keysInMemoryMax: limit) }
  }

  /// Whether a record may become part of an earlier entry before that is saved: then each must be valid on its own.
  var needsValidEntries: Bool { policy.updates && !digester.keySlots.isEmpty }

  static func digester(
    _ definition: PipelineDefinition, entity: NSEntityDescription, uniquenesses: [Uniqueness], updatedSlots: [Int]
  ) -> RowDigester {
    var digester = RowDigester()
    digester.keySlots = definition.key.compactMap { entity.slot(named: $0) }
    digester.uniqueSlots = uniquenesses.map(\.slots)
    digester.valueSlots = updatedSlots
    if case .keepNewest(let by) = definition.duplicates { digester.orderSlot = entity.slot(named: by) }
    return digester
  }

  /// Allocates capacity for the entries of the store.
  func reserve(_ count: Int) { for index in [keys] + uniqueValues { index.reserve(count) } }

  /// Adds entries of the store in the order of their primary keys.
  func load(_ digests: RowDigests, storeKeys: [Int64]) throws {
    try keys.load(digests.keys) { entry(digests, row: $0, storeKey: storeKeys[$0]) }
    for (index, digests) in zip(uniqueValues, digests.uniques) {
      try index.load(digests) { KeyEntry(storeKey: storeKeys[$0]) }
    }
  }

  private func entry(_ digests: RowDigests, row: Int, storeKey: Int64) -> KeyEntry {
    KeyEntry(
      storeKey: storeKey, values: digests.values.isEmpty ? 0 : digests.values[row],
      order: digests.orders.isEmpty ? 0 : digests.orders[row])
  }

  // MARK: Chunks

  /// The primary keys of a chunk's entries, as far as they are known beforehand.
  struct Keys {
    /// The primary key of the first inserted entry.
    var next: Int64
    /// The highest primary key in the store when the input was begun: entries with higher ones are from the input
    /// itself.
    var base: Int64
  }

  /// Matches the entries in order. `refused` has an issue for each row that is known not to be storable.
  func plan(_ chunk: ParsedChunk, _ storeKeys: Keys, refused: [Int: RecordIssue], input: String) throws -> ChunkPlan {
    var builder = PlanBuilder(chunk, storeKeys: storeKeys, input: input)
    if !chunk.digests.keys.isEmpty { try keys.beginChunk(chunk.digests.keys) }
    for (index, digests) in zip(uniqueValues, chunk.digests.uniques) { try index.beginChunk(digests) }
    let digests = chunk.digests.keys
    for row in 0..<chunk.batch.count {
      if !digests.isEmpty { keys.approach(row, of: digests) }
      if let issue = refused[row] {
        builder.reject(row, issue)
      } else if !applyPolicy(row, of: chunk, to: &builder), !violates(row, of: chunk, in: &builder) {
        note(row, chunk.digests, storeKey: builder.insert(row), isNew: true)
      }
    }
    return builder.finish(updatedSlots)
  }

  /// Handles a record whose key exists already; false for a new one.
  private func applyPolicy(_ row: Int, of chunk: ParsedChunk, to builder: inout PlanBuilder) -> Bool {
    let digests = chunk.digests
    guard !digests.keys.isEmpty, digests.keys[row] != .none, let known = keys.entry(of: digests.keys[row]) else {
      return false
    }
    switch policy {
    case .reject:
      let holder =
        builder.isOfThisInput(known.storeKey)
        ? "an earlier record of this input has the same key (\(keyNames)); remove one of the two"
        : "the store has an entry with this key (\(keyNames)) already, \(entityName) p\(known.storeKey); remove the "
          + "record, or set \"duplicates\" to skip or update"
      builder.reject(row, .primaryKey, message: holder)
    case .skip:
      builder.plan.duplicate += 1
    case .update:
      update(row, known: known, of: chunk, in: &builder)
    case .keepNewest:
      let order = digests.orders[row]
      if order > known.order {
        update(row, known: known, of: chunk, in: &builder)
      } else if order == known.order, digests.values[row] == known.values {
        builder.plan.unchanged += 1
      } else {
        builder.plan.duplicate += 1
      }
    }
    return true
  }

  private func update(_ row: Int, known: KeyEntry, of chunk: ParsedChunk, in builder: inout PlanBuilder) {
    let entry = entry(chunk.digests, row: row, storeKey: known.storeKey)
    if entry.values == known.values {
      builder.plan.unchanged += 1
    } else {
      builder.update(known.storeKey, row)
    }
    if entry != known { keys.set(chunk.digests.keys[row], entry, before: known) }
  }

  private func violates(_ row: Int, of chunk: ParsedChunk, in builder: inout PlanBuilder) -> Bool {
    for (index, uniqueness) in uniquenesses.enumerated() {
      let digest = chunk.digests.uniques[index][row]
      guard digest != .none, let known = uniqueValues[index].entry(of: digest) else { continue }
      let holder =
        builder.isOfThisInput(known.storeKey)
        ? "an earlier record of this input" : "an entry of the store, \(entityName) p\(known.storeKey),"
      let message = "\(uniqueness.names) must be unique, and \(holder) has the same; correct one of the two"
      builder.note(
        row, uniqueness.code, message: message, column: uniqueness.column, severity: uniqueness.severity)
      if uniqueness.severity == .error {
        builder.plan.rejected.append(Int(chunk.recordOfRow[row]))
        return true
      }
    }
    return false
  }

  /// Adds the key and the unique values of a row's entry. A new entry's key has no previous owner.
  private func note(_ row: Int, _ digests: RowDigests, storeKey: Int64, isNew: Bool) {
    if !digests.keys.isEmpty, digests.keys[row] != .none {
      let digest = digests.keys[row]
      keys.set(digest, entry(digests, row: row, storeKey: storeKey), before: isNew ? nil : keys.entry(of: digest))
    }
    for (index, digest) in zip(uniqueValues, digests.uniques) where digest[row] != .none {
      index.set(digest[row], KeyEntry(storeKey: storeKey))
    }
  }

  /// Called when the chunk is saved, its entries with primary keys from `first` on, which may differ from the expected
  /// ones.
  func endChunk(_ chunk: ParsedChunk, _ plan: ChunkPlan, expected: Int64, first: Int64) throws {
    if expected != first {
      for (offset, row) in plan.insertedRows.enumerated() {
        note(row, chunk.digests, storeKey: first + Int64(offset), isNew: false)
      }
    }
    for index in [keys] + uniqueValues { try index.endChunk() }
  }

  /// Called when the chunk will be planned again.
  func undoChunk() {
    for index in [keys] + uniqueValues { index.undoChunk() }
  }
}

/// Collects the decisions for one chunk.
private struct PlanBuilder {
  var plan: ChunkPlan
  private let chunk: ParsedChunk
  private let storeKeys: EntryMatcher.Keys
  private let input: String
  /// Rows of this chunk that are updated from later ones.
  private var folds: [(target: Int, source: Int)] = []

  init(_ chunk: ParsedChunk, storeKeys: EntryMatcher.Keys, input: String) {
    plan = ChunkPlan(inserting: chunk)
    plan.insertedRows.removeAll(keepingCapacity: true)
    self.chunk = chunk
    self.storeKeys = storeKeys
    self.input = input
  }

  func isOfThisInput(_ storeKey: Int64) -> Bool { storeKey > storeKeys.base }

  /// - Returns: The future primary key of the entry.
  mutating func insert(_ row: Int) -> Int64 {
    plan.insertedRows.append(row)
    return storeKeys.next + Int64(plan.insertedRows.count - 1)
  }

  mutating func update(_ storeKey: Int64, _ row: Int) {
    plan.updated += 1
    if storeKey >= storeKeys.next {
      // Not in the store yet: the entry is inserted with the later record's values.
      folds.append((plan.insertedRows[Int(storeKey - storeKeys.next)], row))
    } else {
      plan.updates.append(ChunkPlan.Update(storeKey: storeKey, row: row))
    }
  }

  mutating func reject(_ row: Int, _ issue: RecordIssue) {
    plan.rejected.append(Int(chunk.recordOfRow[row]))
    plan.issues.append(issue)
  }

  mutating func reject(_ row: Int, _ code: IssueCode, message: String) {
    plan.rejected.append(Int(chunk.recordOfRow[row]))
    note(row, code, message: message)
  }

  mutating func note(
    _ row: Int, _ code: IssueCode, message: String, column: String? = nil, severity: Severity = .error
  ) {
    plan.issues.append(
      RecordIssue(
        code, severity: severity, at: chunk.position(ofRow: row, input: input), column: column,
        value: chunk.shownValue(ofRecord: Int(chunk.recordOfRow[row])), message: message))
  }

  consuming func finish(_ updatedSlots: [Int]) -> ChunkPlan {
    plan.updatedSlots = updatedSlots
    for fold in folds { plan.inserts.copyValues(from: fold.source, to: fold.target, slots: updatedSlots) }
    if plan.insertedRows.count < chunk.batch.count { plan.inserts.keepRows(plan.insertedRows) }
    plan.sort()
    return plan
  }
}
