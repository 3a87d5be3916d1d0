import OpenCoreData

/// Collects the decisions for one chunk.
struct PlanBuilder {
  var plan: ChunkPlan
  private let chunk: ParsedChunk
  private let storeKeys: EntryMatcher.Keys
  private let inputName: String
  /// Rows of this chunk that are updated from later ones.
  private var folds: [(target: Int, source: Int, stated: [Int]?)] = []

  init(_ chunk: ParsedChunk, storeKeys: EntryMatcher.Keys, inputName: String) {
    plan = ChunkPlan(inserting: chunk)
    plan.insertedRows.removeAll(keepingCapacity: true)
    self.chunk = chunk
    self.storeKeys = storeKeys
    self.inputName = inputName
  }

  /// The values of the chunk's keys.
  var keyValues: KeyValues? { chunk.digests.keyValues }
  /// The number of the input.
  var input: KeyEntry.InputNumber { storeKeys.input }

  /// Whether an earlier record of the input has made the entry, or had its key.
  func isOfThisInput(_ known: KeyEntry) -> Bool {
    known.storeKey > storeKeys.base || known.input == storeKeys.input
      || InsertedRanges.input(of: known.storeKey, in: storeKeys.own) != nil
  }

  /// - Returns: The future primary key of the entry.
  mutating func insert(_ row: Int) -> Int64 {
    plan.insertedRows.append(row)
    return storeKeys.next + Int64(plan.insertedRows.count - 1)
  }

  mutating func update(_ update: ChunkPlan.Update) {
    if update.storeKey >= storeKeys.next {
      // Not in the store yet: the entry is inserted with the later record's values.
      folds.append((plan.insertedRows[Int(update.storeKey - storeKeys.next)], update.row, update.stated))
    } else {
      plan.updates.append(update)
    }
  }

  /// Notes a record of a shard whose entry has the values of other records.
  mutating func pass(_ row: Int) { plan.passedRows.append(row) }

  /// What becomes of a record that makes no new entry.
  enum Outcome {
    case updated, unchanged, duplicate
  }

  /// Counts a record that makes no new entry.
  mutating func leave(as outcome: Outcome, isRepeated: Bool) {
    if isRepeated {
      plan.repeated += 1
      return
    }
    switch outcome {
    case .updated: plan.updated += 1
    case .unchanged: plan.unchanged += 1
    case .duplicate: plan.duplicate += 1
    }
  }

  /// Reports a record whose key an earlier record of the input has.
  ///
  /// - Parameter isOverShards: Whether the other record may be a later one of the input, which another worker has
  ///   imported before.
  mutating func noteRepetition(
    _ row: Int, keyNames: String, policy: DuplicatePolicy, isOverShards: Bool = false
  ) {
    let kind = plan.issues.kind(forKey: KindKey.repetition) {
      let outcome =
        switch policy {
        case .update: isOverShards ? "the entry has the values of the last one" : "its values replace the earlier ones"
        case .keepNewest: "the newer values stay"
        case .reject, .skip: isOverShards ? "the entry is that of the first one" : "it is left out"
        }
      return PackedIssues.Kind(
        .primaryKey, severity: .warning,
        message: "an\(isOverShards ? "other" : " earlier") record of this input has the same key (\(keyNames)); "
          + "\(outcome). If they are two entries, add what distinguishes them to the key")
    }
    note(row, kind: kind)
  }

  mutating func reject(_ row: Int, _ issue: RecordIssue) {
    plan.rejected.append(Int(chunk.recordOfRow[row]))
    plan.issues.append(issue)
  }

  /// Rejects a record whose key is that of the entry with a primary key in the store.
  mutating func reject(_ row: Int, keyNames: String, of entityName: String, storeKey: Int64) {
    plan.rejected.append(Int(chunk.recordOfRow[row]))
    if storeKey > EntryMatcher.Keys.notGiven {
      let kind = plan.issues.kind(forKey: KindKey.notNumbered) {
        PackedIssues.Kind(
          .primaryKey,
          message: "an earlier input of this run has an entry with this key (\(keyNames)); remove the record, or set "
            + "\"duplicates\" to skip or update")
      }
      return note(row, kind: kind)
    }
    let kind = plan.issues.kind(forKey: KindKey.stored) {
      PackedIssues.Kind(
        .primaryKey, message: "the store has an entry with this key (\(keyNames)) already, \(entityName) p",
        messageEnd: "; remove the record, or set \"duplicates\" to skip or update")
    }
    note(row, kind: kind, number: storeKey)
  }

  /// Rejects a record whose key an earlier record of the input has.
  mutating func rejectRepetition(_ row: Int, keyNames: String) {
    let kind = plan.issues.kind(forKey: KindKey.repeated) {
      PackedIssues.Kind(
        .primaryKey,
        message: "an earlier record of this input has the same key (\(keyNames)); remove one of the two")
    }
    plan.rejected.append(Int(chunk.recordOfRow[row]))
    note(row, kind: kind)
  }

  /// Reports a value that must be unique and that an earlier record has, or the entry with a primary key in the store.
  ///
  /// - Parameter index: The index of `uniqueness` among those of the run.
  mutating func note(
    _ row: Int, _ uniqueness: EntryMatcher.Uniqueness, at index: Int, known: KeyEntry, of entityName: String
  ) {
    let isRepeated = isOfThisInput(known)
    let isNumbered = known.storeKey <= EntryMatcher.Keys.notGiven
    let owner: KindKey.Owner = isRepeated ? .record : isNumbered ? .entry : .newEntry
    let kind = plan.issues.kind(forKey: KindKey.uniqueness(index, owner)) {
      let start = "\(uniqueness.names) must be unique, and "
      let end = "has the same; correct one of the two"
      let message =
        switch owner {
        case .record: "\(start)an earlier record of this input \(end)"
        case .newEntry: "\(start)an entry of an earlier input of this run \(end)"
        case .entry: "\(start)an entry of the store, \(entityName) p"
        }
      return PackedIssues.Kind(
        uniqueness.code, severity: uniqueness.severity, column: uniqueness.column, message: message,
        messageEnd: owner == .entry ? ", \(end)" : nil)
    }
    note(row, kind: kind, number: known.storeKey)
  }

  private mutating func note(_ row: Int, kind: Int, number: Int64 = 0) {
    let index = Int(chunk.recordOfRow[row])
    let bytes = chunk.block.bytes
    plan.issues.append(
      kind: kind, at: chunk.packedPosition(ofRecord: index),
      value: bytes.span.extracting(chunk.block.records[index].contentRange), number: number)
  }

  consuming func finish(_ updatedSlots: [Int]) -> ChunkPlan {
    plan.updatedSlots = updatedSlots
    for fold in folds {
      plan.inserts.copyValues(from: fold.source, to: fold.target, slots: fold.stated ?? updatedSlots)
      plan.laterRows[fold.target, default: []].append(fold.source)
    }
    if plan.insertedRows.count < chunk.batch.count { plan.inserts.keepRows(plan.insertedRows) }
    plan.sort()
    return plan
  }
}

/// What stands for the kinds of a plan's issues; those of the parser are not negative.
private enum KindKey {
  static let repetition = -1
  static let repeated = -2
  static let stored = -3
  static let notNumbered = -4

  /// What has a value that must be unique.
  enum Owner: Int, CaseIterable {
    case entry, record, newEntry
  }

  static func uniqueness(_ index: Int, _ owner: Owner) -> Int { -5 - Owner.allCases.count * index - owner.rawValue }
}
