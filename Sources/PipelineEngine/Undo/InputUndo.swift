import Foundation
import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// Takes back what inputs have inserted and updated of one entity, by the records of the ledger.
///
/// An entry that was changed since, by hand or by a later run, is not touched: then nothing is taken back.
struct InputUndo {
  private let container: NSPersistentContainer
  private let entity: NSEntityDescription
  private let tables: LedgerTables
  private let inputs: [LedgerEntry]
  /// The numbers of those of them that are recorded as undone with this entity: no other entity follows.
  private let finished: Set<Int64>
  /// The program's name in messages.
  private let program: String
  private var coordinator: NSPersistentStoreCoordinator { container.persistentStoreCoordinator }

  private static let entriesPerChunk = 2000
  private static let examplesMax = 5

  /// - Parameters:
  ///   - inputs: Entries of the ledger, none of them undone, that have inserted or changed objects of the entity.
  ///   - finished: The numbers of those that concern no entity that is taken back later.
  init(
    _ inputs: [LedgerEntry], finishing finished: Set<Int64>, in container: NSPersistentContainer,
    entity: NSEntityDescription, tables: LedgerTables, program: String
  ) {
    self.container = container
    self.finished = finished
    self.entity = entity
    self.tables = tables
    self.inputs = inputs.sorted { $0.id < $1.id }
    self.program = program
  }

  var entityName: String { entity.name ?? "" }
  var rootName: String { entity.rootEntity.name ?? "" }
  /// Those that have inserted entries, and not only changed related objects.
  private var ownInputs: [LedgerEntry] { inputs.filter { $0.entity == entityName } }
  /// Whether entries are deleted.
  var deletes: Bool { !ownInputs.isEmpty }

  // MARK: Checking

  /// Checks that the inputs can be taken back, and counts what that would do.
  ///
  /// - Throws: ``UndoRefusal``, or an error of the store.
  ///
  /// - Parameters:
  ///   - chosen: The inputs that are taken back together with these, of other entities.
  ///   - keepsChanged: Whether entries that were changed since stay, and the rest is taken back.
  ///   - advice: What to do if others lead to entries that would be deleted.
  func plan(
    _ others: [LedgerEntry], with chosen: Set<Int64> = [], keepsChanged: Bool = false,
    advice: String = "undo that one first, or name both"
  ) throws -> UndoPlan {
    guard try tables.layout(in: coordinator) ?? .first != .first else {
      throw UndoRefusal(
        message: "an earlier version of this program made the ledger, and kept nothing for an undo; "
          + "delete the entries by their IDs")
    }
    try checkLaterParts(others)
    let (ranges, values) = (try insertedRanges(), try overwrittenValues())
    var plan = UndoPlan()
    var edited = Set(values.editedBetween)
    let othersByID = Dictionary(uniqueKeysWithValues: others.map { ($0.id, $0) })
    let together = chosen.union(inputs.map(\.id))
    var linked: [Int64: LedgerEntry] = [:]
    func unchanged(_ keyCount: Int, _ objects: [NSManagedObject], areInserted: Bool) -> [NSManagedObject] {
      plan.missingCount += keyCount - objects.count
      for object in objects {
        guard let key = object.objectID.storeKey,
          !values.isUnchanged(key, version: object.rowVersion, isInserted: areInserted)
        else { continue }
        edited.insert(key)
      }
      return objects.filter { $0.objectID.storeKey.map { !edited.contains($0) } ?? false }
    }
    try forEachChunk(of: ranges.lazy.joined()) { keyCount, objects in
      let objects = unchanged(keyCount, objects, areInserted: true)
      plan.deletedCount += objects.count
      for key in objects.compactMap(\.objectID.storeKey) where linked.count < Self.examplesMax {
        let later = values.links.inputs(of: key).subtracting(together).compactMap { othersByID[$0] }
        if let later = later.max(by: { $0.id < $1.id }) { linked[key] = later }
      }
    }
    try forEachChunk(of: values.keys(outside: ranges)) { keyCount, objects in
      let objects = unchanged(keyCount, objects, areInserted: false)
      plan.restoredCount += objects.count
      for object in objects { plan.goneCount += try values.goneCount(of: object) }
    }
    guard edited.isEmpty || keepsChanged else {
      throw UndoRefusal(message: message(edited: edited, isFollowed: isFollowed(by: others, except: together)))
    }
    plan.changed[entity.name ?? ""] = edited
    if let (key, later) = linked.min(by: { $0.key < $1.key }) {
      throw UndoRefusal(
        message:
          "\(later.path), imported on \(LedgerDate.text(later.savedAt)) by the run \(later.run), leads to entries "
          + "that would be deleted, such as \(entity.name ?? "") \(key). Nothing was taken back; \(advice)")
    }
    return plan
  }

  /// Whether an input that is not taken back has saved since, and may have changed entries of the entity.
  private func isFollowed(by others: [LedgerEntry], except chosen: Set<Int64>) -> Bool {
    let (first, savedAt) = (inputs.first?.id ?? 0, inputs.map(\.savedAt).min() ?? .distantPast)
    return others.contains {
      !chosen.contains($0.id) && ($0.id > first || $0.savedAt >= savedAt)
        && ($0.entity == entity.name || $0.results.links?.isEmpty == false)
    }
  }

