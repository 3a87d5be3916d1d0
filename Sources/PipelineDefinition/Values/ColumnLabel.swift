import Foundation

/// Labels of columns, in a header or in a definition.
enum ColumnLabel {
  static func trimmed(_ label: String) -> String { label.trimmingCharacters(in: .whitespaces) }

  /// The form in which labels are compared: letter case and surrounding spaces are ignored.
  static func folded(_ label: String) -> String {
    trimmed(label).lowercased()
  }
}
