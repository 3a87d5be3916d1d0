extension RecordRule {
  private static let parameters: [(rule: String, keys: [String])] = [
    ("compare", ["left", "operator", "right", "as", "emptyFails"]), ("when", ["if", "then"]), ("anyOf", ["columns"]),
  ]

  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> RecordRule? {
    let names = parameters.map(\.rule)
    guard case .object(let members) = value else {
      mistakes.add(path, "expected an object {\"rule\": …}, found \(value.kind)")
      return nil
    }
    guard case .string(let name) = members["rule"] else {
      mistakes.add(path, "'rule' is missing; known rules of records are \(ObjectReader.list(names))")
      return nil
    }
    guard let keys = parameters.first(where: { $0.rule == name })?.keys else {
      let hint = NearestName.hint(for: name, in: names)
      mistakes.add(path, "unknown rule '\(name)' of records; known are \(ObjectReader.list(names))\(hint)")
      return nil
    }
    let all = ["rule", "name", "message", "severity"] + keys
    guard let reader = ObjectReader(value, path: path, keys: all, mistakes: mistakes),
      let kind = reader.recordRule(name)
    else { return nil }
    return RecordRule(
      kind, name: reader.string("name"), message: reader.string("message"),
      severity: reader.choice("severity", Severity.self) ?? .error)
  }
}

extension ObjectReader {
  fileprivate func recordRule(_ name: String) -> RecordRule.Kind? {
    switch name {
    case "compare":
      let (left, right) = (needed("left", string("left")), needed("right", string("right")))
      guard let comparison = needed("operator", choice("operator", Comparison.self)), let left, let right else {
        return nil
      }
      return .compare(
        ColumnComparison(
          left, comparison, to: right, asNumbers: comparesNumbers(), emptyFails: bool("emptyFails") ?? false))
    case "when":
      let condition = needed("if", value("if")).flatMap { readCondition($0, path("if")) }
      let conclusions = needed("then", value("then")).map { readConclusions($0) } ?? []
      guard let condition, !conclusions.isEmpty else { return nil }
      return .when(condition, then: conclusions)
    default:
      guard let columns = needed("columns", strings("columns")) else { return nil }
      if columns.isEmpty { note("columns", "is empty, so no record could pass; name the columns") }
      return .anyOf(columns)
    }
  }

  private func readConclusions(_ value: JSONValue) -> [RecordCondition] {
    guard case .array(let items) = value else { return readCondition(value, path("then")).map { [$0] } ?? [] }
    if items.isEmpty { note("then", "is empty, so the rule demands nothing; list the conditions that must hold") }
    return items.enumerated().compactMap { readCondition($1, "\(path("then"))[\($0)]") }
  }

  private func readCondition(_ value: JSONValue, _ path: String) -> RecordCondition? {
    RecordCondition.read(value, path: path, mistakes: mistakes)
  }

  /// Reads `"as": "number"`, the only value at present.
  func comparesNumbers() -> Bool {
    guard let text = string("as") else { return false }
    if text != "number" { note("as", "'\(text)' is unknown; the only one is 'number'") }
    return true
  }
}

extension RecordRule: Codable {
  private enum CodingKeys: String, CodingKey {
    case rule, name, message, severity, left, `operator`, right, `as`, emptyFails, `if`, then, columns
  }

  public init(from decoder: any Decoder) throws {
    let mistakes = MistakeList()
    let rule = RecordRule.read(try JSONValue(from: decoder), path: "", mistakes: mistakes)
    guard let rule, mistakes.mistakes.isEmpty else { throw PipelineError(mistakes: mistakes.mistakes) }
    self = rule
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(ruleName, forKey: .rule)
    try container.encodeIfPresent(name, forKey: .name)
    try container.encodeIfPresent(message, forKey: .message)
    try container.encode(severity, forKey: .severity)
    switch kind {
    case .compare(let comparison):
      try container.encode(comparison.left, forKey: .left)
      try container.encode(comparison.comparison.rawValue, forKey: .operator)
      try container.encode(comparison.right, forKey: .right)
      if comparison.asNumbers { try container.encode("number", forKey: .as) }
      try container.encode(comparison.emptyFails, forKey: .emptyFails)
    case .when(let condition, let conclusions):
      try container.encode(condition, forKey: .if)
      if conclusions.count == 1 {
        try container.encode(conclusions[0], forKey: .then)
      } else {
        try container.encode(conclusions, forKey: .then)
      }
    case .anyOf(let columns): try container.encode(columns, forKey: .columns)
    }
  }
}