  private func message(edited: Set<Int64>, isFollowed: Bool) -> String {
    let keys = edited.sorted()
    let names = keys.prefix(Self.examplesMax).map { "\($0)" }.joined(separator: ", ")
    let rest = keys.count > Self.examplesMax ? " and \(keys.count - Self.examplesMax) more" : ""
    let subject = keys.count == 1 ? "1 entry was" : "\(keys.count) entries were"
    return
      "\(subject) changed since: \(entity.name ?? "") \(names)\(rest), by an edit, or because a link to it was set "
      + "or removed. "
      + "Nothing was taken back; \(isFollowed ? "undo the later run first, name both runs if they saved in turn, or " : "")take "
      + "back the rest with --keep-changed, which leaves these entries as they are"
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
    // Workers of a plan may have inserted an entry for the record of one input that counts for another.
    var (recorded, expected): ([String: Int], [String: Int]) = ([:], [:])
    for input in ownInputs {
      let rows = try coordinator.participantRows(
        "SELECT firstKey, lastKey FROM \(tables.inserted) WHERE inputID = ? ORDER BY firstKey", [input.id])
      let ranges = try rows.compactMap { row -> ClosedRange<Int64>? in
        guard let first = row[0] as? Int64, let last = row[1] as? Int64, first <= last else { return nil }
        guard first > 0, last <= LedgerEntry.numberMax else {
          throw UndoRefusal(
            message: "\(tables.inserted) says that \(input.path) inserted entries with the keys from \(first) to "
              + "\(last), which no store gives. The ledger is damaged: restore the store from a copy")
        }
        return first...last
      }
      guard !input.isCompacted else {
        throw UndoRefusal(
          message:
            "the ledger was compacted since \(input.path) was imported on \(LedgerDate.text(input.savedAt)), and no "
            + "longer has what an undo needs; delete the entries with '\(program) delete'")
      }
      recorded[input.run, default: 0] += ranges.reduce(0) { $0 + $1.count }
      expected[input.run, default: 0] += input.counts.inserted
      all += ranges
    }
    for input in ownInputs {
      guard recorded[input.run, default: 0] >= expected[input.run, default: 0] else {
        throw UndoRefusal(
          message:
            "it is not recorded which entries \(input.path) inserted on \(LedgerDate.text(input.savedAt)): it was "
            + "imported by an earlier version of this program, or the entity's class inserts objects of its own; "
            + "delete the entries with '\(program) delete'")
      }
    }
    return all.sorted { $0.lowerBound < $1.lowerBound }
  }

  private func overwrittenValues() throws -> OverwrittenValues {
    var values = OverwrittenValues(
      restored: try restoredVersions(), links: try LinkChanges(of: entity, tables, in: coordinator))
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
        else { throw UndoRefusal.damaged(input) }
        guard entries.entity ?? input.entity == entityName else { continue }
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
    // The saves of workers have the order of their records. An entry's versions show which one came first.
    let all = saves.flatMap { save in
      save.entries.entries.map { (entry: $0, attributes: save.entries.attributes, ordinal: save.ordinal) }
    }
    for one in all.sorted(by: { ($0.entry.version, $0.ordinal) > ($1.entry.version, $1.ordinal) }) {
      values.add(one.entry, one.attributes, ordinal: one.ordinal)
    }
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

  /// Unlinks what is about to be deleted where the deletion would not: a relationship without an inverse would keep the
  /// object at its other end from being deleted.
  ///
  /// - Parameter roots: The names of the root entities whose entries are deleted.
  func unlink(keeping changed: Set<Int64>, _ roots: Set<String>) throws {
    let names = entity.relationshipsByName.values.filter { relationship in
      !relationship.isTransient && relationship.inverseRelationship == nil
        && roots.contains(relationship.destinationEntity?.rootEntity.name ?? "")
    }.map(\.name)
    if names.isEmpty { return }
    try forEachChunk(of: try insertedRanges().lazy.joined()) { _, objects in
      objects.first?.managedObjectContext?.toleratesMissingRelationships = true
      for object in objects where object.objectID.storeKey.map({ !changed.contains($0) }) ?? false {
        for name in names { object.setLink(name, to: []) }
      }
    }
  }

  /// Deletes what the inputs inserted, restores what they overwrote, and records both in the ledger. Everything is
  /// saved in the transaction that the caller has begun. Entries with the keys in `changed` stay as they are.
  func apply(keeping changed: Set<Int64> = []) throws {
    func isTaken(_ object: NSManagedObject) -> Bool { object.objectID.storeKey.map { !changed.contains($0) } ?? false }
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
      for object in objects where isTaken(object) { object.managedObjectContext?.delete(object) }
      note(objects.first?.managedObjectContext)
    }
    var statements = inputs.filter { finished.contains($0.id) }.flatMap { tables.undo(input: $0.id) }
    try forEachChunk(of: values.keys(outside: ranges)) { _, objects in
      let taken = objects.filter(isTaken)
      for object in taken { try values.restore(object) }
      note(objects.first?.managedObjectContext, restored: taken)
    } saved: { objects in
      for object in objects where isTaken(object) {
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
        try context.throwingReadFailures {
          try body(ids.count, objects)
          if context.hasChanges { try context.save() }
          saved(objects)
        }
        context.reset()
      }
    }
  }
}
