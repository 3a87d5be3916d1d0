import Foundation

/// A value that a fetch of dictionaries computes: of each object, or of the objects that a result stands for. (Apple
/// documentation: NSExpressionDescription.)
///
/// It is one of the `propertiesToFetch` or `propertiesToGroupBy` of a request; an entity does not store it.
///
/// ```swift
/// let best = NSExpressionDescription()
/// best.name = "best"
/// best.expression = NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "rating")])
/// best.resultType = .integer16
/// let request = NSFetchRequest<NSDictionary>(entityName: "JournalEntry")
/// request.resultType = .dictionaryResultType
/// request.propertiesToGroupBy = ["location"]
/// request.propertiesToFetch = ["location", best]
/// ```
// Unchecked, as the superclass is. A request reads it where it is executed, and keeps nothing of it.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
  /// What is computed. `sum:`, `count:`, `min:`, `max:`, `average:`, `median:` and `stddev:` take the values of all objects
  /// of a group, or, without groups, of all that the request finds.
  open var expression: NSExpression? { willSet { freezeFlag.requireMutable() } }

  /// The type of the results. An integer type cuts off the fraction of a number. `undefinedAttributeType`, which is the
  /// default, stands for the type of the expression.
  open var expressionResultType: NSAttributeType = .undefinedAttributeType { willSet { freezeFlag.requireMutable() } }

  /// The newer spelling of `expressionResultType`. Setting an unknown raw value is a programming error.
  open var resultType: NSAttributeDescription.AttributeType {
    get { NSAttributeDescription.AttributeType(rawValue: expressionResultType.rawValue) }
    set { expressionResultType = newValue.attributeType }
  }

  public override init() { super.init() }

  package convenience init(name: String, tree: PredicateOperand, resultType: NSAttributeType) {
    self.init()
    (self.name, expressionResultType) = (name, resultType)
    expression = NSExpression(tree: tree)
  }

  package override func makeEmptyCopy() -> NSPropertyDescription { NSExpressionDescription() }

  package override func copyDescription(to other: NSPropertyDescription) {
    super.copyDescription(to: other)
    guard let other = other as? NSExpressionDescription else { return }
    (other.expression, other.expressionResultType) = (expression, expressionResultType)
  }
}
