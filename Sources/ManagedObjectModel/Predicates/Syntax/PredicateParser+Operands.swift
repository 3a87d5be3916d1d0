import Foundation

extension PredicateParser {
  mutating func operand() throws -> PredicateOperand {
    let operand = try path(startingAt: try bareOperand())
    if case .symbol(let symbol) = current.kind, ["+", "-", "*", "/", "**", ":=", "["].contains(symbol) {
      throw unsupported(symbol)
    }
    return operand
  }

  /// The operand, or the key path that follows it.
  mutating func path(startingAt operand: PredicateOperand) throws -> PredicateOperand {
    switch operand {
    case .variable, .subquery: break
    default: return operand
    }
    guard accept("."), case .keyPath(let path) = try keyPath() else { return operand }
    return .path(operand, path)
  }

  private mutating func bareOperand() throws -> PredicateOperand {
    let token = current
    switch token.kind {
    case .text(let text):
      advance()
      return .constant(.text(text))
    case .number(let number):
      advance()
      return .constant(number)
    case .variable(let name):
      advance()
      return .variable(name)
    case .argument(.keyPath), .escapedWord:
      return try keyPath()
    case .argument(let conversion):
      advance()
      return .constant(try arguments.next(conversion, for: token))
    case .symbol(let symbol):
      return try operand(startingWith: symbol)
    case .word(let word):
      return try operand(startingWithWord: word)
    case .end:
      throw unexpected(expecting: "a key or a value")
    }
  }

  private mutating func operand(startingWith symbol: String) throws -> PredicateOperand {
    switch symbol {
    case "-", "+":
      advance()
      guard case .number(let number) = current.kind else { throw unexpected(expecting: "a number") }
      advance()
      return .constant(symbol == "-" ? number.negated : number)
    case "(":
      advance()
      let inner = try nested { try $0.operand() }
      try expect(")", hint: "; a list is written in braces: {1, 2}")
      return inner
    case "{":
      advance()
      return try nested { try $0.aggregate() }
    case "@":
      return try keyPath()
    default:
      throw unexpected(expecting: "a key or a value")
    }
  }

  private mutating func aggregate() throws -> PredicateOperand {
    if accept("}") { return .aggregate([]) }
    var operands: [PredicateOperand] = []
    repeat {
      operands.append(try operand())
    } while accept(",")
    try expect("}")
    return .aggregate(operands)
  }

  private mutating func operand(startingWithWord word: String) throws -> PredicateOperand {
    switch keyword {
    case nil:
      if next.kind == .symbol("(") { throw unsupported(word + "()") }
      return try keyPath()
    case .boolean(let value):
      advance()
      return .constant(.boolean(value))
    case .null:
      advance()
      return .constant(.null)
    case .selfObject:
      advance()
      return accept(".") ? try keyPath() : .selfObject
    case .cast:
      return try cast()
    case .subquery:
      return try subquery()
    case .unsupported:
      throw failure(
        "'\(word)' is not supported here; compare attributes with values instead. "
          + "A key of that name is written #\(word).")
    case .and, .or, .not, .comparison, .truePredicate, .falsePredicate, .quantifier:
      throw failure("expected a key or a value, found '\(word)'; a key of that name is written #\(word).")
    }
  }

  /// `key.key.key`, where a component may also be `%K` or `#key`.
  private mutating func keyPath() throws -> PredicateOperand {
    var components: [String] = []
    repeat {
      let token = current
      switch token.kind {
      case .word(let key), .escapedWord(let key):
        advance()
        components.append(key)
      case .argument(.keyPath):
        advance()
        let argument = try arguments.nextKeyPath(for: token)
        if argument == ["SELF"] && components.isEmpty && current.kind != .symbol(".") { return .selfObject }
        components += argument == ["SELF"] ? [] : argument
      case .symbol("@"):
        components.append(try collectionOperator())
      default:
        throw unexpected(expecting: "a key after '.'")
      }
    } while accept(".")
    return .keyPath(components)
  }

  private mutating func collectionOperator() throws -> String {
    let start = current
    advance()
    guard let found = CollectionOperator(rawValue: "@" + current.source) else {
      throw failure(
        "'@\(current.source)' is not a collection operator; use \(CollectionOperator.spellings).", at: start)
    }
    advance()
    return found.rawValue
  }

  /// `SUBQUERY(collection, $x, condition)`.
  private mutating func subquery() throws -> PredicateOperand {
    advance()
    try expect("(")
    return try nested { parser in
      let collection = try parser.operand()
      try parser.expect(",")
      guard case .variable(let name) = parser.current.kind else {
        throw parser.unexpected(expecting: "a variable such as $x")
      }
      parser.advance()
      try parser.expect(",")
      let parsed = try parser.disjunction()
      let condition = try parser.predicate(parsed)
      try parser.expect(")")
      return .subquery(PredicateSubquery(collection: collection, variable: name, condition: condition))
    }
  }

  /// `CAST(seconds, "NSDate")`, the printed form of dates: seconds since 2001-01-01 UTC.
  private mutating func cast() throws -> PredicateOperand {
    let start = current
    advance()
    try expect("(")
    let value = try nested { try $0.operand() }
    try expect(",")
    let type = try nested { try $0.operand() }
    guard type == .constant(.text("NSDate")), let seconds = value.seconds else {
      throw failure("only CAST(seconds, \"NSDate\") is supported.", at: start)
    }
    try expect(")")
    return .constant(.date(Date(timeIntervalSinceReferenceDate: seconds)))
  }
}

extension CollectionOperator {
  /// For messages.
  static var spellings: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension PredicateOperand {
  fileprivate var seconds: Double? {
    switch self {
    case .constant(.integer(let value)): Double(value)
    case .constant(.real(let value)): value
    default: nil
    }
  }
}

extension PredicateConstant {
  /// The negated number; 2^63 becomes the smallest Int64.
  fileprivate var negated: PredicateConstant {
    switch self {
    case .integer(let value): .integer(-value)
    case .real(let value): .real(-value)
    case .decimal(let value):
      Int64((-value).description).map { .integer($0) } ?? .decimal(-value)
    default: self
    }
  }
}
