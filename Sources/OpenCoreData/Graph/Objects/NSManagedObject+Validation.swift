import Foundation

/// A class's own check of one property: it throws, accepts the value, or replaces it.
public typealias PropertyValidator = @Sendable (NSManagedObject, inout Any?) throws -> Void

extension NSManagedObject {
  /// A method such as `Session.validateRating` as a check for `propertyValidators`.
  ///
  /// - Parameter method: Checks a value, which it may replace, and throws what is wrong with it. Stops the program if it
  ///   is listed in a class that does not have the method.
  public static func validator<Object: NSManagedObject>(
    _ method: @escaping @Sendable (Object) -> (inout Any?) throws -> Void
  ) -> PropertyValidator {
    { object, value in
      guard let object = object as? Object else {
        preconditionFailure("A check of \(Object.self) can't be listed in the class \(type(of: object)).")
      }
      try method(object)(&value)
    }
  }

  /// Checks every property by the model's rules: throws the only error, or 1560 with all of them; 133000 for an object
  /// whose row is gone, so that it has no values.
  func validateProperties(isNew: Bool) throws {
    if isFault { return }
    // Setters read what they lead to, so that an object whose row is gone is deleted then. A packed row of a child leads to
    // objects that no context has read: a parent that links its rows by objects counts such an object as changed, and
    // has no values of it if the row is gone.
    guard hasValues || entity.attributeSlots.isEmpty else { throw NSManagedObjectContext.notFound(objectID) }
    let mayLackSome = managedObjectContext?.toleratesMissingRelationships ?? false
    var errors = mayLackSome ? [] : relationshipErrors(isNew: isNew)
    for (slot, attribute) in entity.attributeSlots.enumerated() {
      do {
        // The overridable check is called only if a class may have overridden it: it boxes every value.
        if Self.lifecycleHooks.contains(.validation) {
          try validate(attribute, slot)
        } else {
          try check(values[slot], slot: slot)
        }
      } catch {
        errors.append(error)
      }
    }
    if let error = NSError.validation(errors) { throw error }
  }

  /// Calls `validateValue(_:forKey:)` and stores the value if the method replaced it.
  private func validate(_ attribute: NSAttributeDescription, _ slot: Int) throws {
    let before = attribute.foundationValue(from: values[slot])
    var value = before
    try validateValue(&value, forKey: attribute.name)
    let after = stored(value, slot)
    // Compared in stored form: an equal value may be another object, or have another archive.
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
    info[NSValidationPredicateErrorKey] = violation.predicateIndex.map { attribute.validationPredicates[$0] }
    throw NSError(domain: NSCocoaErrorDomain, code: violation.code, userInfo: info)
  }
}

extension NSError {
  /// Several validation errors as Core Data reports them: the only one, or 1560 with `NSDetailedErrorsKey`.
  ///
  /// A class may throw errors of its own type. A single one reaches the caller of the save unchanged; one of several is
  /// wrapped, under `NSUnderlyingErrorKey`.
  static func validation(_ errors: [any Error], of ids: [NSManagedObjectID]? = nil) -> (any Error)? {
    guard errors.count > 1 else { return errors.first.map { foundationError($0)?.naming(ids) ?? $0 } }
    let all = errors.flatMap { error -> [NSError] in
      let known = foundationError(error) ?? wrapping(error)
      return (known.userInfo[NSDetailedErrorsKey] as? [NSError]) ?? [known]
    }
    return NSError.coreData(
      .validationMultipleErrors, "\(all.count) values do not fit the model.",
      suggestion: "See NSDetailedErrorsKey for each.", userInfo: [NSDetailedErrorsKey: all]
    ).naming(ids)
  }

  /// `error` if it is an NSError. (On Linux `as? NSError` succeeds for every error, and a `catch` for NSError alone
  /// lets other errors escape without a diagnostic from the compiler.)
  private static func foundationError(_ error: any Error) -> NSError? {
    type(of: error) is NSError.Type ? error as NSError : nil
  }

  private static func wrapping(_ error: any Error) -> NSError {
    let bridged = error as NSError
    return NSError(
      domain: bridged.domain, code: bridged.code,
      userInfo: [NSLocalizedDescriptionKey: "\(error)", NSUnderlyingErrorKey: error])
  }

  /// This error with the IDs of the objects at fault. Errors of another domain stay as they are.
  private func naming(_ ids: [NSManagedObjectID]?) -> NSError {
    guard let ids, domain == NSCocoaErrorDomain else { return self }
    return NSError(
      domain: domain, code: code, userInfo: userInfo.merging([OCDFailedObjectIDsErrorKey: ids]) { $1 })
  }
}
