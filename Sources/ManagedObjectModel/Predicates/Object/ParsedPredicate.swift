import Foundation

/// The class behind `NSPredicate(format:)`. Immutable; equal to another one with the same tree.
final class ParsedPredicate: NSPredicate {
  let node: PredicateNode

  init(parsed node: PredicateNode) {
    self.node = node
    super.init(value: false)
  }

  override var predicateFormat: String { node.formatDescription }
  override var description: String { predicateFormat }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool {
    (object as? ParsedPredicate)?.node == node
  }

  override var hash: Int { node.hashValue }

  override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    let values = bindings?.mapValues { PredicateConstant(argument: $0) } ?? [:]
    do {
      return try node.substituting(values).evaluated(on: object)
    } catch {
      preconditionFailure((error as NSError).localizedDescription)
    }
  }
}

extension NSPredicate {
  /// The tree of a predicate that was made from a format; nil for any other one.
  package var parsedNode: PredicateNode? { (self as? ParsedPredicate)?.node }
}
