import Foundation
import OpenCoreData
import PersistentStores

/// The store of an import, which may not exist yet; for a dry run one that is only read, or none.
struct ImportStore {
  let container: NSPersistentContainer
  let entity: NSEntityDescription
  /// Where the store is; for a dry run the one that an import would write to, if it is known.
  let location: StoreLocation?
  let isDryRun: Bool
  /// Whether all saves of the run are one transaction.
  let isAtomic: Bool
  let lockTimeoutSeconds: Double
  /// Whether a new store may lack what is not known of its model's triggers and indexes.
  var allowsIncompleteSchema = false
  var keepsLargeValues = false
  /// The lock of the run; empty for what takes none.
  var held = HeldLock()

  var coordinator: NSPersistentStoreCoordinator { container.persistentStoreCoordinator }
  /// The path of the store's file; nil for a database.
  var path: String? { location?.path }
  /// Whether new objects get the keys that follow the highest one. A server gives them in blocks to its clients.
  var givesKeysInOrder: Bool { location?.isServer != true }
  var isOpen: Bool { !coordinator.persistentStores.isEmpty }
  /// Whether there is a store that the run writes to.
  var isWritten: Bool { !isDryRun && isOpen }

  /// Calls `body` with the store's coordinator; its errors become failures with an exit status.
  func perform<Result>(_ body: (NSPersistentStoreCoordinator) throws -> Result) throws(RunFailure) -> Result {
    do {
      return try body(coordinator)
    } catch let failure as RunFailure {
      // The error of what precedes the commit.
      throw failure
    } catch {
      throw RunFailure(store: error as NSError, path: path)
    }
  }

  // MARK: Opening

  /// Opens an existing store; a dry run opens it read-only. A store that does not exist is created at the first input
  /// that can be imported: a run without such an input creates none.
  func openExisting() throws(RunFailure) {
    guard let location, location.exists else { return }
    // As a run leaves it that was killed while it made the store: an import makes it, and a dry run has nothing to read.
    if isDryRun, let path, (try? OpenedDatabase.hasNoTables(path, timeoutSeconds: lockTimeoutSeconds)) == true {
      return
    }
    try add(location)
  }

  /// Called at the first input that can be imported.
  func open() throws(RunFailure) {
    if isOpen { return }
    guard let location, !isDryRun else {
      try perform { _ = try $0.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil) }
      return
    }
    if let path {
      try perform { _ in
        try FileManager.default.createDirectory(
          at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
      }
    }
    try add(location)
    if isAtomic { try beginTransaction() }
  }

  private func add(_ location: StoreLocation) throws(RunFailure) {
    let url = try location.url()
    try perform { coordinator in
      _ = try coordinator.addPersistentStore(
        ofType: location.type, configurationName: nil, at: url,
        options: [
          NSReadOnlyPersistentStoreOption: NSNumber(value: isDryRun),
          NSPersistentStoreTimeoutOption: NSNumber(value: lockTimeoutSeconds),
          // A dry run sees what the run will see.
          StoreOptions.readsBeforeWritingKey: NSNumber(value: true),
          OCDIncompleteSchemaOption: NSNumber(value: allowsIncompleteSchema),
          StoreOptions.keepsLargeValuesKey: NSNumber(value: keepsLargeValues),
        ])
    }
  }

  func close() {
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }

  // MARK: Transactions

  /// All saves from now on are one transaction.
  func beginTransaction() throws(RunFailure) {
    if isWritten { try perform { try $0.beginTransaction() } }
  }

  /// - Parameter last: The ledger's entry of the last input that the transaction has completed. It shows whether a
  ///   transaction was committed whose answer is lost.
  func commitTransaction(of last: LedgerEntry?, _ tables: LedgerTables) throws(RunFailure) {
    if !isWritten { return }
    do {
      try coordinator.commitTransaction()
    } catch {
      if (error as NSError).isOfLostCommit, let last, try wasSaved(last, tables) { return }
      throw RunFailure(store: error as NSError, path: path)
    }
  }

  func rollBackTransaction() throws(RunFailure) {
    if isWritten { try perform { try $0.rollBackTransaction() } }
  }

  /// Writes the imported data into the store's file itself and syncs it to the disk, before the run reports success.
  func checkpoint() throws(RunFailure) {
    if isWritten { try perform { try $0.checkpoint() } }
  }

