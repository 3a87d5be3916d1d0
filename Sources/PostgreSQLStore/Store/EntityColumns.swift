import Foundation
import ManagedObjectModel
import PersistentStores

/// The columns of an entity's stored attributes, and their values in the form of COPY and of parameters.
struct EntityColumns {
  struct Column {
    let slot: Int
    let name: String
    let type: ColumnType
  }

  let columns: [Column]

  init(_ entity: NSEntityDescription, _ kept: SQLEntity) {
    columns = kept.attributeColumns.enumerated().compactMap { slot, column in
      column.map { Column(slot: slot, name: $0.name, type: ColumnType(entity.attributeSlots[slot])) }
    }
  }

  func column(ofSlot slot: Int) -> Column? { columns.first { $0.slot == slot } }
}

extension EntityColumns.Column {
  func parameter(_ value: StoredValue) -> StoredValue { type.columnValue(value) }
}

extension ColumnType {
  /// Adds a cell of a batch to COPY's form.
  ///
  /// - Returns: Why the column can't hold it; nil if it can.
  @inline(__always)
  func append(_ cell: ValueCell, of copied: CopiedBatch, to buffer: inout CopyBuffer) -> String? {
    switch (self, cell.kind) {
    case (_, .null): buffer.appendNull()
    case (.float8, .real) where cell.real.isNaN: buffer.appendNull()
    case (.float8, .real): buffer.append(value: cell.real.bitPattern)
    case (.int8, .integer): buffer.append(value: cell.integer)
    case (.int4, .integer):
      guard let number = Int32(exactly: cell.integer) else { return problem(with: .integer(cell.integer)) }
      buffer.append(value: number)
    case (.int2, .integer):
      guard let number = Int16(exactly: cell.integer) else { return problem(with: .integer(cell.integer)) }
      buffer.append(value: number)
    case (.text, .text):
      if copied.hasZeroByte(cell) { return Self.zeroByte }
      buffer.append(bytesOf: cell, in: copied)
    case (.bytes, .blob): buffer.append(bytesOf: cell, in: copied)
    default: return append(copied.batch.value(of: cell), to: &buffer)
    }
    return nil
  }

  /// Adds a value of another kind than the column's usual one.
  @inline(never)
  private func append(_ given: StoredValue, to buffer: inout CopyBuffer) -> String? {
    let value = columnValue(given)
    if let problem = problem(with: value) { return problem }
    switch (self, value) {
    case (_, .null): buffer.appendNull()
    case (.float8, .real(let number)): buffer.append(value: number.bitPattern)
    case (.numeric, .decimal(let number)):
      guard let digits = NumericDigits(number) else {
        buffer.appendNull()
        return nil
      }
      var bytes: [UInt8] = []
      digits.append(to: &bytes)
      buffer.append(bytes)
    default: return "the value is of another kind than the attribute"
    }
    return nil
  }
}

extension ObjectBatch {
  fileprivate func value(of cell: ValueCell) -> StoredValue {
    switch cell.kind {
    case .null: .null
    case .integer: .integer(cell.integer)
    case .real: .real(cell.real)
    case .text, .blob, .decimal: ObjectBatch.value(cell, in: arena)
    }
  }
}
