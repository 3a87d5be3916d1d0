import Foundation
import ManagedObjectModel
import PersistentStores

/// A save to a `BruteForceStore`: works on a copy of the state, which a commit puts in the place of the old one.
final class BruteForceSaveWriter: SaveWriter {
  private typealias Row = BruteForceStore.Row

  private let store: BruteForceStore
  private let plantedError: BruteForceStore.PlantedError?
  private var ignoresVersions: Bool { plantedError == .ignoresVersions }
  private var isOpen = true
  private var resolutions: [(range: TemporaryIDRange, resolution: TemporaryIDRange.Resolution)] = []
  private var conflicts: [SaveFailure.Failure] = []
  private var refusals: [SaveFailure.Failure] = []
  /// The IDs of the objects that this save inserts, by the name of the root entity and the key.
  private var insertedIDs: [String: [Int64: NSManagedObjectID]] = [:]
  private var insertedKeys: [NSManagedObjectID: Int64] = [:]

  init(_ store: BruteForceStore, _ plantedError: BruteForceStore.PlantedError?) {
    self.store = store
    self.plantedError = plantedError
  }

  func write(_ changes: ChangeSet, _ participants: [any SaveParticipant], whole: ChangeSet) throws {
    if !participants.isEmpty { throw BruteForceStore.noParticipants }
    for id in changes.checks.map(\.id) + changes.deletions.map(\.id) + changes.updates.map(\.id)
    where id.storeIdentity !== store.identity {
      throw NSError.coreData(.save, "The object \(id) is not of the store \(store.identity.uuid).")
    }
    try store.changeSave { state in
      for known in changes.checks { check(known, state) }
      for known in changes.deletions { delete(known, &state) }
      update(changes.updates, &state)
      for rows in changes.insertions { insert(rows, &state) }
      guard conflicts.isEmpty, refusals.isEmpty else { return }
      try link(changes, &state)
      let dangling = state.links.dangling(except: store.relationshipsLeft) { state.tables[$0.root]?[$0.key] != nil }
      if let end = dangling {
        throw NSError.coreData(.relationshipDeniedDelete, "\(end.relationship) of \(end.place) leads to a deleted row.")
      }
    }
    if !conflicts.isEmpty { throw SaveFailure(code: .mergeConflict, failures: conflicts) }
    if !refusals.isEmpty { throw SaveFailure(code: .constraintConflict, failures: refusals) }
    if store.hasUnsavedMetadata { _ = try StoreMetadata(dictionary: store.metadata).propertyList() }
  }

  func commit() throws { end(commits: true) }

  func rollBack() { if isOpen { end(commits: false) } }

  func finish() {
    for one in resolutions { one.range.resolve(one.resolution) }
    store.finishSave()
  }

  private func end(commits: Bool) {
    isOpen = false
    store.endSave(commits: commits)
  }

  // MARK: Changes

  private func check(_ known: RowVersion, _ state: BruteForceStore.State) {
    if row(known.id, state)?.version != known.version { conflict(known.id, state) }
  }

  private func delete(_ known: RowVersion, _ state: inout BruteForceStore.State) {
    // A row that is gone already is what was requested.
    guard let key = known.id.storeKey, let row = row(known.id, state) else { return }
    guard row.version == known.version || ignoresVersions else { return conflict(known.id, state) }
    state.remove(row.entity, key)
  }

  /// Rows whose values others still have give up their own values first, because the others may wait for these.
  private func update(_ changes: [UpdatedRow], _ state: inout BruteForceStore.State) {
    let waiting = changes.filter { !update($0, &state, isLast: false) }
    for change in waiting where !change.isRecreation {
      guard let key = change.id.storeKey, var given = row(change.id, state) else { continue }
      let unique = given.entity.ancestry.flatMap(\.uniquenessConstraintNames).joined()
      for slot in change.changedSlots where unique.contains(given.entity.attributeSlots[slot].name) {
        given.set(.null, slot)
      }
      state.put(given, key)
    }
    for change in waiting { _ = update(change, &state, isLast: true) }
  }

  /// - Returns: False if another row has its values, and this is not the last attempt.
  private func update(_ change: UpdatedRow, _ state: inout BruteForceStore.State, isLast: Bool) -> Bool {
    guard let new = changedRow(change, state), let key = change.id.storeKey else { return true }
    if !isLast, state.rival(of: new, key: key) != nil { return false }
    write(new, key: key, id: change.id, to: &state)
    return true
  }

