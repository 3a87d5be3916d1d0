import ManagedObjectModel
import PersistentStores

/// Checks packed values by the rules of the model alone: no object is made, and no context is asked.
extension ObjectBatch {
  /// Whether a save checks the batch by the model alone. Otherwise the entity's class takes part, and objects are
  /// needed: it has checks of its own, or changes new objects.
  package var isCheckedByModelAlone: Bool {
    entity.objectClass.lifecycleHooks.isDisjoint(with: [.validation, .awakeFromInsert])
  }

  /// The rows that an insertion would refuse, in order, each with what is wrong with it: of several things the first,
  /// as a save says it.
  ///
  /// - Precondition: ``isCheckedByModelAlone``.
  package func violations(toleratingMissingRelationships isTolerant: Bool) -> [(row: Int, message: String)] {
    if !isTolerant, let missing = entity.mandatoryRelationships.first {
      let message = missing.cannotBeSet(in: entity)
      return (0..<count).map { ($0, message) }
    }
    let suspects = suspectRows()
    return suspects.indices.compactMap { row in
      suspects[row] ? violation(row: row).map { (row, $0) } : nil
    }
  }

  /// For each row whether one of its values has to be looked at.
  func suspectRows() -> [Bool] {
    var suspects = [Bool](repeating: false, count: count)
    for (slot, attribute) in entity.attributeSlots.enumerated() {
      SlotCheck(attribute).note(&suspects, slot: slot, of: self)
    }
    return suspects
  }

  /// What is wrong with the first wrong value of a row; nil where none is.
  func violation(row: Int) -> String? {
    for (slot, attribute) in entity.attributeSlots.enumerated() {
      if let found = attribute.constraintViolation(of: value(row: row, slot: slot)) { return found.message }
    }
    return nil
  }
}

extension NSRelationshipDescription {
  /// Why an object of `entity` can't be inserted where this relationship is mandatory.
  func cannotBeSet(in entity: NSEntityDescription) -> String {
    "\(entity.name ?? "").\(name) is a mandatory relationship, and relationships can't be set here. Make it "
      + "optional in the model, or insert such objects with a program that uses Apple's framework."
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

  /// Notes the rows whose value has to be looked at.
  func note(_ suspects: inout [Bool], slot: Int, of batch: ObjectBatch) {
    let (cells, slotCount) = (batch.cells.span, batch.slotCount)
    for row in suspects.indices where !accepts(cells[row &* slotCount &+ slot]) { suspects[row] = true }
  }

  /// True where the cell certainly is fine; false sends the value to the full check.
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
