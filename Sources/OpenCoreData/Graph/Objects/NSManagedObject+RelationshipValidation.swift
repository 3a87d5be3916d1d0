import Foundation

/// The model's rules about relationships. (Apple documentation: NSRelationshipDescription, "Cardinality"; NSDeleteRule.)
extension NSManagedObject {
  /// The violations of a new object's relationships, or of those that an update has changed.
  func relationshipErrors(isNew: Bool) -> [any Error] {
    let checked = entity.checkedRelationships
    if checked.isEmpty { return [] }
    let relationships = isNew ? checked : changedRelationships.filter(\.isChecked)
    return relationships.compactMap { relationship in
      do {
        try check(count: related(relationship).count(where: \.isThere), relationship)
        try checkPredicates(of: relationship)
        return nil
      } catch {
        return error
      }
    }
  }

  /// - Throws: `NSError` 1570 for a missing mandatory object, 1580 for too few objects, 1590 for too many.
  func check(count: Int, _ relationship: NSRelationshipDescription) throws {
    guard relationship.isChecked else { return }
    let name = "\(entity.name ?? "").\(relationship.name)"
    if !relationship.isToMany {
      if count == 0, !relationship.isOptional {
        throw violation(
          .missingMandatoryProperty, "\(name) is a mandatory relationship, and no object is set.", of: relationship)
      }
      return
    }
    // "The counts are only enforced if the relationship value is not nil" (Apple documentation:
    // NSRelationshipDescription); an optional relationship may be empty.
    if count == 0, relationship.isOptional { return }
    if count < relationship.minCount {
      throw violation(
        .relationshipLacksMinimumCount, "\(name) has \(count) objects, and \(relationship.minCount) are the least.",
        of: relationship)
    }
    if relationship.maxCount > 0, count > relationship.maxCount {
      throw violation(
        .relationshipExceedsMaximumCount, "\(name) has \(count) objects, and \(relationship.maxCount) are the most.",
        of: relationship)
    }
  }

  /// - Throws: `NSError` 1550 for objects that do not match a validation predicate of the relationship.
  private func checkPredicates(of relationship: NSRelationshipDescription) throws {
    guard !relationship.validationPredicates.isEmpty, let value = value(forKey: relationship.name),
      let violation = relationship.predicateViolation(of: value)
    else { return }
    var info: [String: Any] = [
      NSLocalizedDescriptionKey: violation.message, NSValidationObjectErrorKey: self,
      NSValidationKeyErrorKey: relationship.name, NSValidationValueErrorKey: value,
    ]
    info[NSValidationPredicateErrorKey] = violation.predicateIndex.map { relationship.validationPredicates[$0] }
    throw NSError(domain: NSCocoaErrorDomain, code: violation.code, userInfo: info)
  }

  private func violation(
    _ code: NSError.CoreDataCode, _ message: String, of relationship: NSRelationshipDescription
  ) -> NSError {
    .coreData(
      code, message, userInfo: [NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: relationship.name])
  }

  /// - Throws: `NSError` 1600 for a relationship with the rule deny that leads to objects that stay.
  func checkDeniedDeletion() throws {
    let errors = try entity.denyingRelationships.compactMap { relationship -> NSError? in
      let staying = try relatedObjects(relationship).filter(\.isThere)
      guard !staying.isEmpty else { return nil }
      return .coreData(
        .relationshipDeniedDelete,
        "\(objectID) can't be deleted: \(relationship.name) leads to \(staying.count) objects, and its delete rule is "
          + "deny. Delete these too, or remove them from the relationship.",
        userInfo: [
          NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: relationship.name,
          NSValidationValueErrorKey: NSSet(array: staying),
        ])
    }
    if let error = NSError.validation(errors) { throw error }
  }
}
