import Foundation

/// What changed in a context since its last ObjectsDidChange notification.
struct ChangeEvent {
  /// Rows of segments, so that a bulk insertion is remembered without an object per row.
  private(set) var insertions: [(segment: PendingSegment, rows: Range<Int>)] = []
  private var placeOfSegment: [ObjectIdentifier: Int] = [:]
  /// Announced insertions that a rollback took back.
  private(set) var withdrawals: [(segment: PendingSegment, rows: Range<Int>)] = []
  var updates: [ObjectKey: NSManagedObject] = [:]
  var deletions: [ObjectKey: NSManagedObject] = [:]
  var refreshed: [ObjectKey: NSManagedObject] = [:]
  /// Objects that other contexts have inserted and saved: made for the merge, or IDs only.
  var mergedInsertions: [ObjectKey: NSManagedObject] = [:]
  private(set) var mergedIDs = ObjectIDCollection()
  var invalidatedAll = false

  var isEmpty: Bool {
    insertions.isEmpty && withdrawals.isEmpty && updates.isEmpty && deletions.isEmpty && refreshed.isEmpty
      && mergedInsertions.isEmpty && mergedIDs.isEmpty && !invalidatedAll
  }

  /// Rows are appended to a segment at its end, so what is new in one is a single run.
  mutating func noteInsertion(_ segment: PendingSegment, rows: Range<Int>) {
    if let place = placeOfSegment[ObjectIdentifier(segment)] {
      insertions[place].rows = insertions[place].rows.lowerBound..<rows.upperBound
    } else {
      placeOfSegment[ObjectIdentifier(segment)] = insertions.count
      insertions.append((segment, rows))
    }
  }

  mutating func noteMerged(_ ids: ObjectIDCollection) { mergedIDs.append(ids) }

  /// Whether the insertion of a row still waits to be announced.
  func hasInsertion(_ segment: PendingSegment, row: Int) -> Bool {
    placeOfSegment[ObjectIdentifier(segment)].map { insertions[$0].rows.contains(row) } ?? false
  }

  /// Remembers that all rows of `segments` whose insertion was announced are gone.
  mutating func noteWithdrawal(of segments: [PendingSegment], announcedBefore last: ChangeEvent) {
    for segment in segments {
      let announced = last.placeOfSegment[ObjectIdentifier(segment)].map { last.insertions[$0].rows.lowerBound }
      let rows = 0..<(announced ?? segment.batch.count)
      if !rows.isEmpty { withdrawals.append((segment, rows)) }
    }
  }

  /// An object has got its permanent ID.
  mutating func rekey(_ old: ObjectKey, _ new: ObjectKey) {
    for changes in [\ChangeEvent.updates, \.deletions, \.refreshed, \.mergedInsertions] {
      if let object = self[keyPath: changes].removeValue(forKey: old) { self[keyPath: changes][new] = object }
    }
  }
}

/// The identities of changed objects, made one by one as they are asked for.
///
/// Equal in content to the set that Apple's notifications carry; `Set(collection)` makes that set.
public struct ObjectIDCollection: RandomAccessCollection, Sendable {
  private enum Part: Sendable {
    case rows(TemporaryIDRange, [Int]?, Range<Int>)
    case ids([NSManagedObjectID])
    case keys(PermanentIDSpace, [Int64])

    var count: Int {
      switch self {
      case .rows(_, let numbers, let rows): numbers?.count ?? rows.count
      case .ids(let ids): ids.count
      case .keys(_, let keys): keys.count
      }
    }

    func id(_ index: Int) -> NSManagedObjectID {
      switch self {
      case .rows(let range, let numbers, let rows):
        NSManagedObjectID(range: range, row: numbers?[index] ?? rows.lowerBound + index).resolved
      case .ids(let ids): ids[index]
      case .keys(let space, let keys): NSManagedObjectID(space: space, key: keys[index])
      }
    }
  }

  private var parts: [Part] = []
  public private(set) var count = 0
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }

  init() {}
  init(_ ids: [NSManagedObjectID]) { append(.ids(ids)) }
  init(_ entity: NSEntityDescription, _ store: StoreIdentity, _ keys: [Int64]) {
    append(.keys(PermanentIDSpace(store, entity), keys))
  }
  init(_ insertions: [InsertedRows]) {
    for rows in insertions {
      append(rows, rows: 0..<rows.batch.count)
    }
  }

  mutating func append(_ inserted: InsertedRows, rows: Range<Int>) {
    let numbers =
      inserted.removedRows.isEmpty ? nil : rows.filter { inserted.removedRows.rank(of: $0) != nil }
    append(.rows(inserted.range, numbers, rows))
  }

  mutating func append(_ other: ObjectIDCollection) { for part in other.parts { append(part) } }

  private mutating func append(_ part: Part) {
    guard part.count > 0 else { return }
    parts.append(part)
    count += part.count
  }

  /// The key that a store has given to the object at `position`, without making its ID; nil while it has none.
  package func key(at position: Int) -> Int64? {
    if parts.count == 1, case .keys(_, let keys) = parts[0] { return keys[position] }
    return self[position].storeKey
  }

  public subscript(position: Int) -> NSManagedObjectID {
    precondition(indices.contains(position), "There is no ID \(position) among \(count).")
    var rest = position
    for part in parts {
      if rest < part.count { return part.id(rest) }
      rest -= part.count
    }
    preconditionFailure("The parts hold fewer IDs than counted.")
  }
}
