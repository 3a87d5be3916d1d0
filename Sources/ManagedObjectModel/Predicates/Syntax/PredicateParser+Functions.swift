/// Calls, and what else looks like one.
extension PredicateParser {
  /// `name(argument, …)`; a name of several parts has a colon after each: `modulus:by:(a, 3)`.
  mutating func call(named word: String) throws -> PredicateOperand {
    let start = current
    var name = word
    advance()
    while current.kind == .symbol(":") {
      advance()
      name += ":"
      guard case .word(let part) = current.kind else { continue }
      advance()
      name += part
    }
    guard let function = PredicateFunction(name: name) else {
      throw failure("'\(name)' is not a function of predicates.", at: start)
    }
    try expect("(")
    let arguments = try nested { try $0.callArguments() }
    guard function.argumentCount.map({ $0 == arguments.count }) ?? !arguments.isEmpty else {
      let expected = function.argumentCount.map { $0 == 1 ? "1 argument" : "\($0) arguments" } ?? "arguments"
      throw failure("\(function.rawValue) takes \(expected), found \(arguments.count).", at: start)
    }
    return .function(function, arguments)
  }

  private mutating func callArguments() throws -> [PredicateOperand] {
    if accept(")") { return [] }
    var arguments: [PredicateOperand] = []
    repeat {
      arguments.append(try operand())
    } while accept(",")
    try expect(")")
    return arguments
  }

  /// Whether a call begins at the current word.
  var beginsCall: Bool {
    var index = index + 1
    while index < tokens.count, tokens[index].kind == .symbol(":") {
      index += 1
      if index < tokens.count, case .word = tokens[index].kind { index += 1 }
    }
    return index < tokens.count && tokens[index].kind == .symbol("(")
  }

  /// `TERNARY(condition, value, otherwise)`.
  mutating func ternary() throws -> PredicateOperand {
    advance()
    try expect("(")
    return try nested { parser in
      let parsed = try parser.disjunction()
      let condition = try parser.predicate(parsed)
      try parser.expect(",")
      let value = try parser.operand()
      try parser.expect(",")
      let otherwise = try parser.operand()
      try parser.expect(")")
      return .conditional(condition, value, otherwise)
    }
  }

  /// `FUNCTION(target, "method:", argument, …)`: the methods that are functions too, and any method of what a variable
  /// stands for, whose class is known when the variable has a value.
  mutating func methodCall() throws -> PredicateOperand {
    let start = current
    advance()
    try expect("(")
    let arguments = try nested { try $0.callArguments() }
    guard arguments.count >= 2, case .constant(.text(let name)) = arguments[1] else {
      throw failure("FUNCTION needs a target and the name of a method in quotes.", at: start)
    }
    let rest = [arguments[0]] + arguments.dropFirst(2)
    guard let function = PredicateFunction.methods[name] else {
      if let call = PredicateOperand(calling: name, rest) { return call }
      throw failure(
        "the method '\(name)' cannot be called; use \(PredicateFunction.methods.keys.sorted().joined(separator: ", ")), "
          + "or a function such as abs().", at: start)
    }
    guard rest.count == function.argumentCount else {
      throw failure("'\(name)' takes another number of arguments than \(rest.count - 1).", at: start)
    }
    return .function(function, rest)
  }

  /// `FETCH(request, context, countOnly)`.
  mutating func fetch() throws -> PredicateOperand {
    let start = current
    advance()
    try expect("(")
    let arguments = try nested { try $0.callArguments() }
    guard arguments.count == 3 else {
      throw failure("FETCH takes a request, a context and whether only a count is asked for (YES or NO).", at: start)
    }
    return .block(.fetch, arguments)
  }

  /// `[0]`, `[FIRST]`, `[LAST]` or `[SIZE]` after a list.
  mutating func subscripted(_ list: PredicateOperand) throws -> PredicateOperand {
    let symbols: [String: PredicateFunction] = ["FIRST": .first, "LAST": .last, "SIZE": .size]
    if case .word(let word) = current.kind, next.kind == .symbol("]"), let function = symbols[word.uppercased()] {
      advance()
      advance()
      return .function(function, [list])
    }
    let index = try nested { try $0.operand() }
    try expect("]")
    return .function(.element, [list, index])
  }

  /// `CAST(value, "type")`. Seconds since 2001-01-01 UTC as "NSDate" are the printed form of dates.
  mutating func cast() throws -> PredicateOperand {
    let start = current
    advance()
    try expect("(")
    let value = try nested { try $0.operand() }
    try expect(",")
    let type = try nested { try $0.operand() }
    try expect(")")
    guard case .constant(.text(let name)) = type, let target = CastTarget(rawValue: name) else {
      let names = CastTarget.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      throw failure("CAST needs a value and one of the types \(names).", at: start)
    }
    if target == .date, let date = value.dateOfSeconds { return .constant(.date(date)) }
    return .function(.cast, [value, type])
  }
}
