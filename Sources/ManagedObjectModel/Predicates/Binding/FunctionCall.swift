import Foundation

/// Binds one call of a function whose arguments are bound.
struct FunctionCall {
  typealias Side = PredicateBinder.Side

  let function: PredicateFunction
  /// As it is written, for messages.
  let name: String
  let comparison: PredicateComparison

  /// A call of that function on values of these types.
  func side(_ sides: [Side]) throws -> Side {
    let arguments = try arguments(sides)
    if arguments.contains(where: { $0 == nil }) { return .constant(.null) }
    let known = arguments.compactMap(\.self)
    switch function {
    case .add, .subtract, .multiply, .divide:
      return try arithmetic(known[0], known[1])
    case .modulus, .power, .absolute, .ceiling, .floor, .truncation, .squareRoot, .naturalLogarithm, .logarithm,
      .exponential, .random, .randomBelow:
      for argument in known { try require(argument, .number, named: "numbers") }
      return call(numeric, known, as: function.keepsWholeNumbers ? numberType(known) : .real)
    case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement:
      for argument in known where argument.type != .integer && argument.type != .boolean {
        throw failure("it calculates with whole numbers, and \(argument.name) is \(argument.type.describedName).")
      }
      return call(numeric, known, as: .integer)
    default:
      for argument in known { try require(argument, .text, named: "text") }
      return call(textual, known, as: function == .length ? .integer : .text)
    }
  }

  /// The scalar function of numbers.
  private var numeric: ScalarFunction {
    switch function {
    case .modulus: .modulus
    case .power: .power
    case .absolute: .absolute
    case .ceiling: .ceiling
    case .floor: .floor
    case .truncation: .truncation
    case .squareRoot: .squareRoot
    case .naturalLogarithm: .naturalLogarithm
    case .logarithm: .logarithm
    case .exponential: .exponential
    case .bitwiseAnd: .bitwiseAnd
    case .bitwiseOr: .bitwiseOr
    case .bitwiseXor: .bitwiseXor
    case .leftShift: .leftShift
    case .rightShift: .rightShift
    case .onesComplement: .onesComplement
    case .randomBelow: .randomBelow
    default: .random
    }
  }

  private var textual: ScalarFunction {
    switch function {
    case .lowercase: .lowercase
    case .uppercase: .uppercase
    case .length: .length
    default: .canonical
    }
  }

  // MARK: + - * /

  private func arithmetic(_ left: Argument, _ right: Argument) throws -> Side {
    let scalar: ScalarFunction =
      switch function {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      default: .divide
      }
    switch (left.type.family, right.type.family) {
    case (.number, .number): return call(scalar, [left, right], as: numberType([left, right]))
    case (.date, .number) where scalar == .add || scalar == .subtract: return call(scalar, [left, right], as: .date)
    case (.number, .date) where scalar == .add: return call(scalar, [left, right], as: .date)
    case (.date, .date) where scalar == .subtract: return call(scalar, [left, right], as: .real)
    default:
      throw failure(
        "it can't be calculated of \(left.type.describedName) and \(right.type.describedName). Calculate with numbers, "
          + "or with a date and seconds.")
    }
  }

  // MARK: CAST

  func cast(_ side: Side, to target: CastTarget) throws -> Side {
    guard let argument = try arguments([side])[0] else { return .constant(.null) }
    switch (argument.type.family, target) {
    case (.number, .number), (.date, .date):
      return Self.side(argument.operand, argument.type)
    case (.number, .decimal):
      return call(.real, [argument], as: .decimal)
    case (.date, .number):
      return call(.real, [argument], as: .real)
    case (.date, .decimal):
      return call(.real, [argument], as: .decimal)
    case (.number, .date):
      return call(.real, [argument], as: .date)
    case (.number, .text):
      return call(.numberAsText, [argument], as: .text)
    case (.text, .text):
      return Self.side(argument.operand, .text)
    case (.text, .number):
      return call(.textAsNumber, [argument], as: .real)
    case (.text, .decimal):
      return call(
        .real, [Argument(operand: Self.operand(.textAsNumber, [argument], as: .real), type: .real)], as: .decimal)
    case (.text, .date):
      return call(.textAsDate, [argument], as: .date)
    default:
      throw failure("\(argument.type.describedName) can't be converted to \(target.rawValue).")
    }
  }

