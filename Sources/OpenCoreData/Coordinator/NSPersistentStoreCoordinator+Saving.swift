import Foundation

/// What contexts write: to one store in a transaction of its own, to several in one transaction each.
extension NSPersistentStoreCoordinator {
  /// - Throws: `SaveFailure` with every object at fault, or `NSError` 134030, 134090; the stores then are as they were.
  func save(_ changes: ChangeSet) throws {
    try lock.withLock {
      let stores = try requireStores()
      if stores.count == 1, changes.insertions.allSatisfy({ stores[0].mayTake($0.range) }) {
        try stores[0].save(changes, participants)
      } else {
        try SaveOfSeveral(changes, stores, participants).run()
      }
    }
  }

  func obtainPermanentIDs(for ids: [NSManagedObjectID]) throws {
    try lock.withLock {
      let stores = try requireStores()
      var idsByStore: [ObjectIdentifier: [NSManagedObjectID]] = [:]
      for id in ids {
        guard case .temporary(let range, let row) = id.reference else { continue }
        let store = try StoreChoice(stores).store(range.storeChosen(row: row), for: id.entity)
        idsByStore[ObjectIdentifier(store), default: []].append(id)
      }
      for store in stores {
        if let ids = idsByStore[ObjectIdentifier(store)] { try store.obtainPermanentIDs(for: ids) }
      }
    }
  }

  /// Whether a store has metadata that only the next save writes.
  var hasUnsavedMetadata: Bool { lock.withLock { stores.contains(where: \.hasUnsavedMetadata) } }
}

/// Which store an object is written to.
struct StoreChoice {
  private let stores: [SQLiteStore]

  init(_ stores: [SQLiteStore]) { self.stores = stores }

  /// The store that was chosen, or the first one that keeps the entity and can be written.
  func store(_ chosen: StoreIdentity?, for entity: NSEntityDescription) throws -> SQLiteStore {
    if let chosen { return try store(chosen) }
    let keeping = stores.filter { $0.keeps(entity) }
    guard let first = keeping.first(where: { !$0.isReadOnly }) ?? keeping.first else {
      throw NSPersistentStoreCoordinator.noStore(keeps: entity)
    }
    return first
  }

  func store(_ identity: StoreIdentity?) throws -> SQLiteStore {
    guard let store = stores.first(where: { $0.identity === identity }) else {
      throw NSError.coreData(
        .save,
        "An object is of the store \(identity?.uuid ?? "that has none"), which is not in the coordinator. "
          + "Assign what was never saved to another store, or reset the context.")
    }
    return store
  }
}

/// A save that concerns more than one store: begins a transaction on each, writes, and commits when all was written.
private struct SaveOfSeveral {
  private struct Part {
    let store: SQLiteStore
    var changes = ChangeSet()
  }

  private let whole: ChangeSet
  private let participants: [any SaveParticipant]
  /// In order of the stores' UUIDs, which every process knows: two that save at once wait, but never for each other.
  private var parts: [Part] = []
  /// Where participants write.
  private let participantStore: SQLiteStore?

  init(_ changes: ChangeSet, _ stores: [SQLiteStore], _ participants: [any SaveParticipant]) throws {
    whole = changes
    self.participants = participants
    participantStore = participants.isEmpty ? nil : stores.first { !$0.isReadOnly } ?? stores.first
    parts = stores.sorted { $0.identifier < $1.identifier }.map { Part(store: $0) }
    let choice = StoreChoice(stores)
    for rows in changes.insertions { try add(rows, choice) }
    for row in changes.updates {
      try edit(choice.store(row.id.storeIdentity)) { $0.updates.append(row) }
    }
    for row in changes.deletions {
      try edit(choice.store(row.id.storeIdentity)) { $0.deletions.append(row) }
    }
    for row in changes.checks {
      try edit(choice.store(row.id.storeIdentity)) { $0.checks.append(row) }
    }
    parts.removeAll {
      $0.changes.isEmpty && $0.changes.checks.isEmpty && !$0.store.hasUnsavedMetadata && $0.store !== participantStore
    }
  }

