import Foundation

extension NSExpression {
  /// The value for an object; see `expressionValue(with:context:)`.
  ///
  /// - Throws: `NSError` 134060 where that stops the program, and what a called method throws.
  package func value(with object: Any?, variables: NSMutableDictionary?) throws -> Any? {
    if case .constant = tree { return constant }
    return try ObjectEvaluation(object: object, bindings: variables).value(tree)
  }

  /// The request of a fetch that gives objects; nil for another expression.
  package var fetchedRequest: NSExpression? {
    guard case .block(let block, let arguments) = tree, block.kind == .fetch,
      case .constant(.boolean(false)) = arguments[2]
    else { return nil }
    return NSExpression(tree: arguments[0])
  }

  /// The key that is read of what `$variable` stands for; nil for an expression of another form than `$variable.key`.
  package func key(ofVariable variable: String) -> String? {
    guard case .path(.variable(variable), let path) = tree, path.count == 1 else { return nil }
    return path[0]
  }
}
