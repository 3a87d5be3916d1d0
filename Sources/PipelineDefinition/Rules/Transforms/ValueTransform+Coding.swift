extension ValueTransform {
  private static let parameters: [(name: String, keys: [String])] = [
    ("trim", []), ("collapse", []), ("upper", []), ("lower", []), ("title", []), ("map", ["values", "ignoreCase"]),
    ("default", ["value"]), ("replace", ["matches", "with"]),
    ("convert", ["from", "to", "digits", "unitShown", "strict"]),
  ]

  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> ValueTransform? {
    var members: [String: JSONValue] = [:]
    switch value {
    case .string(let text): members = ["transform": .string(text)]
    case .object(let object): members = object
    default:
      mistakes.add(path, "expected a transform's name or an object {\"transform\": …}, found \(value.kind)")
      return nil
    }
    let names = parameters.map(\.name)
    guard case .string(let name) = members["transform"] else {
      mistakes.add(path, "'transform' is missing; known transforms are \(ObjectReader.list(names))")
      return nil
    }
    guard let keys = parameters.first(where: { $0.name == name })?.keys else {
      let hint = NearestName.hint(for: name, in: names)
      mistakes.add(path, "unknown transform '\(name)'; known are \(ObjectReader.list(names))\(hint)")
      return nil
    }
    return ObjectReader(.object(members), path: path, keys: ["transform"] + keys, mistakes: mistakes)?.transform(name)
  }
}

extension ObjectReader {
  fileprivate func transform(_ name: String) -> ValueTransform? {
    switch name {
    case "trim": .trim
    case "collapse": .collapse
    case "upper": .upper
    case "lower": .lower
    case "title": .title
    case "map": needed("values", texts("values")).map { .map($0, ignoreCase: bool("ignoreCase") ?? false) }
    case "default": needed("value", string("value")).map { .fallback($0) }
    case "replace": replacement()
    default: conversion()
    }
  }

  /// An object of texts; the values may be empty.
  private func texts(_ key: String) -> [String: String]? {
    guard let value = value(key) else { return nil }
    guard case .object(let members) = value, !members.isEmpty else {
      note(key, "expected an object of texts {\"from\": \"to\", …}, found \(value == .object([:]) ? "{}" : value.kind)")
      return nil
    }
    var texts: [String: String] = [:]
    for (from, to) in members.sorted(by: { $0.key < $1.key }) {
      if case .string(let text) = to {
        texts[from] = text
      } else {
        note("\(key).\(from)", "expected a text in quotes, found \(to.kind)")
      }
    }
    return texts
  }

  private func replacement() -> ValueTransform? {
    guard let pattern = expression("matches") else { return nil }
    // An empty replacement is valid.
    if value("with") == .string("") { return .replace(matches: pattern, with: "") }
    return needed("with", string("with")).map { .replace(matches: pattern, with: $0) }
  }

  private func conversion() -> ValueTransform? {
    guard let from = needed("from", choice("from", MeasureUnit.self)),
      let to = needed("to", choice("to", MeasureUnit.self))
    else { return nil }
    var conversion = UnitConversion(from: from, to: to)
    conversion.digits = integer("digits", in: UnitConversion.digitsRange) ?? conversion.digits
    conversion.unitShown = bool("unitShown") ?? false
    conversion.strict = bool("strict") ?? false
    return .convert(conversion)
  }
}

extension ValueTransform: Codable {
  private enum CodingKeys: String, CodingKey {
    case transform, values, ignoreCase, value, matches, with, from, to, digits, unitShown, strict
  }

  public init(from decoder: any Decoder) throws {
    let mistakes = MistakeList()
    let transform = ValueTransform.read(try JSONValue(from: decoder), path: "", mistakes: mistakes)
    guard let transform, mistakes.mistakes.isEmpty else { throw PipelineError(mistakes: mistakes.mistakes) }
    self = transform
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .transform)
    switch self {
    case .trim, .collapse, .upper, .lower, .title: break
    case .map(let values, let ignoreCase):
      try container.encode(values, forKey: .values)
      try container.encode(ignoreCase, forKey: .ignoreCase)
    case .fallback(let value): try container.encode(value, forKey: .value)
    case .replace(let pattern, let text):
      try container.encode(pattern, forKey: .matches)
      try container.encode(text, forKey: .with)
    case .convert(let conversion):
      try container.encode(conversion.from, forKey: .from)
      try container.encode(conversion.to, forKey: .to)
      try container.encode(conversion.digits, forKey: .digits)
      try container.encode(conversion.unitShown, forKey: .unitShown)
      try container.encode(conversion.strict, forKey: .strict)
    }
  }
}
