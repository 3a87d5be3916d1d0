import Foundation

/// The predicate of a model's fetch request whose text is invalid: a fetch with it fails with the reason.
final class UnusablePredicate: NSPredicate {
  let problem: NSError
  private let format: String

  init(format: String, problem: NSError) {
    self.format = format
    self.problem = problem
    super.init(value: false)
  }

  override var predicateFormat: String { format }
  override var description: String { format }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool { (object as? UnusablePredicate)?.format == format }

  override var hash: Int { format.hashValue }

  override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    // Apple's method can't throw; a fetch with the predicate does.
    preconditionFailure(problem.localizedDescription)
  }
}

extension NSPredicate {
  /// The predicate of a model's fetch request. A model file may have an invalid one; then every fetch with it throws.
  ///
  /// - Parameters:
  ///   - format: The predicate's text.
  ///   - request: The name of the fetch request, for the message.
  package static func ofModel(format: String, request: String) -> NSPredicate {
    do {
      return try parse(format: format)
    } catch {
      var info = (error as NSError).userInfo
      info[NSLocalizedDescriptionKey] =
        "The predicate of the model's fetch request '\(request)' can't be used: \((error as NSError).localizedDescription)"
      return UnusablePredicate(
        format: format, problem: NSError(domain: NSCocoaErrorDomain, code: (error as NSError).code, userInfo: info))
    }
  }
}
