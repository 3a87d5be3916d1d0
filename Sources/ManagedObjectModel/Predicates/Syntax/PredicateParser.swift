/// A recursive-descent parser of Apple's predicate language (Predicate Format String Syntax).
///
/// NOT binds tighter than AND, AND tighter than OR; ** tighter than * and /, those tighter than + and -. Unsupported
/// features produce an error that names them.
package struct PredicateParser {
  /// The maximum nesting depth of parentheses, braces and NOT: far beyond hand-written predicates, and within the
  /// limits of SQLite's parser.
  package static let nestingMax = 50

  let format: String
  let tokens: [PredicateToken]
  var arguments: PredicateArguments
  private(set) var index = 0
  private var nesting = 0

  /// - Throws: `PredicateSyntaxError`.
  static func parse(_ format: String, arguments: [Any?] = []) throws -> PredicateNode {
    var parser = PredicateParser(
      format: format, tokens: try PredicateLexer.tokens(of: format),
      arguments: PredicateArguments(format: format, values: arguments))
    let parsed = try parser.disjunction()
    let node = try parser.predicate(parsed)
    guard parser.current.kind == .end else {
      throw parser.unexpected(expecting: "AND, OR or the end of the text")
    }
    return node
  }

  /// - Throws: `PredicateSyntaxError`.
  static func parseExpression(_ format: String, arguments: [Any?] = []) throws -> PredicateOperand {
    var parser = PredicateParser(
      format: format, tokens: try PredicateLexer.tokens(of: format),
      arguments: PredicateArguments(format: format, values: arguments))
    let operand = try parser.operand()
    guard parser.current.kind == .end else { throw parser.unexpected(expecting: "an operator or the end of the text") }
    return operand
  }

  private init(format: String, tokens: [PredicateToken], arguments: PredicateArguments) {
    self.format = format
    self.tokens = tokens
    self.arguments = arguments
  }

  /// Only the end shows what the parentheses contain: `(a == 1)` or `(3) < a`.
  enum Parsed {
    case predicate(PredicateNode)
    case operand(PredicateOperand)
  }

  // MARK: Tokens

  var current: PredicateToken { tokens[index] }

  var next: PredicateToken { tokens[min(index + 1, tokens.count - 1)] }

  var keyword: PredicateKeyword? {
    if case .word(let word) = current.kind { PredicateKeyword(word) } else { nil }
  }

  /// The last token marks the end and is never consumed.
  mutating func advance() {
    index = min(index + 1, tokens.count - 1)
  }

  mutating func accept(_ symbol: String) -> Bool {
    guard current.kind == .symbol(symbol) else { return false }
    advance()
    return true
  }

  mutating func expect(_ symbol: String, hint: String = "") throws {
    guard accept(symbol) else { throw unexpected(expecting: "'\(symbol)'" + hint) }
  }

  func failure(_ reason: String, at token: PredicateToken? = nil) -> PredicateSyntaxError {
    PredicateSyntaxError(format: format, position: (token ?? current).position, reason: reason)
  }

  func unexpected(expecting expectation: String) -> PredicateSyntaxError {
    failure("expected \(expectation), found \(current.described).")
  }

  mutating func nested<Result>(_ body: (inout PredicateParser) throws -> Result) throws -> Result {
    guard nesting < Self.nestingMax else {
      throw failure("nested deeper than \(Self.nestingMax) levels; reduce the nesting.")
    }
    nesting += 1
    defer { nesting -= 1 }
    return try body(&self)
  }

  // MARK: Compounds

  mutating func disjunction() throws -> Parsed {
    try chain(keyword: .or, symbol: "||", make: PredicateNode.or) { try $0.conjunction() }
  }

  private mutating func conjunction() throws -> Parsed {
    try chain(keyword: .and, symbol: "&&", make: PredicateNode.and) { try $0.negation() }
  }

  private mutating func chain(
    keyword word: PredicateKeyword, symbol: String, make: ([PredicateNode]) -> PredicateNode,
    term: (inout PredicateParser) throws -> Parsed
  ) throws -> Parsed {
    let first = try term(&self)
    var terms: [PredicateNode] = []
    while keyword == word || current.kind == .symbol(symbol) {
      if terms.isEmpty { terms.append(try predicate(first)) }
      advance()
      let next = try term(&self)
      terms.append(try predicate(next))
    }
    return terms.isEmpty ? first : .predicate(make(terms))
  }

  private mutating func negation() throws -> Parsed {
    guard keyword == .not || current.kind == .symbol("!") else { return try primary() }
    advance()
    return try nested { parser in
      let negated = try parser.negation()
      return .predicate(.not(try parser.predicate(negated)))
    }
  }

  private mutating func primary() throws -> Parsed {
    switch (keyword, current.kind) {
    case (.truePredicate, _):
      advance()
      return .predicate(.constant(true))
    case (.falsePredicate, _):
      advance()
      return .predicate(.constant(false))
    case (.quantifier(let modifier, let isNegated), _):
      advance()
      let parsed = try comparison(left: operand(), modifier: modifier)
      let quantified = try predicate(parsed)
      return .predicate(isNegated ? .not(quantified) : quantified)
    case (_, .symbol("(")):
      advance()
      let inner = try nested { try $0.disjunction() }
      try expect(")")
      guard case .operand(let operand) = inner else { return inner }
      return try comparison(left: continued(continuedPath(operand)))
    default:
      return try comparison(left: operand())
    }
  }

  func predicate(_ parsed: Parsed) throws -> PredicateNode {
    switch parsed {
    case .predicate(let node): return node
    case .operand:
      if case .word(let word) = current.kind, keyword == .not, case .word = next.kind {
        throw failure("'\(word)' belongs before the whole comparison: NOT (key IN {1, 2}).")
      }
      throw unexpected(expecting: "a comparison operator such as ==, <, IN or CONTAINS")
    }
  }

  // MARK: Comparisons

  private mutating func comparison(
    left: PredicateOperand, modifier: PredicateModifier = .direct
  ) throws -> Parsed {
    guard let operation = comparisonOperator else { return .operand(left) }
    advance()
    let options = try options()
    return .predicate(
      .comparison(
        PredicateComparison(
          left: left, operation: operation, right: try operand(), options: options, modifier: modifier)))
  }

  private var comparisonOperator: PredicateOperator? {
    switch current.kind {
    case .symbol("="), .symbol("=="): .equal
    case .symbol("!="), .symbol("<>"): .notEqual
    case .symbol("<"): .less
    case .symbol("<="), .symbol("=<"): .lessOrEqual
    case .symbol(">"): .greater
    case .symbol(">="), .symbol("=>"): .greaterOrEqual
    default: if case .comparison(let operation) = keyword { operation } else { nil }
    }
  }

  private mutating func options() throws -> PredicateOptions {
    guard accept("[") else { return [] }
    guard case .word(let letters) = current.kind else { throw unexpected(expecting: "c, d, cd, n or l") }
    var options: PredicateOptions = []
    for letter in letters.lowercased() {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      case "n": options.insert(.normalized)
      case "l": options.insert(.localeSensitive)
      case "w":
        throw failure(
          "the option 'w' belongs to Spotlight's queries, not to predicates; write a word as MATCHES '(?s).*\\\\bword\\\\b.*'."
        )
      default: throw failure("the option '\(letter)' is not supported; use c, d, cd, n or l.")
      }
    }
    advance()
    try expect("]")
    return options
  }
}