  private mutating func edit(_ store: SQLiteStore, _ change: (inout ChangeSet) -> Void) {
    guard let place = parts.firstIndex(where: { $0.store === store }) else { return }
    change(&parts[place].changes)
  }

  /// Rows that were inserted together stay together, unless some of them were given another store.
  private mutating func add(_ rows: InsertedRows, _ choice: StoreChoice) throws {
    let chosen = rows.range.storesChosen
    guard !chosen.isEmpty else {
      edit(try choice.store(nil, for: rows.batch.entity)) { $0.insertions.append(rows) }
      return
    }
    let targets = try (0..<rows.batch.count).map { row -> SQLiteStore? in
      guard rows.removedRows.rank(of: row) != nil else { return nil }
      return try choice.store(chosen[row], for: rows.batch.entity)
    }
    for part in parts where targets.contains(where: { $0 === part.store }) {
      var own = rows
      own.removedRows = targets.indices.filter { targets[$0] !== part.store }
      edit(part.store) { $0.insertions.append(own) }
    }
  }

  func run() throws {
    var open: [PartTransaction] = []
    do {
      for part in parts { open.append(try PartTransaction(part.store, part.changes)) }
      let resolutions = try write()
      try commit(open)
      for (store, resolutions) in resolutions { store.finishSave(resolutions) }
    } catch {
      for transaction in open { transaction.rollBack() }
      throw error
    }
  }

  /// Participants write last: what they add belongs to changes that were all taken.
  private func write() throws -> [(SQLiteStore, [(TemporaryIDRange, TemporaryIDRange.Resolution)])] {
    var failure: SaveFailure?
    var written: [(SQLiteStore, [(TemporaryIDRange, TemporaryIDRange.Resolution)])] = []
    let ordered = parts.filter { $0.store !== participantStore } + parts.filter { $0.store === participantStore }
    for part in ordered {
      let writers = part.store === participantStore && failure == nil ? participants : []
      do {
        written.append((part.store, try part.store.write(part.changes, writers, counting: whole)))
      } catch let next as SaveFailure {
        // Go on: one error names every object at fault.
        failure = failure?.joined(with: next) ?? next
      }
    }
    if let failure { throw failure }
    return written
  }

  private func commit(_ open: [PartTransaction]) throws {
    for (place, transaction) in open.enumerated() {
      do {
        try transaction.commit()
      } catch let error as NSError {
        var info = error.userInfo
        info[NSAffectedStoresErrorKey] = open[place...].map(\.store)
        if place > 0 {
          let saved = open[..<place].map { $0.store.place }.joined(separator: ", ")
          info[NSLocalizedDescriptionKey] =
            "\(error.localizedDescription) These stores have their part of the save already: \(saved). Reset the "
            + "context and look at what is there before saving again."
        }
        throw NSError(domain: error.domain, code: error.code, userInfo: info)
      }
    }
  }
}

extension SQLiteStore {
  /// Whether none of the objects of `range` was meant for another store.
  fileprivate func mayTake(_ range: TemporaryIDRange) -> Bool {
    range.storesChosen.values.allSatisfy { $0 === identity }
  }
}

/// One store's share in a save of several.
private struct PartTransaction {
  let store: SQLiteStore
  private let connection: SQLiteConnection
  private let isPart: Bool

  init(_ store: SQLiteStore, _ changes: ChangeSet) throws {
    self.store = store
    let onlyReads = store.isReadOnly && store.takesWithoutWriting(changes)
    if store.isReadOnly, !onlyReads { throw store.readOnlyError }
    let connection = try store.connection()
    let isPart = connection.isInTransaction
    try store.access("Saving to", .save) {
      try $0.execute(isPart ? "SAVEPOINT several" : onlyReads ? "BEGIN" : "BEGIN IMMEDIATE")
    }
    self.connection = connection
    self.isPart = isPart
  }

  func commit() throws {
    try store.access("Saving to", .save) { try $0.execute(isPart ? "RELEASE several" : "COMMIT") }
  }

  /// Does nothing where SQLite has rolled back by itself, or the transaction was committed.
  func rollBack() {
    guard connection.isInTransaction else { return }
    try? connection.execute(isPart ? "ROLLBACK TO several; RELEASE several" : "ROLLBACK")
  }
}
