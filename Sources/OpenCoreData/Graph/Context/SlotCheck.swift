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
    let range = attribute.attributeType.wholeRange
    integers = range ?? 0...0
    switch attribute.attributeType {
    case _ where range != nil: kindExpected = .integer
    case .doubleAttributeType, .floatAttributeType, .dateAttributeType: kindExpected = .real
    case .stringAttributeType: kindExpected = .text
    default: kindExpected = .null
    }
  }

  /// Marks the rows whose value needs the full check; the others are certainly valid.
  ///
  /// The kind that is expected decides once for all rows. Kinds are matched as patterns: their `==` belongs to another
  /// module and would be called a million times.
  func note(_ suspects: inout [Bool], slot: Int, of batch: ObjectBatch) {
    let (cells, slotCount) = (batch.cells.span, batch.slotCount)
    let (isOptional, integers) = (isOptional, integers)
    func note(unless accepts: (ValueCell) -> Bool) {
      var at = slot
      for row in suspects.indices {
        let cell = cells[at]
        at &+= slotCount
        if case .null = cell.kind, isOptional { continue }
        if !accepts(cell) { suspects[row] = true }
      }
    }
    switch kindExpected {
    case .integer where !hasRules:
      note { if case .integer = $0.kind { integers.contains($0.integer) } else { false } }
    case .real where !hasRules: note { if case .real = $0.kind { $0.real.isFinite } else { false } }
    case .text where !hasRules: note { if case .text = $0.kind { true } else { false } }
    default: note { _ in false }
    }
  }
}
