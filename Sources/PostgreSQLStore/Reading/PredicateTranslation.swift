import Foundation
import ManagedObjectModel
import PersistentStores

/// A part of a predicate that PostgreSQL would answer otherwise than memory does, or not at all.
struct Untranslatable: Error {}

/// Writes bound nodes as SQL of PostgreSQL, where that is true for exactly the rows for which the node is true.
struct PredicateTranslation: PredicateSQL {
  let scopes: [any PredicateColumns]
  /// More values are sent as one array.
  private static let inlineValuesMax = 20
  /// Beyond that, not every whole number is a `Double`.
  private static let wholeRealMax = Int64(1) << 53

  /// The condition for the rows, with what is left to be evaluated in memory; both are joined by AND.
  static func divided(
    _ predicate: BoundPredicate, _ columns: any PredicateColumns
  ) throws -> (sql: [SQLFragment], isWhole: Bool) {
    // An attribute that is not stored is an error, wherever it is.
    for key in predicate.keys { _ = try columns.sql(key) }
    let translation = PredicateTranslation(scopes: [columns])
    let nodes = if case .and(let nodes) = predicate.root { nodes } else { [predicate.root] }
    var (parts, isWhole): ([SQLFragment], Bool) = ([], true)
    for node in nodes {
      do {
        let part = try translation.condition(node)
        if case .or = node { parts.append(part.parenthesized) } else { parts.append(part) }
      } catch is Untranslatable {
        isWhole = false
      }
    }
    return (parts, isWhole)
  }

  func within(_ columns: any PredicateColumns) -> PredicateTranslation {
    PredicateTranslation(scopes: scopes + [columns])
  }

  func constant(_ value: Bool) -> SQLFragment { SQLFragment(value ? "TRUE" : "FALSE") }
  func comparisonWithoutKeys() throws -> BoundNode { throw Untranslatable() }

  func joined(_ nodes: [BoundNode], separator: String) throws -> SQLFragment {
    .joined(try nodes.map(nested), separator: separator)
  }

  func negation(_ node: BoundNode) throws -> SQLFragment {
    SQLFragment("(") + (try condition(node)) + SQLFragment(") IS NOT TRUE")
  }

  // MARK: Operands

  func value(_ operand: BoundOperand) throws -> SQLFragment {
    switch operand {
    case .key(let key):
      let column = try scopes[key.level].sql(key)
      // Decimals are compared as the nearest reals, as in memory.
      return key.type == .decimal ? column + SQLFragment("::double precision") : column
    case .value(let value): return SQLFragment("?", [value])
    case .computed(let computation):
      guard case .count(let elements) = computation.form else { throw Untranslatable() }
      return try select("count(*)", of: elements)
    }
  }

  private enum Kind { case integer, real, text, bytes }

  /// Nil for what has no column.
  private func kind(of operand: BoundOperand) -> Kind? {
    switch operand {
    case .key(let key):
      switch key.type {
      case .integer, .boolean, .object: .integer
      case .real, .decimal, .date: .real
      case .text, .uri: .text
      case .uuid, .blob: .bytes
      }
    case .computed(let computation): if case .count = computation.form { .integer } else { nil }
    case .value: nil
    }
  }

  /// A value as PostgreSQL compares it with a column of that kind; nil if it can't be equal to any.
  private static func converted(_ value: StoredValue, to kind: Kind) throws -> StoredValue? {
    switch (kind, value) {
    case (.integer, .integer), (.real, .real), (.bytes, .blob): return value
    case (.text, .text(let text)):
      // A text with a NUL is in no row, and PostgreSQL refuses it.
      return text.utf8.contains(0) ? nil : value
    case (.real, .integer(let number)):
      guard number.magnitude <= wholeRealMax.magnitude else { throw Untranslatable() }
      return .real(Double(number))
    case (.real, .decimal(let number)): return .real(number.storedReal)
    case (.integer, .real(let number)): return Int64(exactly: number).map(StoredValue.integer)
    case (.integer, .decimal(let number)): return Int64(exactly: number.storedReal).map(StoredValue.integer)
    default: return nil
    }
  }

  // MARK: Relations

