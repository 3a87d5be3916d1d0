import Foundation

/// A value that is computed when it is asked for: a constant, the value at the end of a key path, a function of other
/// expressions. (Apple documentation: NSExpression.)
///
/// Foundation on this platform declares a class of this name that can't be created. A file that imports both needs
/// `typealias NSExpression = OpenCoreData.NSExpression` somewhere in its module.
///
/// ```swift
/// let amount = NSExpression(forKeyPath: "amount")
/// let total = NSExpression(forFunction: "sum:", arguments: [amount])
/// ```
open class NSExpression: NSObject, NSCopying, NSSecureCoding {
  /// The kinds of expressions.
  public enum ExpressionType: UInt, Sendable {
    /// A value.
    case constantValue = 0
    /// The object that is evaluated; `SELF` in a format.
    case evaluatedObject
    /// A variable; `$NAME` in a format.
    case variable
    /// The value at a key path of the object.
    case keyPath
    /// A function and its arguments.
    case function
    /// The values of two collections.
    case unionSet
    /// The values that two collections have in common.
    case intersectSet
    /// The values of a collection that another one does not have.
    case minusSet
    /// The objects of a collection that match a predicate; `SUBQUERY` in a format.
    case subquery = 13
    /// A list of expressions.
    case aggregate
    /// A closure.
    case block = 19
    /// One of two expressions, as a predicate decides; `TERNARY` in a format.
    case conditional
    /// What a request finds; `FETCH` in a format. Apple's type has no case for it: see ``NSFetchRequestExpressionType``.
    case fetchRequest = 50
  }

  package let tree: PredicateOperand
  /// As the client gave it, for a constant.
  private let givenConstant: Any?

  package init(tree: PredicateOperand, constant: Any? = nil) {
    self.tree = tree
    givenConstant = constant
    super.init()
  }

  /// Does nothing: an expression that was read from an archive passed through the parser, and can be evaluated. (Apple
  /// documentation: allowEvaluation().)
  public func allowEvaluation() {}

  // MARK: Creating

  /// Creates an expression from its text. (Apple documentation: init(format:argumentArray:).)
  ///
  /// Stops the program if the text is not a valid expression; `parse(format:arguments:)` throws instead.
  public convenience init(format expressionFormat: String, _ arguments: Any?...) {
    self.init(tree: Self.trusted(expressionFormat, arguments))
  }

