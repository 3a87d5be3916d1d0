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

  /// The number of the input.
  var input: KeyEntry.InputNumber { storeKeys.input }

  /// Whether an earlier record of the input has made the entry, or had its key.
  func isOfThisInput(_ known: KeyEntry) -> Bool { known.storeKey > storeKeys.base || known.input == storeKeys.input }

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
  mutating func noteRepetition(_ row: Int, keyNames: String, policy: DuplicatePolicy) {
    let outcome =
      switch policy {
      case .update: "its values replace the earlier ones"
      case .keepNewest: "the newer values stay"
      case .reject, .skip: "it is left out"
      }
    note(
      row, .primaryKey,
      message: "an earlier record of this input has the same key (\(keyNames)); \(outcome). If they are two entries, "
        + "add what distinguishes them to the key", severity: .warning)
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
        code, severity: severity, at: chunk.position(ofRow: row, input: inputName), column: column,
        value: chunk.shownValue(ofRecord: Int(chunk.recordOfRow[row])), message: message))
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
