import ManagedObjectModel
import PersistentStores

/// Checks packed values by the rules of the model alone: no object is made, and no context is asked.
extension ObjectBatch {
  /// Whether a save checks the batch by the model alone. Otherwise the entity's class has checks of its own or changes
  /// new objects, so objects are needed.
  package var isCheckedByModelAlone: Bool {
    entity.objectClass.lifecycleHooks.isDisjoint(with: [.validation, .awakeFromInsert])
  }

  /// The rows that an insertion would refuse, in order, each with the message of its first violation, worded as a save
  /// words it.
  ///
  /// - Precondition: ``isCheckedByModelAlone``.
  package func violations(toleratingMissingRelationships isTolerant: Bool) -> [(row: Int, message: String)] {
    if !isTolerant, !linksAllMandatory, let missing = entity.mandatoryRelationships.first {
      let message = missing.cannotBeSet(in: entity)
      return (0..<count).map { ($0, message) }
    }
    var suspects = suspectRows()
    if !isTolerant { noteMissingLinks(&suspects) }
    return suspects.indices.compactMap { row in
      suspects[row] ? violation(row: row, toleratingMissingRelationships: isTolerant).map { (row, $0) } : nil
    }
  }

  /// Whether rows have each mandatory relationship packed; each row may still lack its object.
  var linksAllMandatory: Bool {
    entity.mandatoryRelationships.allSatisfy { needed in links.contains { $0.relationship === needed } }
  }

  /// Marks the rows without an object in a mandatory relationship that others have.
  func noteMissingLinks(_ suspects: inout [Bool]) {
    for link in mandatoryLinks { for row in 0..<count where link.target(row: row) == nil { suspects[row] = true } }
  }

  private var mandatoryLinks: [BatchLink] {
    links.filter { link in entity.mandatoryRelationships.contains { $0 === link.relationship } }
  }

  /// For each row, whether one of its values needs the full check.
  func suspectRows() -> [Bool] {
    var suspects = [Bool](repeating: false, count: count)
    for (slot, attribute) in entity.attributeSlots.enumerated() {
      SlotCheck(attribute).note(&suspects, slot: slot, of: self)
    }
    return suspects
  }

  /// The message of a row's first violation; nil if there is none.
  func violation(row: Int, toleratingMissingRelationships isTolerant: Bool) -> String? {
    for (slot, attribute) in entity.attributeSlots.enumerated() {
      if let found = attribute.constraintViolation(of: value(row: row, slot: slot)) { return found.message }
    }
    if isTolerant { return nil }
    return mandatoryLinks.first { $0.target(row: row) == nil }.map {
      "\(entity.name ?? "").\($0.relationship.name) is a mandatory relationship, and no object is set."
    }
  }
}

extension NSRelationshipDescription {
  /// Why an object of `entity` can't be inserted where this relationship is mandatory.
  func cannotBeSet(in entity: NSEntityDescription) -> String {
    "\(entity.name ?? "").\(name) is a mandatory relationship, and rows of a batch have none. Make it "
      + "optional in the model, or insert such objects one by one."
  }
}
