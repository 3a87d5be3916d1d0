import Foundation
import SystemSupport
import ManagedObjectModel
import PersistentStores

/// A store that keeps rows in dictionaries and answers every query by looking at all of them.
///
/// It shares no code with `SQLiteStore`, and it uses only what modules outside of PersistentStores can use.
final class BruteForceStore: RowStore {
  /// An error that a test plants, to see that it is found.
  enum PlantedError: Sendable {
    case ignoresVersions, ignoresOffset, forgetsRemovals, forgetsOrder
    /// The contexts do not merge what others have saved.
    case ignoresMerges
  }

  struct Row: Sendable {
    let entity: NSEntityDescription
    var version: Int64
    /// By slot.
    var values: [StoredValue]
  }

  /// What a transaction changes. A copy of it is a snapshot.
  struct State: Sendable {
    /// By the name of the root entity, then by key.
    var tables: [String: [Int64: Row]] = [:]
    /// By the name of the root entity: the greatest key given.
    var lastKeys: [String: Int64] = [:]
    var links = BruteForceLinks()
  }

  /// The states that can be read.
  fileprivate struct States: Sendable {
    var committed = State()
    /// Of `beginTransaction`.
    var transaction: State?
    /// The state of an open save, and the thread that saves.
    var save: (state: State, thread: ThreadNumber)?
    var writeCount: Int64 = 0
    var isClosed = false
  }
  fileprivate typealias ThreadNumber = UInt

  /// The values of a property list are not `Sendable`.
  fileprivate struct Metadata: @unchecked Sendable {
    var values: [String: Any]
    var hasUnsavedChanges = false
  }

  let type = "BruteForce"
  let url: URL? = nil
  let isReadOnly: Bool
  let identity: StoreIdentity
  private let entityNames: Set<String>
  /// Relationships whose keys a deletion leaves.
  let relationshipsLeft: Set<String>
  private let plantedError: PlantedError?
  private let states = Locked(States())
  private let metadataKept: Locked<Metadata>

  init(
    model: NSManagedObjectModel, configuration: String? = nil, isReadOnly: Bool = false,
    plantedError: PlantedError? = nil
  ) {
    self.isReadOnly = isReadOnly
    self.plantedError = plantedError
    let entities = model.entities(forConfigurationName: configuration) ?? []
    entityNames = Set(entities.compactMap(\.name))
    relationshipsLeft = BruteForceLinks.left(by: entities)
    let roots = Set(model.entities.compactMap(\.rootEntity.name)).sorted()
    var numbers: [String: UInt64] = [:]
    for entity in model.entities {
      guard let name = entity.name, let place = roots.firstIndex(of: entity.rootEntity.name ?? "") else { continue }
      numbers[name] = UInt64(place + 1)
    }
    let uuid = UUID().uuidString
    identity = StoreIdentity(uuid: uuid, rootEntityNumbers: numbers)
    var metadata = StoreMetadata(model: model, configuration: configuration)
    metadata.storeType = type
    metadataKept = Locked(Metadata(values: metadata.dictionary.merging([NSStoreUUIDKey: uuid]) { $1 }))
  }

  func keeps(_ entity: NSEntityDescription) -> Bool { entityNames.contains(entity.name ?? "") }

  // MARK: States

  private static var thread: ThreadNumber { UInt(pthread_self()) }

  /// What the calling thread reads.
  private func visibleState() throws -> State {
    let thread = Self.thread
    return try states.withLock { states in
      if states.isClosed {
        throw NSError.coreData(.operation, "The store \(identity.uuid) was removed from its coordinator.")
      }
      if let save = states.save, save.thread == thread { return save.state }
      return states.transaction ?? states.committed
    }
  }

  /// Changes what is committed, or what the open transaction has, all or nothing.
  private func change<Result>(_ body: (inout State) throws -> Result) throws -> Result {
    guard !isReadOnly else { throw readOnlyError }
    var state = try visibleState()
    let result = try body(&state)
    states.withLock { $0.store(state) }
    return result
  }

  /// Changes rows as another process would: nothing of it is counted or announced.
  func changeFromOutside(_ body: (inout State) throws -> Void) rethrows {
    try states.withLock { try body(&$0.committed) }
  }

  var committedState: State { states.withLock { $0.committed } }

  private var readOnlyError: NSError { .coreData(.save, "The store \(identity.uuid) is read-only.") }

  private func noteWrite() { states.withLock { $0.writeCount += 1 } }

  var writeCount: Int64 { states.withLock { $0.writeCount } }

  // MARK: Reading

  func read<Result>(
    _ snapshot: (any StoreSnapshot)?, _ body: (any RowReader) throws -> Result
  ) throws -> Result {
    try body(try reader(snapshot))
  }

  private func reader(_ snapshot: (any StoreSnapshot)?) throws -> BruteForceReader {
    let state = try (snapshot as? BruteForceSnapshot)?.state ?? visibleState()
    return BruteForceReader(state, identity, ignoresOffset: plantedError == .ignoresOffset)
  }

