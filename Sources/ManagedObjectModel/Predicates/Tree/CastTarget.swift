/// The types that CAST converts to, by the names of their classes.
package enum CastTarget: String, Sendable, Hashable, CaseIterable {
  case number = "NSNumber"
  case decimal = "NSDecimalNumber"
  case text = "NSString"
  case date = "NSDate"
}

extension PredicateOperand {
  /// The call of a method of what a variable stands for; nil for another target, and where the name has another number
  /// of colons than there are arguments.
  ///
  /// - Parameter operands: The target, then the arguments.
  init?(calling method: String, _ operands: [PredicateOperand]) {
    guard operands.first?.startsAtVariable == true, method.count(where: { $0 == ":" }) == operands.count - 1 else {
      return nil
    }
    self = .block(PredicateBlock(calling: method), operands)
  }

  private var startsAtVariable: Bool {
    switch self {
    case .variable: true
    case .path(let start, _): start.startsAtVariable
    default: false
    }
  }
}

extension PredicateFunction {
  /// The methods that FUNCTION calls, as functions of the target and the arguments.
  package static let methods: [String: PredicateFunction] = [
    "dateByAddingTimeInterval:": .add, "timeIntervalSinceDate:": .subtract, "uppercaseString": .uppercase,
    "lowercaseString": .lowercase, "length": .length,
  ]
}
