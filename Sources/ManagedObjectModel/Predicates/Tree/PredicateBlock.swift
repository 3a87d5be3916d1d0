import Foundation

/// A block that computes a value. Equal to itself only.
// Unchecked: the block is called where the expression is evaluated, on the thread of its objects; nothing here changes.
package final class PredicateBlock: @unchecked Sendable, Hashable {
  package let body: (Any?, [Any], NSMutableDictionary?) -> Any?

  package init(_ body: @escaping (Any?, [Any], NSMutableDictionary?) -> Any?) { self.body = body }

  package static func == (left: PredicateBlock, right: PredicateBlock) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// An argument of a format that stands for an expression.
package protocol PredicateExpressible {
  var predicateOperand: PredicateOperand { get }
}
