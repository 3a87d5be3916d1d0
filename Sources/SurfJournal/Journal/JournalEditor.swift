import Foundation
import OpenCoreData

/// Makes edits of a journal's entries on scratch pads, to be looked at and then saved or thrown away.
///
/// ```swift
/// let editor = JournalEditor(store: "journal.sqlite")
/// var changes = JournalChanges()
/// try changes.set("rating", to: "5")
/// let edit = try editor.edit("12", changes)
/// if isWanted(edit.entries) { try edit.save() } else { edit.discard() }
/// ```
public struct JournalEditor: Sendable {
  /// The store's path.
  public let store: String
  /// Whether edits are only looked at: then the store is opened for reading, and none can be saved.
  public let isDryRun: Bool
  /// How long to wait for a store that another program writes to.
  public let timeoutSeconds: Double

  public init(store: String, isDryRun: Bool = false, timeoutSeconds: Double = 10) {
    self.store = store
    self.isDryRun = isDryRun
    self.timeoutSeconds = timeoutSeconds
  }

  /// A new entry; attributes that `changes` does not name are nil. A store that is not there is made by the save.
  ///
  /// - Throws: `JournalError`: no store, or an entry that the model forbids.
  public func add(_ changes: JournalChanges) throws(JournalError) -> JournalEdit {
    let stack = newStack()
    if FileManager.default.fileExists(atPath: store) { try open(stack) }
    return try edit(stack) { scratch in
      let entry = JournalEntry(context: scratch)
      // Defaults of the model are for the app: here nothing is stored that nobody gave.
      for attribute in JournalRecord.attributes { entry.setValue(nil, forKey: attribute) }
      changes.apply(to: entry)
      try entry.validateForInsert()
      return [JournalEdit.Entry(entry.objectID, before: nil, after: JournalRecord(entry))]
    }
  }

  /// The entry that `id` names, changed.
  ///
  /// - Throws: `JournalError`: no store or entry, or an entry that the model forbids.
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

  /// The entries that `ids` name, gone; all of them or, where one can't be found, none.
  ///
  /// - Throws: `JournalError`: no store or entry, or an entry that may not be deleted.
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

  // MARK: Ways to the scratch pad

  private func newStack() -> CoreDataStack {
    let stack = CoreDataStack(
      store: URL(fileURLWithPath: store), isReadOnly: isDryRun, timeoutSeconds: timeoutSeconds)
    stack.retainVersionsRead()
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

  /// The IDs, each once, their entries read into every context of the chain as they are now.
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
