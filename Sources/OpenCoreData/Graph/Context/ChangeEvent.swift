import Foundation

/// What changed in a context since its last ObjectsDidChange notification.
struct ChangeEvent {
  /// Rows of segments, so that a bulk insertion is recorded without an object per row.
  private(set) var insertions: [(segment: PendingSegment, rows: Range<Int>)] = []
  private var placeOfSegment: [ObjectIdentifier: Int] = [:]
  /// Announced insertions that were rolled back.
  private(set) var withdrawals: [(segment: PendingSegment, rows: Range<Int>)] = []
  var updates: [ObjectKey: NSManagedObject] = [:]
  var deletions: [ObjectKey: NSManagedObject] = [:]
  var refreshed: [ObjectKey: NSManagedObject] = [:]
  /// Objects that other contexts have inserted and saved: objects made for the merge, or only IDs.
  var mergedInsertions: [ObjectKey: NSManagedObject] = [:]
  private(set) var mergedIDs = ObjectIDCollection()
  var invalidatedAll = false

  var isEmpty: Bool {
    insertions.isEmpty && withdrawals.isEmpty && updates.isEmpty && deletions.isEmpty && refreshed.isEmpty
      && mergedInsertions.isEmpty && mergedIDs.isEmpty && !invalidatedAll
  }

  /// Rows are appended at the end of a segment, so its new rows are one range.
  mutating func noteInsertion(_ segment: PendingSegment, rows: Range<Int>) {
    if let place = placeOfSegment[ObjectIdentifier(segment)] {
      insertions[place].rows = insertions[place].rows.lowerBound..<rows.upperBound
    } else {
      placeOfSegment[ObjectIdentifier(segment)] = insertions.count
      insertions.append((segment, rows))
    }
  }

  mutating func noteMerged(_ ids: ObjectIDCollection) { mergedIDs.append(ids) }

  /// Whether the insertion of a row has not been announced yet.
  func hasInsertion(_ segment: PendingSegment, row: Int) -> Bool {
    placeOfSegment[ObjectIdentifier(segment)].map { insertions[$0].rows.contains(row) } ?? false
  }

  /// Records that all rows of `segments` whose insertion was announced are gone.
  mutating func noteWithdrawal(of segments: [PendingSegment], announcedBefore last: ChangeEvent) {
    for segment in segments {
      let announced = last.placeOfSegment[ObjectIdentifier(segment)].map { last.insertions[$0].rows.lowerBound }
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
