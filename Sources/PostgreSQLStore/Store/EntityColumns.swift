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

  /// Adds a cell of a batch to COPY's form.
  ///
  /// - Returns: Why the column can't hold it; nil if it can.
  func append(_ cell: ValueCell, of batch: ObjectBatch, to buffer: inout [UInt8]) -> String? {
    switch (type, cell.kind) {
    case (_, .null): buffer.appendCopiedNull()
    case (.float8, .real) where cell.real.isNaN: buffer.appendCopiedNull()
    case (.float8, .real): buffer.append(copied: Int64(bitPattern: cell.real.bitPattern))
    case (.int8, .integer): buffer.append(copied: cell.integer)
    case (.int4, .integer):
      guard let number = Int32(exactly: cell.integer) else { return type.problem(with: .integer(cell.integer)) }
      buffer.append(bigEndian: Int32(4))
      buffer.append(bigEndian: number)
    case (.int2, .integer):
      guard let number = Int16(exactly: cell.integer) else { return type.problem(with: .integer(cell.integer)) }
      buffer.append(bigEndian: Int32(2))
      buffer.append(bigEndian: number)
    case (.text, .text), (.bytes, .blob):
      let bytes = batch.arena[cell.range]
      if type == .text, bytes.contains(0) { return ColumnType.zeroByte }
      buffer.append(bigEndian: Int32(bytes.count))
      buffer.append(contentsOf: bytes)
    default: return append(parameter(batch.value(of: cell)), to: &buffer)
    }
    return nil
  }

  /// Adds a value of another kind than the column's usual one.
  private func append(_ value: StoredValue, to buffer: inout [UInt8]) -> String? {
    if let problem = type.problem(with: value) { return problem }
    switch (type, value) {
    case (_, .null): buffer.appendCopiedNull()
    case (.float8, .real(let number)): buffer.append(copied: Int64(bitPattern: number.bitPattern))
    case (.numeric, .decimal(let number)):
      guard let digits = NumericDigits(number) else {
        buffer.appendCopiedNull()
        return nil
      }
      var bytes: [UInt8] = []
      digits.append(to: &bytes)
      buffer.append(bigEndian: Int32(bytes.count))
      buffer += bytes
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
