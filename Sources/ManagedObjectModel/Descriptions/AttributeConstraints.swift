import Foundation

/// The bounds and the pattern that a model file sets on an attribute.
///
/// They are kept apart from `validationPredicates`, since a predicate cannot be asked in general what it
/// compares.
package struct AttributeConstraints: Sendable {
  /// For numbers and dates (`real`, seconds since 2001-01-01 UTC): the least and the greatest value allowed.
  package var minimum: StoredValue?
  package var maximum: StoredValue?
  /// For strings: the length allowed, in UTF-16 units, as NSString counts.
  package var lengthMin: Int?
  package var lengthMax: Int?
  /// For strings: the regular expression that the whole string must match.
  package private(set) var pattern: String?
  private var expression: NSRegularExpression?

  package init() {}

  package var isEmpty: Bool {
    minimum == nil && maximum == nil && lengthMin == nil && lengthMax == nil && pattern == nil
  }

  /// Sets or, with nil, removes the pattern. Throws what NSRegularExpression says of a text that is none.
  package mutating func setPattern(_ pattern: String?) throws {
    // Compiled by itself first, so that an unbalanced pattern is not balanced by the group; the group and the
    // anchors then make alternatives match the whole string, as `SELF MATCHES` does.
    expression = try pattern.map {
      _ = try NSRegularExpression(pattern: $0)
      return try NSRegularExpression(pattern: "\\A(?:\($0))\\z")
    }
    self.pattern = pattern
  }

  package func matchesPattern(_ text: String) -> Bool {
    guard let expression else { return true }
    let all = NSRange(location: 0, length: text.utf16.count)
    return expression.firstMatch(in: text, range: all) != nil
  }
}
