import Foundation

/// The types of arguments and results.
extension FunctionCall {
  /// An argument with its type.
  struct Argument {
    let operand: BoundOperand
    let type: PredicateValueType

    var name: String {
      switch operand {
      case .value(let value): PredicateConstant(value, type).formatDescription
      case .key, .computed: operand.name
      }
    }
  }

  func failure(_ reason: String) -> NSError { PredicateFailure.call(name, reason, in: comparison) }

  /// Single values; nil for null.
  func arguments(_ sides: [Side]) throws -> [Argument?] {
    try sides.map { side in
      switch side {
      case .term(let operand, let type): return Argument(operand: operand, type: type)
      case .constant(let constant):
        guard let type = constant.valueType, let value = constant.stored(as: type), !value.isNull else { return nil }
        return Argument(operand: .value(value), type: type)
      case .list: throw failure("it takes single values, not a list.")
      case .elements(let elements, _, _): throw PredicateFailure.manyValues(elements, in: comparison)
      }
    }
  }

  func require(_ argument: Argument, _ family: PredicateValueType.Family, named what: String) throws {
    guard argument.type.family == family else {
      throw failure("it takes \(what), and \(argument.name) is \(argument.type.describedName).")
    }
  }

  /// The type of a number that is calculated of others.
  func numberType(_ arguments: [Argument]) -> PredicateValueType {
    let types = Set(arguments.map(\.type))
    return types.contains(.real) ? .real : types.contains(.decimal) ? .decimal : .integer
  }

  /// The type that values of all these types have in common; nil if all are null.
  func commonType(_ arguments: [Argument?]) throws -> PredicateValueType? {
    let known = arguments.compactMap(\.self)
    // A constant adopts the type of an attribute.
    guard let first = known.first(where: { !$0.isValue }) ?? known.first else { return nil }
    for other in known where !other.isValue && other.type.family != first.type.family {
      throw PredicateFailure.incomparable((first.name, first.type), (other.name, other.type), in: comparison)
    }
    let types = Set(known.filter { $0.type.family == first.type.family }.map(\.type))
    if types.count == 1 { return first.type }
    return first.type.family == .number ? numberType(known.filter { $0.type.family == .number }) : first.type
  }

  /// The arguments as values of `type`, which are floating-point numbers for types other than whole numbers.
  func operands(_ arguments: [Argument?], as type: PredicateValueType) throws -> [BoundOperand] {
    try arguments.map { argument in
      guard let argument else { return .value(.null) }
      if case .value(let value) = argument.operand {
        let constant = PredicateConstant(value, argument.type)
        guard let stored = constant.stored(as: type) else {
          throw PredicateFailure.mismatch(constant, type, name: nil, in: comparison)
        }
        return .value(stored)
      }
      let isWhole = argument.type == .integer || argument.type == .boolean
      return isWhole && type.family == .number && type != .integer && type != .boolean
        ? Self.operand(.real, [argument], as: type) : argument.operand
    }
  }

  /// A call, or its value if that is the same for all objects.
  func call(_ scalar: ScalarFunction, _ arguments: [Argument], as type: PredicateValueType) -> Side {
    var values: [StoredValue] = []
    for argument in arguments {
      if case .value(let value) = argument.operand { values.append(value) }
    }
    if scalar.isDeterministic, values.count == arguments.count {
      return .constant(PredicateConstant(scalar.value(values), type))
    }
    return .computed(.function(scalar, arguments.map(\.operand)), type, name: name)
  }

  static func operand(
    _ scalar: ScalarFunction, _ arguments: [Argument], as type: PredicateValueType
  ) -> BoundOperand {
    .computed(
      BoundComputation(
        form: .function(scalar, arguments.map(\.operand)), type: type, name: arguments[0].name))
  }

  static func side(_ operand: BoundOperand, _ type: PredicateValueType) -> Side {
    if case .value(let value) = operand { return .constant(PredicateConstant(value, type)) }
    return .term(operand, type)
  }
}

extension FunctionCall.Argument {
  fileprivate var isValue: Bool { if case .value = operand { true } else { false } }
}

extension PredicateConstant {
  /// A stored value of a type as a constant.
  package init(_ value: StoredValue, _ type: PredicateValueType) {
    switch value {
    case .null: self = .null
    case .integer(let number) where type == .boolean && (number == 0 || number == 1): self = .boolean(number == 1)
    case .integer(let number): self = .integer(number)
    case .real(let number): self = Self.constant(number, type)
    case .decimal(let number): self = .decimal(number)
    case .text(let text): self = type == .uri ? URL(string: text).map { .url($0) } ?? .text(text) : .text(text)
    case .blob(let data): self = .data(data)
    }
  }

  private static func constant(_ number: Double, _ type: PredicateValueType) -> PredicateConstant {
    if number.isNaN { return .null }
    switch type {
    case .date: return .date(Date(timeIntervalSinceReferenceDate: number))
    case .decimal:
      // Decimals have a smaller range.
      let decimal = number.isFinite ? Decimal(storedReal: number) : .nan
      return decimal.storedReal == number ? .decimal(decimal) : .real(number)
    default: return .real(number)
    }
  }
}

extension BoundOperand {
  /// Whether it is a value that is equal to another one.
  func isEqual(to other: StoredValue) -> Bool {
    if case .value(let value) = self { StoredValueOrder.compare(value, other) == 0 } else { false }
  }
}
