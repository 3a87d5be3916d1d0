import Foundation

/// Converts the validation predicates of a compiled attribute back into the bounds, lengths and pattern that the model
/// editor created them from.
struct ArchivedConstraints {
  let attribute: NSAttributeDescription
  private(set) var constraints = AttributeConstraints()

  init(_ attribute: NSAttributeDescription) { self.attribute = attribute }

  /// Whether the whole predicate was converted. If not, no part of it was.
  mutating func add(_ predicate: ArchivedPredicate?) -> Bool {
    let before = constraints
    let isTaken =
      switch predicate {
      case .and(let parts)?: parts.allSatisfy { add($0) }
      case .comparison(let comparison)?: add(comparison)
      case .constant(true)?: true
      default: false
      }
    if !isTaken { constraints = before }
    return isTaken
  }

  /// A separate bound: a length for strings.
  mutating func addBound(_ operation: PredicateOperator, _ bound: ArchiveValue) {
    let constant: PredicateConstant? =
      if attribute.attributeType == .dateAttributeType {
        bound.real.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
      } else {
        bound.integer.map(PredicateConstant.integer) ?? bound.real.map(PredicateConstant.real)
      }
    guard let constant else { return }
    if attribute.attributeType == .stringAttributeType {
      _ = addLength(operation, constant.length)
    } else {
      _ = addBound(operation, .constant(constant))
    }
  }

  private mutating func add(_ comparison: ArchivedComparison) -> Bool {
    guard comparison.modifier == .direct, comparison.options.isEmpty else { return false }
    switch (comparison.left, comparison.right) {
    case (.selfObject, let bound), (.keyPath("SELF", of: .selfObject), let bound):
      return addBound(comparison.operation, bound)
    case (.keyPath("length", of: .selfObject), .constant(let bound)),
      (.function("length", _), .constant(let bound)):
      return addLength(comparison.operation, bound.length)
    default: return false
    }
  }

  private mutating func addBound(_ operation: PredicateOperator, _ bound: ArchivedExpression) -> Bool {
    switch (operation, bound) {
    case (.matches, .constant(.text(let pattern))): return (try? constraints.setPattern(pattern)) != nil
    case (.between, .aggregate(let bounds)) where bounds.count == 2:
      return addBound(.greaterOrEqual, bounds[0]) && addBound(.lessOrEqual, bounds[1])
    case (.between, .constant(.collection(let bounds))) where bounds.count == 2:
      return addBound(.greaterOrEqual, .constant(bounds[0])) && addBound(.lessOrEqual, .constant(bounds[1]))
    case (_, .constant(let constant)):
      guard let value = constant.plainValue, let stored = attribute.storedValue(from: value), stored.number != nil
      else { return false }
      return addNumber(operation, stored)
    default: return false
    }
  }

  /// Bounds are always inclusive; only whole numbers have a successor that makes an exclusive bound inclusive.
  private mutating func addNumber(_ operation: PredicateOperator, _ bound: StoredValue) -> Bool {
    switch (operation, bound) {
    case (.greaterOrEqual, _): constraints.minimum = bound
    case (.lessOrEqual, _): constraints.maximum = bound
    case (.equal, _): (constraints.minimum, constraints.maximum) = (bound, bound)
    case (.greater, .integer(let number)) where number < .max: constraints.minimum = .integer(number + 1)
    case (.less, .integer(let number)) where number > .min: constraints.maximum = .integer(number - 1)
    default: return false
    }
    return true
  }

  private mutating func addLength(_ operation: PredicateOperator, _ length: Int?) -> Bool {
    guard let length, attribute.attributeType == .stringAttributeType else { return false }
    switch operation {
    case .greaterOrEqual: constraints.lengthMin = length
    case .greater: constraints.lengthMin = length + 1
    case .lessOrEqual: constraints.lengthMax = length
    case .less where length > 0: constraints.lengthMax = length - 1
    case .equal: (constraints.lengthMin, constraints.lengthMax) = (length, length)
    default: return false
    }
    return true
  }
}

extension ArchivedPredicate {
  /// As a predicate that validates values of `attribute`; nil if it can't be evaluated on these.
  func validation(of attribute: NSAttributeDescription) -> NSPredicate? {
    guard let text = formatText, let predicate = try? NSPredicate.parse(format: text),
      (try? ValuePredicate(predicate, attribute)) != nil
    else { return nil }
    return predicate
  }
}

extension PredicateConstant {
  /// In the form that `storedValue(from:)` takes.
  fileprivate var plainValue: Any? {
    switch self {
    case .integer(let number): number
    case .real(let number): number
    case .decimal(let number): number
    case .boolean(let flag): flag
    case .date(let date): date
    default: nil
    }
  }

  /// A whole number that is valid as a string length.
  fileprivate var length: Int? {
    let number: Int64? =
      switch self {
      case .integer(let number): number
      case .real(let number): Int64(exactly: number)
      case .decimal(let number): Int64(exactly: NSDecimalNumber(decimal: number).doubleValue)
      default: nil
      }
    return number.flatMap { (0..<Int64(Int32.max)).contains($0) ? Int($0) : nil }
  }
}
