import Foundation
import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// Takes back what inputs have inserted and updated, by the records of the ledger.
///
/// An entry that was changed since, by hand or by a later run, is not touched: then nothing is taken back.
struct InputUndo {
  private let container: NSPersistentContainer
  private let entity: NSEntityDescription
  private let tables: LedgerTables
  private let inputs: [LedgerEntry]
  /// The program's name in messages.
  private let program: String
  private var coordinator: NSPersistentStoreCoordinator { container.persistentStoreCoordinator }

  private static let entriesPerChunk = 2000
  private static let examplesMax = 5

  /// - Parameter inputs: Entries of the ledger, none of them undone, of the same entity.
  init(
    _ inputs: [LedgerEntry], in container: NSPersistentContainer, entity: NSEntityDescription, tables: LedgerTables,
    program: String
  ) {
    self.container = container
    self.entity = entity
    self.tables = tables
    self.inputs = inputs.sorted { $0.id < $1.id }
    self.program = program
  }

  // MARK: Checking

  /// Checks that the inputs can be taken back, and counts what that would do.
  ///
  /// - Throws: ``UndoRefusal``, or an error of the store.
  ///
  /// - Parameter chosen: The inputs that are taken back together with these, of other entities.
  func plan(_ others: [LedgerEntry], with chosen: Set<Int64> = []) throws -> UndoPlan {
    guard try tables.layout(in: coordinator) ?? .first != .first else {
      throw UndoRefusal(message: "an earlier version of this program made the ledger, and kept nothing for an undo")
    }
    try checkLaterParts(others)
    let (ranges, values) = (try insertedRanges(), try overwrittenValues())
    var plan = UndoPlan()
    var edited: [Int64] = []
    let standing = Dictionary(uniqueKeysWithValues: others.map { ($0.id, $0) })
    let together = chosen.union(inputs.map(\.id))
    var linked: [Int64: LedgerEntry] = [:]
    func note(_ keyCount: Int, _ objects: [NSManagedObject]) {
      plan.missingCount += keyCount - objects.count
      edited += objects.compactMap { object in
        object.objectID.storeKey.flatMap { values.isUnchanged($0, version: object.rowVersion) ? nil : $0 }
      }
    }
    try forEachChunk(of: ranges.lazy.joined()) { keyCount, objects in
      plan.deletedCount += objects.count
      note(keyCount, objects)
      for key in objects.compactMap(\.objectID.storeKey) where linked.count < Self.examplesMax {
        let later = values.links.inputs(of: key).subtracting(together).compactMap { standing[$0] }
        if let later = later.max(by: { $0.id < $1.id }) { linked[key] = later }
      }
    }
    try forEachChunk(of: values.keys(outside: ranges)) { keyCount, objects in
      plan.restoredCount += objects.count
      note(keyCount, objects)
      for object in objects { plan.goneCount += try values.goneCount(of: object) }
    }
    edited += values.editedBetween
    guard edited.isEmpty else { throw UndoRefusal(message: Self.message(edited: edited, entity.name ?? "")) }
    if let (key, later) = linked.min(by: { $0.key < $1.key }) {
      throw UndoRefusal(
        message:
          "\(later.path), imported on \(LedgerDate.text(later.savedAt)) by the run \(later.run), leads to entries "
          + "that would be deleted, such as \(entity.name ?? "") \(key). Nothing was taken back; undo that one first, or "
          + "name both")
    }
    return plan
  }

  private static func message(edited: [Int64], _ entity: String) -> String {
    let keys = Set(edited).sorted()
    let names = keys.prefix(examplesMax).map { "\($0)" }.joined(separator: ", ")
    let rest = keys.count > examplesMax ? " and \(keys.count - examplesMax) more" : ""
    let subject = keys.count == 1 ? "1 entry was" : "\(keys.count) entries were"
    return
      "\(subject) changed since: \(entity) \(names)\(rest). Nothing was taken back; undo the later run first, name "
      + "both runs if they saved in turn, or delete the entries yourself"
  }

  /// What an input has gained since can't stay without what precedes it: the input would no longer be recognised.
  private func checkLaterParts(_ others: [LedgerEntry]) throws {
    let chosen = Set(inputs.map(\.id))
    for other in others where !chosen.contains(other.id) && (other.firstRecord ?? 1) > 1 {
      let front = inputs.first {
        $0.path == other.path && $0.pipelineDigest == other.pipelineDigest && $0.id < other.id
      }
      guard let front else { continue }
      throw UndoRefusal(
        message: "what \(front.path) has gained since was imported on \(LedgerDate.text(other.savedAt)), by the run "
          + "\(other.run); undo that one first")
    }
  }

  private func insertedRanges() throws -> [ClosedRange<Int64>] {
    var all: [ClosedRange<Int64>] = []
    for input in inputs {
      let rows = try coordinator.participantRows(
        "SELECT firstKey, lastKey FROM \(tables.inserted) WHERE inputID = ? ORDER BY firstKey", [input.id])
      let ranges = rows.compactMap { row -> ClosedRange<Int64>? in
        guard let first = row[0] as? Int64, let last = row[1] as? Int64, first <= last else { return nil }
        return first...last
      }
      guard !input.isCompacted else {
        throw UndoRefusal(
          message:
            "the ledger was compacted since \(input.path) was imported on \(LedgerDate.text(input.savedAt)), and no "
            + "longer has what an undo needs; delete the entries with '\(program) delete'")
      }
      guard ranges.reduce(0, { $0 + $1.count }) >= input.counts.inserted else {
        throw UndoRefusal(
          message:
            "it is not recorded which entries \(input.path) inserted on \(LedgerDate.text(input.savedAt)): it was "
            + "imported by an earlier version of this program, or the entity's class inserts objects of its own; "
            + "delete the entries with '\(program) delete'")
      }
      all += ranges
    }
    return all.sorted { $0.lowerBound < $1.lowerBound }
  }

