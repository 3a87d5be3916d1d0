import Foundation
import TestSupport

import ManagedObjectModel

/// Random rows of `SurfSchema` and random predicates about them, from small pools of awkward values so that
/// comparisons hold often enough.
package struct RandomPredicates {
  package var generator: SeededGenerator

  package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  package static let texts = [
    "", "a", "A", "ab", "AB", "é", "É", "e\u{301}", "E\u{301}", "e", "ß", "ss", "SS", "ñandú", "NANDU", "İ",
    "i", "K", "k", "日本", "pipe", "Pipe", "PIPE", "Pípe", "banzai pipeline", "Banzaï PIPELINE", "100%", "a_b",
    "a*b", "a?b", "a\\b", "a\nb", "a\0b", "a\0c", "🌊", "🌊🏄", "\u{D7FF}", "\u{E000}", "\u{10FFFF}", "ﬁn",
    "fin", "3",
  ]
  package static let integers: [Int64] = [
    .min, .max, .max - 1, -1, 0, 1, 2, 3, 5, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1, 1_000_000_007,
  ]
  package static let reals: [Double] = [
    0, -0.0, 0.1, 0.5, 1, 2.5, 3, -1, 9_007_199_254_740_992, 9_007_199_254_740_994, 0x1p63, -0x1p63, 1e300,
    -1e300,
    .infinity, -.infinity, .nan, .leastNonzeroMagnitude, 427_161_600, 427_161_600.25, 123456.789,
    0.30000000000000004,
  ]
  package static let decimals = [
    "0", "0.1", "3", "-1", "123456.789", "0.000001234", "9007199254740993", "1e-30", "NaN",
  ]
  .map { Decimal(string: $0) ?? .nan }
  package static let blobs = [Data(), Data([0]), Data([0, 1]), Data([255]), Data("a".utf8)]
  package static let uuids = (0..<4).map { number in
    UUID(uuidString: "0000000\(number)-0000-0000-0000-00000000000\(number)") ?? UUID()
  }

  private mutating func one<Values: Collection>(of values: Values) -> Values.Element
  where Values.Index == Int {
    values[Int.random(in: 0..<values.count, using: &generator)]
  }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &generator) < percent
  }

  // MARK: Rows

  package mutating func row() -> [String: StoredValue] {
    var row: [String: StoredValue] = [:]
    for name in SurfSchema.names where !chance(20) { row[name] = value(SurfSchema.types[name] ?? .text) }
    return row
  }

  private mutating func value(_ type: PredicateValueType) -> StoredValue {
    switch type {
    case .integer: .integer(one(of: Self.integers))
    case .boolean: .integer(one(of: [0, 1]))
    case .real, .date: .real(one(of: Self.reals))
    case .decimal: .decimal(one(of: Self.decimals))
    case .text, .uri: .text(one(of: Self.texts))
    case .uuid: constant(.uuid).stored(as: .uuid) ?? .null
    case .blob: .blob(one(of: Self.blobs))
    case .object: .null
    }
  }

  // MARK: Predicates

  package mutating func node(depth: Int = 3) -> PredicateNode {
    guard depth > 0, chance(60) else { return chance(3) ? .constant(chance(50)) : .comparison(comparison()) }
    switch Int.random(in: 0..<3, using: &generator) {
    case 0: return .not(node(depth: depth - 1))
    case 1: return .and(nodes(depth))
    default: return .or(nodes(depth))
    }
  }

  private mutating func nodes(_ depth: Int) -> [PredicateNode] {
    (0..<Int.random(in: 2...3, using: &generator)).map { _ in node(depth: depth - 1) }
  }

  private mutating func comparison() -> PredicateComparison {
    let key = one(of: SurfSchema.names)
    let type = SurfSchema.types[key] ?? .text
    let isText = type.family == .text
    var operations = PredicateOperator.allCases
    if !isText { operations.removeAll { [.contains, .beginsWith, .endsWith, .like, .matches].contains($0) } }
    let operation = one(of: operations)
    var options = PredicateOptions(
      rawValue: isText && chance(50) ? Int.random(in: 1...3, using: &generator) : 0)
    if isText, chance(15) { options.insert(.localeSensitive) }
    switch operation {
    case .between:
      return .init(
        left: .keyPath([key]), operation: operation, right: .aggregate([operand(type), operand(type)]), options: options
      )
    case .isIn:
      let count = Int.random(in: 0...4, using: &generator)
      return .init(
        left: .keyPath([key]), operation: operation, right: .aggregate((0..<count).map { _ in operand(type) }),
        options: options)
    case .like:
      return .init(left: .keyPath([key]), operation: operation, right: .constant(.text(pattern())), options: options)
    case .matches:
      return .init(
        left: .keyPath([key]), operation: operation,
        right: .constant(
          .text(one(of: ["a|ab", "[a-z]+", ".*pipe.*", "p.pe", "É", "\\w*", "a.c", "(?x) a b # c"]))),
        options: options)
    default:
      let other = operand(type)
      let isTurned = chance(30)
      return .init(
        left: isTurned ? other : .keyPath([key]), operation: operation, right: isTurned ? .keyPath([key]) : other,
        options: options)
    }
  }

  private mutating func pattern() -> String {
    let text = chance(60) ? one(of: Self.texts.filter { !$0.contains("*") }) : ""
    return (chance(50) ? "*" : "") + text.map { chance(20) ? "?" : String($0) }.joined()
      + (chance(50) ? "*" : "")
  }

  /// A key or a constant that can be compared with values of `type`.
  private mutating func operand(_ type: PredicateValueType) -> PredicateOperand {
    if chance(20) {
      let keys = SurfSchema.names.filter { SurfSchema.types[$0]?.family == type.family }
      return .keyPath([one(of: keys)])
    }
    return .constant(chance(10) ? .null : constant(type))
  }

  private mutating func constant(_ type: PredicateValueType) -> PredicateConstant {
    switch type {
    case .integer, .boolean, .real, .decimal:
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: .real(one(of: Self.reals))
      case 1: .decimal(one(of: Self.decimals))
      case 2: .boolean(chance(50))
      default: .integer(one(of: Self.integers))
      }
    case .date: .date(Date(timeIntervalSinceReferenceDate: one(of: Self.reals)))
    case .text, .uri: .text(one(of: Self.texts))
    case .uuid: .uuid(one(of: Self.uuids))
    case .blob: .data(one(of: Self.blobs))
    case .object: .null
    }
  }
}
