import Foundation

/// The types of an entity's attributes, as a fetch needs them.
package protocol PredicateSchema {
  /// - Throws: an error that names the key path if it does not lead to an attribute.
  func attributeType(ofKeyPath keyPath: [String]) throws -> PredicateValueType
}

/// The types of attributes as comparisons distinguish them.
package enum PredicateValueType: String, Sendable, Hashable, CaseIterable {
  /// Integer 16, 32 and 64.
  case integer
  /// Double and Float.
  case real
  case decimal
  case boolean
  case date
  /// String.
  case text
  /// URI.
  case uri
  case uuid
  /// Binary and transformable.
  case blob
  /// A managed object or its identity.
  case object

  /// Values of one family can be compared with each other.
  enum Family { case number, date, text, bytes, object }

  var family: Family {
    switch self {
    case .integer, .real, .decimal, .boolean: .number
    case .date: .date
    case .text, .uri: .text
    case .uuid, .blob: .bytes
    case .object: .object
    }
  }

  /// The name in error messages.
  var describedName: String {
    switch self {
    case .integer: "an integer"
    case .real: "a floating-point number"
    case .decimal: "a decimal number"
    case .boolean: "a Boolean"
    case .date: "a date"
    case .text: "text"
    case .uri: "a URI"
    case .uuid: "a UUID"
    case .blob: "binary data"
    case .object: "an object"
    }
  }
}

/// An attribute that a bound predicate reads.
package struct PredicateKey: Sendable, Hashable {
  /// Its index in `BoundPredicate.keys`, so that a caller can look up slots or columns once instead of per row.
  package let index: Int
  package let path: [String]
  package let type: PredicateValueType

  /// The path to the evaluated object itself.
  package static let itself = ["SELF"]

  package var name: String { path.joined(separator: ".") }
}
