/// The parsed form of a predicate, as `NSPredicate(format:)` produces it.
///
/// Two-valued: every node is true or false for every object, also for nil values (`nil == nil` is true, `nil != 3` is
/// true, `nil < 3` is false, and NOT negates each of them).
package indirect enum PredicateNode: Sendable, Hashable {
  /// TRUEPREDICATE or FALSEPREDICATE.
  case constant(Bool)
  case comparison(PredicateComparison)
  case not(PredicateNode)
  /// True for an empty list.
  case and([PredicateNode])
  /// False for an empty list.
  case or([PredicateNode])
}

/// One comparison: `modifier left operation[options] right`.
package struct PredicateComparison: Sendable, Hashable {
  package var modifier: PredicateModifier
  package var left: PredicateOperand
  package var operation: PredicateOperator
  package var options: PredicateOptions
  package var right: PredicateOperand

  package init(
    left: PredicateOperand, operation: PredicateOperator, right: PredicateOperand,
    options: PredicateOptions = [], modifier: PredicateModifier = .direct
  ) {
    self.modifier = modifier
    self.left = left
    self.operation = operation
    self.options = options
    self.right = right
  }
}

/// Which values on the left of a comparison it must hold for. NONE is the negation of ANY.
package enum PredicateModifier: String, Sendable, Hashable {
  /// The single value.
  case direct = ""
  /// Every one; true if there is none.
  case all = "ALL"
  /// At least one.
  case any = "ANY"
}

/// The comparison operators; the raw value is the spelling that Apple's `predicateFormat` prints.
package enum PredicateOperator: String, Sendable, Hashable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case between = "BETWEEN"
  case isIn = "IN"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case like = "LIKE"
  case matches = "MATCHES"

  /// Whether it asks which value precedes the other, or whether both are equal.
  var isOrder: Bool {
    switch self {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between: true
    case .isIn, .contains, .beginsWith, .endsWith, .like, .matches: false
    }
  }
}

/// `[c]`, `[d]`, `[n]`, `[l]` and combinations of them after an operator.
package struct PredicateOptions: OptionSet, Sendable, Hashable {
  package let rawValue: Int

  package init(rawValue: Int) {
    self.rawValue = rawValue
  }

  package static let caseInsensitive = PredicateOptions(rawValue: 1)
  package static let diacriticInsensitive = PredicateOptions(rawValue: 2)
  /// The texts are compared as they are, whatever the other options say.
  package static let normalized = PredicateOptions(rawValue: 4)
  /// The order of texts is that of the current locale.
  package static let localeSensitive = PredicateOptions(rawValue: 8)
}

/// One side of a comparison.
package indirect enum PredicateOperand: Sendable, Hashable {
  /// The components of the dotted path, never empty. A component such as `@count` is a collection operator.
  case keyPath([String])
  /// A key path that starts at `$NAME` or at a subquery.
  case path(PredicateOperand, [String])
  case constant(PredicateConstant)
  /// `$NAME`, to be replaced through `withSubstitutionVariables`.
  case variable(String)
  /// `{a, b, 3}`.
  case aggregate([PredicateOperand])
  /// `SELF`, the evaluated object itself.
  case selfObject
  case subquery(PredicateSubquery)
  /// A function's value, also that of an operator such as `+`.
  case function(PredicateFunction, [PredicateOperand])
  /// `TERNARY(condition, value, otherwise)`.
  case conditional(PredicateNode, PredicateOperand, PredicateOperand)
  /// What a block makes of the evaluated object and the arguments. `FUNCTION` of a variable and `FETCH` are such blocks.
  case block(PredicateBlock, [PredicateOperand])
}

/// `SUBQUERY(collection, $variable, condition)`: the objects of a collection for which a condition holds. In the
/// condition, keys belong to the evaluated object, and `$variable` is an object of the collection.
package struct PredicateSubquery: Sendable, Hashable {
  package let collection: PredicateOperand
  package let variable: String
  package let condition: PredicateNode

  package init(collection: PredicateOperand, variable: String, condition: PredicateNode) {
    self.collection = collection
    self.variable = variable
    self.condition = condition
  }
}
