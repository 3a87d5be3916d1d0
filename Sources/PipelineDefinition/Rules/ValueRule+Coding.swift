extension ValueRule: Codable {
  private enum CodingKeys: String, CodingKey {
    case rule, severity, kind, date, min, max, values, matches, units, unitRequired, ranges, words
  }

  public init(from decoder: any Decoder) throws {
    let mistakes = MistakeList()
    let rule = ValueRule.read(try JSONValue(from: decoder), path: "", mistakes: mistakes)
    guard let rule, mistakes.mistakes.isEmpty else { throw PipelineError(mistakes: mistakes.mistakes) }
    self = rule
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .rule)
    try container.encode(severity, forKey: .severity)
    switch kind {
    case .required, .notInFuture, .unique: break
    case .notBefore(let date), .notAfter(let date): try container.encode(date, forKey: .date)
    case .range(let min, let max):
      try container.encodeIfPresent(min, forKey: .min)
      try container.encodeIfPresent(max, forKey: .max)
    case .length(let min, let max):
      try container.encodeIfPresent(min, forKey: .min)
      try container.encodeIfPresent(max, forKey: .max)
    case .oneOf(let values), .notOneOf(let values): try container.encode(values, forKey: .values)
    case .format(let format): try container.encode(format, forKey: .kind)
    case .pattern(let expression): try container.encode(expression, forKey: .matches)
    case .quantity(let rule):
      try container.encode(rule.units, forKey: .units)
      try container.encode(rule.unitRequired, forKey: .unitRequired)
      try container.encode(rule.ranges, forKey: .ranges)
      try container.encode(rule.words, forKey: .words)
      try container.encodeIfPresent(rule.min, forKey: .min)
      try container.encodeIfPresent(rule.max, forKey: .max)
    }
  }
}
