/// An argument that predicates can't compare. It is kept for what takes it as it is: a fetch, a method or a block.
// Unchecked: `value` never changes, and nothing here calls it. Only the evaluation of the expression uses it, on the queue
// of the context whose objects it is evaluated for; a client's request or object is bound to that queue anyway.
package final class PredicateForeignValue: @unchecked Sendable, Hashable {
  package let value: Any

  package init(_ value: Any) { self.value = value }

  package var typeName: String { String(describing: type(of: value)) }

  /// What is compared: the object, or this box of a value that may not be comparable.
  private var identity: ObjectIdentifier {
    type(of: value) is AnyObject.Type ? ObjectIdentifier(value as AnyObject) : ObjectIdentifier(self)
  }

  package static func == (left: PredicateForeignValue, right: PredicateForeignValue) -> Bool {
    left.identity == right.identity
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
