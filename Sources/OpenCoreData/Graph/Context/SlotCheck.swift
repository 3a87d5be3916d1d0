import Foundation

/// The checks of a packed value that need only its cell.
struct SlotCheck {
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
  ///
  /// Kinds are matched as patterns: their `==` belongs to another module and would be called a million times.
  @inline(__always)
  private func accepts(_ cell: ValueCell) -> Bool {
    if case .null = cell.kind { return isOptional }
    if hasRules { return false }
    switch (cell.kind, kindExpected) {
    case (.integer, .integer): return integers.contains(cell.integer)
    case (.real, .real): return cell.real.isFinite
    case (.text, .text): return true
    default: return false
    }
  }
}
