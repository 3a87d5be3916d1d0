/// The format strings of archived predicates, as in model files.
extension ArchivedPredicate {
  /// Nil if a part can't be written in a format string.
  var formatText: String? {
    switch self {
    case .constant(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): return comparison.formatText
    case .not(let part): return part.nestedText.map { "NOT " + $0 }
    case .and(let parts): return Self.joined(parts, " AND ", empty: "TRUEPREDICATE")
    case .or(let parts): return Self.joined(parts, " OR ", empty: "FALSEPREDICATE")
    }
  }

  private var nestedText: String? {
    switch self {
    case .and, .or, .not: formatText.map { "(\($0))" }
    case .constant, .comparison: formatText
    }
  }

  private static func joined(_ parts: [ArchivedPredicate], _ separator: String, empty: String) -> String? {
    let texts = parts.compactMap(\.nestedText)
    guard texts.count == parts.count else { return nil }
    return texts.isEmpty ? empty : texts.joined(separator: separator)
  }
}

extension ArchivedComparison {
  var formatText: String? {
    guard let left = left.formatText, let right = right.formatText else { return nil }
    let word =
      switch modifier {
      case .direct: ""
      case .all: "ALL "
      case .any: "ANY "
      }
    return "\(word)\(left) \(operation.rawValue)\(options.formatDescription) \(right)"
  }
}

extension ArchivedExpression {
  var formatText: String? {
    switch self {
    case .constant(.unsupported), .constant(.data): nil
    case .constant(let value): value.formatDescription
    case .selfObject: "SELF"
    case .variable(let name): "$" + name
    case .keyPath(let keys, of: .selfObject): Self.escaped(keys)
    case .keyPath(let keys, of: let base): base.formatText.map { "\($0).\(Self.escaped(keys))" }
    case .call(let name, of: let operand, let arguments):
      Self.list([operand, .constant(.text(name))] + arguments).map { "FUNCTION(\($0))" }
    case .fetch(let request, context: let context, countOnly: let countOnly):
      Self.list([request, context, .constant(.boolean(countOnly))]).map { "FETCH(\($0))" }
    case .function(let name, let arguments): Self.function(name, arguments)
    case .aggregate(let parts): Self.list(parts).map { "{\($0)}" }
    case .subquery(let collection, let variable, let condition):
      Self.subquery(collection, variable: variable, condition: condition)
    }
  }

  /// Keys that are spelled like reserved words get the prefix `#`, which makes them keys.
  private static func escaped(_ keys: String) -> String {
    keys.split(separator: ".", omittingEmptySubsequences: false)
      .map { PredicateKeyword(String($0)) == nil ? String($0) : "#\($0)" }.joined(separator: ".")
  }

  private static func list(_ parts: [ArchivedExpression]) -> String? {
    let texts = parts.compactMap(\.formatText)
    return texts.count == parts.count ? texts.joined(separator: ", ") : nil
  }

  private static let signs = [
    "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/", "raise:toPower:": "**",
  ]

  private static func function(_ name: String, _ arguments: [ArchivedExpression]) -> String? {
    if let sign = signs[name], arguments.count == 2, let left = arguments[0].formatText,
      let right = arguments[1].formatText
    {
      return "(\(left) \(sign) \(right))"
    }
    return list(arguments).map { "\(name)(\($0))" }
  }

  private static func subquery(
    _ collection: ArchivedExpression, variable: String, condition: ArchivedPredicate
  ) -> String? {
    guard let collection = collection.formatText, let condition = condition.formatText else { return nil }
    return "SUBQUERY(\(collection), $\(variable), \(condition))"
  }
}
