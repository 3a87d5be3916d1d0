import Foundation

/// The model's rules about relationships. (Apple documentation: NSRelationshipDescription, "Cardinality"; NSDeleteRule.)
extension NSManagedObject {
  /// The violations of a new object's relationships, or of those that an update has changed.
  func relationshipErrors(isNew: Bool) -> [any Error] {
    let isOverridable = Self.lifecycleHooks.contains(.validation)
    if entity.checkedRelationships.isEmpty, !isOverridable { return [] }
    return relationshipsToCheck(isNew: isNew, isOverridable: isOverridable).compactMap { relationship in
      do {
        if isOverridable, isToBeAsked(relationship) {
          try validate(relationship)
        } else if relationship.isChecked {
          try check(count: related(relationship).count(where: \.isThere), relationship)
          try checkPredicates(of: relationship, relationshipValue(relationship))
        }
        return nil
      } catch {
        return error
      }
    }
  }

  private func relationshipsToCheck(isNew: Bool, isOverridable: Bool) -> [NSRelationshipDescription] {
    guard isNew else { return changedRelationships }
    guard isOverridable else { return entity.checkedRelationships }
    return entity.relationshipsByName.values.sorted { String.byteOrder($0.name, $1.name) }
  }

  /// Whether the class's checks get the value. A to-many relationship that was added to is not read for a class that may
  /// have none for it.
  private func isToBeAsked(_ relationship: NSRelationshipDescription) -> Bool {
    relationship.isChecked || !relationship.isToMany || isKnown(relationship)
      || Self.propertyValidators[relationship.name] != nil
  }

  /// Calls `validateValue(_:forKey:)` and sets the relationship to the value if the method replaced it.
  private func validate(_ relationship: NSRelationshipDescription) throws {
    let before = relationshipValue(relationship)
    var value = before
    try validateValue(&value, forKey: relationship.name)
    let isSame = (before as? NSObject).map { $0.isEqual(value) } ?? (value == nil)
    if !isSame { setRelatedValue(value, relationship) }
  }

  private func relationshipValue(_ relationship: NSRelationshipDescription) -> Any? {
    value(of: related(relationship), relationship)
  }

  /// - Throws: `NSError` 1570 to 1590 for the number of objects, 1550 for objects that do not match a predicate.
  func check(_ value: Any?, _ relationship: NSRelationshipDescription) throws {
    checkCollection(value, relationship)
    try check(count: relatedObjects(in: value, relationship).count, relationship)
    try checkPredicates(of: relationship, value)
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
  private func checkPredicates(of relationship: NSRelationshipDescription, _ value: Any?) throws {
    guard !relationship.validationPredicates.isEmpty, let value,
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
    var info: [String: Any] = [NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: relationship.name]
    info[NSValidationValueErrorKey] = relationshipValue(relationship)
    return .coreData(code, message, userInfo: info)
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
