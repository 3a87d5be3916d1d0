/// A rule in the notation of Table Schema constraints, which frictionless and other tools use: `{"minimum": 1,
/// "maximum": 5}` instead of `{"rule": "range", "min": 1, "max": 5}`.
struct Constraint {
  /// `nil` if the constraint is disabled (`"required": false`) or has a mistake.
  var rule: ValueRule?

  private static let groups: [[String]] = [
    ["minimum", "maximum"], ["minLength", "maxLength"], ["required"], ["unique"], ["enum"], ["pattern"],
  ]

  /// `nil` if `members` contain no constraint.
  static func read(_ members: [String: JSONValue], path: String, mistakes: MistakeList) -> Constraint? {
    let found = groups.filter { group in group.contains { members[$0] != nil } }
    guard let keys = found.first else { return nil }
    if found.count > 1 {
      let names = found.joined().filter { members[$0] != nil }
      mistakes.add(path, "\(ObjectReader.list(names)) are several rules; put each into an object of its own")
      return Constraint()
    }
    let reader = ObjectReader(.object(members), path: path, keys: keys + ["severity"], mistakes: mistakes)
    guard let reader, let kind = reader.constraint(keys[0]) else { return Constraint() }
    return Constraint(rule: ValueRule(kind, severity: reader.choice("severity", Severity.self) ?? .error))
  }
}

extension ObjectReader {
  fileprivate func constraint(_ name: String) -> ValueRule.Kind? {
    switch name {
    case "required": return bool("required") == true ? .required : nil
    case "unique": return bool("unique") == true ? .unique : nil
    case "enum": return strings("enum").map { .oneOf($0) }
    case "pattern": return expression("pattern").map { .pattern($0) }
    case "minLength":
      let (low, high) = (integer("minLength", in: 0...Int.max), integer("maxLength", in: 0...Int.max))
      return isOrdered(low, high, keys: ("minLength", "maxLength")) ? .length(min: low, max: high) : nil
    default: return bounds()
    }
  }

  private func bounds() -> ValueRule.Kind? {
    switch (value("minimum"), value("maximum")) {
    case (.string?, nil): return date("minimum").map { .notBefore($0) }
    case (nil, .string?): return date("maximum").map { .notAfter($0) }
    case (.string?, .string?):
      note("maximum", "two dates are two rules; put each into an object of its own")
      return nil
    default:
      let (low, high) = (number("minimum"), number("maximum"))
      return isOrdered(low, high, keys: ("minimum", "maximum")) ? .range(min: low, max: high) : nil
    }
  }

  private func isOrdered<Bound: Comparable>(_ low: Bound?, _ high: Bound?, keys: (low: String, high: String)) -> Bool {
    if value(keys.low) == nil, value(keys.high) == nil {
      mistakes.add(path, "has neither '\(keys.low)' nor '\(keys.high)'; give one of them, or both")
    }
    guard let low, let high, low > high else { return low != nil || high != nil }
    note(keys.low, "is greater than '\(keys.high)', so no value could pass")
    return false
  }
}
