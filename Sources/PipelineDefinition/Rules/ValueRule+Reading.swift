import Foundation

extension ValueRule {
  private static let parameters: [(rule: String, keys: [String])] = [
    ("required", []), ("notBefore", ["date"]), ("notAfter", ["date"]), ("notInFuture", []),
    ("range", ["min", "max"]), ("length", ["min", "max"]), ("oneOf", ["values"]), ("pattern", ["matches"]),
    ("notOneOf", ["values"]), ("unique", []),
    ("format", ["kind"]), ("quantity", ["units", "unitRequired", "ranges", "words", "min", "max"]),
  ]

  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> ValueRule? {
    var name = ""
    var members: [String: JSONValue] = [:]
    switch value {
    case .string(let text): name = text
    case .object(let object):
      members = object
      if object["rule"] == nil, let constraint = Constraint.read(object, path: path, mistakes: mistakes) {
        return constraint.rule
      }
      guard case .string(let text) = object["rule"] else {
        mistakes.add(path, "'rule' is missing; known rules are \(ObjectReader.list(parameters.map(\.rule)))")
        return nil
      }
      name = text
    default:
      mistakes.add(path, "expected a rule's name or an object {\"rule\": …}, found \(value.kind)")
      return nil
    }
    guard let keys = parameters.first(where: { $0.rule == name })?.keys else {
      let names = parameters.map(\.rule)
      let hint = NearestName.hint(for: name, in: names)
      mistakes.add(path, "unknown rule '\(name)'; known are \(ObjectReader.list(names))\(hint)")
      return nil
    }
    let reader = ObjectReader(.object(members), path: path, keys: ["rule", "severity"] + keys, mistakes: mistakes)
    guard let reader, let kind = reader.kind(of: name) else { return nil }
    return ValueRule(kind, severity: reader.choice("severity", Severity.self) ?? .error)
  }
}

extension ObjectReader {
  fileprivate func kind(of rule: String) -> ValueRule.Kind? {
    switch rule {
    case "required": .required
    case "notInFuture": .notInFuture
    case "notBefore": date("date").map { .notBefore($0) }
    case "notAfter": date("date").map { .notAfter($0) }
    case "range": hasBound() ? .range(min: number("min"), max: number("max")) : nil
    case "length":
      hasBound() ? .length(min: integer("min", in: 0...Int.max), max: integer("max", in: 0...Int.max)) : nil
    case "oneOf": needed("values", strings("values")).map { .oneOf($0) }
    case "notOneOf": needed("values", strings("values")).map { .notOneOf($0) }
    case "unique": .unique
    case "format": needed("kind", choice("kind", TextFormat.self)).map { .format($0) }
    case "pattern": expression("matches").map { .pattern($0) }
    default: .quantity(quantity())
    }
  }

  /// The text of an ISO 8601 date under `key`.
  func date(_ key: String) -> String? {
    guard let text = needed(key, string(key)) else { return nil }
    if DateFormat.iso8601.seconds(Array(text.utf8).span) != nil { return text }
    note(key, "'\(text)' is not an ISO 8601 date; write it like 1900-01-01")
    return nil
  }

  private func hasBound() -> Bool {
    if value("min") == nil, value("max") == nil {
      mistakes.add(path, "has neither 'min' nor 'max'; give one of them, or both")
      return false
    }
    if let min = number("min"), let max = number("max"), min > max {
      note("min", "is greater than 'max', so no value could pass")
      return false
    }
    return true
  }

  private func quantity() -> QuantityRule {
    if value("min") != nil || value("max") != nil { _ = hasBound() }
    let rule = QuantityRule(
      units: strings("units") ?? [], unitRequired: bool("unitRequired") ?? false, ranges: bool("ranges") ?? true,
      words: strings("words") ?? [], min: number("min"), max: number("max"))
    if rule.unitRequired, rule.units.isEmpty {
      note("unitRequired", "no 'units' are declared, so nothing could be written; list them")
    }
    return rule
  }
}
