import Foundation

/// What contexts write: one transaction for one store, and one transaction per store for several.
extension NSPersistentStoreCoordinator {
  /// - Throws: `SaveFailure` with every object at fault, or `NSError` 134030, 134090; the stores are then unchanged.
  func save(_ changes: ChangeSet, for origin: ChangeOrigin) throws {
    try storesLock.withLock {
      let stores = try requireStores()
      for store in stores { store.willWrite(for: origin) }
      if stores.count == 1, stores[0].mayTake(changes) {
        try stores[0].save(changes, participants)
      } else {
        try MultiStoreSave(changes, to: stores, participants: participants).run()
      }
    }
  }

  /// Whether a store has metadata that the next save will write.
  var hasUnsavedMetadata: Bool { rowStores.contains(where: \.hasUnsavedMetadata) }
}

/// Finds the store that an object is written to.
struct StoreResolver {
  private let stores: [any RowStore]

  init(_ stores: [any RowStore]) { self.stores = stores }

  /// The chosen store, or the first writable one that has the entity.
  func store(_ chosen: StoreIdentity?, for entity: NSEntityDescription) throws -> any RowStore {
    if let chosen { return try store(chosen) }
    let keeping = stores.filter { $0.keeps(entity) }
    guard let first = keeping.first(where: { !$0.isReadOnly }) ?? keeping.first else {
      throw NSPersistentStoreCoordinator.noStore(keeps: entity)
    }
    return first
  }

  func store(_ identity: StoreIdentity?) throws -> any RowStore {
    guard let store = stores.first(where: { $0.identity === identity }) else {
      throw NSError.coreData(
        .save,
        "An object is of the store \(identity?.uuid ?? "that has none"), which is not in the coordinator. "
          + "Assign what was never saved to another store, or reset the context.")
    }
    return store
  }
}

/// A save to more than one store: begins a transaction on each, writes, and commits when everything was written.
private struct MultiStoreSave {
  private struct Part {
    let store: any RowStore
    var changes = ChangeSet()
  }

  private let whole: ChangeSet
  private let participants: [any SaveParticipant]
  /// In the order of the stores' UUIDs, which is the same in every process: two concurrent saves wait for each other in
  /// the same order and cannot deadlock.
  private var parts: [Part] = []
  /// The store that participants write to.
  private let participantStore: (any RowStore)?

  init(_ changes: ChangeSet, to stores: [any RowStore], participants: [any SaveParticipant]) throws {
    whole = changes
    self.participants = participants
    let writable = stores.filter { !$0.isReadOnly }
    participantStore =
      participants.isEmpty ? nil : writable.first(where: \.isTransactional) ?? writable.first ?? stores.first
    parts = stores.sorted { $0.identity.uuid < $1.identity.uuid }.map { Part(store: $0) }
    let resolver = StoreResolver(stores)
    for rows in changes.insertions { try add(rows, resolver) }
    for row in changes.updates {
      try edit(resolver.store(row.id.storeIdentity)) { $0.updates.append(row) }
    }
    for row in changes.deletions {
      try edit(resolver.store(row.id.storeIdentity)) { $0.deletions.append(row) }
    }
    for rows in changes.deletedRows {
      try edit(resolver.store(rows.store)) { $0.deletedRows.append(rows) }
    }
    for row in changes.relationships {
      try edit(Self.store(of: row.id, resolver)) { $0.relationships.append(row) }
    }
    for row in changes.checks {
      try edit(resolver.store(row.id.storeIdentity)) { $0.checks.append(row) }
    }
    parts.removeAll {
      $0.changes.isEmpty && $0.changes.checks.isEmpty && !$0.store.hasUnsavedMetadata && $0.store !== participantStore
    }
  }

