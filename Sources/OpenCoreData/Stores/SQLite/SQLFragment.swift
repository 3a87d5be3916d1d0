/// SQL text together with the values bound to its `?` marks, so that no value is ever spliced into text.
package struct SQLFragment: Sendable, Equatable {
  package var text: String
  package var bindings: [StoredValue]

  package init(_ text: String, _ bindings: [StoredValue] = []) {
    self.text = text
    self.bindings = bindings
  }

  package static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment {
    SQLFragment(left.text + right.text, left.bindings + right.bindings)
  }

  /// The fragments one after another with `separator` between them.
  package static func joined(_ parts: [SQLFragment], separator: String) -> SQLFragment {
    SQLFragment(parts.map(\.text).joined(separator: separator), parts.flatMap(\.bindings))
  }
}
