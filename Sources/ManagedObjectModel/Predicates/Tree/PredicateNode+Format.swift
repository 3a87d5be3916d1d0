import Foundation

/// The text of a predicate in the spelling of Apple's `predicateFormat`. Parsing it again gives an equal tree, except
/// for UUIDs and URLs (printed as text), data and unsupported arguments.
extension PredicateNode {
  package var formatDescription: String {
    switch self {
    case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): comparison.formatDescription
    case .not(let node): "NOT " + node.nestedDescription
    case .and(let nodes): Self.joined(nodes, " AND ", empty: "TRUEPREDICATE")
    case .or(let nodes): Self.joined(nodes, " OR ", empty: "FALSEPREDICATE")
    }
  }

  /// In parentheses if the node has operators between its parts.
  private var nestedDescription: String {
    switch self {
    case .and(let nodes), .or(let nodes): nodes.count > 1 ? "(\(formatDescription))" : formatDescription
    default: formatDescription
    }
  }

  private static func joined(_ nodes: [PredicateNode], _ separator: String, empty: String) -> String {
    nodes.isEmpty ? empty : nodes.map(\.nestedDescription).joined(separator: separator)
  }
}

extension PredicateComparison {
  package var formatDescription: String {
    let comparison =
      "\(left.formatDescription) \(operation.rawValue)\(options.formatDescription) \(right.formatDescription)"
    return modifier == .direct ? comparison : "\(modifier.rawValue) \(comparison)"
  }
}

extension PredicateOptions {
  package var formatDescription: String {
    if isEmpty { return "" }
    return "[" + (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "")
      + (contains(.normalized) ? "n" : "") + (contains(.localeSensitive) ? "l" : "") + "]"
  }
}

extension PredicateOperand {
  /// What a path starts at, in parentheses if it has a path of its own.
  private var pathStart: String {
    if case .path = self { "(\(formatDescription))" } else { formatDescription }
  }

  package var formatDescription: String {
    switch self {
    case .keyPath(let path): path.map(Self.escaped).joined(separator: ".")
    case .path(let start, let path): ([start.pathStart] + path.map(Self.escaped)).joined(separator: ".")
    case .constant(let constant): constant.formatDescription
    case .variable(let name): "$" + name
    case .aggregate(let operands): "{" + Self.list(operands) + "}"
    case .selfObject: "SELF"
    case .subquery(let subquery):
      "SUBQUERY(\(subquery.collection.formatDescription), $\(subquery.variable), "
        + "\(subquery.condition.formatDescription))"
    case .function(let function, let arguments): Self.format(function, arguments)
    case .conditional(let condition, let value, let otherwise):
      "TERNARY(\(condition.formatDescription), \(value.formatDescription), \(otherwise.formatDescription))"
    case .block(let block, let arguments): Self.format(block, arguments)
    }
  }

  private static func format(_ function: PredicateFunction, _ arguments: [PredicateOperand]) -> String {
    // Each part is described once: twice on every level would double the work with every level.
    if let sign = function.sign {
      let right = arguments.dropFirst().map(\.nestedDescription)
      return ([arguments[0].leftDescription(of: function)] + right).joined(separator: " \(sign) ")
    }
    switch function {
    case .cast: return "CAST(\(list(arguments)))"
    case .first, .last, .size: return arguments.map(\.nestedDescription).joined() + function.rawValue
    case .element: return "\(arguments[0].nestedDescription)[\(arguments[1].indexDescription)]"
    default: return "\(function.callName)(\(list(arguments)))"
    }
  }

  private static func format(_ block: PredicateBlock, _ arguments: [PredicateOperand]) -> String {
    switch block.kind {
    case .client: "BLOCK(\(list(arguments)))"
    case .fetch: "FETCH(\(list(arguments)))"
    case .method(let name):
      "FUNCTION(" + list([arguments[0], .constant(.text(name))] + arguments.dropFirst()) + ")"
    }
  }

  private static func list(_ operands: [PredicateOperand]) -> String {
    operands.map(\.formatDescription).joined(separator: ", ")
  }

  /// A key that is spelled like a position gets the prefix `#`.
  private var indexDescription: String {
    if case .keyPath(let path) = self, path.count == 1, ["FIRST", "LAST", "SIZE"].contains(path[0].uppercased()) {
      return "#" + path[0]
    }
    return formatDescription
  }

  /// In parentheses if an operator or a subscript next to it would take only a part of it.
  private var nestedDescription: String {
    switch self {
    case .function(let function, _) where function.sign != nil: "(\(formatDescription))"
    case .constant(let constant) where constant.isNegative: "(\(formatDescription))"
    default: formatDescription
    }
  }

  /// The left side of an operator. Operators of one precedence are read from the left, so that a chain of them needs no
  /// parentheses. With parentheses, a long one would be nested deeper than the parser reads.
  private func leftDescription(of function: PredicateFunction) -> String {
    guard case .function(let own, _) = self else { return nestedDescription }
    let chains: [[PredicateFunction]] = [
      [.add, .subtract], [.multiply, .divide], [.union, .intersection, .difference],
    ]
    return chains.contains { $0.contains(own) && $0.contains(function) } ? formatDescription : nestedDescription
  }

  /// A key that is spelled like a reserved word gets the prefix `#`, which makes it a key.
  private static func escaped(_ key: String) -> String {
    PredicateKeyword(key) == nil ? key : "#" + key
  }
}

extension PredicateConstant {
  package var formatDescription: String {
    switch self {
    case .null: "nil"
    case .boolean(let value): value ? "YES" : "NO"
    case .integer(let value): String(value)
    case .real(let value): String(value)
    case .decimal(let value): value.description
    case .text(let value): Self.quoted(value)
    case .date(let value): "CAST(\(value.timeIntervalSinceReferenceDate), \"NSDate\")"
    case .uuid(let value): Self.quoted(value.uuidString)
    case .url(let value): Self.quoted(value.absoluteString)
    case .data(let value): "<" + value.map { Self.hexadecimal($0) }.joined() + ">"
    case .object(let object): "<\(object)>"
    case .collection(let values): "{" + values.map(\.formatDescription).joined(separator: ", ") + "}"
    case .unsupported(let foreign): "<\(foreign.typeName)>"
    }
  }

  fileprivate var isNegative: Bool {
    switch self {
    case .integer(let value): value < 0
    case .real(let value): value.sign == .minus
    case .decimal(let value): value < 0
    default: false
    }
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\0"..<" ": result += "\\u00" + hexadecimal(UInt8(scalar.value))
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
