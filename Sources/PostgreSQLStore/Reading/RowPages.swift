import ManagedObjectModel
import PersistentStores

/// Divides the rows of a result into batches, each of one entity.
struct RowPages {
  private let plan: RowPlan
  private let result: PostgreSQLResult
  private let rowsPerBatch: Int
  private var next = 0

  init(_ plan: RowPlan, _ result: PostgreSQLResult, rowsPerBatch: Int) {
    self.plan = plan
    self.result = result
    self.rowsPerBatch = rowsPerBatch
  }

  var isAtEnd: Bool { next == result.rowCount }

  /// Replaces the contents of `batch` with the next rows. False at the end.
  mutating func next(into batch: inout ObjectBatch, numbers: inout RowNumbers) throws -> Bool {
    batch.removeAll()
    numbers.removeAll()
    _ = try add(to: &batch, numbers: &numbers)
    return !numbers.keys.isEmpty
  }

  /// Adds the next rows to a batch, which may have rows of the result before.
  ///
  /// - Returns: Whether the batch is complete: it is full, or the next row is of another entity.
  mutating func add(to batch: inout ObjectBatch, numbers: inout RowNumbers) throws -> Bool {
    guard !isAtEnd else { return false }
    let number = result.integer(next, 1)
    let (space, columns) = try plan.layout(ofEntity: Int(number), key: result.integer(next, 0))
    let entity = space.entity
    if batch.entity !== entity {
      guard numbers.keys.isEmpty else { return true }
      batch = ObjectBatch(entity: entity)
    }
    let kinds = entity.attributeSlots.map(ValueCell.Kind.init)
    while !isAtEnd, numbers.keys.count < rowsPerBatch {
      guard result.integer(next, 1) == number else { return true }
      numbers.append(key: result.integer(next, 0), version: result.integer(next, 2))
      if let column = plan.ownerColumn { numbers.append(owner: result.integer(next, column)) }
      plan.take(next, of: result, columns: columns, kinds: kinds, into: &batch)
      next += 1
    }
    return numbers.keys.count == rowsPerBatch
  }
}
