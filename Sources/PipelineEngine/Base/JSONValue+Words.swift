extension JSONValue {
  /// The value on one line, without JSON syntax.
  var words: String {
    switch self {
    case .null: "none"
    case .bool(let flag): flag ? "yes" : "no"
    case .number(let number): QuantityPattern.plain(number)
    case .string(let text): text
    case .array(let items): items.map(\.words).joined(separator: ", ")
    case .object(let members):
      members.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.words)" }.joined(separator: ", ")
    }
  }

  /// Whether it means the same as no value.
  fileprivate var equalsAbsence: Bool {
    switch self {
    case .null, .bool(false), .array([]): true
    default: false
    }
  }
}

extension ValueRule {
  /// The rule as a phrase: "range 1 to 5", "not before 1900-01-01", "length at most 1000".
  ///
  /// Derived from the rule's JSON, so that every rule can be described.
  var words: String {
    guard case .object(var members) = PipelineDefinition.json(self) else { return name }
    // Only its absence is worth stating.
    if members["ranges"] == .bool(false) { members["ranges"] = .string("no") } else { members["ranges"] = nil }
    members = members.filter { !$0.value.equalsAbsence }
    members["rule"] = nil
    let isWarning = members.removeValue(forKey: "severity") == .string(Severity.warning.rawValue)
    var parts: [String] = []
    switch (members.removeValue(forKey: "min"), members.removeValue(forKey: "max")) {
    case (let min?, let max?): parts.append("\(min.words) to \(max.words)")
    case (let min?, nil): parts.append("at least \(min.words)")
    case (nil, let max?): parts.append("at most \(max.words)")
    case (nil, nil): break
    }
    for (key, value) in members.sorted(by: { $0.key < $1.key }) {
      // The only member of such a rule needs no name.
      parts.append(["date", "matches", "values"].contains(key) ? value.words : "\(Self.spaced(key)) \(value.words)")
    }
    let text = Self.spaced(name) + (parts.isEmpty ? "" : " " + parts.joined(separator: "; "))
    return isWarning ? text + " (only a warning)" : text
  }

  /// `notBefore` is "not before".
  private static func spaced(_ name: String) -> String {
    name.reduce(into: "") { text, letter in text += letter.isUppercase ? " " + letter.lowercased() : String(letter) }
  }
}

extension ValueTransform {
  /// The transform as a phrase: "trim", "convert ft to m".
  var words: String {
    switch self {
    case .trim, .collapse, .upper, .lower, .title: name
    case .map(let values, _): "map of \(values.count) \(values.count == 1 ? "text" : "texts")"
    case .fallback(let value): "default '\(value)'"
    case .replace(let pattern, let text): "replace \(pattern) by '\(text)'"
    case .convert(let conversion): "convert \(conversion.from.rawValue) to \(conversion.to.rawValue)"
    }
  }
}