  /// The store that has an object, or gets it with this save.
  private static func store(of id: NSManagedObjectID, _ resolver: StoreResolver) throws -> any RowStore {
    guard case .temporary(let range, let row) = id.resolved.reference else {
      return try resolver.store(id.resolved.storeIdentity)
    }
    return try resolver.store(range.storesChosen[row], for: range.entity)
  }

  private mutating func edit(_ store: any RowStore, _ change: (inout ChangeSet) -> Void) {
    guard let index = parts.firstIndex(where: { $0.store === store }) else { return }
    change(&parts[index].changes)
  }

  /// Rows that were inserted together stay together, unless some of them were assigned to another store.
  private mutating func add(_ rows: InsertedRows, _ resolver: StoreResolver) throws {
    let chosen = rows.range.storesChosen
    guard !chosen.isEmpty else {
      edit(try resolver.store(nil, for: rows.batch.entity)) { $0.insertions.append(rows) }
      return
    }
    let targets = try (0..<rows.batch.count).map { row -> (any RowStore)? in
      guard rows.removedRows.insertionIndex(ifAbsent: row) != nil else { return nil }
      return try resolver.store(chosen[row], for: rows.batch.entity)
    }
    for part in parts where targets.contains(where: { $0 === part.store }) {
      var own = rows
      own.removedRows = targets.indices.filter { targets[$0] !== part.store }
      edit(part.store) { $0.insertions.append(own) }
    }
  }

  func run() throws {
    var open: [(store: any RowStore, writer: any SaveWriter)] = []
    do {
      for part in parts { open.append((part.store, try part.store.beginSave(of: part.changes))) }
      try write(open)
      try commit(open)
    } catch {
      for part in open { part.writer.rollBack() }
      throw error
    }
    for part in open { part.writer.finish() }
  }

  /// Participants write last: what they add then belongs to changes that every store has accepted. After them come stores
  /// that can't roll back, if nothing has failed so far.
  private func write(_ open: [(store: any RowStore, writer: any SaveWriter)]) throws {
    var failure: SaveFailure?
    func write(_ index: Int, _ writers: [any SaveParticipant]) throws {
      do {
        try open[index].writer.write(parts[index].changes, writers, whole: whole)
      } catch let next as SaveFailure {
        // Continues, so that one error names every object at fault.
        failure = failure?.joined(with: next) ?? next
      }
    }
    let transactional = open.indices.filter { open[$0].store.isTransactional }
    for index in transactional where open[index].store !== participantStore { try write(index, []) }
    for index in transactional where open[index].store === participantStore {
      try write(index, failure == nil ? participants : [])
    }
    for index in open.indices where !open[index].store.isTransactional {
      if let failure { throw failure }
      try write(index, open[index].store === participantStore ? participants : [])
    }
    if let failure { throw failure }
  }

  private func commit(_ writers: [(store: any RowStore, writer: any SaveWriter)]) throws {
    // Those that can't roll back have their part already.
    let open = writers.filter { !$0.store.isTransactional } + writers.filter(\.store.isTransactional)
    for (index, part) in open.enumerated() {
      do {
        try part.writer.commit()
      } catch let error as NSError {
        var info = error.userInfo
        info[NSAffectedStoresErrorKey] = open[index...].compactMap(\.store.identity.owner)
        if index > 0 {
          let saved = open[..<index].map { $0.store.location }.joined(separator: ", ")
          info[NSLocalizedDescriptionKey] =
            "\(error.localizedDescription) These stores have their part of the save already: \(saved). Reset the "
            + "context and look at what is there before saving again."
        }
        throw NSError(domain: error.domain, code: error.code, userInfo: info)
      }
    }
  }
}

extension RowStore {
  /// Whether no object of the changes was assigned to another store, or is a row of one.
  fileprivate func mayTake(_ changes: ChangeSet) -> Bool {
    changes.insertions.allSatisfy { $0.range.storesChosen.values.allSatisfy { $0 === identity } }
      && changes.deletedRows.allSatisfy { $0.store === identity }
  }
}