  /// Like `init(format:_:)`, with the arguments in an array.
  public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
    self.init(tree: Self.trusted(expressionFormat, arguments))
  }

  /// Creates an expression from text that may be invalid.
  ///
  /// - Throws: `NSError` 2048 (`CocoaError.formatting`) that says what was expected at which character.
  public static func parse(format: String, arguments: [Any?] = []) throws -> NSExpression {
    do {
      return NSExpression(tree: try PredicateParser.parseExpression(format, arguments: arguments))
    } catch let error as PredicateSyntaxError {
      throw error.nsError
    }
  }

  private static func trusted(_ format: String, _ arguments: [Any?]) -> PredicateOperand {
    do {
      return try PredicateParser.parseExpression(format, arguments: arguments)
    } catch {
      // Apple's initialiser can't throw; `parse(format:)`, for texts of users, does.
      preconditionFailure((error as? PredicateSyntaxError)?.message ?? "\(error)")
    }
  }

  /// A value that is always the same: a copy, if the object can be copied. (Apple documentation: init(forConstantValue:).)
  public convenience init(forConstantValue object: Any?) {
    let constant = (object as? any NSCopying)?.copy(with: nil) ?? object
    self.init(tree: .constant(PredicateConstant(argument: constant)), constant: constant)
  }

  /// The evaluated object itself, `SELF`.
  open class func expressionForEvaluatedObject() -> NSExpression { NSExpression(tree: .selfObject) }

  /// What a variable stands for, `$name`.
  public convenience init(forVariable string: String) { self.init(tree: .variable(string)) }

  /// The value at the end of a key path from the evaluated object.
  public convenience init(forKeyPath keyPath: String) {
    let path = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    self.init(tree: path == ["SELF"] ? .selfObject : .keyPath(path))
  }

  /// A function of other expressions. (Apple documentation: init(forFunction:arguments:).)
  ///
  /// Stops the program for a function that does not exist or takes another number of arguments.
  ///
  /// - Parameters:
  ///   - name: Such as `sum:` or `modulus:by:`.
  ///   - arguments: Expressions, or values that are constants.
  public convenience init(forFunction name: String, arguments: [Any]) {
    let operands = arguments.map(PredicateOperand.init(argument:))
    guard let function = PredicateFunction(name: name) else {
      preconditionFailure("'\(name)' is not a function of expressions.")
    }
    guard function.argumentCount.map({ $0 == operands.count }) ?? !operands.isEmpty else {
      preconditionFailure("\(name) does not take \(operands.count) arguments.")
    }
    self.init(tree: .function(function, operands))
  }

  /// A method of what `target` stands for: one of those that `FUNCTION` calls, which are functions too, or any method of
  /// a variable. (Apple documentation: init(forFunction:selectorName:arguments:).)
  public convenience init(forFunction target: NSExpression, selectorName name: String, arguments: [Any]?) {
    let operands = [target.tree] + (arguments ?? []).map(PredicateOperand.init(argument:))
    if PredicateFunction.methods[name] == nil, let call = PredicateOperand(calling: name, operands) {
      self.init(tree: call)
      return
    }
    guard let function = PredicateFunction.methods[name], function.argumentCount == operands.count else {
      preconditionFailure(
        "The method '\(name)' can't be called; use \(PredicateFunction.methods.keys.sorted().joined(separator: ", ")).")
    }
    self.init(tree: .function(function, operands))
  }

  /// A list of the values of other expressions.
  public convenience init(forAggregate subexpressions: [Any]) {
    self.init(tree: .aggregate(subexpressions.map(PredicateOperand.init(argument:))))
  }

  /// The elements of either list, each once.
  public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
    self.init(tree: .function(.union, [left.tree, right.tree]))
  }

  /// The elements that both lists have.
  public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
    self.init(tree: .function(.intersection, [left.tree, right.tree]))
  }

  /// The elements of the first list that the second one does not have.
  public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
    self.init(tree: .function(.difference, [left.tree, right.tree]))
  }

  /// The elements of a list for which a predicate holds. In the predicate, `$variable` is the element.
  public convenience init(
    forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate
  ) {
    self.init(
      tree: .subquery(
        PredicateSubquery(collection: expression.tree, variable: variable, condition: Self.node(of: predicate))))
  }

  /// One of two values, by a predicate.
  public convenience init(
    forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
  ) {
    self.init(tree: .conditional(Self.node(of: predicate), trueExpression.tree, falseExpression.tree))
  }

  /// What a block returns for the evaluated object and the values of the arguments. A store has no SQL for it, so a fetch
  /// with it fails.
  public convenience init(
    block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any?, arguments: [NSExpression]?
  ) {
    self.init(tree: .block(PredicateBlock(block), (arguments ?? []).map(\.tree)))
  }

  private static func node(of predicate: NSPredicate) -> PredicateNode {
    do {
      return try predicate.predicateNode()
    } catch {
      // Apple's method can't throw; fetches use the tree, which does.
      preconditionFailure((error as NSError).localizedDescription)
    }
  }

  // MARK: Evaluating

  /// The value for an object. (Apple documentation: expressionValue(with:context:).)
  ///
  /// Stops the program where it has none: a key that the object does not have, a variable without a value, text as a
  /// number.
  ///
  /// - Parameters:
  ///   - object: A managed object, a dictionary with text keys, a collection of these, or a plain value for `SELF`.
  ///   - context: The values of variables by their names.
  open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
    if case .constant = tree, let givenConstant { return givenConstant }
    do {
      return try ObjectEvaluation(object: object, bindings: context).value(tree)
    } catch {
      // Apple's method can't throw; fetches use the tree, which does.
      preconditionFailure((error as NSError).localizedDescription)
    }
  }

  // MARK: Archiving

  /// Expressions are archived with secure coding. (Apple documentation: NSSecureCoding.)
  open class var supportsSecureCoding: Bool { true }

  /// Reads an archive that this class has written.
  public required convenience init?(coder: NSCoder) {
    guard let operand = TreeArchive(coder: coder)?.operand else { return nil }
    self.init(tree: operand)
  }

  /// Stops the program for a block, an object or a value of a type that predicates do not compare, as an exception does
  /// on Apple's systems.
  open func encode(with coder: NSCoder) { coder.encode { try TreeArchive(tree) } }

  /// The text that parses to an equal expression.
  open override var description: String { tree.formatDescription }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool { (object as? NSExpression)?.tree == tree }

  open override var hash: Int { tree.hashValue }

  // MARK: For NSExpression+Parts

  /// The value of a constant.
  package var constant: Any? {
    guard case .constant(let constant) = tree else { return nil }
    return givenConstant ?? constant.foundationValue
  }
}

extension NSExpression: PredicateExpressible {
  package var predicateOperand: PredicateOperand { tree }
}

extension PredicateOperand {
  /// An argument: an expression, or a value.
  fileprivate init(argument: Any) {
    self = (argument as? any PredicateExpressible)?.predicateOperand ?? .constant(PredicateConstant(argument: argument))
  }
}
