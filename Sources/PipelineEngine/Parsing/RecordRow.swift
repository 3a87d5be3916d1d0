import PersistentStores

/// The last row of a batch, by column. Texts are read in the batch itself: a slice for each would be reference-counted.
struct RecordRow {
  let batch: ObjectBatch
  /// For each column the slot of its attribute.
  let slots: [Int]

  private func cell(_ column: Int) -> ValueCell { batch.cell(row: batch.count - 1, slot: slots[column]) }

  /// Nil, or a text of only white space.
  func isEmpty(_ column: Int) -> Bool {
    let cell = cell(column)
    if cell.kind == .text { return batch.arena.span.extracting(cell.range).trimmedRange.isEmpty }
    return cell.kind == .null
  }

  func textRange(_ column: Int) -> Range<Int> { cell(column).range }

  func number(_ column: Int) -> RecordNumber? {
    let cell = cell(column)
    switch cell.kind {
    case .integer: return .integer(cell.integer)
    case .real: return .real(cell.real)
    case .text, .decimal:
      let bytes = batch.arena.span.extracting(cell.range)
      return NumberText.real(bytes.extracting(bytes.trimmedRange)).map { RecordNumber($0) }
    case .null, .blob: return nil
    }
  }
}

extension RecordTest {
  /// Whether the row meets the condition. Allocates nothing.
  func holds(_ row: RecordRow) -> Bool {
    switch self {
    case .all(let tests): tests.allSatisfy { $0.holds(row) }
    case .any(let tests): tests.contains { $0.holds(row) }
    case .not(let test): !test.holds(row)
    case .isEmpty(let column): row.isEmpty(column)
    case .compare(let column, let comparison, let operand, let emptyHolds):
      row.isEmpty(column) || operand.isEmpty(row)
        ? emptyHolds : operand.compares(column, row).map { comparison.allows($0) } ?? (comparison == .notEqual)
    case .oneOf(let column, let operands):
      !row.isEmpty(column) && operands.contains { $0.compares(column, row) == 0 }
    }
  }
}

extension RecordOperand {
  func isEmpty(_ row: RecordRow) -> Bool {
    switch self {
    case .text, .number: false
    case .textColumn(let column), .numberColumn(let column): row.isEmpty(column)
    }
  }

  /// Negative, zero or positive as `column` is less than, equal to or greater than this; `nil` where a side that should
  /// be a number is not.
  func compares(_ column: Int, _ row: RecordRow) -> Int? {
    switch self {
    case .text(let value):
      Self.compare(row.batch.arena.span.extracting(row.textRange(column)), value.span)
    case .textColumn(let other):
      Self.compare(
        row.batch.arena.span.extracting(row.textRange(column)),
        row.batch.arena.span.extracting(row.textRange(other)))
    case .number(let value): row.number(column)?.compared(to: value)
    case .numberColumn(let other):
      row.number(other).flatMap { value in row.number(column)?.compared(to: value) }
    }
  }

  private static func compare(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
    for index in 0..<min(left.count, right.count) where left[index] != right[index] {
      return left[index] < right[index] ? -1 : 1
    }
    return left.count - right.count
  }
}
