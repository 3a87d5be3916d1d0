import Foundation

/// One demand on the values of a column, with what happens when a value breaks it.
///
/// In a definition an object `{"rule": NAME, …, "severity": "error" | "warning"}`; rules without parameters may be
/// just their name. Only `required` looks at empty fields.
///
/// | rule | for | keys |
/// |---|---|---|
/// | `required` | all | – |
/// | `notBefore`, `notAfter` | dates | `date` (ISO 8601) |
/// | `notInFuture` | dates | – |
/// | `range` | numbers | `min`, `max` (one of them at least) |
/// | `length` | texts | `min`, `max`, in Unicode scalars |
/// | `oneOf` | all | `values`, compared byte for byte |
/// | `pattern` | all | `matches`: an ICU regular expression that the whole field must match |
/// | `quantity` | texts | `units`, `unitRequired`, `ranges`, `words`, `min`, `max`; see ``QuantityRule`` |
public struct ValueRule: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    case required
    case notBefore(String)
    case notAfter(String)
    /// A date alone may lie up to 14 hours ahead of the clock, for somewhere that day has begun (UTC+14).
    case notInFuture
    case range(min: Double?, max: Double?)
    case length(min: Int?, max: Int?)
    case oneOf([String])
    case pattern(String)
    case quantity(QuantityRule)
  }

  public var kind: Kind
  public var severity: Severity

  public init(_ kind: Kind, severity: Severity = .error) {
    self.kind = kind
    self.severity = severity
  }

  /// The rule's name in a definition.
  public var name: String {
    switch kind {
    case .required: "required"
    case .notBefore: "notBefore"
    case .notAfter: "notAfter"
    case .notInFuture: "notInFuture"
    case .range: "range"
    case .length: "length"
    case .oneOf: "oneOf"
    case .pattern: "pattern"
    case .quantity: "quantity"
    }
  }
}

extension ValueRule {
  private static let parameters: [(rule: String, keys: [String])] = [
    ("required", []), ("notBefore", ["date"]), ("notAfter", ["date"]), ("notInFuture", []),
    ("range", ["min", "max"]), ("length", ["min", "max"]), ("oneOf", ["values"]), ("pattern", ["matches"]),
    ("quantity", ["units", "unitRequired", "ranges", "words", "min", "max"]),
  ]

  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> ValueRule? {
    var name = ""
    var members: [String: JSONValue] = [:]
    switch value {
    case .string(let text): name = text
    case .object(let object):
      members = object
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
    case "notBefore": date().map { .notBefore($0) }
    case "notAfter": date().map { .notAfter($0) }
    case "range": hasBound() ? .range(min: number("min"), max: number("max")) : nil
    case "length":
      hasBound() ? .length(min: integer("min", in: 0...Int.max), max: integer("max", in: 0...Int.max)) : nil
    case "oneOf": needed("values", strings("values")).map { .oneOf($0) }
    case "pattern": expression().map { .pattern($0) }
    default: .quantity(quantity())
    }
  }

  private func needed<Value>(_ key: String, _ value: Value?) -> Value? {
    if self.value(key) == nil { note(key, "is missing; the rule means nothing without it") }
    return value
  }

  private func expression() -> String? {
    guard let text = needed("matches", string("matches")) else { return nil }
    if (try? NSRegularExpression(pattern: text)) != nil { return text }
    note("matches", "'\(text)' is no regular expression that ICU reads; check its brackets and backslashes")
    return nil
  }

  private func date() -> String? {
    guard let text = needed("date", string("date")) else { return nil }
    if DateFormat.iso8601.seconds(Array(text.utf8).span) != nil { return text }
    note("date", "'\(text)' is no ISO 8601 date; write it like 1900-01-01")
    return nil
  }

  private func hasBound() -> Bool {
    if value("min") == nil, value("max") == nil {
      mistakes.add(path, "has neither 'min' nor 'max'; give one at least")
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
