import CSV
import PersistentStores

extension FieldParser {
  /// Fills one slot of a block's rows, whose cells are stored row by row; texts stay in the block.
  ///
  /// - Parameters:
  ///   - field: The column's index among the fields of a record.
  ///   - needsSlowPath: By record. Records that are set are skipped, and those that the kernel does not accept are set.
  func fill(
    _ slot: Int, of slotCount: Int, from field: Int, of block: RecordBlock, cells: inout [ValueCell],
    needsSlowPath: inout [Bool]
  ) {
    let isOptional = !isRequired
    let target = Target(slot: slot, slotCount: slotCount, field: field)
    switch kernel {
    case .text(let lengths, let isRequired):
      each(target, block, cells: &cells, needsSlowPath: &needsSlowPath) { bytes, offset in
        guard lengths.contains(bytes.count) else { return bytes.isEmpty && isOptional ? .null : nil }
        if isRequired, bytes[0] <= 32 { return nil }
        return ValueCell(.text, offset: offset, length: bytes.count)
      }
    case .date(let bounds):
      each(target, block, cells: &cells, needsSlowPath: &needsSlowPath) { bytes, _ in
        guard let value = ISODateReader.wholeSecondsUTC(bytes), bounds.contains(value) else {
          return bytes.isEmpty && isOptional ? .null : nil
        }
        return ValueCell(real: value)
      }
    case .integer(let bounds):
      each(target, block, cells: &cells, needsSlowPath: &needsSlowPath) { bytes, _ in
        guard let value = NumberText.integer(bytes), bounds.contains(Double(value)) else {
          return bytes.isEmpty && isOptional ? .null : nil
        }
        return ValueCell(integer: value)
      }
    case .real(let bounds):
      each(target, block, cells: &cells, needsSlowPath: &needsSlowPath) { bytes, _ in
        guard let value = NumberText.real(bytes), bounds.contains(value) else {
          return bytes.isEmpty && isOptional ? .null : nil
        }
        return ValueCell(real: value)
      }
    case .any:
      var faults: [FieldFault] = []
      each(target, block, cells: &cells, needsSlowPath: &needsSlowPath) { bytes, offset in
        let value = parse(bytes, faults: &faults)
        guard faults.isEmpty else {
          faults.removeAll(keepingCapacity: true)
          return nil
        }
        switch value {
        case .null?: return .null
        case .integer(let number)?: return ValueCell(integer: number)
        case .real(let number)?: return ValueCell(real: number)
        case .text?: return ValueCell(.text, offset: offset, length: bytes.count)
        case .encoded?, nil: return nil
        }
      }
    }
  }

  private struct Target {
    let slot: Int
    let slotCount: Int
    let field: Int
  }

  @inline(__always)
  private func each(
    _ target: Target, _ block: RecordBlock, cells: inout [ValueCell], needsSlowPath: inout [Bool],
    cell: (Span<UInt8>, _ offset: Int) -> ValueCell?
  ) {
    // Read from the block once: each access is a call and retains.
    let (allBytes, allFields, allRecords) = (block.bytes, block.fields, block.records)
    let (bytes, fields, records) = (allBytes.span, allFields.span, allRecords.span)
    for index in 0..<records.count where !needsSlowPath[index] {
      let field = fields[records[index].firstField &+ target.field]
      if !field.needsUnescaping, let made = cell(bytes.extracting(field.range), field.start) {
        cells[index &* target.slotCount &+ target.slot] = made
      } else {
        needsSlowPath[index] = true
      }
    }
  }
}
