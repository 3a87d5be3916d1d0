import Foundation

/// An expression with typed keys and with constants in stored form.
///
/// Objects in memory and rows in SQLite are asked by this one tree, so both give the same values.
package struct BoundExpression: Sendable {
  package let operand: BoundOperand
  package let type: PredicateValueType
  /// The attributes that are read, as in `BoundPredicate`.
  package let keys: [PredicateKey]

  /// Whether it is nil for every object.
  package var isNull: Bool { if case .value(.null) = operand { true } else { false } }

  /// The value for an object.
  package func value<Reader: PredicateReader>(
    of object: Reader.Element, _ reader: Reader
  ) throws(Reader.Failure) -> StoredValue {
    type.normalized(try PredicateMatching(reader: reader).value(operand, [object]))
  }

  /// The value for an object without relationships to many.
  ///
  /// - Parameter value: The object's stored value for a key.
  package func value(_ value: (PredicateKey) -> StoredValue) -> StoredValue {
    withoutActuallyEscaping(value) { value in
      self.value(of: (), ValueReader { (key) throws(Never) in value(key) })
    }
  }
}

extension PredicateOperand {
  /// The expression bound to the attributes of `schema`.
  ///
  /// - Throws: What the schema throws for an unknown key path, and `NSError` 134060 if it has no single value.
  package func bound(to schema: any PredicateSchema) throws -> BoundExpression {
    var binder = PredicateBinder(schema: schema, isStrict: true)
    switch try side(&binder) {
    case .term(let operand, let type):
      return BoundExpression(operand: operand, type: type, keys: binder.keys)
    case .constant(let constant):
      guard let type = constant.valueType, let value = constant.stored(as: type) else {
        guard constant == .null else { throw PredicateFailure.expression(self, "a store has no such value.") }
        return BoundExpression(operand: .value(.null), type: .text, keys: [])
      }
      return BoundExpression(operand: .value(value), type: type, keys: [])
    case .list, .elements:
      throw PredicateFailure.expression(
        self, "it has several values. Count them with @count, or use @sum, @min, @max or @avg.")
    }
  }

  /// Whether it has a single value of each object.
  func isSingle(in schema: any PredicateSchema) throws -> Bool {
    var binder = PredicateBinder(schema: schema, isStrict: true)
    switch try side(&binder) {
    case .term, .constant: return true
    case .list, .elements: return false
    }
  }

  private func side(_ binder: inout PredicateBinder) throws -> PredicateBinder.Side {
    // For messages, which are about comparisons.
    let comparison = PredicateComparison(left: self, operation: .equal, right: .constant(.null))
    do {
      return try binder.side(self, of: comparison)
    } catch let error as NSError where error.userInfo["NSPredicateFormat"] as? String == comparison.formatDescription {
      throw PredicateFailure.expression(self, error.localizedFailureReason ?? error.localizedDescription)
    }
  }
}

extension PredicateValueType {
  /// The one form of a value of this type: columns keep whole reals and decimals as integers, and whole numbers beyond
  /// 64 bits as reals.
  package func normalized(_ value: StoredValue) -> StoredValue {
    switch (self, value) {
    case (.real, .integer(let number)), (.date, .integer(let number)): .real(Double(number))
    case (.real, .decimal(let number)): .real(number.storedReal)
    case (.decimal, .integer(let number)): .decimal(Decimal(number))
    case (.decimal, .real(let number)): number.isNaN ? .null : .decimal(Decimal(storedReal: number))
    default: StoredValueOrder.isNull(value) ? .null : value
    }
  }
}
