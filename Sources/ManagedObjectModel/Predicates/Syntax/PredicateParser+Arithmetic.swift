import Foundation

/// Operands with their operators.
extension PredicateParser {
  /// The maximum number of operators in one chain: far beyond hand-written expressions, and within the depth that trees
  /// can be walked.
  private static let chainMax = 100

  mutating func operand() throws -> PredicateOperand { try continued(try signed()) }

  /// The arithmetic and the set operations that begin with an operand.
  mutating func continued(_ first: PredicateOperand) throws -> PredicateOperand {
    var (result, count) = (try sum(first), 0)
    while case .word(let word) = current.kind, let function = Self.setOperations[word.uppercased()] {
      try take(&count)
      let list = try signed()
      result = .function(function, [result, try sum(list)])
    }
    return result
  }

  private static let setOperations: [String: PredicateFunction] = [
    "UNION": .union, "INTERSECT": .intersection, "MINUS": .difference,
  ]

  private mutating func sum(_ first: PredicateOperand) throws -> PredicateOperand {
    try chain(try product(try power(first)), [.add, .subtract]) { try $0.product(try $0.power(try $0.signed())) }
  }

  private mutating func product(_ first: PredicateOperand) throws -> PredicateOperand {
    try chain(first, [.multiply, .divide]) { try $0.power(try $0.signed()) }
  }

  private mutating func chain(
    _ first: PredicateOperand, _ functions: [PredicateFunction],
    term: (inout PredicateParser) throws -> PredicateOperand
  ) throws -> PredicateOperand {
    var (result, count) = (first, 0)
    while let function = functions.first(where: { current.kind == .symbol($0.sign ?? "") }) {
      try take(&count)
      result = .function(function, [result, try term(&self)])
    }
    return result
  }

  /// Reads one more operator of a chain.
  private mutating func take(_ count: inout Int) throws {
    count += 1
    guard count <= Self.chainMax else {
      throw failure("more than \(Self.chainMax) operators in a row; split the expression.")
    }
    advance()
  }

  private mutating func power(_ base: PredicateOperand) throws -> PredicateOperand {
    guard accept("**") else { return base }
    let exponent = try signed()
    guard current.kind != .symbol("**") else {
      throw failure("a ** b ** c can be read in two ways; write (a ** b) ** c or a ** (b ** c).")
    }
    return .function(.power, [base, exponent])
  }

  /// An operand that may have a sign. `-a` is `0 - a`.
  private mutating func signed() throws -> PredicateOperand {
    guard case .symbol(let sign) = current.kind, sign == "-" || sign == "+" else {
      return try continuedPath(try bareOperand())
    }
    advance()
    if case .number(let number) = current.kind, next.kind != .symbol("**") {
      advance()
      return .constant(sign == "-" ? number.negated : number)
    }
    return try nested { parser in
      let operand = try parser.power(try parser.signed())
      return sign == "-" ? .function(.subtract, [.constant(.integer(0)), operand]) : operand
    }
  }

  /// The operand with the key paths and subscripts that follow it.
  mutating func continuedPath(_ operand: PredicateOperand) throws -> PredicateOperand {
    var result = operand
    for _ in 0..<Self.chainMax {
      if accept("[") {
        result = try subscripted(result)
      } else if result.takesPath, accept(".") {
        guard case .keyPath(let path) = try keyPath() else { throw unexpected(expecting: "a key after '.'") }
        result = .path(result, path)
      } else {
        return result
      }
    }
    throw failure("more than \(Self.chainMax) subscripts in a row.")
  }
}

extension PredicateOperand {
  /// Whether a key path may follow.
  fileprivate var takesPath: Bool {
    switch self {
    case .variable, .subquery, .path, .function(.first, _), .function(.last, _), .function(.element, _): true
    default: false
    }
  }

  /// The date that is a literal number of seconds after 2001-01-01 UTC.
  var dateOfSeconds: Date? {
    switch self {
    case .constant(.integer(let value)): Date(timeIntervalSinceReferenceDate: Double(value))
    case .constant(.real(let value)): Date(timeIntervalSinceReferenceDate: value)
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
