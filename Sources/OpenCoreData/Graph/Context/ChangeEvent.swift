import Foundation

/// What changed in a context since its last ObjectsDidChange notification.
struct ChangeEvent {
  /// Rows of segments, so that a bulk insertion is recorded without an object per row.
  private(set) var insertions: [(segment: PendingSegment, rows: Range<Int>)] = []
  private var insertionIndices: [ObjectIdentifier: Int] = [:]
  /// Announced insertions that were rolled back.
  private(set) var withdrawals: [(segment: PendingSegment, rows: Range<Int>)] = []
  private(set) var updates: [ObjectKey: NSManagedObject] = [:] { didSet { lastUpdated = nil } }
  /// The object of `updates` that was noted last: there is nothing to do for a further change of it.
  private(set) var lastUpdated: ObjectIdentifier?
  private(set) var deletions: [ObjectKey: NSManagedObject] = [:]
  /// Rows that were deleted without objects.
  private(set) var deletedSegments: [DeletedSegment] = []
  private var deletedSegmentIDs: Set<ObjectIdentifier> = []
  private(set) var refreshed: [ObjectKey: NSManagedObject] = [:]
  /// Objects that other contexts have inserted and saved, made for the merge, or only their IDs; and objects whose
  /// insertion was made again by a redo.
  private(set) var mergedInsertions: [ObjectKey: NSManagedObject] = [:]
  private(set) var mergedIDs = ObjectIDCollection()
  /// The IDs of all objects that the context had before a reset; nil if it was not reset.
  private(set) var invalidatedAll: [NSManagedObjectID]?

  init() {}

  /// A reset of a context that had objects with `ids`.
  static func invalidation(of ids: [NSManagedObjectID]) -> ChangeEvent {
    var event = ChangeEvent()
    event.invalidatedAll = ids
    return event
  }

  var isEmpty: Bool {
    insertions.isEmpty && withdrawals.isEmpty && updates.isEmpty && deletions.isEmpty && deletedSegments.isEmpty
      && refreshed.isEmpty && mergedInsertions.isEmpty && mergedIDs.isEmpty && invalidatedAll == nil
  }

  /// Rows are appended at the end of a segment, so its new rows are one range.
  mutating func noteInsertion(_ segment: PendingSegment, rows: Range<Int>) {
    if let index = insertionIndices[ObjectIdentifier(segment)] {
      insertions[index].rows = insertions[index].rows.lowerBound..<rows.upperBound
    } else {
      insertionIndices[ObjectIdentifier(segment)] = insertions.count
      insertions.append((segment, rows))
    }
  }

  mutating func noteUpdate(of object: NSManagedObject, _ key: ObjectKey) {
    updates[key] = object
    lastUpdated = ObjectIdentifier(object)
  }

  /// The object is not announced as updated.
  mutating func withdrawUpdate(_ key: ObjectKey) { updates[key] = nil }

  /// For how many changes to reserve memory, after `count` in the last event or save: a bulk import makes about as many
  /// in each.
  static func expectedCount(after count: Int) -> Int { (32...4096).contains(count) ? count : 0 }

  mutating func expectUpdates(_ count: Int) { if count > 0 { updates.reserveCapacity(count) } }

  mutating func expectDeletions(_ count: Int) { deletions.reserveCapacity(deletions.count + count) }

  mutating func noteDeletion(of object: NSManagedObject, _ key: ObjectKey) {
    deletions[key] = object
    if !updates.isEmpty { updates[key] = nil }
  }

  mutating func noteDeletion(of segment: DeletedSegment) {
    deletedSegments.append(segment)
    deletedSegmentIDs.insert(ObjectIdentifier(segment))
  }

  /// The object of a row of the segment is announced as deleted, unless the segment was announced.
  mutating func noteUnpacking(of object: NSManagedObject, _ key: ObjectKey, _ segment: DeletedSegment) {
    if deletedSegmentIDs.contains(ObjectIdentifier(segment)) { deletions[key] = object }
  }

  /// A deletion that was not announced yet is not announced; of another one the end is.
  mutating func noteUndeletion(of object: NSManagedObject, _ key: ObjectKey) {
    if deletions.removeValue(forKey: key) == nil { refreshed[key] = object }
  }

  mutating func noteRefresh(of object: NSManagedObject, _ key: ObjectKey) { refreshed[key] = object }

  /// The object of a row whose insertion and removal may have been announced is inserted again.
  mutating func noteReinsertion(of object: NSManagedObject, _ segment: PendingSegment, row: Int) {
    let key = object.key
    if hasInsertion(segment, row: row) || deletions.removeValue(forKey: key) != nil { return }
    mergedInsertions[key] = object
  }

  /// - Returns: Whether the object was inserted again in this event.
  mutating func withdrawReinsertion(_ key: ObjectKey) -> Bool { mergedInsertions.removeValue(forKey: key) != nil }

  /// The object has values of the store, whatever happened to it before.
  mutating func noteRebase(of object: NSManagedObject, _ key: ObjectKey) {
    updates[key] = nil
    deletions[key] = nil
    refreshed[key] = object
  }

  /// Others have deleted the object.
  mutating func noteLoss(of object: NSManagedObject, _ key: ObjectKey) {
    updates[key] = nil
    refreshed[key] = nil
    deletions[key] = object
  }

  mutating func noteMerged(_ object: NSManagedObject, _ key: ObjectKey) { mergedInsertions[key] = object }
  mutating func noteMerged(_ ids: ObjectIDCollection) { mergedIDs.append(ids) }

  /// Whether the insertion of a row has not been announced yet.
  func hasInsertion(_ segment: PendingSegment, row: Int) -> Bool {
    if let last = insertions.last, last.segment === segment { return last.rows.contains(row) }
    return insertionIndices[ObjectIdentifier(segment)].map { insertions[$0].rows.contains(row) } ?? false
  }

  /// Records that all rows of `segments` whose insertion was announced are gone.
  mutating func noteWithdrawal(of segments: [PendingSegment], announcedBefore last: ChangeEvent) {
    for segment in segments {
      let announced = last.insertionIndices[ObjectIdentifier(segment)].map { last.insertions[$0].rows.lowerBound }
      let rows = 0..<(announced ?? segment.batch.count)
      if !rows.isEmpty { withdrawals.append((segment, rows)) }
    }
  }

  /// Replaces the temporary key of an object by its permanent one.
  mutating func rekey(_ old: ObjectKey, _ new: ObjectKey) {
    for changes in [\ChangeEvent.updates, \.deletions, \.refreshed, \.mergedInsertions] {
      if let object = self[keyPath: changes].removeValue(forKey: old) { self[keyPath: changes][new] = object }
    }
  }
}
