extension PredicateParser {
  mutating func bareOperand() throws -> PredicateOperand {
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
      if conversion == .object, let expression = try arguments.nextExpression(for: token) { return expression }
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
      return beginsCall ? try call(named: word) : try keyPath()
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
    case .ternary:
      return try ternary()
    case .function:
      return try methodCall()
    case .fetch:
      return try fetch()
    case .unsupported:
      throw failure(
        "'\(word)' is not supported here; compare attributes with values instead. "
          + "A key of that name is written #\(word).")
    case .and, .or, .not, .comparison, .truePredicate, .falsePredicate, .quantifier:
      throw failure("expected a key or a value, found '\(word)'; a key of that name is written #\(word).")
    }
  }

  /// `key.key.key`, where a component may also be `%K` or `#key`.
  mutating func keyPath() throws -> PredicateOperand {
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
}

extension CollectionOperator {
  /// For messages.
  static var spellings: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
