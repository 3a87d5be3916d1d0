import Foundation
import OpenCoreData

/// Makes edits of a journal's entries on scratch pads, to be reviewed and then saved or discarded.
///
/// ```swift
/// let editor = JournalEditor(store: "journal.sqlite")
/// var changes = JournalChanges()
/// try changes.set("rating", to: "5")
/// let edit = try editor.edit("12", changes)
/// if edit.isEmpty { edit.discard() } else { try edit.save() }
/// ```
public struct JournalEditor: Sendable {
  /// The store's path.
  public let store: String
  /// Whether edits are only reviewed: the store is then opened for reading, and no edit can be saved.
  public let isDryRun: Bool
  /// How long to wait, in seconds, for a store that another program is writing to.
  public let timeoutSeconds: Double

  public init(store: String, isDryRun: Bool = false, timeoutSeconds: Double = 10) {
    self.store = store
    self.isDryRun = isDryRun
    self.timeoutSeconds = timeoutSeconds
  }

  /// Makes a new entry; attributes that `changes` does not name are nil. If the store does not exist, the save
  /// creates it.
  ///
  /// - Throws: ``JournalError`` if the store can't be opened or the model forbids the entry.
  public func add(_ changes: JournalChanges) throws(JournalError) -> JournalEdit {
    let stack = newStack()
    if FileManager.default.fileExists(atPath: store) { try open(stack) }
    return try edit(stack) { scratch in
      let entry = JournalEntry(context: scratch)
      // The model's defaults are for the app; here only given values are stored.
      for attribute in JournalRecord.attributes { entry.setValue(nil, forKey: attribute) }
      changes.apply(to: entry)
      try entry.validateForInsert()
      return [JournalEdit.Entry(entry.objectID, before: nil, after: JournalRecord(entry))]
    }
  }

  /// Changes the entry with the ID.
  ///
  /// - Parameters:
  ///   - id: The primary key that a listing shows, or the URI of the object's ID.
  ///   - changes: The new values.
  /// - Throws: ``JournalError`` if the store or the entry does not exist, or the model forbids the entry.
  public func edit(_ id: String, _ changes: JournalChanges) throws(JournalError) -> JournalEdit {
    let stack = try openedStack()
    let objectID = try read([id], stack)[0]
    return try edit(stack) { scratch in
      let entry = try scratch.existingObject(with: objectID)
      let before = JournalRecord(entry)
      changes.apply(to: entry)
      try entry.validateForUpdate()
      return [JournalEdit.Entry(objectID, before: before, after: JournalRecord(entry))]
    }
  }

  /// Deletes the entries with the IDs; all of them or, if one can't be found, none.
  ///
  /// - Throws: ``JournalError`` if the store or an entry does not exist, or the model forbids a deletion.
  public func delete(_ ids: [String]) throws(JournalError) -> JournalEdit {
    let stack = try openedStack()
    let objectIDs = try read(ids, stack)
    return try edit(stack) { scratch in
      try objectIDs.map { objectID in
        let entry = try scratch.existingObject(with: objectID)
        let before = JournalRecord(entry)
        try entry.validateForDelete()
        scratch.delete(entry)
        return JournalEdit.Entry(objectID, before: before, after: nil)
      }
    }
  }

  /// Deletes the entries for which a predicate holds; all of them or, if the model forbids one deletion, none.
  ///
  /// - Parameter predicate: In Core Data's predicate syntax, such as `location == "Malibu" AND rating < 2`.
  /// - Throws: ``JournalError`` if the store does not exist, the predicate is wrong, or the model forbids a deletion.
  public func delete(where predicate: String) throws(JournalError) -> JournalEdit {
    var query = Journal.Query()
    query.predicate = predicate
    try query.check()
    guard FileManager.default.fileExists(atPath: store) else { throw .noStore(store) }
    return try delete(try ids(query))
  }

  private func ids(_ query: Journal.Query) throws(JournalError) -> [String] {
    let journal = try Journal(store: store, timeoutSeconds: timeoutSeconds)
    defer { journal.close() }
    var ids: [String] = []
    try journal.walk(query) { records in
      ids += records.compactMap { $0.id.map(String.init) }
      return true
    }
    return ids
  }

  // MARK: Ways to the scratch pad

  private func newStack() -> CoreDataStack {
    let stack = CoreDataStack(
      store: URL(fileURLWithPath: store), isReadOnly: isDryRun, timeoutSeconds: timeoutSeconds)
    stack.retainVersionsRead()
    stack.keepLogUntilSave()
    return stack
  }

  private func openedStack() throws(JournalError) -> CoreDataStack {
    guard FileManager.default.fileExists(atPath: store) else { throw .noStore(store) }
    let stack = newStack()
    try open(stack)
    return stack
  }

  private func open(_ stack: CoreDataStack) throws(JournalError) {
    do {
      try stack.open()
    } catch {
      throw JournalError(reading: error, path: store)
    }
  }

  /// The object IDs without duplicates; their entries are read into every context of the chain.
  private func read(_ ids: [String], _ stack: CoreDataStack) throws(JournalError) -> [NSManagedObjectID] {
    var found: [NSManagedObjectID] = []
    for id in ids {
      let objectID = try JournalEntryID(id, in: stack.storeContainer.persistentStoreCoordinator, path: store).objectID
      if found.contains(objectID) { continue }
      do {
        try stack.readThroughChain(objectID)
      } catch {
        throw JournalEntryID.failure(error, id: id, path: store)
      }
      found.append(objectID)
    }
    return found
  }

  private func edit(
    _ stack: CoreDataStack, _ change: (NSManagedObjectContext) throws -> [JournalEdit.Entry]
  ) throws(JournalError) -> JournalEdit {
    let scratch = stack.newScratchContext()
    do {
      let entries = try scratch.performAndWait { try change(scratch) }
      return JournalEdit(editor: self, stack: stack, scratch: scratch, entries: entries)
    } catch {
      throw JournalError(saving: error, path: store)
    }
  }
}