  private func overwrittenValues() throws -> OverwrittenValues {
    var values = OverwrittenValues(
      restored: try restoredVersions(), links: try LinkChanges(of: entity, tables, in: coordinator))
    // Imports that were interrupted and continued may have saved in turn: the ordinals are those of all saves.
    var saves: [(ordinal: Int64, entries: OverwrittenEntries)] = []
    for input in inputs {
      let rows = try coordinator.participantRows(
        "SELECT ordinal, entries FROM \(tables.overwritten) WHERE inputID = ?", [input.id])
      let isDropped = rows.contains { $0[0] as? Int64 == UndoRecords.droppedOrdinal }
      if isDropped || input.counts.updated > 0 && input.firstRecord == nil {
        throw UndoRefusal(
          message: "the values that entries had before \(input.path) updated them on \(LedgerDate.text(input.savedAt)) "
            + "are not kept: there were more than the pipeline's limits.overwrittenMax since, or an earlier version "
            + "of this program imported it")
      }
      for row in rows {
        guard let ordinal = row[0] as? Int64, let data = row[1] as? Data,
          let entries = OverwrittenEntries(encoded: data)
        else {
          throw UndoRefusal(message: "the ledger's record of what \(input.path) has overwritten is damaged")
        }
        if let unknown = entries.attributes.first(where: {
          entity.slot(named: $0) == nil && entity.relationshipsByName[$0] == nil
        }) {
          throw UndoRefusal(
            message: "\(input.path) was imported with a model in which \(entity.name ?? "") has the attribute "
              + "'\(unknown)'; this one has not")
        }
        saves.append((ordinal, entries))
      }
    }
    for save in saves.sorted(by: { $0.ordinal > $1.ordinal }) { values.add(save.entries, ordinal: save.ordinal) }
    return values
  }

  /// Entries that an earlier undo has set back, with the versions that this gave them and the ones that they had before.
  private func restoredVersions() throws -> [Int64: [Int64: Int64]] {
    let rows = try coordinator.participantRows(
      "SELECT entryKey, version, formerVersion FROM \(tables.restored) WHERE entity = ?", [entity.name ?? ""])
    return rows.reduce(into: [:]) { all, row in
      guard let key = row[0] as? Int64, let version = row[1] as? Int64, let former = row[2] as? Int64 else { return }
      all[key, default: [:]][version] = former
    }
  }

  // MARK: Taking back

  /// Deletes what the inputs inserted, restores what they overwrote, and records both in the ledger. Everything is
  /// saved in the transaction that the caller has begun.
  func apply() throws {
    let ranges = try insertedRanges()
    var values = try overwrittenValues()
    var linked: [LinkedKeys] = []
    let root = entity.rootEntity.name ?? ""
    func note(_ context: NSManagedObjectContext?, restored: [NSManagedObject] = []) {
      guard let context else { return }
      context.processPendingChanges()
      var keys = LinkedKeys(context.updatedObjects.map(\.objectID))
      keys.remove(restored.compactMap(\.objectID.storeKey), of: root)
      values.links.add(keys.keys[root] ?? [])
      if !keys.isEmpty { linked.append(keys) }
    }
    try forEachChunk(of: ranges.lazy.joined()) { _, objects in
      for object in objects { object.managedObjectContext?.delete(object) }
      note(objects.first?.managedObjectContext)
    }
    var statements = inputs.flatMap { tables.undo(input: $0.id) }
    try forEachChunk(of: values.keys(outside: ranges)) { _, objects in
      for object in objects { try values.restore(object) }
      note(objects.first?.managedObjectContext, restored: objects)
    } saved: { objects in
      for object in objects {
        guard let key = object.objectID.storeKey, let former = values.formerVersion(of: key) else { continue }
        let version = values.links.ownVersion(object.rowVersion, of: key)
        statements.append(
          tables.noteRestored(key, of: entity.name ?? "", version: version, formerVersion: former))
      }
    }
    let ledger = try Ledger(tables, nil)
    coordinator.addSaveParticipant(ledger)
    defer { coordinator.removeSaveParticipant(ledger) }
    ledger.prepare(Ledger.Page(statements: statements, input: inputs.first?.id))
    ledger.add(linked)
    try coordinator.saveParticipants()
  }

  /// Calls `body` with the keys of each chunk and the entries of the store that have them, in a private context, and
  /// saves what it changes.
  private func forEachChunk(
    of keys: some Sequence<Int64>, _ body: (_ keyCount: Int, _ objects: [NSManagedObject]) throws -> Void,
    saved: ([NSManagedObject]) -> Void = { _ in }
  ) throws {
    let context = container.newBackgroundContext()
    var rest = keys.makeIterator()
    try context.performAndWait {
      while true {
        var ids: [NSManagedObjectID] = []
        while ids.count < Self.entriesPerChunk, let key = rest.next() {
          ids += [coordinator.objectID(of: entity, key: key)].compactMap(\.self)
        }
        if ids.isEmpty { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = NSPredicate(format: "SELF IN %@", ids)
        request.returnsObjectsAsFaults = false
        let objects = try context.fetch(request)
        try body(ids.count, objects)
        if context.hasChanges { try context.save() }
        saved(objects)
        context.reset()
      }
    }
  }
}
