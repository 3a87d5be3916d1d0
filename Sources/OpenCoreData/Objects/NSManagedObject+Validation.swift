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
          var value = attribute.foundationValue(from: values[slot])
          try validateValue(&value, forKey: attribute.name)
        } else {
          try check(values[slot], slot: slot)
        }
      } catch let error as NSError {
        errors.append(error)
      }
    }
    if let error = NSError.validation(errors) { throw error }
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
  static func validation(_ errors: [NSError]) -> NSError? {
    guard errors.count > 1 else { return errors.first }
    let all = errors.flatMap { ($0.userInfo[NSDetailedErrorsKey] as? [NSError]) ?? [$0] }
    return .coreData(
      .validationMultipleErrors, "\(all.count) values do not fit the model. See NSDetailedErrorsKey for each.",
      [NSDetailedErrorsKey: all])
  }
}
