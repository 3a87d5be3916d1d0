import Foundation

/// What all objects of a context share, or all objects made for the rows of one batch: an object holds one reference,
/// and finds the rest here.
class ObjectHome {
  /// Weak for all of them at once: a weak reference in each object would cost as much as the rest of it.
  weak let context: NSManagedObjectContext?

  init(_ context: NSManagedObjectContext) { self.context = context }
}

/// The home of objects whose values are packed in a batch. They take them out when somebody asks.
///
/// It belongs to its context's queue but for `ids`, which stands still: whoever was told of an object may ask for its
/// identity from another queue.
final class PackedHome: ObjectHome {
  /// Where the identities of the objects come from.
  enum IDSource: Sendable {
    /// An object's number is its row in the range.
    case temporary(TemporaryIDRange)
    /// An object's number is its key in the store.
    case stored(PermanentIDSpace)
  }

  let ids: IDSource
  private let layout: EntityLayout
  // Unchecked: a check for every value costs as much as the value. Nothing that writes to the batch, on the context's
  // queue, reads values through the home before it is done.
  @exclusivity(unchecked) var batch: ObjectBatch

  init(_ context: NSManagedObjectContext, _ batch: ObjectBatch, _ ids: IDSource) {
    layout = batch.entity.layout
    self.batch = batch
    self.ids = ids
    super.init(context)
  }

  func id(_ number: Int64) -> NSManagedObjectID {
    switch ids {
    case .temporary(let range): NSManagedObjectID(range: range, row: Int(number))
    case .stored(let space): NSManagedObjectID(space: space, key: number)
    }
  }

  // By field: the batch as a whole would be copied, and each of its parts counted, for every value.

  /// The cell of an attribute; nil if the entity has none of that name.
  func cell(_ name: String, row: Int) -> ValueCell? {
    guard let slot = layout.slot(named: name) else { return nil }
    return batch.cells[row * batch.slotCount + slot]
  }

  /// The cell of an attribute of an integer type; nil of another.
  func integerCell(_ name: String, row: Int) -> ValueCell? {
    guard let slot = layout.slot(named: name), layout.isInteger(slot) else { return nil }
    return batch.cells[row * batch.slotCount + slot]
  }

  /// The text of a cell; nil of another kind.
  func text(_ cell: ValueCell) -> String? {
    cell.kind == .text ? String(decoding: batch.arena[cell.range], as: UTF8.self) : nil
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

  /// Lets go of the values, once every object that lives on has taken out its own.
  func forgetRows() { batch = ObjectBatch(entity: batch.entity) }
}

/// What few objects have: beside them, so that the others stay small.
final class RareParts {
  /// The permanent identity that was learnt after the object had been announced. Kept apart, so that what other queues
  /// look at stands still.
  var identityLearnt: NSManagedObjectID?
  /// The last committed values, kept from the first change on.
  var snapshot: [StoredValue]?
  /// The values at the start of the context's event `eventNumber`, in which the last change was made.
  var eventSnapshot: [StoredValue]?
  var eventNumber: UInt64 = 0
  /// By slot, what transformables were set to or last read as.
  var transformedObjects: [Int: TransformedObject]?
  /// What relationships were found to lead to; nil where none was asked for.
  var related: RelatedIDs?
  /// The faults whose rows come in together with this one's.
  var faultGroup: FaultGroup?
}