  /// The row with its changes; nil if it is in conflict.
  private func changedRow(_ change: UpdatedRow, _ state: BruteForceStore.State) -> Row? {
    func inConflict() -> Row? {
      conflict(change.id, state)
      return nil
    }
    guard change.id.storeKey != nil else { return inConflict() }
    let stored = row(change.id, state)
    if change.isRecreation { return stored == nil ? Row(change.id.entity, change.values) : inConflict() }
    guard var new = stored, new.version == change.version || ignoresVersions else { return inConflict() }
    new.version += 1
    for slot in change.changedSlots { new.set(change.values[slot], slot) }
    return new
  }

  private func insert(_ rows: InsertedRows, _ state: inout BruteForceStore.State) {
    let (entity, obtained) = (rows.batch.entity, rows.range.keysObtained)
    let live = Array(rows.liveRows(from: 0))
    let firstKey = state.takeKeys(live.count { obtained[$0] == nil }, of: entity)
    var nextKey = firstKey
    for number in live {
      let key = obtained[number] ?? nextKey
      if obtained[number] == nil { nextKey += 1 }
      let id = rows.objectID(row: number)
      insertedIDs[entity.rootEntity.name ?? "", default: [:]][key] = id
      insertedKeys[id] = key
      write(Row(entity, rows.batch.values(row: number)), key: key, id: id, to: &state)
    }
    resolutions.append(
      (
        rows.range,
        TemporaryIDRange.Resolution(store: store.identity, firstKey: firstKey, removedRows: rows.removedRows)
      ))
  }

  /// To-one ends come first, then members, then orders.
  private func link(_ changes: ChangeSet, _ state: inout BruteForceStore.State) throws {
    var lists: [(relationship: NSRelationshipDescription, owner: BruteForceLinks.Place, change: MemberChange)] = []
    let recreations = try BruteForceRecreations(changes, place: place)
    for row in changes.relationships {
      let owner = try place(row.id)
      for change in row.changes {
        switch change.content {
        case .one(let wanted):
          let target = try recreations.target(
            wanted.map(place), of: row, change.relationship, at: owner, in: state)
          state.links.set(change.relationship, of: owner, to: target)
          guard let target, let back = recreations.otherEnd(of: change.relationship, from: owner, to: target) else {
            continue
          }
          if back.isToMany {
            lists.append((back, target, MemberChange(added: [row.id], removed: [], order: nil)))
          } else {
            state.links.set(back, of: target, to: owner)
          }
        case .many(let members): lists.append((change.relationship, owner, members))
        }
      }
    }
    for list in lists where plantedError != .forgetsRemovals {
      for id in list.change.removed { state.links.remove(try place(id), from: list.relationship, of: list.owner) }
    }
    for list in lists {
      for id in list.change.added { state.links.add(try place(id), to: list.relationship, of: list.owner) }
    }
    for list in lists where plantedError != .forgetsOrder {
      guard let order = list.change.order else { continue }
      state.links.arrange(list.relationship, of: list.owner, in: try order.map(place))
    }
  }

  private func place(_ id: NSManagedObjectID) throws -> BruteForceLinks.Place {
    let key = id.resolved.storeIdentity === store.identity ? id.resolved.storeKey : insertedKeys[id.resolved]
    guard let key else { throw NSError.coreData(.save, "A relationship leads to \(id), which is not saved here.") }
    return BruteForceLinks.Place(root: id.entity.rootEntity.name ?? "", key: key)
  }

  /// Writes a row unless another one has values that must be unique.
  private func write(_ new: Row, key: Int64, id: NSManagedObjectID, to state: inout BruteForceStore.State) {
    guard let rival = state.rival(of: new, key: key) else { return state.put(new, key) }
    guard let row = state.row(new.entity, rival.key) else { return }
    let inserted = insertedIDs[new.entity.rootEntity.name ?? ""]?[rival.key]
    let taken = FetchedRow(
      id: inserted ?? NSManagedObjectID(entity: row.entity, store: store.identity, key: rival.key),
      version: inserted == nil ? row.version : 0, values: row.values)
    refusals.append(
      .init(
        id: id, message: "Another object has its values.", obstacle: .taken(constraint: rival.constraint, by: taken)))
  }

  // MARK: Faults

  private func row(_ id: NSManagedObjectID, _ state: BruteForceStore.State) -> Row? {
    id.storeIdentity === store.identity ? id.storeKey.flatMap { state.row(id.entity, $0) } : nil
  }

  private func conflict(_ id: NSManagedObjectID, _ state: BruteForceStore.State) {
    let now = row(id, state).map { row in
      FetchedRow(
        id: NSManagedObjectID(entity: row.entity, store: store.identity, key: id.storeKey ?? 0), version: row.version,
        values: row.values)
    }
    conflicts.append(.init(id: id, message: "Its row was changed or deleted.", obstacle: .otherVersion(now)))
  }
}