  func cursor(
    _ query: FetchQuery, rowsPerBatch: Int, in snapshot: (any StoreSnapshot)?
  ) throws -> any RowCursor {
    BruteForceCursor(try reader(snapshot).rows(query), identity, rowsPerBatch: rowsPerBatch)
  }

  func makeSnapshot() throws -> (any StoreSnapshot)? {
    BruteForceSnapshot(states.withLock { $0.committed })
  }

  // MARK: Saving

  func beginSave(of changes: ChangeSet) throws -> any SaveWriter {
    if isReadOnly, !changes.isEmpty || hasUnsavedMetadata { throw readOnlyError }
    let state = try visibleState()
    let thread = Self.thread
    states.withLock { $0.save = (state, thread) }
    return BruteForceSaveWriter(self, plantedError)
  }

  /// Changes what the open save has.
  func changeSave<Result>(_ body: (inout State) throws -> Result) throws -> Result {
    var state = try visibleState()
    let result = try body(&state)
    states.withLock { $0.save?.state = state }
    return result
  }

  func endSave(commits: Bool) {
    states.withLock { states in
      guard let save = states.save else { return }
      states.save = nil
      if commits { states.store(save.state) }
    }
  }

  func finishSave() {
    metadataKept.withLock { $0.hasUnsavedChanges = false }
    noteWrite()
  }

  func obtainPermanentIDs(for ids: [NSManagedObjectID]) throws {
    try change { state in
      for id in ids {
        guard case .temporary(let range, let row) = id.reference, range.permanent(row: row) == nil else { continue }
        range.obtain(state.takeKeys(1, of: id.entity), row: row, from: identity)
      }
    }
  }

  func lastKey(of entity: NSEntityDescription) throws -> Int64 {
    try visibleState().lastKeys[entity.rootEntity.name ?? ""] ?? 0
  }

  // MARK: Transactions around several saves

  func beginTransaction() throws {
    let state = try visibleState()
    states.withLock { $0.transaction = state }
  }

  func commitTransaction() throws {
    states.withLock { states in
      if let state = states.transaction { states.committed = state }
      states.transaction = nil
    }
  }

  func rollBackTransaction() throws { states.withLock { $0.transaction = nil } }

  static var noParticipants: NSError {
    .coreData(.operation, "This store has no tables for save participants. Remove the participants, or use SQLite.")
  }

  // MARK: Batch requests

  func batchDelete(_ query: FetchQuery, wantsIDs: Bool) throws -> BatchOutcome {
    let found = try read(nil) { try $0.rows(query) }.compactMap(\.id.storeKey)
    return try batchDelete(keys: found, of: query.entity, wantsIDs: wantsIDs)
  }

  func batchDelete(keys: [Int64], of entity: NSEntityDescription, wantsIDs: Bool) throws -> BatchOutcome {
    try batch { state in
      var outcome = BatchOutcome()
      let found = Set(keys).sorted().filter { state.row(entity, $0) != nil }
      for key in found {
        guard let row = state.row(entity, key) else { continue }
        outcome.note(NSManagedObjectID(entity: row.entity, store: identity, key: key), wantsIDs)
      }
      try state.carryOutRules(deleting: found, of: entity)
      if state.links.dangling(except: relationshipsLeft, { state.tables[$0.root]?[$0.key] != nil }) != nil {
        throw NSError.coreData(.relationshipDeniedDelete, "A relationship without an inverse leads to a deleted row.")
      }
      return outcome
    }
  }

  func batchUpdate(_ query: FetchQuery, values: [Int: BatchValue], wantsIDs: Bool) throws -> BatchOutcome {
    let found = try read(nil) { reader in
      try reader.rows(query).sorted { ($0.id.storeKey ?? 0) < ($1.id.storeKey ?? 0) }.map { row in
        (id: row.id, values: try (reader as? BruteForceReader)?.values(values, of: row, query.entity) ?? [:])
      }
    }
    return try batch { state in
      var outcome = BatchOutcome()
      for (id, values) in found {
        guard let key = id.storeKey, var row = state.row(id.entity, key) else { continue }
        for (name, value) in values {
          if let slot = row.entity.slot(named: name) { row.set(value, slot) }
        }
        row.version += 1
        if state.rival(of: row, key: key) != nil {
          throw NSError.coreData(.constraintConflict, "The batch update gives two objects values that must be unique.")
        }
        state.put(row, key)
        outcome.note(id, wantsIDs)
      }
      return outcome
    }
  }

