import Foundation

/// The identity of an object, as predicates compare it.
package protocol PredicateIdentity: NSObject, Sendable {
  /// Equal for identities of the same object, in any store.
  var comparisonValue: StoredValue { get }
}

/// An argument of a predicate that stands for an object: the object or its identity.
package protocol PredicateIdentifiable {
  var predicateIdentity: any PredicateIdentity { get }
}

/// An argument of a predicate that stands for its name, such as an entity.
package protocol PredicateNamed {
  var predicateName: String? { get }
}

/// An object that a predicate compares with.
package struct PredicateObject: Sendable, Hashable, CustomStringConvertible {
  package let identity: any PredicateIdentity

  package init(_ identity: any PredicateIdentity) { self.identity = identity }

  package static func == (left: Self, right: Self) -> Bool { left.identity.isEqual(right.identity) }
  package func hash(into hasher: inout Hasher) { hasher.combine(identity.hash) }
  package var description: String { identity.description }
}
