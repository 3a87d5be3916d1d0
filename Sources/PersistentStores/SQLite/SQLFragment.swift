import ManagedObjectModel

/// SQL text together with the values bound to its `?` placeholders, so that values are never interpolated into text.
package struct SQLFragment: Sendable, Equatable {
  package var text: String
  package var bindings: [StoredValue]

  package init(_ text: String, _ bindings: [StoredValue] = []) {
    self.text = text
    self.bindings = bindings
  }

  package static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment {
    // Lists of many keys are not copied.
    if right.bindings.isEmpty { return SQLFragment(left.text + right.text, left.bindings) }
    return SQLFragment(left.text + right.text, left.bindings.isEmpty ? right.bindings : left.bindings + right.bindings)
  }

  /// The fragments joined with `separator`.
  package static func joined(_ parts: [SQLFragment], separator: String) -> SQLFragment {
    SQLFragment(parts.map(\.text).joined(separator: separator), parts.flatMap(\.bindings))
  }

  package var parenthesized: SQLFragment { SQLFragment("(\(text))", bindings) }

  /// The placeholders for a list of this many keys: `?,?,?`.
  package static func keyMarks(_ count: Int) -> String {
    count == 0 ? "" : "?" + String(repeating: ",?", count: count - 1)
  }
}

extension [Int64] {
  /// Keys in chunks for one statement each, below SQLite's limit of bound values.
  package var statementParts: some Sequence<ArraySlice<Int64>> {
    stride(from: 0, to: count, by: 500).lazy.map { self[$0..<Swift.min($0 + 500, count)] }
  }
}