  // MARK: Large imports

  /// Leaves out the indexes of the entity while an input is imported that at least doubles what is there: inserting its
  /// entries into an index one by one takes several times as long as making the index at the end.
  ///
  /// - Parameter count: About how many entries are to come.
  func prepare(for count: Int) throws(RunFailure) {
    // Others use the indexes of a server meanwhile.
    guard isWritten, givesKeysInOrder, count >= Self.largeImport, try lastKey() <= count else { return }
    try perform { try $0.deferIndexes(of: entity) }
  }
  private static let largeImport = 50_000

  /// Makes the indexes that were left out.
  func restoreIndexes() throws(RunFailure) {
    if isWritten { try perform { try $0.restoreIndexes() } }
  }

  // MARK: Reading

  /// The highest primary key of the entity; 0 where there is no store.
  func lastKey() throws(RunFailure) -> Int64 {
    isOpen ? try perform { try $0.lastKey(of: entity) } : 0
  }

  /// - Parameter overwrittenMax: The number of entries whose values from before an update are kept.
  func ledger(_ tables: LedgerTables, overwrittenMax: Int) throws(RunFailure) -> Ledger {
    do {
      return try Ledger(tables, isOpen ? coordinator : nil, overwrittenMax: overwrittenMax)
    } catch {
      if let failure = error as? RunFailure { throw failure }
      if let version = error as? LedgerVersionError {
        throw RunFailure(code: nil, exitCode: .dataError, message: version.description)
      }
      throw RunFailure(store: error as NSError, path: path)
    }
  }

  /// Adds every entry of the store to the matcher.
  ///
  /// - Parameters:
  ///   - links: Those of the pipeline.
  ///   - isReplaced: Whether the entry with a primary key is about to be deleted and replaced; nil where none is.
  func load(
    _ matcher: EntryMatcher, with links: [EntityLink], unless isCancelled: () -> Bool,
    isReplaced: ((Int64) -> Bool)? = nil
  ) throws(RunFailure) {
    guard matcher.digester.identifiesEntries, isOpen else { return }
    matcher.reserve(try entryCountMax())
    try walk(matcher.digester, with: links, unless: isCancelled) {
      try matcher.load($0, storeKeys: $1, isReplaced: isReplaced)
    }
  }

  /// About how many entries the store has at most.
  func entryCountMax() throws(RunFailure) -> Int {
    if givesKeysInOrder { return Int(try lastKey()) }
    return try perform { _ in
      let context = container.newBackgroundContext()
      return try context.performAndWait {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity.name ?? ""))
      }
    }
  }

  /// Digests every entry of the store: one thread reads them, and this one handles their digests and primary keys.
  ///
  /// - Parameter other: The entity of objects that are digested instead of entries.
  func walk(
    _ digester: RowDigester, of other: NSEntityDescription? = nil, with links: [EntityLink],
    unless isCancelled: () -> Bool,
    _ body: (RowDigests, [Int64]) throws -> Void
  ) throws(RunFailure) {
    guard isOpen else { return }
    let names = StoredNames(digester.linksOfWhole.map { links[$0] })
    let batches = StoreWalk(container.newBackgroundContext(), other ?? entity, joining: names.join(to:of:in:)).start(
      digester)
    defer { batches.abandon() }
    do {
      while let next = batches.receive() {
        let (digests, keys) = try next.get()
        try body(digests, keys)
        if isCancelled() { return }
      }
    } catch {
      throw RunFailure(saving: error)
    }
  }
}

extension RunFailure {
  /// What ended a save, or the key lookups before it.
  init(saving error: any Error) {
    if let failure = error as? RunFailure {
      self = failure
    } else if error is CheckpointMoved {
      self.init(code: nil, exitCode: .temporaryFailure, message: "another worker has got on with the shard")
      isOfMovedCheckpoint = true
    } else if let number = error as? KeyNumberError {
      self.init(code: nil, exitCode: .dataError, message: number.description, concernsStore: true)
    } else if let spill = error as? KeySpillError {
      self.init(code: nil, exitCode: spill.exitCode, message: spill.description)
    } else {
      self.init(store: error as NSError)
    }
  }
}