  func batchInsert(
    _ entity: NSEntityDescription, resolution: UniquenessResolution, wantsIDs: Bool,
    fill: (inout ObjectBatch) throws -> Void
  ) throws -> BatchOutcome {
    try batch { state in
      var outcome = BatchOutcome()
      var batch = ObjectBatch(entity: entity)
      while true {
        batch.removeAll()
        try fill(&batch)
        if batch.count == 0 { return outcome }
        let firstKey = state.takeKeys(batch.count, of: entity)
        for number in 0..<batch.count {
          var key = firstKey + Int64(number)
          var row = Row(entity, batch.values(row: number))
          if let rival = state.rival(of: row, key: key) {
            guard resolution == .overwrite, let stored = state.row(entity, rival.key) else { continue }
            (key, row) = (rival.key, stored)
            row.version += 1
            // The rival may be of another entity of the tree.
            for (slot, attribute) in entity.attributeSlots.enumerated() {
              guard let own = row.entity.slot(named: attribute.name) else { continue }
              row.set(batch.value(row: number, slot: slot), own)
            }
          }
          state.put(row, key)
          outcome.note(NSManagedObjectID(entity: row.entity, store: identity, key: key), wantsIDs)
        }
      }
    }
  }

  private func batch(_ body: (inout State) throws -> BatchOutcome) throws -> BatchOutcome {
    let outcome = try change(body)
    noteWrite()
    return outcome
  }

  // MARK: Metadata and files

  var metadata: [String: Any] { metadataKept.withLock { $0 }.values }
  var hasUnsavedMetadata: Bool { metadataKept.withLock { $0.hasUnsavedChanges } }

  func setMetadata(_ metadata: [String: Any]) {
    let new = Metadata(values: metadata)
    metadataKept.withLock { kept in
      let uuid = kept.values[NSStoreUUIDKey]
      var merged = StoreMetadata(dictionary: kept.values)
      merged.custom = StoreMetadata(dictionary: new.values).custom
      kept.values = merged.dictionary
      kept.values[NSStoreUUIDKey] = uuid
      kept.hasUnsavedChanges = true
    }
  }

  func checkpoint() throws {}
  func close() { states.withLock { $0.isClosed = true } }
}

extension BruteForceStore.States {
  fileprivate mutating func store(_ state: BruteForceStore.State) {
    if transaction == nil { committed = state } else { transaction = state }
  }
}

/// A copy of the rows.
private final class BruteForceSnapshot: StoreSnapshot {
  let state: BruteForceStore.State
  init(_ state: BruteForceStore.State) { self.state = state }
}

extension BatchOutcome {
  fileprivate mutating func note(_ id: NSManagedObjectID, _ wantsIDs: Bool) {
    count += 1
    if wantsIDs { ids.append(id) }
  }
}

extension BruteForceStore.Row {
  /// A new row.
  init(_ entity: NSEntityDescription, _ values: [StoredValue]) {
    self.init(entity: entity, version: 1, values: Array(repeating: .null, count: values.count))
    for (slot, value) in values.enumerated() { set(value, slot) }
  }

  /// Stores have no values of transient attributes, and no number that is none.
  mutating func set(_ value: StoredValue, _ slot: Int) {
    let isKept = !entity.attributeSlots[slot].isTransient && !StoredValueOrder.isNull(value)
    values[slot] = isKept ? value : .null
  }
}

extension BruteForceStore.State {
  func row(_ entity: NSEntityDescription, _ key: Int64) -> BruteForceStore.Row? {
    tables[entity.rootEntity.name ?? ""]?[key]
  }

  @discardableResult
  mutating func remove(_ entity: NSEntityDescription, _ key: Int64) -> BruteForceStore.Row? {
    let root = entity.rootEntity.name ?? ""
    guard let row = tables[root]?.removeValue(forKey: key) else { return nil }
    links.forget(BruteForceLinks.Place(root: root, key: key), of: row.entity)
    return row
  }

  mutating func put(_ row: BruteForceStore.Row, _ key: Int64) {
    tables[row.entity.rootEntity.name ?? "", default: [:]][key] = row
  }

  /// The first of `count` keys in a row.
  mutating func takeKeys(_ count: Int, of entity: NSEntityDescription) -> Int64 {
    let root = entity.rootEntity.name ?? ""
    let last = max(lastKeys[root] ?? 0, tables[root]?.keys.max() ?? 0)
    lastKeys[root] = last + Int64(count)
    return last + 1
  }

  /// The row that has the values that `row` with `key` must not share with another.
  func rival(of row: BruteForceStore.Row, key: Int64) -> (constraint: [String], key: Int64)? {
    for owner in row.entity.ancestry {
      for constraint in owner.uniquenessConstraintNames {
        let others = (tables[row.entity.rootEntity.name ?? ""] ?? [:]).sorted { $0.key < $1.key }
        for (otherKey, other) in others where otherKey != key && other.entity.isKindOf(entity: owner) {
          let isTaken = constraint.allSatisfy { name in
            guard let slot = row.entity.slot(named: name), let otherSlot = other.entity.slot(named: name),
              !row.values[slot].isNull, !other.values[otherSlot].isNull
            else { return false }
            return StoredValueOrder.compare(row.values[slot], other.values[otherSlot]) == 0
          }
          if isTaken { return (constraint, otherKey) }
        }
      }
    }
    return nil
  }
}
