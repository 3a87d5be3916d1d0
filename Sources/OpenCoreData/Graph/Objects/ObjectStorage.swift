import Foundation
import SystemSupport
import Synchronization

/// What all objects of a context share, or all objects made for the rows of one batch: an object has one reference to
/// it.
class ObjectStorage {
  /// One weak reference for all objects: one in each object would cost as much as the rest of the object.
  weak let context: NSManagedObjectContext?
  let packedLinks: PackedLinkState
  let packedFaults: PackedFaultState
  /// Where the context finds objects that it does not hold.
  let unheld: UnheldObjects

  init(_ context: NSManagedObjectContext) {
    self.context = context
    packedLinks = context.graph.packedLinks
    packedFaults = context.graph.packedFaults
    unheld = context.graph.registry.unheld
  }
}

/// Whether a context has pending rows with packed relationships, or stored rows whose links are not written yet. What its
/// objects have pending is not complete then: `NSManagedObject.pending` first links the rows by objects, or writes them.
final class PackedLinkState {
  @exclusivity(unchecked) var arePending = false { didSet { noteChange() } }
  /// The links of stored rows that a migration sets.
  var keyed: (any UnwrittenLinks)? { didSet { noteChange() } }
  @exclusivity(unchecked) private(set) var areIncomplete = false

  private func noteChange() { areIncomplete = arePending || keyed != nil }
}

/// Whether a fault whose values are packed fires without its context: the context is there, and no read has failed. Asking
/// the context itself would cost as much as the first value that is read.
final class PackedFaultState: Sendable {
  private let flag = Atomic<Bool>(true)

  var needNoContext: Bool { flag.load(ordering: .relaxed) }

  func set(needNoContext: Bool) { flag.store(needNoContext, ordering: .relaxed) }
}

/// Links of a batch of stored rows that are written without objects, when something asks for them at the latest.
protocol UnwrittenLinks: AnyObject {
  /// Writes what was set so far.
  func write() throws
  /// Writes what was set, and ends the batch: others are about to write links.
  func close() throws
  /// The faults of the batch, if an object that fires is one of them.
  func faults(with object: NSManagedObject) -> FaultGroup?
}

/// The storage of objects whose values are packed in a batch. They materialise them on request.
///
/// It belongs to its context's queue, except `ids`, which never changes: code on another queue that received an object
/// in a notification may ask for its ID.
final class BatchStorage: ObjectStorage {
  /// The source of the objects' IDs.
  enum IDSource: Sendable {
    /// An object's number is its row in the range.
    case temporary(TemporaryIDRange)
    /// An object's number is its key in the store.
    case stored(PermanentIDSpace)
  }

  let ids: IDSource
  /// The same rows for the parents of the context; nil if they were not read to be kept.
  let shared: SharedRows?
  private let layout: EntityLayout
  // Unchecked: an exclusivity check for every value would cost as much as reading the value. Code that writes to the
  // batch, on the context's queue, does not read values through the storage until it is done.
  @exclusivity(unchecked) var batch: ObjectBatch

  init(_ context: NSManagedObjectContext, batch: ObjectBatch, ids: IDSource) {
    layout = batch.entity.layout
    self.batch = batch
    self.ids = ids
    shared = nil
    super.init(context)
  }

  init(_ context: NSManagedObjectContext, sharing rows: SharedRows) {
    layout = rows.batch.entity.layout
    batch = rows.batch
    ids = .stored(rows.space)
    shared = rows
    super.init(context)
  }

  func id(_ number: Int64) -> NSManagedObjectID {
    switch ids {
    case .temporary(let range): NSManagedObjectID(range: range, row: Int(number))
    case .stored(let space): NSManagedObjectID(space: space, key: number)
    }
  }

  // By field: reading through the whole batch would copy it, and count references to each of its parts, for every
  // value.

  // These are inline, so that the storage need not be held while they read.

  /// The cell of an attribute; nil if the entity has no attribute of that name.
  @inline(__always)
  func cell(_ name: String, row: Int) -> ValueCell? {
    guard let slot = layout.slot(named: name) else { return nil }
    return batch.cells[row * batch.slotCount + slot]
  }

  /// The same, with the bytes that it refers to if it has a text.
  @inline(__always)
  func cellAndArena(_ name: String, row: Int) -> (cell: ValueCell, arena: [UInt8])? {
    guard let slot = layout.slot(named: name) else { return nil }
    return (batch.cells[row * batch.slotCount + slot], batch.arena)
  }

  /// The cell of an attribute of an integer type; nil for another type.
  @inline(__always)
  func integerCell(_ name: String, row: Int) -> ValueCell? {
    guard let slot = layout.slot(named: name), layout.isInteger(slot) else { return nil }
    return batch.cells[row * batch.slotCount + slot]
  }

  func value(row: Int, slot: Int) -> StoredValue {
    let cell = batch.cells[row * batch.slotCount + slot]
    return switch cell.kind {
    case .null: .null
    case .integer: .integer(cell.integer)
    case .real: .real(cell.real)
    case .text, .blob, .decimal: ObjectBatch.value(cell, in: batch.arena)
    }
  }

  /// Frees the values, after every object that stays alive has materialised its own.
  func forgetRows() { batch = ObjectBatch(entity: batch.entity) }
}

/// State that few objects have. It is allocated separately, so that the others stay small.
///
/// Exclusivity is not checked for fields whose values lead to no objects: each access reads or replaces one as a whole.
final class AuxiliaryState {
  /// The permanent ID that was learned after the object had been announced. Kept separately, so that what other queues
  /// read does not change.
  @exclusivity(unchecked) var permanentID: NSManagedObjectID?
  /// The last committed values, kept from the first change on.
  @exclusivity(unchecked) var snapshot: [StoredValue]?
  /// The values at the start of the context's event `eventNumber`, in which the last change was made.
  @exclusivity(unchecked) var eventSnapshot: [StoredValue]?
  @exclusivity(unchecked) var eventNumber: UInt64 = 0
  /// The objects that transformables were set to or last read as, by slot.
  var transformedObjects: [Int: TransformedObject]?
  /// Changes of relationships that the context has not saved yet.
  var pending = PendingRelationships()
  /// `pending` at the start of the context's event `eventNumber`.
  var eventPending = PendingRelationships()
  /// The related objects that were found; nil if none were asked for.
  var related: RelatedIDs?
  /// What transient relationships lead to since a save, by name. Without these references the context would forget the
  /// objects, and one end would be empty.
  var transients = NamedValues<[NSManagedObject]>()
  /// The objects that fetched properties have found, by name. By their IDs, so that objects do not keep each other alive.
  var fetched: [String: [NSManagedObjectID]] = [:]
  /// The registrar, once a value was read in a context that supports observation.
  @exclusivity(unchecked) var observation: ObjectObservation?
  /// The faults whose rows are read together with this one's.
  var faultGroup: FaultGroup?
  /// The files of values that were left out because these are missing, by slot.
  var leftOut: [Int: String] = [:]
}

/// Faults of one fetch that load their rows together (`fetchBatchSize`).
final class FaultGroup {
  var members: [NSManagedObjectID]
  init(_ members: [NSManagedObjectID]) { self.members = members }
}
