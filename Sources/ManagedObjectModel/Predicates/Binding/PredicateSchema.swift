import Foundation

/// The types of an entity's attributes, as a fetch needs them.
package protocol PredicateSchema {
  /// - Throws: an error that names the key path if it does not lead to an attribute.
  func attributeType(ofKeyPath keyPath: [String]) throws -> PredicateValueType
  /// The first to-many relationship on a key path; nil if there is none.
  func elements(onKeyPath keyPath: [String]) throws -> PredicateElements?
}

extension PredicateSchema {
  package func elements(onKeyPath keyPath: [String]) throws -> PredicateElements? { nil }
}

/// A to-many relationship on a key path.
package struct PredicateElements {
  /// The number of the path's components that lead to the elements.
  let count: Int
  /// The schema for an element.
  let schema: any PredicateSchema

  package init(count: Int, schema: any PredicateSchema) {
    self.count = count
    self.schema = schema
  }
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
  package enum Family { case number, date, text, bytes, object }

  package var family: Family {
    switch self {
    case .integer, .real, .decimal, .boolean: .number
    case .date: .date
    case .text, .uri: .text
    case .uuid, .blob: .bytes
    case .object: .object
    }
  }

  /// The name in error messages.
  package var describedName: String {
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
  /// Whose attribute: 0 for the evaluated object, n for an element of the n-th of the enclosing collections.
  package let level: Int
  package let path: [String]
  package let type: PredicateValueType

  /// The path to the evaluated object itself.
  package static let itself = ["SELF"]

  package var name: String { path.joined(separator: ".") }

  /// The same attribute, whose stored values are compared as another type.
  package func compared(as type: PredicateValueType) -> PredicateKey {
    PredicateKey(index: index, level: level, path: path, type: type)
  }
}
