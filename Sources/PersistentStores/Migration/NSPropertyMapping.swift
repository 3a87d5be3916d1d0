import ManagedObjectModel
import Foundation

/// The source of a destination property's values. (Apple documentation: NSPropertyMapping.)
///
/// ```swift
/// let mapping = NSPropertyMapping()
/// mapping.name = "spot"
/// mapping.valueExpression = NSExpression(format: "$source.place")
/// ```
open class NSPropertyMapping: NSObject {
  /// The name of the property in the destination entity.
  open var name: String? { didSet { isModified = true } }
  /// What computes the value. Its variables are those that ``NSEntityMigrationPolicy`` lists, such as `$source`. Nil for
  /// an attribute that gets its default value, and for a relationship that stays empty.
  open var valueExpression: ManagedObjectModel.NSExpression? { didSet { isModified = true } }
  /// Values of the client's own, for its policies.
  open var userInfo: [AnyHashable: Any]? { didSet { isModified = true } }

  /// Whether it is not as it was inferred any more.
  private(set) var isModified = false

  public override init() {}

  /// An inferred mapping.
  init(name: String, _ valueExpression: ManagedObjectModel.NSExpression?) {
    self.name = name
    self.valueExpression = valueExpression
  }

  /// The name of the property in the source entity; nil where the value expression is another one than `$source.name`.
  /// An addition of this library.
  open var sourceName: String? { valueExpression?.sourceKey }

  open override var description: String {
    "(NSPropertyMapping: \(name ?? "") ← \(valueExpression.map { "\($0)" } ?? "default"))"
  }
}

extension ManagedObjectModel.NSExpression {
  /// The property of the source object that the expression reads: `$source.name`, or the destination instances of those
  /// that `$source.name` has.
  package var sourceKey: String? {
    if let key = key(ofVariable: MappingExpressions.source) { return key }
    return relatedSource?.relationship
  }

  /// What an expression asks for that the manager has made of the objects of a relationship: all of it, or that of one
  /// entity mapping; nil for an expression of another form.
  package var relatedSource: (mapping: String?, relationship: String)? {
    // A function without arguments has no operand.
    guard expressionType == .function, let arguments, arguments.count == 2,
      operand.variableName == MappingExpressions.manager,
      let key = arguments[1].key(ofVariable: MappingExpressions.source)
    else { return nil }
    switch function {
    case MappingExpressions.instancesOfRelationship: return (nil, key)
    case MappingExpressions.instancesOfMapping:
      guard arguments[0].expressionType == .constantValue, let name = arguments[0].constantValue as? String else {
        return nil
      }
      return (name, key)
    default: return nil
    }
  }

  private var variableName: String? { expressionType == .variable ? variable : nil }
}
