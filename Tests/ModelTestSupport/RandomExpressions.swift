import Foundation
import TestSupport

import ManagedObjectModel

/// Random expressions about rows of `SurfSchema`, and comparisons of two of them.
package struct RandomExpressions {
  package var generator: SeededGenerator
  /// Whether choices may be between whole and other numbers. A single object does not tell the type of a nil.
  package var mixes: Bool

  package init(generator: SeededGenerator, mixes: Bool) {
    self.generator = generator
    self.mixes = mixes
  }

  package enum Kind: CaseIterable { case whole, real, text, date }

  private static let keys: [Kind: [String]] = [
    .whole: ["rating", "wind", "isClean"], .real: ["height", "period", "price"], .text: ["name", "location"],
    .date: ["date", "until"],
  ]

  package mutating func one<Values: Collection>(of values: Values) -> Values.Element where Values.Index == Int {
    values[Int.random(in: 0..<values.count, using: &generator)]
  }

  package mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

  // MARK: Comparisons

  package mutating func node(depth: Int = 2) -> PredicateNode {
    if depth > 0, chance(40) {
      let (first, second) = (node(depth: depth - 1), node(depth: depth - 1))
      return one(of: [.not(first), .and([first, second]), .or([first, second])])
    }
    let kind = one(of: Kind.allCases)
    let (left, right) = (value(kind), value(kind))
    let isText = kind == .text
    let options = PredicateOptions(rawValue: isText && chance(40) ? Int.random(in: 1...4, using: &generator) : 0)
    switch Int.random(in: 0..<10, using: &generator) {
    case 0:
      return .comparison(.init(left: left, operation: .between, right: .aggregate([right, value(kind)])))
    case 1:
      return .comparison(
        .init(left: left, operation: .isIn, right: .aggregate([right, value(kind), value(kind)]), options: options))
    case 2 where isText:
      let operation = one(of: [PredicateOperator.contains, .beginsWith, .endsWith, .like])
      return .comparison(.init(left: left, operation: operation, right: right, options: options))
    default:
      let operation = one(of: [PredicateOperator.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
      return .comparison(.init(left: left, operation: operation, right: right, options: options))
    }
  }

  // MARK: Values

  package mutating func value(_ kind: Kind, depth: Int = 2) -> PredicateOperand {
    guard depth > 0, chance(70) else { return leaf(kind) }
    if chance(12) {
      return .conditional(node(depth: 0), value(branch(kind), depth: depth - 1), value(kind, depth: depth - 1))
    }
    if chance(15), kind != .text || mixes {
      let values = (0..<Int.random(in: 1...3, using: &generator)).map { _ in value(branch(kind), depth: depth - 1) }
      return .function(one(of: [.minimum, .maximum]), chance(50) ? [.aggregate(values)] : values)
    }
    switch kind {
    case .whole: return whole(depth - 1)
    case .real: return real(depth - 1)
    case .text: return text(depth - 1)
    case .date: return date(depth - 1)
    }
  }

  private mutating func branch(_ kind: Kind) -> Kind {
    mixes && (kind == .whole || kind == .real) ? one(of: [.whole, .real]) : kind
  }

  private mutating func leaf(_ kind: Kind) -> PredicateOperand {
    if chance(60) { return .keyPath([one(of: Self.keys[kind] ?? [])]) }
    if chance(4) { return .constant(.null) }
    switch kind {
    case .whole:
      let number = one(of: RandomPredicates.integers)
      return .constant(.integer(mixes ? number : number % 100))
    case .real:
      return .constant(
        chance(70) ? .real(one(of: RandomPredicates.reals)) : .decimal(one(of: RandomPredicates.decimals)))
    case .text: return .constant(.text(one(of: RandomPredicates.texts)))
    case .date: return .constant(.date(Date(timeIntervalSinceReferenceDate: one(of: RandomPredicates.reals))))
    }
  }

  private mutating func whole(_ depth: Int) -> PredicateOperand {
    switch Int.random(in: 0..<8, using: &generator) {
    case 0: return .function(.length, [value(.text, depth: depth)])
    case 1: return .function(one(of: [.absolute, .floor, .onesComplement]), [leaf(.whole)])
    case 2:
      let functions: [PredicateFunction] =
        [.bitwiseAnd, .bitwiseOr, .bitwiseXor] + (mixes ? [.leftShift, .rightShift] : [])
      return .function(one(of: functions), wholes())
    case 3: return .function(.sum, [.aggregate([value(.whole, depth: depth), value(.whole, depth: depth)])])
    case 4: return .function(.count, [.aggregate([value(.whole, depth: depth), value(.real, depth: depth)])])
    default:
      let function = one(of: [PredicateFunction.add, .subtract, .multiply, .divide, .modulus])
      return .function(function, [value(.whole, depth: depth), value(.whole, depth: depth)])
    }
  }

  /// Sums may exceed 64 bits, and are whole numbers no longer.
  private mutating func wholes() -> [PredicateOperand] { [leaf(.whole), leaf(.whole)] }

  private mutating func real(_ depth: Int) -> PredicateOperand {
    switch Int.random(in: 0..<8, using: &generator) {
    case 0:
      return .function(
        one(of: [.squareRoot, .naturalLogarithm, .logarithm, .exponential]), [value(branch(.real), depth: depth)])
    case 1: return .function(one(of: [.absolute, .ceiling, .floor, .truncation]), [value(.real, depth: depth)])
    case 2:
      return .function(
        one(of: [.average, .median, .deviation, .sum]),
        [.aggregate([value(.real, depth: depth), value(.whole, depth: depth), value(.real, depth: depth)])])
    case 3: return .function(.subtract, [value(.date, depth: depth), value(.date, depth: depth)])
    case 4:
      return .function(.cast, [value(one(of: [.real, .date]), depth: depth), .constant(.text("NSDecimalNumber"))])
    case 5: return .function(.power, [value(.real, depth: depth), leaf(.whole)])
    default:
      let function = one(of: [PredicateFunction.add, .subtract, .multiply, .divide, .modulus])
      let operands = [value(.real, depth: depth), value(one(of: [.whole, .real]), depth: depth)]
      return .function(function, chance(50) ? operands : operands.reversed())
    }
  }

  private mutating func text(_ depth: Int) -> PredicateOperand {
    if chance(25) {
      return .function(.cast, [value(one(of: [.whole, .real]), depth: depth), .constant(.text("NSString"))])
    }
    return .function(one(of: [.lowercase, .uppercase, .canonical]), [value(.text, depth: depth)])
  }

  private mutating func date(_ depth: Int) -> PredicateOperand {
    if chance(30) { return .function(.cast, [value(.real, depth: depth), .constant(.text("NSDate"))]) }
    let seconds = value(one(of: [.whole, .real]), depth: depth)
    return .function(one(of: [.add, .subtract]), [value(.date, depth: depth), seconds])
  }
}
