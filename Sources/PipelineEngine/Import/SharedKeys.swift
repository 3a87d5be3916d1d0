import Foundation
import OpenCoreData

/// Decides by key what happens to the records of a shard, whose plan has other shards that other workers may import at the
/// same time, before or after it.
///
/// What it decides depends on the keys as the store has them, and holds only as long as those that it changes are so: its
/// plan has the ``KeyClaims`` that the save checks. A record that changes no key needs no check: it is too late or too
/// early, and stays so.
struct SharedKeys {
  private let tables: SharedKeyTables
  private let coordinator: NSPersistentStoreCoordinator
  private let policy: DuplicatePolicy
  private let keyNames: String
  private let entityName: String
  /// The attributes that an update changes.
  private let updatedSlots: [Int]
  /// The others that records state; those of the first record stay.
  private let firstSlots: [Int]
  /// Nil where no column leads anywhere.
  private let links: KeyedLinks?
  private let shard: Shard
  /// The number of the input in the plan.
  private let inputNumber: Int

  /// - Parameters:
  ///   - mapping: The columns of the input.
  ///   - firstInput: The number of the first input of the plan.
  init(_ environment: ImportEnvironment, _ mapping: HeaderMapping, of shard: Shard, firstInput: Int64) {
    let definition = environment.definition
    tables = environment.sharedKeys
    coordinator = environment.store.coordinator
    (policy, keyNames, entityName) = (
      definition.duplicates, definition.key.joined(separator: ", "), definition.entity
    )
    updatedSlots = environment.keys.digester(mapping).valueSlots
    links = environment.links.isEmpty ? nil : KeyedLinks(environment.keys, mapping)
    firstSlots = environment.keys.columnSlots.filter { [updatedSlots] in !updatedSlots.contains($0) }
    (self.shard, inputNumber) = (shard, Int(shard.input - firstInput))
  }

  /// Matches the entries in order.
  ///
  /// - Parameters:
  ///   - resolved: What the records of the chunk name.
  ///   - refused: An issue for each row that is known not to be storable.
  func plan(
    _ chunk: ParsedChunk, _ resolved: ResolvedLinks, without refused: [Int: RecordIssue], input: String
  ) throws -> ChunkPlan {
    var chunk = chunk
    if let links { chunk.digests.values = links.values(of: chunk, resolved) }
    let storeKeys = EntryMatcher.Keys(
      next: EntryMatcher.Keys.notGiven + 1, base: EntryMatcher.Keys.notGiven, input: 1)
    var matching = Matching(
      builder: PlanBuilder(chunk, storeKeys: storeKeys, inputName: input), known: try known(chunk, without: refused))
    for row in 0..<chunk.batch.count {
      let digest = chunk.digests.keys[row]
      if let issue = refused[row] {
        matching.builder.reject(row, issue)
      } else if digest == .none {
        _ = matching.builder.insert(row)
        matching.keylessCount += 1
        matching.keylessLinks.add(tally(row, resolved, updated: true))
        matching.keylessLinks.add(tally(row, resolved, updated: false))
      } else if matching.known[digest] != nil {
        try match(row, digest, of: chunk, naming: resolved, in: &matching)
      } else {
        insert(row, digest, of: chunk, naming: resolved, in: &matching)
      }
    }
    let claims = matching.claims(tables, chunk: order(ofRecord: 0, of: chunk))
    var plan = matching.builder.finish((updatedSlots + firstSlots).sorted())
    plan.claims = claims
    return plan
  }

  /// The keys of a chunk that the store knows.
  private func known(_ chunk: ParsedChunk, without refused: [Int: RecordIssue]) throws -> [KeyDigest: KnownKey] {
    let digests = chunk.digests.keys
    var rowOfKey: [KeyDigest: Int] = [:]
    for row in digests.indices where digests[row] != .none && refused[row] == nil && rowOfKey[digests[row]] == nil {
      rowOfKey[digests[row]] = row
    }
    let asked = rowOfKey.keys.sorted()
    var known: [KeyDigest: KnownKey] = [:]
    for found in try tables.found(asked, in: coordinator) {
      let row = rowOfKey[asked[found.index]] ?? 0
      if let own = chunk.digests.keyValues?[row], !own.elementsEqual(found.values) { throw collision(row, of: chunk) }
      known[asked[found.index]] = KnownKey(key: found.key, row: row)
    }
    return known
  }

  private func tally(_ row: Int, _ resolved: ResolvedLinks, updated: Bool) -> LinkTally {
    links?.tally(ofRow: row, resolved, updated: updated) ?? LinkTally()
  }

  private func insert(
    _ row: Int, _ digest: KeyDigest, of chunk: ParsedChunk, naming resolved: ResolvedLinks, in matching: inout Matching
  ) {
    let digests = chunk.digests
    var key = SharedKey(storeKey: matching.builder.insert(row))
    key.first = order(ofRecord: Int(chunk.recordOfRow[row]), of: chunk)
    key.last = key.first
    key.newest = digests.orders.isEmpty ? 0 : digests.orders[row]
    key.values = digests.values.isEmpty ? 0 : digests.values[row]
    key.updatedLinks = tally(row, resolved, updated: true)
    key.firstLinks = tally(row, resolved, updated: false)
    _ = key.inputs.insert(inputNumber)
    matching.known[digest] = KnownKey(key: key, row: row, isChanged: true)
  }

