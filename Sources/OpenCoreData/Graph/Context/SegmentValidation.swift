extension PendingSegment {
  /// Live rows that break a rule of the model, found without making objects. A row whose object is newer than its
  /// packed values is included, so that it is checked in full.
  func invalidRows(toleratingMissingRelationships isTolerant: Bool) -> [Int] {
    if !isTolerant, !batch.entity.mandatoryRelationships.isEmpty { return Array(liveRows) }
    var suspects = [Bool](repeating: false, count: batch.count)
    for (slot, attribute) in batch.entity.attributeSlots.enumerated() {
      SlotCheck(attribute).note(&suspects, slot: slot, of: batch)
    }
    handles.forEach { row, handle in if handle.state.contains(.unpacked) { suspects[row] = true } }
    return suspects.indices.filter { row in
      suspects[row] && isLive(row)
        && (handles[row]?.state.contains(.unpacked) == true
          || !(0..<batch.slotCount).allSatisfy { accepts(row: row, slot: $0) })
    }
  }

  private func accepts(row: Int, slot: Int) -> Bool {
    batch.entity.attributeSlots[slot].constraintViolation(of: batch.value(row: row, slot: slot)) == nil
  }
}

/// The checks of a packed value that need only its cell.
private struct SlotCheck {
  private let kindExpected: ValueCell.Kind
  private let integers: ClosedRange<Int64>
  private let isOptional: Bool
  /// Whether there are bounds, lengths or patterns, which need the value itself.
  private let hasRules: Bool

  init(_ attribute: NSAttributeDescription) {
    isOptional = attribute.isOptional
    hasRules = attribute.hasRules
    switch attribute.attributeType {
    case .integer16AttributeType:
      (kindExpected, integers) = (.integer, Int64(Int16.min)...Int64(Int16.max))
    case .integer32AttributeType:
      (kindExpected, integers) = (.integer, Int64(Int32.min)...Int64(Int32.max))
    case .integer64AttributeType: (kindExpected, integers) = (.integer, .min ... .max)
    case .booleanAttributeType: (kindExpected, integers) = (.integer, 0...1)
    case .doubleAttributeType, .floatAttributeType, .dateAttributeType:
      (kindExpected, integers) = (.real, 0...0)
    case .stringAttributeType: (kindExpected, integers) = (.text, 0...0)
    default: (kindExpected, integers) = (.null, 0...0)
    }
  }

  /// Marks the rows whose value needs the full check.
  func note(_ suspects: inout [Bool], slot: Int, of batch: ObjectBatch) {
    let (cells, slotCount) = (batch.cells.span, batch.slotCount)
    for row in suspects.indices where !accepts(cells[row &* slotCount &+ slot]) { suspects[row] = true }
  }

  /// True if the cell is certainly valid; false leads to the full check.
  @inline(__always)
  private func accepts(_ cell: ValueCell) -> Bool {
    if cell.kind == .null { return isOptional }
    guard cell.kind == kindExpected, !hasRules else { return false }
    switch cell.kind {
    case .integer: return integers.contains(cell.integer)
    case .real: return cell.real.isFinite
    default: return true
    }
  }
}
