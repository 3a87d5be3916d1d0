/// The types that CAST converts to, by the names of their classes.
package enum CastTarget: String, Sendable, Hashable, CaseIterable {
  case number = "NSNumber"
  case decimal = "NSDecimalNumber"
  case text = "NSString"
  case date = "NSDate"
}

extension PredicateFunction {
  /// The methods that FUNCTION calls, as functions of the target and the arguments.
  package static let methods: [String: PredicateFunction] = [
    "dateByAddingTimeInterval:": .add, "timeIntervalSinceDate:": .subtract, "uppercaseString": .uppercase,
    "lowercaseString": .lowercase, "length": .length,
  ]
}