  /// Handles a record whose key the store or the chunk has.
  private func match(
    _ row: Int, _ digest: KeyDigest, of chunk: ParsedChunk, naming resolved: ResolvedLinks, in matching: inout Matching
  ) throws {
    guard var known = matching.known[digest] else { return }
    let values = chunk.digests.keyValues
    if let own = values?[row], let other = values?[known.row], !own.elementsEqual(other) {
      throw collision(row, of: chunk)
    }
    let digests = chunk.digests
    let order = order(ofRecord: Int(chunk.recordOfRow[row]), of: chunk)
    let newest = digests.orders.isEmpty ? 0 : digests.orders[row]
    let value = digests.values.isEmpty ? 0 : digests.values[row]
    var key = known.key
    let (wins, isFirst) = (isNewer(order, newest, than: key), order < key.first)
    let isFirstOfInput = key.inputs.insert(inputNumber)
    let isChanged = change(key, from: row, sets: wins && value != key.values, isFirst: isFirst, in: &matching)
    let outcome = outcome(newest, value, comparedWith: key.stored, isChanged: isChanged)
    if wins {
      (key.last, key.newest, key.values) = (order, newest, value)
      key.updatedLinks = tally(row, resolved, updated: true)
    }
    if isFirst {
      key.first = order
      if key.stored == nil { key.firstLinks = tally(row, resolved, updated: false) } else { key.outcome = outcome }
    }
    if isFirstOfInput {
      matching.builder.leave(as: PlanBuilder.Outcome(outcome), isRepeated: false)
    } else {
      matching.builder.noteRepetition(row, keyNames: keyNames, policy: policy, isOverShards: true)
      matching.builder.leave(as: .duplicate, isRepeated: true)
    }
    known.isChanged = known.isChanged || wins || isFirst || isFirstOfInput
    known.key = key
    matching.known[digest] = known
  }

  /// Gives the entry of a key values of a record.
  ///
  /// - Parameters:
  ///   - sets: Whether it gets those that an update sets.
  ///   - isFirst: Whether the record is the first one with the key so far.
  /// - Returns: Whether it gets any.
  private func change(
    _ key: SharedKey, from row: Int, sets: Bool, isFirst: Bool, in matching: inout Matching
  ) -> Bool {
    let isNewer = sets && (!updatedSlots.isEmpty || links != nil)
    let isEarlier = isFirst && key.stored == nil && (!firstSlots.isEmpty || links?.hasFirst == true)
    guard isNewer || isEarlier else {
      matching.builder.pass(row)
      return false
    }
    var update = ChunkPlan.Update(storeKey: key.storeKey, row: row)
    update.stated = ((isNewer ? updatedSlots : []) + (isEarlier ? firstSlots : [])).sorted()
    if !isNewer { update.links.remove(.updated) }
    if isEarlier { update.links.insert(.first) }
    matching.builder.update(update)
    return true
  }

  /// Whether the updated values of an entry are those of a record from now on.
  private func isNewer(_ order: Int64, _ newest: Double, than key: SharedKey) -> Bool {
    switch policy {
    case .reject, .skip: false
    case .update: order > key.last
    case .keepNewest: newest > key.newest || newest == key.newest && order < key.last
    }
  }

  /// What a record counts as whose key the store had, or another input; compared with the entry of the store.
  private func outcome(
    _ newest: Double, _ values: UInt64, comparedWith stored: SharedKey.Stored?, isChanged: Bool
  ) -> SharedKey.Outcome {
    guard policy.updates else { return .duplicate }
    guard let stored else { return isChanged ? .updated : .unchanged }
    if case .keepNewest = policy, newest <= stored.newest {
      // An import does not read what the entries of the store lead to.
      return values == stored.values && links == nil ? .unchanged : .duplicate
    }
    return values == stored.values ? .unchanged : .updated
  }

  private func order(ofRecord index: Int, of chunk: ParsedChunk) -> Int64 {
    SharedKey.order(input: shard.input, record: chunk.block.start.record + index)
  }

  /// Two keys of 2^128 have the same digest: one of them would be taken for the other.
  private func collision(_ row: Int, of chunk: ParsedChunk) -> RunFailure {
    let record = chunk.block.start.record + Int(chunk.recordOfRow[row])
    return RunFailure(
      code: nil, exitCode: .dataError,
      message: "the key (\(keyNames)) of record \(record.grouped) has the digest of another \(entityName), so workers "
        + "can't tell them apart; end the plan with 'report --plan \(shard.plan) --abandon', undo it, and import the "
        + "files with 'import'")
  }
}

/// A key of a chunk that is being planned.
private struct KnownKey {
  var key: SharedKey
  /// A row of the chunk that has it.
  let row: Int
  var isChanged = false
}

/// What is known and decided so far of a chunk.
private struct Matching {
  var builder: PlanBuilder
  var known: [KeyDigest: KnownKey]
  var keylessCount = 0
  var keylessLinks = LinkTally()

  func claims(_ tables: SharedKeyTables, chunk: Int64) -> KeyClaims {
    var claims = KeyClaims(tables: tables, chunk: chunk, keylessCount: keylessCount, keylessLinks: keylessLinks)
    let values = builder.keyValues
    claims.claims = known.filter(\.value.isChanged).map { digest, one in
      if one.key.version > 0 { return KeyClaims.Claim(digest: digest, key: one.key) }
      return KeyClaims.Claim(
        digest: digest, keyValues: values?[one.row] ?? [],
        row: Int(one.key.storeKey - EntryMatcher.Keys.notGiven) - 1, key: one.key)
    }
    return claims
  }
}

extension PlanBuilder.Outcome {
  fileprivate init(_ outcome: SharedKey.Outcome) {
    switch outcome {
    case .updated: self = .updated
    case .unchanged: self = .unchanged
    case .inserted, .duplicate: self = .duplicate
    }
  }
}