  // MARK: Lists

  /// A function of the arguments, or of the list that is the only one.
  func summary(_ sides: [Side]) throws -> Side {
    var listed = sides
    if sides.count == 1, case .list(let list) = sides[0] { listed = list }
    if function == .size, case .list = sides[0] { return .constant(.integer(Int64(listed.count))) }
    if function == .size { throw failure("[SIZE] follows a list or a to-many relationship.") }
    if function == .count { return .constant(.integer(Int64(listed.count))) }
    let known = try arguments(listed).compactMap(\.self)
    guard let kind = function.summary else { return try mode(known) }
    if kind == .minimum || kind == .maximum {
      guard let type = try commonType(known) else { return .constant(.null) }
      guard type != .object else { throw PredicateFailure.unordered(name, in: comparison) }
      let operands = try operands(known, as: type)
      return call(kind == .minimum ? .minimum : .maximum, operands.map { Argument(operand: $0, type: type) }, as: type)
    }
    for argument in known { try require(argument, .number, named: "numbers") }
    switch kind {
    case .sum: return call(.sum, known, as: numberType(known))
    case .average: return call(.average, known, as: .real)
    case .median: return call(.median, known, as: .real)
    default: return call(.deviation, known, as: .real)
    }
  }

  /// Every number that occurs most often.
  private func mode(_ arguments: [Argument]) throws -> Side {
    var counts: [(value: StoredValue, type: PredicateValueType, count: Int)] = []
    for argument in arguments {
      guard case .value(let value) = argument.operand else {
        throw failure("mode needs values; \(argument.name) has another one for each object.")
      }
      if let index = counts.firstIndex(where: { StoredValueOrder.compare($0.value, value) == 0 }) {
        counts[index].count += 1
      } else {
        counts.append((value, argument.type, 1))
      }
    }
    let most = counts.map(\.count).max()
    return .list(counts.filter { $0.count == most }.map { Self.side(.value($0.value), $0.type) })
  }

  /// The elements of two lists of values together, each once.
  func combination(_ sides: [Side]) throws -> Side {
    guard case .list(let left) = sides[0], case .list(let right) = sides[1] else {
      throw failure("it combines two lists. Use IN with each of them, and AND, OR or NOT.")
    }
    let (first, second) = (try values(left), try values(right))
    func contains(_ values: [Argument], _ value: StoredValue) -> Bool {
      values.contains { $0.operand.isEqual(to: value) }
    }
    var result: [Argument] = []
    for argument in function == .union ? first + second : first {
      guard case .value(let value) = argument.operand, !contains(result, value) else { continue }
      if function == .intersection, !contains(second, value) { continue }
      if function == .difference, contains(second, value) { continue }
      result.append(argument)
    }
    return .list(result.map { Self.side($0.operand, $0.type) })
  }

  private func values(_ list: [Side]) throws -> [Argument] {
    try arguments(list).compactMap(\.self).map { argument in
      guard case .value = argument.operand else {
        throw failure("it combines values; \(argument.name) has another one for each object.")
      }
      return argument
    }
  }

  /// `list[n]`, `list[FIRST]` and `list[LAST]`; null where the list ends before.
  func element(_ sides: [Side]) throws -> Side {
    guard case .list(let list) = sides[0] else {
      throw failure(PredicateFailure.elementAtPosition)
    }
    switch function {
    case .first: return list.first ?? .constant(.null)
    case .last: return list.last ?? .constant(.null)
    default:
      guard case .constant(let constant) = sides[1], case .integer(let index)? = constant.stored(as: .integer) else {
        throw failure("a position is a whole number.")
      }
      return list.indices.contains(Int(index)) ? list[Int(index)] : .constant(.null)
    }
  }
}

extension PredicateFunction {
  /// Whether it gives whole numbers for whole numbers.
  fileprivate var keepsWholeNumbers: Bool {
    switch self {
    case .modulus, .absolute, .ceiling, .floor, .truncation, .random, .randomBelow: true
    default: false
    }
  }
}
