import Foundation

extension NSManagedObject {
  /// Every attribute against the model's rules: throws the one error found, or 1560 with all of them.
  func validateAttributes() throws {
    if isFault { return }
    var errors: [NSError] = []
    for (slot, attribute) in entity.attributeSlots.enumerated() {
      do {
        // The overridable check is asked only where a class may have overridden it: it boxes every value.
        if Self.lifecycleHooks.contains(.validation) {
          try validate(attribute, slot)
        } else {
          try check(values[slot], slot: slot)
        }
      } catch let error as NSError {
        errors.append(error)
      }
    }
    if let error = NSError.validation(errors) { throw error }
  }

  /// Asks `validateValue(_:forKey:)` and takes the value over that it may have put in the place of the one there is.
  private func validate(_ attribute: NSAttributeDescription, _ slot: Int) throws {
    let before = attribute.foundationValue(from: values[slot])
    var value = before
    try validateValue(&value, forKey: attribute.name)
    let after = stored(value, slot)
    // Compared in stored form: the same value may be another object, or archive to other bytes than it came from.
    if after != values[slot], after != stored(before, slot) { setStoredValue(after, at: slot) }
  }

  func check(_ value: StoredValue, slot: Int) throws {
    let attribute = entity.attributeSlots[slot]
    guard let violation = attribute.constraintViolation(of: value) else { return }
    var info: [String: Any] = [
      NSLocalizedDescriptionKey: violation.message,
      NSValidationObjectErrorKey: self,
      NSValidationKeyErrorKey: attribute.name,
    ]
    info[NSValidationValueErrorKey] = attribute.foundationValue(from: value)
    throw NSError(domain: NSCocoaErrorDomain, code: violation.code, userInfo: info)
  }
}

extension NSError {
  /// Several validation errors as Core Data reports them: the one there is, or 1560 with `NSDetailedErrorsKey`.
  static func validation(_ errors: [NSError], of ids: [NSManagedObjectID]? = nil) -> NSError? {
    guard errors.count > 1 else { return errors.first.map { $0.naming(ids) } }
    let all = errors.flatMap { ($0.userInfo[NSDetailedErrorsKey] as? [NSError]) ?? [$0] }
    return .coreData(
      .validationMultipleErrors, "\(all.count) values do not fit the model. See NSDetailedErrorsKey for each.",
      [NSDetailedErrorsKey: all]
    ).naming(ids)
  }

  /// This error with the objects at fault in it. Errors of a client's own kind stay as they are.
  private func naming(_ ids: [NSManagedObjectID]?) -> NSError {
    guard let ids, domain == NSCocoaErrorDomain else { return self }
    return NSError(
      domain: domain, code: code, userInfo: userInfo.merging([OCDFailedObjectIDsErrorKey: ids]) { $1 })
  }
}
