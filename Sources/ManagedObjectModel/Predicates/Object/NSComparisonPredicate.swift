import Foundation

/// A predicate that compares the values of two expressions. (Apple documentation: NSComparisonPredicate.)
///
/// `NSPredicate(format:)` returns one for a single comparison. As with `NSExpression`, a file that imports Foundation
/// needs `typealias NSComparisonPredicate = OpenCoreData.NSComparisonPredicate` somewhere in its module.
///
/// ```swift
/// let rating = NSExpression(forKeyPath: "rating")
/// let four = NSExpression(forConstantValue: 4)
/// let predicate = NSComparisonPredicate(
///   leftExpression: rating, rightExpression: four, modifier: .direct, type: .greaterThanOrEqualTo)
/// ```
public final class NSComparisonPredicate: NSPredicate, NSSecureCoding {
  /// How texts are compared.
  public struct Options: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Upper and lower case are equal; `[c]` in a format.
    public static let caseInsensitive = Options(rawValue: 1)
    /// Letters are equal with and without diacritics; `[d]` in a format.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// As they are, whatever the other options say.
    public static let normalized = Options(rawValue: 4)
    /// Texts have the order of `Locale.current`; `[l]` in a format. Apple's header does not declare it.
    public static let localeSensitive = Options(rawValue: 8)
  }

  /// Which values on the left the comparison must hold for.
  public enum Modifier: UInt, Sendable {
    /// The left value itself.
    case direct
    /// All values of the left side; `ALL` in a format.
    case all
    /// At least one value of the left side; `ANY` in a format.
    case any
  }

  /// The comparison operators.
  public enum Operator: UInt, Sendable {
    /// `<`
    case lessThan = 0
    /// `<=`
    case lessThanOrEqualTo
    /// `>`
    case greaterThan
    /// `>=`
    case greaterThanOrEqualTo
    /// `==`
    case equalTo
    /// `!=`
    case notEqualTo
    /// `MATCHES`: the whole text matches a regular expression.
    case matches
    /// `LIKE`: the whole text matches a pattern with `*` and `?`.
    case like
    /// `BEGINSWITH`
    case beginsWith
    /// `ENDSWITH`
    case endsWith
    /// `IN`: the left value is among those on the right.
    case `in`
    /// `CONTAINS`: the right value is among those on the left, or a part of the text.
    case contains = 99
    /// `BETWEEN`: the left value is not outside two bounds.
    case between
  }

  let comparison: PredicateComparison
  /// The left side. (Apple documentation: leftExpression.)
  public let leftExpression: NSExpression
  /// The right side. (Apple documentation: rightExpression.)
  public let rightExpression: NSExpression

  /// (Apple documentation: init(leftExpression:rightExpression:modifier:type:options:).)
  public init(
    leftExpression left: NSExpression, rightExpression right: NSExpression, modifier: Modifier, type: Operator,
    options: Options = []
  ) {
    comparison = PredicateComparison(
      left: left.tree, operation: type.operation, right: right.tree,
      options: PredicateOptions(rawValue: Int(options.rawValue)), modifier: modifier.modifier)
    (leftExpression, rightExpression) = (left, right)
    super.init(value: false)
  }

  init(_ comparison: PredicateComparison) {
    self.comparison = comparison
    leftExpression = NSExpression.made(of: comparison.left)
    rightExpression = NSExpression.made(of: comparison.right)
    super.init(value: false)
  }

  /// Predicates are archived with secure coding. (Apple documentation: NSSecureCoding.)
  public static var supportsSecureCoding: Bool { true }

  /// Reads an archive that this class has written.
  public required init?(coder: NSCoder) {
    guard case .comparison(let comparison)? = TreeArchive(coder: coder)?.node else { return nil }
    self.comparison = comparison
    leftExpression = NSExpression.made(of: comparison.left)
    rightExpression = NSExpression.made(of: comparison.right)
    super.init(value: false)
  }

  /// Stops the program for a block, an object or a value of a type that predicates do not compare, as an exception does
  /// on Apple's systems.
  public func encode(with coder: NSCoder) { coder.encode { try TreeArchive(node) } }

  /// Whether one, any or all values of the left side are compared. (Apple documentation: comparisonPredicateModifier.)
  public var comparisonPredicateModifier: Modifier {
    switch comparison.modifier {
    case .direct: .direct
    case .all: .all
    case .any: .any
    }
  }

  /// How both sides are compared. (Apple documentation: predicateOperatorType.)
  public var predicateOperatorType: Operator { Operator(comparison.operation) }

  /// How texts are compared. (Apple documentation: options.)
  public var options: Options { Options(rawValue: UInt(comparison.options.rawValue)) }

  public override var predicateFormat: String { comparison.formatDescription }
  public override var description: String { predicateFormat }

  public override func copy(with zone: NSZone? = nil) -> Any { self }

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? NSComparisonPredicate)?.comparison == comparison
  }

  public override var hash: Int { comparison.hashValue }

  public override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    node.evaluate(with: object, bindings)
  }
}

extension NSComparisonPredicate: TreePredicate {
  var node: PredicateNode { .comparison(comparison) }
}

extension NSComparisonPredicate.Modifier {
  fileprivate var modifier: PredicateModifier {
    switch self {
    case .direct: .direct
    case .all: .all
    case .any: .any
    }
  }
}

extension NSComparisonPredicate.Operator {
  private static let operations: [(Self, PredicateOperator)] = [
    (.lessThan, .less), (.lessThanOrEqualTo, .lessOrEqual), (.greaterThan, .greater),
    (.greaterThanOrEqualTo, .greaterOrEqual), (.equalTo, .equal), (.notEqualTo, .notEqual), (.matches, .matches),
    (.like, .like), (.beginsWith, .beginsWith), (.endsWith, .endsWith), (.in, .isIn), (.contains, .contains),
    (.between, .between),
  ]

  fileprivate init(_ operation: PredicateOperator) {
    self = Self.operations.first { $0.1 == operation }?.0 ?? .equalTo
  }

  fileprivate var operation: PredicateOperator { Self.operations.first { $0.0 == self }?.1 ?? .equal }
}
