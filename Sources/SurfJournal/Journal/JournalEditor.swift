import Foundation
import OpenCoreData
import PipelineEngine

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
  /// The store's path, or its address without a password.
  public var store: String { location.shown }
  let location: StoreLocation
  /// Whether edits are only reviewed: the store is then opened for reading, and no edit can be saved.
  public let isDryRun: Bool
  /// How long to wait, in seconds, for a store that another program is writing to.
  public let timeoutSeconds: Double
  private let kind: ObjectKind

  /// An editor of a store; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - store: The path or the address of the store.
  ///   - isDryRun: Whether edits are only shown, and saving them is refused.
  ///   - timeoutSeconds: How long to wait for a lock of the store.
  public init(store: String, isDryRun: Bool = false, timeoutSeconds: Double = 10) {
    self.init(store: store, .entry, isDryRun: isDryRun, timeoutSeconds: timeoutSeconds)
  }

  /// The same for objects of any entity.
  package init(store: String, _ kind: ObjectKind, isDryRun: Bool, timeoutSeconds: Double) {
    self.kind = kind
    location = StoreLocation(store)
    self.isDryRun = isDryRun
    self.timeoutSeconds = timeoutSeconds
  }

  /// Makes a new entry; attributes that `changes` does not name are nil. If the store does not exist, the save
  /// creates it.
  ///
  /// - Throws: ``JournalError`` if the store can't be opened, the entity is abstract, or the model forbids the entry.
  public func add(_ changes: JournalChanges) throws(JournalError) -> JournalEdit {
    try kind.checkIsConcrete()
    let stack = newStack()
    if location.exists { try open(stack) }
    let targets = try targets(of: changes, stack)
    return try edit(stack) { scratch in
      let entry = NSEntityDescription.insertNewObject(forEntityName: kind.entity, into: scratch)
      // The model's defaults are for the app; here only given values are stored.
      if kind.isEntry { for attribute in JournalRecord.attributes { entry.setValue(nil, forKey: attribute) } }
      changes.apply(to: entry, targets: targets)
      try scratch.validateChanges()
      let after = JournalRecord(entry, kind, relationships: changes.links.keys.sorted())
      return [JournalEdit.Entry(entry.objectID, before: nil, after: after)]
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
    let targets = try targets(of: changes, stack)
    return try edit(stack) { scratch in
      let entry = try scratch.existingObject(with: objectID)
      let names = changes.links.keys.sorted()
      let before = JournalRecord(entry, kind, relationships: names)
      changes.apply(to: entry, targets: targets)
      try scratch.validateChanges()
      let after = JournalRecord(entry, kind, relationships: names)
      return [JournalEdit.Entry(objectID, before: before, after: after)]
    }
  }

  /// Deletes the entries with the IDs; all of them or, if one can't be found, none.
  ///
  /// - Throws: ``JournalError`` if the store or an entry does not exist, or the model forbids a deletion.
  public func delete(_ ids: [String]) throws(JournalError) -> JournalEdit {
    let stack = try openedStack()
    let objectIDs = try read(ids, stack)
    var effects = DeletionEffects()
    return try edit(
      stack,
      { scratch in
        let entries = try objectIDs.map { objectID in
          let entry = try scratch.existingObject(with: objectID)
          return JournalEdit.Entry(objectID, before: JournalRecord(entry, kind), after: nil)
        }
        let named = objectIDs.map(scratch.object(with:))
        try Self.readReached(by: named)
        for object in named { scratch.delete(object) }
        // The delete rules are carried out now, so that what follows from them is known before it is saved.
        scratch.processPendingChanges()
        try scratch.validateChanges()
        try RemainingLinks.check(scratch, stack.storeContainer.managedObjectModel)
        effects = DeletionEffects(of: scratch, besides: Set(objectIDs))
        return entries
      }, effects: { effects })
  }

  /// Reads what the delete rules reach: an object that can't be read is an error here, and would end the process later.
  private static func readReached(by objects: [NSManagedObject]) throws {
    var (pending, seen) = (objects, Set(objects.map(\.objectID)))
    while let object = pending.popLast() {
      for relationship in object.entity.relationshipsByName.values {
        if relationship.deleteRule == .noActionDeleteRule { continue }
        for other in object.objects(at: relationship.name) where seen.insert(other.objectID).inserted {
          let read = try other.managedObjectContext?.existingObject(with: other.objectID)
          if relationship.deleteRule == .cascadeDeleteRule, let read { pending.append(read) }
        }
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
    if !kind.isEntry { query.sort = [] }
    try query.check(kind)
    guard location.exists else { throw .noStore(store) }
    return try delete(try ids(query))
  }

  private func ids(_ query: Journal.Query) throws(JournalError) -> [String] {
    let journal = try Journal(
      store: location.text, kind, timeoutSeconds: timeoutSeconds, readsDamagedWAL: nil, isBeforeWriting: true)
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
    let stack = kind.stack(store: location.text, isReadOnly: isDryRun, timeoutSeconds: timeoutSeconds)
    stack.retainVersionsRead()
    if isDryRun { stack.readBeforeWriting() } else { stack.keepWALUntilSave() }
    return stack
  }

  private func openedStack() throws(JournalError) -> CoreDataStack {
    guard location.exists else { throw .noStore(store) }
    let stack = newStack()
    try open(stack)
    return stack
  }

  private func open(_ stack: CoreDataStack) throws(JournalError) {
    try JournalError.checkKind(ofStore: location.text, mayBeMade: true)
    do {
      try stack.open()
    } catch {
      throw JournalError(reading: error, path: store)
    }
  }

  /// The object IDs without duplicates; their entries are read into every context of the chain.
  private func read(_ ids: [String], _ stack: CoreDataStack) throws(JournalError) -> [NSManagedObjectID] {
    guard let entity = kind.description(in: stack.storeContainer.managedObjectModel) else { throw .noStore(store) }
    return try read(ids, of: entity, stack)
  }

  private func read(
    _ ids: [String], of entity: NSEntityDescription, _ stack: CoreDataStack
  ) throws(JournalError) -> [NSManagedObjectID] {
    let context = stack.storeContainer.newBackgroundContext()
    var found: [NSManagedObjectID] = []
    for id in ids {
      let written = try WrittenID(
        id, of: entity, kind, in: stack.storeContainer.persistentStoreCoordinator, path: store)
      do {
        let objectID = try context.performAndWait { try written.resolved(in: context) }
        if found.contains(objectID) { continue }
        try stack.readThroughChain(objectID)
        found.append(objectID)
      } catch {
        let isGone = (error as NSError).code == NSManagedObjectReferentialIntegrityError
        throw isGone ? written.missing : JournalError(reading: error, path: store)
      }
    }
    return found
  }

  /// The objects that relationships are to lead to.
  private func targets(
    of changes: JournalChanges, _ stack: CoreDataStack
  ) throws(JournalError) -> [String: [NSManagedObjectID]] {
    var targets: [String: [NSManagedObjectID]] = [:]
    for (name, ids) in changes.links {
      let relationship = kind.description(in: stack.storeContainer.managedObjectModel)?.relationshipsByName[name]
      guard let destination = relationship?.destinationEntity else { continue }
      if !ids.isEmpty, !stack.isOpen { throw .noStore(store) }
      targets[name] = try read(ids, of: destination, stack)
    }
    return targets
  }

  private func edit(
    _ stack: CoreDataStack, _ change: (NSManagedObjectContext) throws -> [JournalEdit.Entry],
    effects: () -> DeletionEffects = { DeletionEffects() }
  ) throws(JournalError) -> JournalEdit {
    let scratch = stack.newScratchContext()
    do {
      let entries = try scratch.performAndWait { try scratch.throwingReadFailures { try change(scratch) } }
      return JournalEdit(editor: self, stack: stack, scratch: scratch, entries: entries, effects: effects())
    } catch {
      throw JournalError(saving: error, path: store)
    }
  }
}
