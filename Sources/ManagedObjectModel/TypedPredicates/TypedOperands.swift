import Foundation

extension PredicateExpressions.Variable: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand { try conversion.operand(of: key) }
}

extension PredicateExpressions.Value: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand {
    .constant(PredicateConstant(argument: value))
  }
}

extension PredicateExpressions.NilLiteral: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand { .constant(.null) }
}

extension PredicateExpressions.KeyPath: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand {
    let start = try conversion.operand(root)
    switch kind {
    case .collectionCount?: return Self.count(of: start, isText: Root.Output.self is any StringProtocol.Type)
    case .collectionIsEmpty?:
      let isEmpty = Self.count(of: start, isText: Root.Output.self is any StringProtocol.Type)
        .compared(.equal, .constant(.integer(0)))
      return .conditional(isEmpty, .constant(.boolean(true)), .constant(.boolean(false)))
    case .collectionFirst?: return .function(.first, [start])
    case .bidirectionalCollectionLast?: return .function(.last, [start])
    case nil: break
    @unknown default: throw TypedConversion.unknown(self)
    }
    guard let names = KeyPathNames.names(of: keyPath) else { throw TypedConversion.unknown(keyPath) }
    return start.following(names)
  }

  private static func count(of start: PredicateOperand, isText: Bool) -> PredicateOperand {
    isText ? .function(.length, [start]) : start.following([CollectionOperator.count.rawValue])
  }
}

extension PredicateExpressions.ForcedUnwrap: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand { try conversion.operand(inner) }
}

extension PredicateExpressions.OptionalFlatMap: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand {
    let some = try conversion.operand(wrapped)
    return try conversion.bind(variable.key, to: some) { try $0.operand(transform) }
  }
}

extension PredicateExpressions.NilCoalesce: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand {
    let some = try conversion.operand(lhs)
    return .conditional(some.compared(.equal, .constant(.null)), try conversion.operand(rhs), some)
  }
}

extension PredicateExpressions.Conditional: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand {
    .conditional(
      try conversion.node(test), try conversion.operand(trueBranch), try conversion.operand(falseBranch))
  }
}

extension PredicateExpressions.Filter: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand {
    try conversion.subquery(of: sequence, variable.key, where: filter)
  }
}

// MARK: Numbers

extension PredicateExpressions.Arithmetic: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand {
    let function: PredicateFunction =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw TypedConversion.unknown(self)
      }
    return try conversion.operand(lhs).calculated(function, conversion.operand(rhs))
  }
}

extension PredicateExpressions.FloatDivision: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand {
    try conversion.operand(lhs).calculated(.divide, conversion.operand(rhs))
  }
}

extension PredicateExpressions.IntDivision: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand {
    try conversion.operand(lhs).calculated(.divide, conversion.operand(rhs))
  }
}

extension PredicateExpressions.IntRemainder: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand {
    try conversion.operand(lhs).calculated(.modulus, conversion.operand(rhs))
  }
}

extension PredicateExpressions.UnaryMinus: TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand {
    PredicateOperand.constant(.integer(0)).calculated(.subtract, try conversion.operand(wrapped))
  }
}
