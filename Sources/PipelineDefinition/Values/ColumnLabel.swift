import Foundation

/// Labels of columns, in a header or in a definition.
package enum ColumnLabel {
  package static func trimmed(_ label: String) -> String { label.trimmingCharacters(in: .whitespaces) }

  /// The form in which labels are compared: letter case and surrounding spaces are ignored.
  package static func folded(_ label: String) -> String {
    trimmed(label).lowercased()
  }
}
