import Foundation
import ManagedObjectModel

/// An object that predicates read by name, as they read managed objects.
package final class SurfSession: PredicateSubject {
  package var values: [String: Any] = [:]

  package init(_ values: [String: Any] = [:]) {
    self.values = values
  }

  package func predicateValue(forKeyPath keyPath: [String]) throws -> Any? {
    guard keyPath[0] != "unknown" else { throw CocoaError(.keyValueValidation) }
    return try SubjectValue.of(values, keyPath: keyPath[...])
  }
}
