import Foundation
import SystemSupport

/// The bounds and the pattern that a model file sets on an attribute.
///
/// They are separate from `validationPredicates`, since a predicate does not in general expose what it compares.
package struct AttributeConstraints: Sendable, Equatable {
  /// For numbers and dates (`real`, seconds since 2001-01-01 UTC): the minimum and the maximum.
  package var minimum: StoredValue?
  package var maximum: StoredValue?
  /// For strings: the allowed length in UTF-16 units, as NSString counts.
  package var lengthMin: Int?
  package var lengthMax: Int?
  /// For strings: the regular expression that the whole string must match.
  package private(set) var pattern: String?
  private var expression: NSRegularExpression?

  package init() {}

  package var isEmpty: Bool {
    minimum == nil && maximum == nil && lengthMin == nil && lengthMax == nil && pattern == nil
  }

  /// The expression follows from the pattern.
  package static func == (left: Self, right: Self) -> Bool {
    (left.minimum, left.maximum) == (right.minimum, right.maximum)
      && (left.lengthMin, left.lengthMax) == (right.lengthMin, right.lengthMax) && left.pattern == right.pattern
  }

  /// Sets or, with nil, removes the pattern. Throws the error of NSRegularExpression for an invalid pattern.
  package mutating func setPattern(_ pattern: String?) throws {
    // Compiled alone first, so that the group does not balance an unbalanced pattern. The group and the anchors then
    // make alternatives match the whole string, as `SELF MATCHES` does.
    expression = try pattern.map {
      _ = try NSRegularExpression(pattern: $0)
      return try NSRegularExpression(pattern: "\\A(?:\($0))\\z")
    }
    self.pattern = pattern
  }

  /// Whether the whole text matches. A text that needs too many steps does not.
  package func matchesPattern(_ text: String) -> Bool {
    guard let expression else { return true }
    if case .match = expression.boundedMatch(in: text) { return true }
    return false
  }
}
