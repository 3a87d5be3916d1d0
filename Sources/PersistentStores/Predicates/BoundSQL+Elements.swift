import ManagedObjectModel

/// Elements of to-many relationships, as sub-selects.
extension BoundSQL {
  func value(_ computation: BoundComputation) throws -> SQLFragment {
    switch computation.form {
    case .count(let elements):
      return try select("count(*)", of: elements)
    case .distinctCount(let elements, let operand):
      return try select(elements) { inner in
        SQLFragment("count(DISTINCT ") + (try inner.value(operand)) + SQLFragment(")")
      }
    case .summary(let kind, let elements, let operand):
      let opening = kind.sqlFunction + (elements.countsValuesOnce ? "(DISTINCT " : "(")
      let summary = try select(elements) { inner in
        SQLFragment(opening) + (try inner.value(operand)) + SQLFragment(")")
      }
      return kind.sqlOfAny(summary, computation.type)
    case .function(let function, let operands):
      return try value(function, operands)
    case .conditional(let condition, let first, let second):
      return try value(condition, first, otherwise: second)
    }
  }
}
