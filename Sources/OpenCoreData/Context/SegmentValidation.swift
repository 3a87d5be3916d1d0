extension PendingSegment {
  /// Live rows that break a rule of the model, found without making objects. A row with a handle newer than its
  /// packed values counts as one to look at.
  var invalidRows: [Int] {
    if !batch.entity.mandatoryRelationships.isEmpty { return Array(liveRows) }
    let checks = batch.entity.attributeSlots.map(SlotCheck.init)
    return liveRows.filter { row in
      if let handle = handles[row], handle.state.contains(.unpacked) { return true }
      return !checks.indices.allSatisfy { slot in
        checks[slot].accepts(batch.cells[row * batch.slotCount + slot]) || accepts(row: row, slot: slot)
      }
    }
  }

  private func accepts(row: Int, slot: Int) -> Bool {
    batch.entity.attributeSlots[slot].constraintViolation(of: batch.value(row: row, slot: slot)) == nil
  }
}

/// What can be said of a packed value by looking at its cell alone.
private struct SlotCheck {
  private let kindExpected: ValueCell.Kind
  private let integers: ClosedRange<Int64>
  private let isOptional: Bool
  /// Bounds, lengths or patterns: the value itself has to be looked at.
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

  /// True where the cell certainly is fine; false sends the value to the full check.
  func accepts(_ cell: ValueCell) -> Bool {
    if cell.kind == .null { return isOptional }
    guard cell.kind == kindExpected, !hasRules else { return false }
    switch cell.kind {
    case .integer: return integers.contains(cell.integer)
    case .real: return cell.real.isFinite
    default: return true
    }
  }
}
