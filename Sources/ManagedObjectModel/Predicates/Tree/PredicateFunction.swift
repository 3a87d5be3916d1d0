/// The functions of expressions, spelled as in NSExpression's documentation ("init(forFunction:arguments:)").
package enum PredicateFunction: String, Sendable, Hashable, CaseIterable {
  // Operators between two numbers.
  case add = "add:to:"
  case subtract = "from:subtract:"
  case multiply = "multiply:by:"
  case divide = "divide:by:"
  case power = "raise:toPower:"
  case modulus = "modulus:by:"

  // Functions of one number.
  case absolute = "abs:"
  case ceiling = "ceiling:"
  case floor = "floor:"
  case truncation = "trunc:"
  case squareRoot = "sqrt:"
  case naturalLogarithm = "ln:"
  case logarithm = "log:"
  case exponential = "exp:"

  // Functions of whole numbers.
  case bitwiseAnd = "bitwiseAnd:with:"
  case bitwiseOr = "bitwiseOr:with:"
  case bitwiseXor = "bitwiseXor:with:"
  case leftShift = "leftshift:by:"
  case rightShift = "rightshift:by:"
  case onesComplement = "onesComplement:"

  // Functions of a text.
  case lowercase = "lowercase:"
  case uppercase = "uppercase:"
  case length = "length:"
  case canonical = "canonical:"

  // Functions of a list or of the elements of a to-many relationship.
  case sum = "sum:"
  case count = "count:"
  case minimum = "min:"
  case maximum = "max:"
  case average = "average:"
  case median = "median:"
  case mode = "mode:"
  case deviation = "stddev:"

  case now
  case random
  case randomBelow = "randomn:"
  /// The argument itself, which no index is to be used for.
  case noIndex = "noindex:"
  case cast = "castObject:toType:"
  /// `list[n]`.
  case element = "objectFrom:withIndex:"
  /// `list[FIRST]`, `list[LAST]` and `list[SIZE]`, which have no name.
  case first = "[FIRST]"
  case last = "[LAST]"
  case size = "[SIZE]"
  /// Set operations on two lists, written between them.
  case union = "[UNION]"
  case intersection = "[INTERSECT]"
  case difference = "[MINUS]"
}

extension PredicateFunction {
  /// The number of its arguments; nil for any number but none.
  package var argumentCount: Int? {
    switch self {
    case .now, .random: 0
    case .sum, .count, .minimum, .maximum, .average, .median, .mode, .deviation: nil
    case .add, .subtract, .multiply, .divide, .power, .modulus, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
      .rightShift, .cast, .element, .union, .intersection, .difference:
      2
    default: 1
    }
  }

  /// The sign between its two arguments; nil for functions that are written as calls.
  var sign: String? {
    switch self {
    case .add: "+"
    case .subtract: "-"
    case .multiply: "*"
    case .divide: "/"
    case .power: "**"
    case .union: "UNION"
    case .intersection: "INTERSECT"
    case .difference: "MINUS"
    default: nil
    }
  }

  package var isSetOperation: Bool { self == .union || self == .intersection || self == .difference }

  /// The name in a call: without the colon after the only part.
  var callName: String {
    let parts = rawValue.split(separator: ":")
    return parts.count == 1 ? String(parts[0]) : rawValue
  }

  /// The function of that name, with or without the colon after the only part.
  package init?(name: String) {
    guard !name.hasPrefix("["), let found = Self(rawValue: name) ?? Self(rawValue: name + ":") else { return nil }
    self = found
  }
}