  func comparison(
    _ left: BoundOperand, _ relation: BoundRelation, with right: BoundOperand
  ) throws -> SQLFragment {
    guard let kind = kind(of: left) else { throw Untranslatable() }
    let first = try value(left)
    guard case .value(let value) = right else {
      // Whole numbers and reals are compared exactly in memory, and rounded by PostgreSQL.
      guard self.kind(of: right) == kind else { throw Untranslatable() }
      let second = try self.value(right)
      return first + SQLFragment(" \(relation.operatorForNulls) ") + second
    }
    guard let converted = try Self.converted(value, to: kind) else {
      return try unequal(first, of: kind, relation, to: value)
    }
    switch relation {
    case .notEqual: return first + SQLFragment(" IS DISTINCT FROM ?", [converted])
    default: return first + SQLFragment(" \(relation.sqlOperator) ?", [converted])
    }
  }

  /// A comparison with a value that no row has in this column.
  private func unequal(
    _ column: SQLFragment, of kind: Kind, _ relation: BoundRelation, to value: StoredValue
  ) throws -> SQLFragment {
    switch (relation, kind, value) {
    case (.equal, _, _): return SQLFragment("FALSE")
    case (.notEqual, _, _): return SQLFragment("TRUE")
    case (.less, .integer, .real(let number)), (.lessOrEqual, .integer, .real(let number)):
      return try bounded(column, "<=", by: number.rounded(.down))
    case (.greater, .integer, .real(let number)), (.greaterOrEqual, .integer, .real(let number)):
      return try bounded(column, ">=", by: number.rounded(.up))
    default: throw Untranslatable()
    }
  }

  private func bounded(_ column: SQLFragment, _ sign: String, by bound: Double) throws -> SQLFragment {
    guard let whole = Int64(exactly: bound) else { throw Untranslatable() }
    return column + SQLFragment(" \(sign) ?", [.integer(whole)])
  }

  // MARK: Texts

  func condition(_ text: BoundText) throws -> SQLFragment {
    guard text.options.isEmpty, case .key = text.left, kind(of: text.left) == .text,
      case .value(.text(let value)) = text.right
    else { throw Untranslatable() }
    let column = try self.value(text.left)
    let hasZero = value.utf8.contains(0)
    switch text.operation {
    case .contains, .beginsWith, .endsWith:
      if value.isEmpty || hasZero { return SQLFragment("FALSE") }
    default: break
    }
    switch text.operation {
    case .contains:
      return SQLFragment("strpos(") + column + SQLFragment(", ?) > 0", [.text(value)])
    case .beginsWith:
      // UTF-8 sorts like its scalars, and an index helps.
      guard let end = BoundPredicate.successor(ofPrefix: value) else { throw Untranslatable() }
      return SQLFragment("(") + column + SQLFragment(" >= ? AND ", [.text(value)]) + column
        + SQLFragment(" < ?)", [.text(end)])
    case .endsWith:
      let count = Int64(value.unicodeScalars.count)
      return SQLFragment("right(") + column + SQLFragment(", ?::integer) = ?", [.integer(count), .text(value)])
    default: throw Untranslatable()
    }
  }

  // MARK: Lists

  func membership(
    of operand: BoundOperand, in values: [StoredValue], options: TextOptions
  ) throws -> SQLFragment {
    guard options.isEmpty else { throw Untranslatable() }
    guard let kind = kind(of: operand) else { throw Untranslatable() }
    let possible = try values.compactMap { try Self.converted($0, to: kind) }
    guard !possible.isEmpty else { return SQLFragment("FALSE") }
    let column = try value(operand)
    guard possible.count > Self.inlineValuesMax else {
      let marks = Array(repeating: "?", count: possible.count).joined(separator: ", ")
      return column + SQLFragment(" IN (\(marks))", possible)
    }
    let type =
      switch kind {
      case .integer: "bigint"
      case .real: "double precision"
      case .text: "text"
      case .bytes: "bytea"
      }
    return column + SQLFragment(" = ANY (?::text::\(type)[])", [.text(ArrayText.array(possible))])
  }
}

extension BoundRelation {
  /// Null is equal to null only.
  fileprivate var operatorForNulls: String {
    switch self {
    case .equal: "IS NOT DISTINCT FROM"
    case .notEqual: "IS DISTINCT FROM"
    default: sqlOperator
    }
  }
}
