import Foundation

/// The kind of an ``NSFetchRequestExpression``.
public let NSFetchRequestExpressionType = NSExpression.ExpressionType.fetchRequest

/// What a fetch request finds. (Apple documentation: NSFetchRequestExpression.)
///
/// In the predicate of another fetch it is the right side of `IN`. A request for dictionaries gives the values of the one
/// property that it fetches.
///
/// ```swift
/// let best = NSFetchRequest<NSFetchRequestResult>(entityName: "JournalEntry")
/// best.predicate = NSPredicate(format: "rating == 5")
/// best.resultType = .dictionaryResultType
/// best.propertiesToFetch = ["location"]
/// let places = NSFetchRequestExpression.expression(
///   forFetch: NSExpression(forConstantValue: best), context: NSExpression(forConstantValue: context), countOnly: false)
/// request.predicate = NSPredicate(format: "location IN %@", places)
/// ```
open class NSFetchRequestExpression: NSExpression {
  /// An expression for what a request finds.
  ///
  /// - Parameters:
  ///   - fetch: Its value is a fetch request.
  ///   - context: Its value is the context that executes the request.
  ///   - countFlag: Whether only the number of objects is asked for.
  open class func expression(
    forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
  ) -> NSExpression {
    NSFetchRequestExpression(
      tree: .block(.fetch, [fetch.tree, context.tree, .constant(.boolean(countFlag))]))
  }

  /// The expression whose value is the request.
  open var requestExpression: NSExpression { argument(0) }

  /// The expression whose value is the context.
  open var contextExpression: NSExpression { argument(1) }

  /// Whether only the number of objects is asked for.
  open var isCountOnlyRequest: Bool { (argument(2).constant as? NSNumber)?.boolValue == true }

  private func argument(_ index: Int) -> NSExpression {
    guard case .block(_, let operands) = tree else { preconditionFailure("The expression \(self) is not a fetch.") }
    return NSExpression(tree: operands[index])
  }
}

extension NSExpression {
  /// The expression of a tree, of the class that a client expects.
  static func made(of tree: PredicateOperand) -> NSExpression {
    if case .block(let block, _) = tree, block.kind == .fetch { return NSFetchRequestExpression(tree: tree) }
    return NSExpression(tree: tree)
  }
}

extension PredicateNode {
  /// The predicate with what its fetches find in place of them.
  ///
  /// - Throws: `NSError` for what is not a request, a request that a store refuses, and one that depends on the object for
  ///   which the predicate is evaluated.
  package func withFetchedValues() throws -> PredicateNode {
    try mapOperands { operand in
      guard case .block(let block, _) = operand, block.kind == .fetch else { return nil }
      return .constant(PredicateConstant(argument: try ObjectEvaluation(object: nil).value(operand)))
    }
  }
}
