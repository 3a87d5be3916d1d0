extension RecordCondition {
  private static let testKeys = ["is", "isNot", "oneOf", "isEmpty", "isNotEmpty"] + Comparison.allCases.map(\.rawValue)

  static func read(_ value: JSONValue, path: String, mistakes: MistakeList) -> RecordCondition? {
    guard case .object(let members) = value else {
      mistakes.add(path, "expected a condition such as {\"column\": \"rating\", \">=\": 4}, found \(value.kind)")
      return nil
    }
    let shapes = ["column", "all", "any", "not"]
    let found = shapes.filter { members[$0] != nil }
    guard found.count == 1, let shape = found.first else {
      let text = found.isEmpty ? "has none of" : "has several of"
      mistakes.add(path, "the condition \(text) \(ObjectReader.list(shapes)); give one")
      return nil
    }
    let keys = shape == "column" ? ["column", "as"] + testKeys : [shape]
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return nil }
    switch shape {
    case "column": return reader.columnCondition(members, testKeys)
    case "not":
      guard let inner = reader.value("not") else { return nil }
      return read(inner, path: reader.path("not"), mistakes: mistakes).map { .not($0) }
    default:
      guard let items = reader.items(shape) else { return nil }
      if items.isEmpty { reader.note(shape, "is empty; list the conditions") }
      let parts = items.compactMap { read($0.value, path: $0.path, mistakes: mistakes) }
      return shape == "all" ? .all(parts) : .any(parts)
    }
  }
}

extension ObjectReader {
  fileprivate func columnCondition(_ members: [String: JSONValue], _ testKeys: [String]) -> RecordCondition? {
    guard let column = string("column") else { return nil }
    let given = testKeys.filter { members[$0] != nil }
    if given.isEmpty { note("column", "'\(column)' has no test; add one of \(Self.list(testKeys))") }
    let tests = given.compactMap { test($0) }
    return .column(ColumnCondition(column, tests, asNumbers: comparesNumbers()))
  }

  private func test(_ key: String) -> ColumnCondition.Test? {
    switch key {
    case "isEmpty": return bool(key).map { .isEmpty($0) }
    case "isNotEmpty": return bool(key).map { .isEmpty(!$0) }
    case "oneOf":
      guard let items = items(key) else { return nil }
      if items.isEmpty { note(key, "is empty, so nothing could hold; list the values") }
      return .oneOf(items.compactMap { constant($0.value, $0.path) })
    case "is": return operand(key).map { .compare(.equal, $0) }
    case "isNot": return operand(key).map { .compare(.notEqual, $0) }
    default:
      guard let comparison = Comparison(rawValue: key) else { return nil }
      return operand(key).map { .compare(comparison, $0) }
    }
  }

  private func operand(_ key: String) -> ColumnCondition.Operand? {
    guard let value = value(key) else {
      note(key, "is null; for empty columns write \"isEmpty\": true")
      return nil
    }
    guard case .object = value else { return constant(value, path(key)).map { .constant($0) } }
    let reader = ObjectReader(value, path: path(key), keys: ["column"], mistakes: mistakes)
    guard let reader, let column = reader.needed("column", reader.string("column")) else { return nil }
    return .column(column)
  }

  private func constant(_ value: JSONValue, _ path: String) -> ColumnCondition.Constant? {
    switch value {
    case .string(let text): return .text(text)
    case .number(let number): return .number(number)
    case .bool(let flag): return .flag(flag)
    case .null, .array, .object:
      mistakes.add(path, "expected a text, a number, true or false, found \(value.kind)")
      return nil
    }
  }
}

extension RecordCondition: Encodable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    switch self {
    case .all(let parts): try container.encode(parts, forKey: Key("all"))
    case .any(let parts): try container.encode(parts, forKey: Key("any"))
    case .not(let inner): try container.encode(inner, forKey: Key("not"))
    case .column(let condition):
      try container.encode(condition.column, forKey: Key("column"))
      if condition.asNumbers { try container.encode("number", forKey: Key("as")) }
      for test in condition.tests {
        switch test {
        case .isEmpty(let flag): try container.encode(true, forKey: Key(flag ? "isEmpty" : "isNotEmpty"))
        case .oneOf(let values): try container.encode(values, forKey: Key("oneOf"))
        case .compare(let comparison, .constant(let value)):
          try container.encode(value, forKey: Key(comparison.conditionKey))
        case .compare(let comparison, .column(let name)):
          try container.encode(["column": name], forKey: Key(comparison.conditionKey))
        }
      }
    }
  }
}

extension ColumnCondition.Constant: Encodable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    case .flag(let flag): try container.encode(flag)
    }
  }
}

extension Comparison {
  /// The key in a condition.
  var conditionKey: String {
    switch self {
    case .equal: "is"
    case .notEqual: "isNot"
    case .less, .atMost, .atLeast, .greater: rawValue
    }
  }
}
